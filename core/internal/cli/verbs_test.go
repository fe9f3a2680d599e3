package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// verbs are the answers to every order.
func verbs() *line {
	of := gives(protocol.Resolved{Job: jobID})
	l := pages().on("job.pause", of).on("job.resume", of).on("job.approve", of)
	l.on("job.say", gives(protocol.SayDoc{Resolved: protocol.Resolved{Job: jobID}, Now: []string{"Build"}, Later: []string{"Style", "Docs"}, Answers: "Which colour?"}))
	l.on("job.undo", gives(protocol.UndoDoc{Job: jobID, Files: []string{"x"}}))
	l.on("job.discard", gives(protocol.DiscardDoc{Job: jobID, Removed: []string{"refs/heads/relo/x"}}))
	l.on("job.plan", gives(thePlan()))
	return l
}

func thePlan() protocol.PlanDoc {
	return protocol.PlanDoc{Summary: "one card", Tasks: []protocol.PlanTask{
		{ID: "card", Title: "Draw the card", Instructions: "Make \"it\" // match\n<b>", Difficulty: job.Hard, Vision: true, Images: []string{"ref/card.png"}, Model: "here/eyes", Reason: "hard, needs eyes"},
		{ID: "docs", Title: "Write it down", Instructions: "In docs/", Difficulty: job.Easy, DependsOn: []string{"card"}, Checks: []string{"make"}},
	}}
}

func waiting(l *line) *line {
	return l.on("job.show", gives(protocol.JobDoc{ID: jobID, Title: "Match the card", Status: job.AwaitingApproval}))
}

func TestVerbsSayWhatChangedAndWhatComesNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		sent string // endpoint and what it was asked
		says string
	}{
		{[]string{"pause", "@last"}, `job.pause {"id":"@last"}`, "job 01a22de0-303b: Paused once its running steps have ended; relo resume 01a22de0-303b goes on"},
		{[]string{"resume", "--budget", "5", "01a2"}, `job.resume {"id":"01a2","budget":5}`, "job 01a22de0-303b goes on; relo watch 01a22de0-303b follows it"},
		{[]string{"say", "@last", " use Field "}, `job.say {"id":"@last","text":"use Field"}`, `said; it answers "Which colour?"; told at their next safe point: Build; told when they begin: Style, Docs; relo watch`},
		{[]string{"apply", "@last", "--undo"}, `job.undo {"id":"@last"}`, "Took the apply of job 01a22de0-303b back: 1 file is as before\n  x\nrelo apply 01a22de0-303b applies it again"},
		{[]string{"cancel", "--reason=no", "@last"}, `job.cancel {"id":"@last","reason":"no"}`, "relo retry 01a22de0-303b opens it again"},
		{[]string{"discard", "@last", "--force"}, `job.discard {"id":"` + jobID + `","force":true}`, "Cancelled, discarded; removed:\n  refs/heads/relo/x"},
		{[]string{"retry", "--anew", "@last", "--model", "far/plan"}, `job.retry {"id":"@last","model":"far/plan","anew":true}`, "task t1 goes on, anew, on far/plan; relo watch 01a22de0-303b"},
		{[]string{"apply", "@last"}, `job.apply {"id":"@last"}`, "relo apply 01a22de0-303b --undo takes it back"},
	} {
		endpoint, want, _ := strings.Cut(c.sent, " ")
		for _, flags := range [][]string{nil, {"--json"}} {
			l, got := verbs(), ""
			was := l.answers[endpoint]
			l.on(endpoint, func(body []byte) (any, error) {
				got = string(body)
				return was(body)
			})
			exit, out, note := (&scene{line: l, daemon: true}).run(t.Context(), append(append([]string{}, c.args...), flags...)...)
			exits(t, exit, 0, note)
			if got != want {
				t.Errorf("relo %q asks %s, not %s", c.args, got, want)
			}
			if flags == nil {
				has(t, out, c.says)
			} else if len(jsonLines(t, out)) != 1 {
				t.Errorf("relo %q prints %q", c.args, out)
			}
		}
	}
}

func TestACancelledTaskLeavesItsJobAlone(t *testing.T) {
	t.Parallel()
	l := verbs().on("job.cancel", gives(protocol.Resolved{Job: jobID, Task: "01a22de0-33be-798b-829f-6916ff091afd"}))
	_, out, _ := (&scene{line: l}).run(t.Context(), "cancel", "@last/card")
	has(t, out, "task 01a22de0-33be-798b-829f-6916ff091afd: Cancelled", "relo retry 01a22de0-33be-798b-829f-6916ff091afd gives it another attempt")
}

