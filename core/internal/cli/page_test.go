package cli

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

func TestEveryStateOfAJobHasACodeAndAWord(t *testing.T) {
	for status, want := range map[job.Status]struct {
		exit int
		word string
	}{
		job.Planning: {8, "Planning"}, job.AwaitingApproval: {7, "Waiting for you"}, job.Running: {8, "Running"}, job.Paused: {8, "Paused"},
		job.StoppedAtBudget: {5, "Stopped at budget"}, job.WaitingForPerson: {7, "Waiting for you"}, job.Integrating: {8, "Running"},
		job.Ready: {0, "Done"}, job.Applied: {0, "Done"}, job.Discarded: {9, "Cancelled"}, job.Failed: {3, "Failed"}, job.Cancelled: {9, "Cancelled"},
	} {
		if exit := outcomeCode(status, nil); exit != want.exit {
			t.Errorf("%s ends with %d, not %d", status, exit, want.exit)
		}
		if word := jobWord(status); word != want.word {
			t.Errorf("%s is %q, not %q", status, word, want.word)
		}
	}
}

func TestEveryStateOfATaskHasAWordOfTheViews(t *testing.T) {
	for status, want := range map[job.TaskState]string{
		job.TaskWaiting: "Queued", job.TaskReady: "Queued", job.TaskDispatched: "Queued", job.TaskRunning: "Running", job.TaskFinished: "Running",
		job.TaskReviewing: "Reviewing", job.TaskRework: "Changes requested", job.TaskBlocked: "Waiting for you", job.TaskHeld: "Waiting for you",
		job.TaskLost: "Lost contact", job.TaskAccepted: "Done", job.TaskFailed: "Failed", job.TaskCancelled: "Cancelled", job.TaskSkipped: "Cancelled",
	} {
		if got := taskWord(status); got != want {
			t.Errorf("%s is %q, not %q", status, got, want)
		}
	}
}

// told is the progress of events behind the story's beginning.
func told(t *testing.T, events ...job.Event) string {
	t.Helper()
	l := story().tells(events...)
	var note bytes.Buffer
	s := (&scene{}).shell(&bytes.Buffer{}, &note)
	v := newView(s, jobID)
	v.quiet = int64(len(l.events) - len(events))
	for _, e := range l.events {
		if err := v.take(e); err != nil {
			t.Fatal(err)
		}
	}
	return note.String()
}