func TestSayReadsStdin(t *testing.T) {
	t.Parallel()
	s := &scene{line: verbs(), stdin: "from a file\n"}
	exit, _, note := s.run(t.Context(), "say", "@last", "-")
	exits(t, exit, 0, note)
	exit, _, note = (&scene{line: verbs()}).run(t.Context(), "say", "@last", "-")
	exits(t, exit, exitUsage, note)
}

func TestADryApplyChangesNothing(t *testing.T) {
	t.Parallel()
	s := &scene{line: verbs()}
	exit, out, note := s.run(t.Context(), "apply", "@last", "-n")
	exits(t, exit, 0, note)
	has(t, out, "Would change in /r:\n", "modified  x      +3 -1\n")
	has(t, note, "it cannot be applied yet: Running")
	if strings.Contains(s.line.asked(), "job.apply") {
		t.Error("it was applied")
	}
}

func TestDiscardOfUnappliedWorkAsksForTheId(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stdin string
		terminal    bool
		exit        int
		asked       string // of the API; empty: nothing was discarded
	}{
		{"typed", "01a22de0-303b\n", true, 0, `"force":true`},
		{"typed whole", jobID + "\n", true, 0, `"force":true`},
		{"another id", "01a1\n", true, exitPerson, ""},
		{"too little of it", "0\n", true, exitPerson, ""},
		{"nothing", "", true, exitPerson, ""},
		{"off a terminal the daemon decides", "", false, 0, jobID},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			l := verbs().on("job.discard", func(body []byte) (any, error) {
				got = string(body)
				return protocol.DiscardDoc{Job: jobID}, nil
			})
			exit, _, note := (&scene{line: l, terminal: c.terminal, stdin: c.stdin}).run(t.Context(), "discard", "@last")
			exits(t, exit, c.exit, note)
			if (got == "") != (c.asked == "") || !strings.Contains(got, c.asked) {
				t.Errorf("asked for %q", got)
			}
			if !c.terminal && strings.Contains(got, "force") {
				t.Error("forced, and nobody was asked")
			}
		})
	}
}

// trace is a transcript, and the attempt that it is of.
func trace(t *testing.T, l *line) *line {
	t.Helper()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	pic := provider.Picture{Picture: vision.Picture{SHA256: "ab12", Width: 70, Height: 50}, View: vision.View{Path: "out/card.png", Role: vision.Result}}
	var text []byte
	for _, e := range []engine.Entry{
		{Kind: engine.KindFirst, Message: &provider.Message{Role: provider.RoleUser, Parts: []provider.Part{provider.Text(strings.Repeat("line\n", 40))}}},
		{Kind: engine.KindAnswer, Stop: provider.StopCalls, Message: &provider.Message{Parts: []provider.Part{
			provider.Text("I draw it.\x1b[2J"), {Kind: provider.PartCall, Call: &provider.Call{ID: "c1", Name: "shell", Args: json.RawMessage(`{"command":"make \u0026\u0026 ls"}`)}},
		}}},
		{Kind: engine.KindCall, ID: "c1"},
		{Kind: engine.KindResult, Result: &provider.Result{ID: "c1", Text: "no rule", IsError: true, Pictures: []provider.Picture{pic}}},
		{Kind: engine.KindSaid, ID: "w1", Text: "use Field"},
		{Kind: engine.KindState, State: map[string]string{"a": "b"}},
	} {
		e.Time = at
		one, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, one...), '\n')
	}
	sum := sha256.Sum256(text)
	sha := hex.EncodeToString(sum[:])
	l.on("blob.get", gives(protocol.BlobChunk{SHA256: sha, Size: int64(len(text)), Data: text}))
	return l.on("job.logs", gives(protocol.LogsDoc{Job: jobID, Attempts: []protocol.LogLine{
		{Task: "t1", Title: "Draw the card", Attempt: "a0", Number: 1, Model: "here/eyes", Worker: "w1", Outcome: job.OutFailed, Reason: "no rule", Trace: sha},
		{Task: "t1", Title: "Draw the card", Attempt: "a1", Number: 2, Model: "here/eyes"},
	}}))
}