func TestProgressSaysEachThingOnce(t *testing.T) {
	at := func(e job.Event) job.Event {
		e.Task, e.Attempt = "t1", "a1"
		return e
	}
	look := &job.Look{ID: "1", Path: "out/card.png", Role: vision.Result, How: job.HowPixels, AfterLastEdit: true}
	got := told(t,
		at(job.Event{Body: look, Kind: job.KindLook}), at(job.Event{Body: look, Kind: job.KindLook}),
		at(job.Event{Kind: job.KindLook, Body: &job.Look{Path: "ref.png", Role: vision.Reference, How: job.HowDropped}}),
		at(job.Event{Kind: job.KindStep, Body: &job.Step{Summary: "wrote a file"}}),
		at(job.Event{Kind: job.KindCheck, Body: &job.CheckResult{Command: "make\ntest", Exit: 0}}),
		at(job.Event{Kind: job.KindTaskStatus, Body: &job.StatusChange{From: "running", To: "finished"}}),
		at(job.Event{Kind: job.KindAttemptFinished, Body: &job.AttemptEnd{Outcome: job.Unverified, Reason: "nobody looked"}}),
		at(job.Event{Kind: job.KindTaskStatus, Body: &job.StatusChange{From: "finished", To: "rework", Reason: "nobody looked"}}),
		at(job.Event{Kind: job.KindTaskStatus, Body: &job.StatusChange{From: "rework", To: "ready"}}),
		at(job.Event{Kind: job.KindEscalated, Body: &job.Escalated{From: "here/a", To: "here/b", Why: "it is blind"}}),
		at(job.Event{Kind: job.KindTaskWaiting, Body: &job.WaitingBody{For: "a worker", Workers: []job.WorkerReason{{Worker: "w1", Reason: "is busy"}}}}),
		job.Event{Kind: job.KindRouted, Task: "t1", Model: "here/b", Body: &job.Routed{Reasons: []job.Reason{{Words: "it sees"}}}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a2", Model: "here/b", Body: &job.StatusChange{From: "ready", To: "dispatched", Epoch: 2}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a2", Body: &job.StatusChange{From: "dispatched", To: "running"}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a2", Body: &job.StatusChange{From: "running", To: "finished"}},
		job.Event{Kind: job.KindAttemptFinished, Task: "t1", Attempt: "a2", Body: &job.AttemptEnd{Outcome: job.Done, Visual: job.VisualUnavailable}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Body: &job.StatusChange{From: "finished", To: "reviewing"}},
		job.Event{Kind: job.KindVerdict, Task: "t1", Body: &job.Verdict{Verdict: job.VerdictRework, Summary: "too wide", Findings: []job.Finding{
			{Severity: "major", File: "a.css", Line: 3, Text: "\x1b]0;title\x07width"},
		}}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Body: &job.StatusChange{From: "reviewing", To: "rework", Reason: "too wide"}},
		job.Event{Kind: job.KindNotice, Body: &job.Notice{Level: "warn", Words: "a late result"}},
		job.Event{Kind: job.KindNotice, Task: "t1", Body: &job.Notice{Level: "info", Words: "kept"}},
		job.Event{Kind: "a.later.kind"},
	)
	want := `Draw the card: looked at out/card.png (result, after the last edit)
Draw the card: looked at ref.png (reference, left out)
Draw the card: check "make test" passed
Draw the card: attempt 1 ended: unverified: nobody looked
Draw the card: Queued: nobody looked
Draw the card: moved up from here/a to here/b: it is blind
Draw the card: Waiting for a worker: a worker; w1 is busy
Draw the card: Running, attempt 2 on here/b: it sees
Draw the card: done, but nobody could look at the result
Draw the card: Reviewing
Draw the card: the review asks for changes: too wide
  major a.css:3: ]0;titlewidth
Draw the card: Changes requested: too wide
warning: a late result
Draw the card: note: kept
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestABillIsTheSumOfItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLine().on("models.list", gives(protocol.ModelsDoc{Models: []protocol.ModelDoc{{Ref: "here/m", Private: true}}}))
		s := (&scene{line: l}).shell(&bytes.Buffer{}, &bytes.Buffer{})
		link, err := s.open(context.Background(), app.Env{}, nil, app.Any)
		if err != nil {
			t.Fatal(err)
		}
		var doc protocol.CostsDoc
		unpriced := 0
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			r := protocol.CostRow{
				Traffic: traffics[rapid.IntRange(0, len(traffics)-1).Draw(t, "traffic")].traffic, Model: rapid.SampledFrom([]string{"here/m", "far/m"}).Draw(t, "model"),
				Requests: rapid.IntRange(1, 9).Draw(t, "requests"),
			}
			if rapid.Bool().Draw(t, "priced") {
				r.Cost = new(float64(rapid.IntRange(0, 500).Draw(t, "cents")) / 100)
			} else if r.Model == "far/m" {
				unpriced += r.Requests
			}
			doc.Rows = append(doc.Rows, r)
		}
		b := s.bill(context.Background(), link, doc)
		var all board.Sum
		for _, p := range b.parts {
			all.Requests, all.Unknown, all.Local, all.USD = all.Requests+p.Requests, all.Unknown+p.Unknown, all.Local+p.Local, all.USD+p.USD
		}
		if d := all.USD - b.all.USD; d > 1e-9 || d < -1e-9 {
			t.Errorf("the parts are %v USD, the sum is %v", all.USD, b.all.USD)
		}
		all.USD = b.all.USD
		if all != b.all || b.all.Unknown != unpriced {
			t.Errorf("the parts are %+v, the sum is %+v, %d requests have no price", all, b.all, unpriced)
		}
		if words := b.words(); (unpriced > 0) != strings.Contains(words, "unknown") {
			t.Errorf("%d requests have no price and the bill says %q", unpriced, words)
		}
	})
}

func TestAReasonThatOnlyRepeatsIsLeftOut(t *testing.T) {
	for _, c := range [][3]string{
		{"Draw: Paused", "paused", "Draw: Paused"},
		{"Paused", "Paused", "Paused"},
		{"Paused", "you paused it", "Paused: you paused it"},
		{"Waiting for a worker", "a worker", "Waiting for a worker: a worker"},
		{"Done", "", "Done"},
	} {
		if got := because(c[0], c[1]); got != c[2] {
			t.Errorf("%q because %q is %q, not %q", c[0], c[1], got, c[2])
		}
	}
}

func TestMoneyInWords(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 0.05: "0.05", 1.12: "1.12", 0.0123: "0.0123", 0.1 + 0.2: "0.30", 0.00001: "under 0.0001", 12.5: "12.50"} {
		if got := usd(v); got != want {
			t.Errorf("%v is %q, not %q", v, got, want)
		}
	}
}

func TestTidySumsHaveNoTrail(t *testing.T) {
	if got := tidy(0.007199999999999999); got != 0.0072 {
		t.Errorf("%v", got)
	}
	doc := protocol.JobDoc{ID: jobID, KnownCost: 0.007199999999999999}
	l := newLine().on("job.show", gives(doc))
	var out bytes.Buffer
	s := (&scene{line: l}).shell(&out, &bytes.Buffer{})
	s.json = true
	link, err := s.open(t.Context(), app.Env{}, nil, app.Any)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.curtain(t.Context(), link, &app.Demo{}, jobID, protocol.DiffDoc{}); err != nil {
		t.Fatal(err)
	}
	has(t, out.String(), `"cost":0.0072}`)
}

func TestCalmTextSteersNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := calm(rapid.String().Draw(t, "text"))
		if strings.ContainsAny(got, "\x1b\x07\r\u009b\u202e\u2066\u200f\x7f") {
			t.Errorf("%q", got)
		}
		if line := flat(got, 20); strings.ContainsAny(line, "\n\t") || len([]rune(line)) > 20 {
			t.Errorf("%q", line)
		}
	})
}

func TestFaultsOfTheConfigurationAreAllSaid(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "relo.json"), []byte("{\n  \"budgt\": {},\n  \"keepDays\": \"many\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"run x", "models", "config show"} {
		s := &scene{env: map[string]string{"RELO_HOME": home}, dir: t.TempDir()}
		s.sh = s.shell(nil, nil)
		s.sh.load = app.Load
		exit, out, note := s.run(t.Context(), append(strings.Fields(args), "--json")...)
		exits(t, exit, exitUsage, note)
		has(t, note, "relo.json:2:", "budgt", "relo.json:3:", "keepDays", "2 faults; nothing was started")
		doc, ok := jsonLines(t, out)[0]["error"].(map[string]any)
		faults, isList := doc["faults"].([]any)
		if !ok || !isList || doc["code"] != "config" || len(faults) != 2 {
			t.Errorf("relo %s prints %s", args, out)
		}
	}
}

func TestConfigIsShownAndSet(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		args string
		exit int
		says string
	}{
		{"config set budget.perJob 3", 0, "set budget.perJob in "},
		{"config set budget.perJob dear", 2, "budget.perJob"},
		{"config set nosuch 1", 2, "nosuch"},
		{"config show", 0, "budget.perJob"},
		{"config show --origin", 0, "user ("},
		{"config show --json", 0, `"origin":"user (`},
	} {
		s := &scene{env: map[string]string{"RELO_HOME": home}, dir: t.TempDir()}
		s.sh = s.shell(nil, nil)
		s.sh.load = app.Load
		exit, out, note := s.run(t.Context(), strings.Fields(c.args)...)
		exits(t, exit, c.exit, note)
		has(t, out+note, c.says)
	}
}