func TestLogsTellWhoSaidAndDidWhat(t *testing.T) {
	t.Parallel()
	l := trace(t, story().tells(job.Event{Kind: job.KindStep, Task: "t1", Attempt: "a1", Body: &job.Step{Tool: "shell", Summary: "ran the tests"}}))
	exit, out, note := (&scene{line: l, daemon: true}).run(t.Context(), "logs")
	exits(t, exit, 0, note)
	has(t, out, "Draw the card, attempt 1 on here/eyes (w1): failed: no rule\n", "Relo\n    line\n", "more (--full prints all)", "Model\n    I draw it.[2J\n    calls shell {\"command\":\"make && ls\"}\n",
		"shell failed\n    no rule\n    picture out/card.png (result, 70x50, sha256 ab12)\n", "You\n    use Field\n", "attempt 2 on here/eyes: under way\n", "shell: ran the tests\n")
	if strings.Count(out, "    line\n") != entryLines {
		t.Errorf("%d lines of a long text", strings.Count(out, "    line\n"))
	}
	_, out, _ = (&scene{line: l, daemon: true}).run(t.Context(), "logs", "--full", "--attempt", "1")
	if strings.Count(out, "    line\n") != 40 || strings.Contains(out, "attempt 2") {
		t.Errorf("whole:\n%s", out)
	}
	_, out, _ = (&scene{line: l, daemon: true}).run(t.Context(), "logs", "@last", "--json")
	lines := jsonLines(t, out)
	if lines[0]["kind"] != "first" || lines[0]["attempt"] != "a0" || lines[len(lines)-1]["kind"] != "attempt.step" {
		t.Errorf("%v … %v", lines[0], lines[len(lines)-1])
	}
	_, out, note = (&scene{line: l, daemon: true}).run(t.Context(), "logs", "--attempt", "9")
	has(t, note, "there are no attempts yet")
	if out != "" {
		t.Error(out)
	}
}

func TestLogsFollowToTheEnd(t *testing.T) {
	t.Parallel()
	l := story()
	before := len(l.events)
	l.tells(job.Event{Kind: job.KindStep, Task: "t1", Attempt: "a1", Body: &job.Step{Summary: "ran the tests"}}, job.Event{Kind: job.KindTaskStatus, Task: "t1", Body: &job.StatusChange{From: "running", To: "finished"}})
	l.ends(job.Failed, job.Finished{})
	all := l.events
	l.on("job.logs", gives(protocol.LogsDoc{Job: jobID})).on("job.resolve", gives(protocol.Resolved{Job: jobID}))
	l.on("job.events", func(body []byte) (any, error) {
		var q protocol.EventsQuery
		err := json.Unmarshal(body, &q)
		if q.After == 0 && len(l.log) < 2 { // the first page is what was there when it was asked
			return protocol.EventPage{Events: all[:before]}, err
		}
		return protocol.EventPage{Events: all[min(int(q.After), len(all)):]}, err
	})
	exit, out, note := (&scene{line: l, daemon: true}).run(t.Context(), "logs", "--follow")
	exits(t, exit, 0, note)
	has(t, out, "Draw the card, on here/eyes\n", "  ran the tests\n")
}