func TestImagesArePrepared(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	img := image.NewRGBA(image.Rect(0, 0, 300, 200))
	img.Set(1, 1, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"a.png": b.Bytes(), "secret.png": b.Bytes(), "bad.png": []byte("no picture")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args          string
		exit          int
		shown, failed []string // name or code
	}{
		{"a.png", 0, []string{"a.png"}, nil},
		{"bad.png a.png no.png", 1, []string{"a.png"}, []string{"unsupported_kind", "not_found"}},
		{"bad.png secret.png", 1, nil, []string{"unsupported_kind", "not_allowed"}},
		{"a.png --region 10,10,20,20 --max-edge 256", 0, []string{"a.png"}, nil},
		{"a.png a.png --out " + filepath.Join(home, "out"), 0, []string{"a.png", "a.png"}, nil},
		{"a.png --region 1,2,3", 2, nil, nil},
		{"a.png --region 1,2,3,x", 2, nil, nil},
		{"a.png --max-edge 9", 2, nil, nil},
		{"a.png --root /no/such/folder", 2, nil, nil},
	} {
		s := &scene{env: map[string]string{"RELO_HOME": home}, dir: dir}
		s.sh = s.shell(nil, nil)
		s.sh.load = func(app.Env) (*config.Config, error) {
			return &config.Config{Pictures: config.Pictures{Never: []string{"secret*"}}}, nil
		}
		exit, out, note := s.run(t.Context(), append([]string{"image", "--json"}, strings.Fields(c.args)...)...)
		exits(t, exit, c.exit, note)
		if c.exit == exitUsage {
			continue
		}
		doc := jsonLines(t, out)[0]
		var shown, failed []string
		for i, v := range list(t, doc["images"]) {
			shown = append(shown, v["path"].(string))
			if v["index"] != float64(i) || len(v["sha256"].(string)) != 64 {
				t.Errorf("%v", v)
			}
			if strings.Contains(c.args, "--out") {
				if info, err := os.Stat(v["file"].(string)); err != nil || float64(info.Size()) != v["bytes"] {
					t.Errorf("%v: %v", v["file"], err)
				}
			}
		}
		for _, v := range list(t, doc["errors"]) {
			failed = append(failed, v["code"].(string))
		}
		if diff := cmp.Diff([][]string{c.shown, c.failed}, [][]string{shown, failed}); diff != "" {
			t.Errorf("relo image %s: %s", c.args, diff)
		}
	}
}