func TestPicturesAreListedAndWrittenByteForByte(t *testing.T) {
	t.Parallel()
	data := []byte("the exact bytes")
	sum := sha256.Sum256(data)
	sha := hex.EncodeToString(sum[:])
	look := job.Look{ID: "1", SHA256: sha, Path: "../a/card:1.png", Role: vision.Result, How: job.HowPixels, By: "here/eyes", Bytes: len(data), MediaType: "image/jpeg", Sent: vision.Size{Width: 70, Height: 50}, AfterLastEdit: true}
	dropped := look
	dropped.How, dropped.SHA256 = job.HowDropped, ""
	l := verbs().on("job.show", gives(protocol.JobDoc{ID: jobID, Tasks: []protocol.TaskDoc{
		{ID: "t1", Title: "Draw the card", Attempts: []protocol.AttemptDoc{{ID: "a1", Number: 1, Looks: []job.Look{look, look, dropped}}}}, {ID: "t2", Title: "Docs"},
	}})).on("blob.get", gives(protocol.BlobChunk{SHA256: sha, Size: int64(len(data)), Data: data}))
	dir := t.TempDir()
	exit, out, note := (&scene{line: l, dir: dir}).run(t.Context(), "pictures", "--out", "shown")
	exits(t, exit, 0, note)
	has(t, out, "Draw the card  1    ../a/card:1.png  result  70x50  15     here/eyes  after the last edit  "+sha, "left out", "wrote "+dir)
	files, err := filepath.Glob(filepath.Join(dir, "shown", "*"))
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != "card-1-"+sha[:hashRunes]+".jpeg" {
		t.Fatalf("%v %v", files, err)
	}
	if got, err := os.ReadFile(files[0]); err != nil || string(got) != string(data) {
		t.Errorf("%q %v", got, err)
	}
	_, out, _ = (&scene{line: l, dir: dir}).run(t.Context(), "pictures", "--json")
	doc := jsonLines(t, out)[0]
	if list, ok := doc["pictures"].([]any); !ok || len(list) != 3 {
		t.Errorf("%v", doc)
	}
	l.on("job.resolve", gives(protocol.Resolved{Job: jobID, Task: "t2"}))
	_, out, note = (&scene{line: l}).run(t.Context(), "pictures", "@last/docs")
	has(t, note, "no model was shown a picture")
	if out != "" {
		t.Error(out)
	}
}

func TestLongTextIsPagedOnATerminalOnly(t *testing.T) {
	t.Parallel()
	long := pages().on("job.diff", gives(protocol.DiffDoc{Diff: strings.Repeat("+x\n", 50)}))
	for _, c := range []struct {
		name  string
		scene scene
		flags []string
		want  []string
	}{
		{"long, on a terminal", scene{terminal: true, size: board.Size{Width: 80, Height: 24}, env: map[string]string{"RELO_PAGER": "most", "PAGER": "more"}}, nil, []string{"most"}},
		{"PAGER", scene{terminal: true, size: board.Size{Width: 80, Height: 24}, env: map[string]string{"PAGER": "more -x"}}, nil, []string{"more -x"}},
		{"it fits", scene{terminal: true, size: board.Size{Width: 80, Height: 60}}, nil, nil},
		{"no pager is wanted", scene{terminal: true, size: board.Size{Width: 80, Height: 24}, env: map[string]string{"PAGER": "cat"}}, nil, nil},
		{"nobody is there", scene{terminal: true, size: board.Size{Width: 80, Height: 24}}, []string{"--no-input"}, nil},
		{"off a terminal", scene{}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.scene
			s.line = long
			exit, out, note := s.run(t.Context(), append([]string{"diff"}, c.flags...)...)
			exits(t, exit, 0, note)
			if (c.want == nil) != (s.paged == nil) || (c.want == nil) != (out != "") || (c.want != nil && s.paged[0] != c.want[0]) {
				t.Errorf("paged %q, printed %d bytes", s.paged, len(out))
			}
		})
	}
}

func TestApproveTakesThePlanAsItIsOrAnother(t *testing.T) {
	t.Parallel()
	edited := thePlan()
	edited.Tasks = edited.Tasks[:1]
	edited.Tasks[0].Use = "far/plan"
	edited.Tasks[0].Model, edited.Tasks[0].Reason = "", ""
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, []byte(planText(edited)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		scene scene
		args  []string
		want  *protocol.PlanDoc
	}{
		{"off a terminal", scene{}, nil, nil},
		{"yes", scene{terminal: true, stdin: "y\n"}, nil, nil},
		{"--yes", scene{terminal: true}, []string{"--yes"}, nil},
		{"from a file", scene{}, []string{"--file", file}, &edited},
		{"from stdin", scene{stdin: planText(edited)}, []string{"--file", "-"}, &edited},
		{"edited", scene{terminal: true, stdin: "y\n", edits: func(string) string { return planText(edited) }}, []string{"--edit"}, &edited},
		{"edited, --yes", scene{terminal: true, edits: func(string) string { return planText(edited) }}, []string{"--edit", "--yes"}, &edited},
		{"edited after a look", scene{terminal: true, stdin: "e\n\n", edits: func(string) string { return planText(edited) }}, nil, &edited},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got protocol.Approve
			s := c.scene
			s.line = waiting(verbs())
			s.line.on("job.approve", func(body []byte) (any, error) { return protocol.Resolved{Job: jobID}, json.Unmarshal(body, &got) })
			exit, out, note := s.run(t.Context(), append([]string{"approve", "@last"}, c.args...)...)
			exits(t, exit, 0, note)
			if diff := cmp.Diff(protocol.Approve{ID: jobID, Plan: c.want}, got); diff != "" {
				t.Error(diff)
			}
			has(t, out, "relo watch 01a22de0-303b follows it")
		})
	}
}

func TestAFaultyPlanIsEditedAgainAndNothingIsLost(t *testing.T) {
	t.Parallel()
	turn := 0
	texts := []string{}
	s := &scene{line: waiting(verbs()), terminal: true, stdin: "\ny\ny\n"}
	s.edits = func(text string) string {
		texts = append(texts, text)
		turn++
		switch turn {
		case 1:
			return strings.Replace(text, `"difficulty": "hard"`, `"difficulty": "heroic", // mine`, 1)
		case 2:
			return strings.Replace(text, `"heroic",`, `"easy"`, 1)
		}
		return strings.Replace(text, `"easy" // mine`, `"easy", // mine`, 1)
	}
	exit, _, note := s.run(t.Context(), "approve", "@last", "--edit")
	exits(t, exit, 0, note)
	has(t, texts[1], "//! task \"card\": difficulty \"heroic\" is not one of easy, normal, hard", "// mine")
	has(t, texts[2], "//! line ", "// mine")
	if strings.Contains(texts[2], "heroic") || !strings.Contains(s.line.asked(), "job.approve") {
		t.Errorf("asked %s, the last text:\n%s", s.line.asked(), texts[2])
	}

	s = &scene{line: waiting(verbs()), terminal: true, edits: func(string) string { return "// nothing\n" }}
	exit, _, note = s.run(t.Context(), "approve", "@last", "--edit")
	exits(t, exit, exitPerson, note)
	has(t, note, "the plan is empty: nothing was approved")
}

func TestNothingBeginsByLeavingTheEditor(t *testing.T) {
	t.Parallel()
	same := func(text string) string { return text }
	other := func(text string) string { return strings.Replace(text, "Draw the card", "Draw two cards", 1) }
	faulty := func(text string) string { return strings.Replace(text, `"hard"`, `"heroic"`, 1) }
	for _, c := range []struct {
		name, stdin string
		args        []string
		edits       func(string) string
		says        []string
	}{
		{"unchanged", "e\n", nil, same, []string{"nothing was changed\nStart? [y]es", "the plan waits; relo approve 01a22de0-303b asks again"}},
		{"unchanged, --edit", "", []string{"--edit"}, same, []string{"nothing was changed\nStart? [y]es"}},
		{"unchanged, --edit --yes", "", []string{"--edit", "--yes"}, same, []string{"nothing was changed"}},
		{"changed, and not wanted", "e\nn\n", nil, other, []string{"Draw two cards", "Start with this plan? [Y]es, [e]dit, [n]o: the plan stays as it was\nStart?"}},
		{"changed, and nobody answers", "", []string{"--edit"}, other, []string{"Draw two cards", "Start with this plan?"}},
		{"faulty, and nobody answers", "", []string{"--edit"}, faulty, []string{"the plan has faults", "Edit it again? [Y]es, [n]o: \nStart?"}},
		{"the editor fails", "e\n", nil, nil, []string{"relo: false failed; the plan of job 01a22de0-303b waits, relo approve 01a22de0-303b asks about it\nStart?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, note bytes.Buffer
			s := &scene{line: waiting(verbs()), terminal: true, stdin: c.stdin, edits: c.edits}
			s.sh = s.shell(&out, &note)
			if c.edits == nil {
				s.sh.edit = func(context.Context, string, string) error { return errors.New("false failed") }
			}
			exit, _, said := s.run(t.Context(), append([]string{"approve", "@last"}, c.args...)...)
			exits(t, exit, exitPerson, said)
			has(t, said, c.says...)
			if strings.Contains(s.line.asked(), "job.approve") || strings.Contains(s.line.asked(), "job.cancel") {
				t.Errorf("asked %s", s.line.asked())
			}
		})
	}
}

func TestThereMustBeAPlanThatWaits(t *testing.T) {
	t.Parallel()
	exit, _, note := (&scene{line: verbs()}).run(t.Context(), "approve", "@last")
	exits(t, exit, 1, note)
	has(t, note, "has no plan that waits: Running")
}