func TestImagesForAPerson(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.png"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &scene{dir: dir}
	exit, out, note := s.run(t.Context(), "image", "a.png", "../out.png", "--region", "0,0,20,10", "--out", filepath.Join(dir, "sent"))
	exits(t, exit, exitError, note)
	has(t, out, "PATH   SOURCE", "a.png  300x200, of it 20x10 at 0,0  ", "written to "+filepath.Join(dir, "sent", "a-0.png"))
	has(t, note, "../out.png: ", "--root FOLDER names the folder")
	exit, out, note = s.run(t.Context(), "image", "no.png")
	exits(t, exit, exitError, note)
	if out != "" || strings.Contains(note, "--root") {
		t.Errorf("stdout %q, stderr %q", out, note)
	}
}

func TestAPathIsOneWordOfAShell(t *testing.T) {
	for path, want := range map[string]string{"bin/relo": "bin/relo", "/a b": "'/a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := quoted(path); got != want {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
}

func TestTheProgramInTheWordsOfAFolder(t *testing.T) {
	for _, c := range []struct{ path, dir, want string }{
		{"/a/b/relo", "/a/b", "./relo"}, {"/a/b/bin/relo", "/a/b", "bin/relo"}, {"/usr/bin/relo", "/a/b/c/d/e", "/usr/bin/relo"},
	} {
		if got := programWord(func() (string, error) { return c.path, nil }, c.dir); got != c.want {
			t.Errorf("%s in %s is %s, not %s", c.path, c.dir, got, c.want)
		}
	}
}

func list(t *testing.T, v any) []map[string]any {
	t.Helper()
	all, ok := v.([]any)
	if !ok {
		t.Fatalf("%v is no list", v)
	}
	var out []map[string]any
	for _, a := range all {
		m, ok := a.(map[string]any)
		if !ok {
			t.Fatalf("%v is no object", a)
		}
		out = append(out, m)
	}
	return out
}

func TestGuessesComeFromArgumentsOrStdin(t *testing.T) {
	want := `{"models":[{"id":"gpt-4o","vision":"yes","family":"gpt-4o"},{"id":"text-embedding-3","vision":"not-chat","family":"embedding"},{"id":"nobody-knows","vision":"unknown","family":""}]}` + "\n"
	_, out, _ := (&scene{}).run(t.Context(), "models", "guess", "gpt-4o", "text-embedding-3", "nobody-knows", "--json")
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	_, out, _ = (&scene{stdin: "gpt-4o\r\n\n text-embedding-3\nnobody-knows"}).run(t.Context(), "models", "guess", "--json")
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	_, out, _ = (&scene{}).run(t.Context(), "models", "guess", "gpt-4o", "text-embedding-3")
	if out != "gpt-4o            images          gpt-4o\ntext-embedding-3  answers nobody  embedding\n" {
		t.Errorf("%q", out)
	}
	exit, _, note := (&scene{terminal: true}).run(t.Context(), "models", "guess")
	exits(t, exit, exitUsage, note)
}

func TestServeIsDoneWhenItIsToldToStop(t *testing.T) {
	ctx, signal := context.WithCancelCause(t.Context())
	s := &scene{}
	s.sh = s.shell(nil, nil)
	s.sh.serve = func(ctx context.Context, _ app.Env, ready func(protocol.StatusDoc)) error {
		ready(protocol.StatusDoc{Version: "1", PID: 7, Jobs: 2})
		signal(&SignalError{Number: syscall.SIGTERM})
		return ctx.Err()
	}
	exit, _, note := s.run(ctx, "serve")
	exits(t, exit, 0, note)
	has(t, note, "relo 1 serves: process 7, 2 jobs to go on with", "not confined")

	s.sh.serve = func(context.Context, app.Env, func(protocol.StatusDoc)) error {
		return errors.New("no port")
	}
	exit, _, note = s.run(t.Context(), "serve")
	exits(t, exit, 1, note)
}

func TestDoctorFailsWhenACheckFails(t *testing.T) {
	s := &scene{}
	s.sh = s.shell(nil, nil)
	s.sh.doctor = func(context.Context, app.Env, app.DoctorOptions) []app.Check {
		return []app.Check{{Name: "git", State: "ok", Words: "git version 2"}, {Name: "key", State: "fail", Words: "none", Fix: "set one"}}
	}
	exit, out, note := s.run(t.Context(), "doctor")
	exits(t, exit, 1, note)
	has(t, out, "ok    git  git version 2\n", "fail  key  none\n           set one\n")
	_, out, _ = s.run(t.Context(), "doctor", "--json")
	has(t, out, `{"checks":[{"name":"git","state":"ok","words":"git version 2"},{"name":"key","state":"fail","words":"none","fix":"set one"}]}`)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	var note bytes.Buffer
	s := (&scene{line: pages()}).shell(brokenPipe{}, &note)
	if exit := s.start(t.Context(), []string{"jobs"}); exit != exitError {
		t.Errorf("exit code %d", exit)
	}
	has(t, note.String(), "write the output: nobody reads")
}

func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if isTerminal(null) || isTerminal(&bytes.Buffer{}) {
		t.Error("nobody sits before it")
	}
	if err := null.Close(); err != nil {
		t.Fatal(err)
	}
}
