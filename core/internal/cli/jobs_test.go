package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

// pages are the answers that the tables and documents are made of.
func pages() *line {
	rows := []protocol.CostRow{
		{Job: jobID, Traffic: job.TrafficPlanning, Model: "far/plan", Requests: 1, TokensIn: new(int64(1000)), TokensOut: new(int64(20)), TokensCached: new(int64(0)), Cost: new(0.05)},
		{Job: jobID, Task: "01a22de0-33be-798b-829f-6916ff091afd", Traffic: job.TrafficConversation, Model: "here/coder", Requests: 2, TokensIn: new(int64(5)), TokensOut: new(int64(6)), Pictures: 3},
		{Job: jobID, Task: "01a22de0-33be-7990-920e-c67fd07899a3", Traffic: job.TrafficReview, Model: "far/odd", Requests: 4},
	}
	l := newLine()
	l.on("job.list", gives(protocol.JobList{Jobs: []protocol.JobLine{
		{ID: jobID, Title: "Match the\x1b[31m card\nand more", Status: job.Ready, Tasks: 3, Done: 2, Branch: "relo/x"},
		{ID: "01a11111-2222-7000-8000-000000000000", Title: "Other", Status: job.StoppedAtBudget, Cost: new(float64(5))},
	}}))
	l.on("costs.list", gives(protocol.CostsDoc{Known: 0.05, Rows: rows}))
	l.on("models.list", gives(protocol.ModelsDoc{Models: []protocol.ModelDoc{
		{Ref: "far/plan", Vision: vision.Sees, VisionSource: vision.Catalog, Chat: true, Tools: true, Context: 200000, Price: protocol.PriceDoc{Input: new(float64(3)), Output: new(float64(15))}, Rungs: []int{2, 3}},
		{Ref: "here/coder", Vision: vision.Blind, VisionSource: vision.Name, VisionDetail: "qwen", Chat: true, Private: true},
	}}))
	l.on("job.show", gives(protocol.JobDoc{
		ID: jobID, Title: "Match the card", Status: job.Running, Repo: "/r", Base: "0123456789abcdef", Budget: new(float64(3)), Summary: "one card",
		Notices: []job.Notice{{Level: "warn", Words: "a late result"}}, Attachments: []job.Image{{Path: "card.png", Attachment: true}},
		Tasks: []protocol.TaskDoc{{
			ID: "01a22de0-33be-798b-829f-6916ff091afd", Title: "Draw the card", Difficulty: job.Hard, Vision: true, Status: job.TaskReady, Model: "here/coder", Sight: vision.Blind,
			Waiting: &job.WaitingBody{For: "a free worker"}, Reason: "again",
			Reasons:   []job.Reason{{Code: "hard", Words: "hard"}, {Code: "eyes", Words: "needs eyes"}},
			Escalated: []job.Escalated{{From: "here/a", To: "here/coder", Why: "it failed"}},
			Verdicts:  []job.Verdict{{Verdict: job.VerdictRework, Summary: "too wide"}},
			Attempts: []protocol.AttemptDoc{{
				Number: 1, Model: "here/coder", Result: &job.AttemptEnd{Outcome: job.Done, Visual: job.VisualUnavailable},
				Looks:  []job.Look{{Path: "out.png", Role: vision.Result, How: job.HowPixels, AfterLastEdit: true}, {Path: "ref.png", Role: vision.Reference, How: job.HowDescribed}},
				Checks: []job.CheckResult{{Command: "make", Exit: 2}},
			}},
		}},
	}))
	l.on("job.why", gives(protocol.WhyList{Tasks: []protocol.WhyDoc{{Job: jobID, Task: "t1", Title: "Draw", Lines: []string{"model: x", "  looked at y", "now: rework: too wide"}}}}))
	l.on("job.diff", gives(protocol.DiffDoc{
		Job: jobID, Base: "b", Commit: "c", Diff: "diff --git a/x b/x\n+\x1b[31mred\n", Truncated: true,
		Files: []job.FileChange{{Path: "x", Status: "modified", Added: 3, Deleted: 1}, {Path: "y.png", Status: "added", Binary: true}},
	}))
	l.on("job.cancel", gives(protocol.Resolved{Job: jobID})).on("job.apply", gives(protocol.ApplyDoc{Job: jobID, Commit: "c", BackupRef: "refs/b", Files: []string{"x"}}))
	return l.on("job.resolve", gives(protocol.Resolved{Job: jobID})).on("job.retry", gives(protocol.Resolved{Job: jobID, Task: "t1"}))
}

func TestPagesForAPerson(t *testing.T) {
	for _, c := range []struct {
		args string
		exit int
		want []string
	}{
		{"jobs", 0, []string{
			"ID             STATE              TASKS   USD      TITLE\n",
			"01a22de0-303b  Done, not applied  2 of 3  unknown  Match the[31m card and more\n",
			"01a11111-2222  Stopped at budget  0 of 0  5.00     Other\n",
		}},
		{"show @last", 0, []string{
			"Job      " + jobID, "From     commit 0123456789\n", "Budget   3.00 USD", "Picture  card.png", "warning: a late result", "Match the card: Running\n",
			"Draw the card  Waiting for a worker  hard, needs eyes  here/coder  1 attempt  hard; needs eyes\n", "Draw the card: Waiting for a worker: again",
			"looked at out.png (result, after the last edit)", "looked at ref.png (reference, in words only)", "visual verification was unavailable; here/coder is text only",
			`check "make" failed with exit code 2`, "moved up from here/a to here/coder: it failed", "the review asks for changes: too wide", "  relo daemon start ", "relo cancel 01a22de0-303b",
			"unknown, at least 0.05 USD: plan 0.05, work local, review unknown (7 requests); what 4 requests cost is not known",
		}},
		{"show @last --exit-status", 8, nil},
		{"why @last", 0, []string{"Draw  (t1)\n  model: x\n    looked at y\n  now: Changes requested: too wide\n"}},
		{"diff @last", 0, []string{"diff --git a/x b/x\n+\x1b[31mred\n"}},
		{"diff @last --stat", 0, []string{"modified  x      +3 -1\nadded     y.png  binary\n2 files, +3 -1\n"}},
		{"costs @last", 0, []string{"Draw the card      work    here/coder  2         5        6        unknown  3         local\n", "\nTotal unknown, at least 0.05 USD"}},
		{"costs", 0, []string{
			"01a22de0-303b Match the card  Draw the card      work", "01a22de0-303b Match the card  01a22de0-33be-799  review  far/odd     4         unknown  unknown  unknown  0         unknown\n",
		}},
		{"models", 0, []string{
			"far/plan    images     the catalogue                 200000   3.00 / 15.00  2,3\n",
			"here/coder  text only  guessed from the name (qwen)  unknown  local               private, no tools\n",
		}},
		{"models list", 0, []string{"far/plan"}},
		{"cancel @last", 0, []string{"job 01a22de0-303b: Cancelled"}},
		{"apply @last", 0, []string{"Applied 1 file to your files:\n  x\nBefore  refs/b"}},
		{"version", 0, []string{"relo " + app.Version}},
		{"--version", 0, []string{"relo " + app.Version}},
		{"help jobs", 0, []string{"List the jobs, newest first", "relo jobs"}},
		{"help", 0, []string{"relo demo: it needs no key", "costs"}},
		{"help exit-codes", 0, []string{"124      --timeout was reached"}},
		{"config schema", 0, []string{`"$schema"`}},
	} {
		exit, out, note := (&scene{line: pages()}).run(t.Context(), strings.Fields(c.args)...)
		exits(t, exit, c.exit, c.args+": "+note)
		has(t, out, c.want...)
	}
}

func TestDocumentsForPrograms(t *testing.T) {
	for args, keys := range map[string]string{
		"jobs": "jobs", "show @last": "attempts looks", "why @last": "tasks", "diff @last": "base diff files truncated", "costs": "rows total known",
		"models": "models", "models guess gpt-4o": "models", "cancel @last": "job", "apply @last": "backupRef commit files job", "version": "api arch go os version", "--version": "api arch go os version",
	} {
		_, out, note := (&scene{line: pages()}).run(t.Context(), append(strings.Fields(args), "--json")...)
		if strings.Count(out, "\n") != 1 || !json.Valid([]byte(out)) {
			t.Errorf("relo %s --json prints %q; %s", args, out, note)
		}
		for k := range strings.FieldsSeq(keys) {
			has(t, out, `"`+k+`":`)
		}
	}
	_, out, _ := (&scene{line: newLine().on("job.list", gives(protocol.JobList{}))}).run(t.Context(), "jobs", "--json")
	if out != "{\"jobs\":[]}\n" {
		t.Errorf("no jobs are %q", out)
	}
}

func TestNothingToShowIsASentence(t *testing.T) {
	for args, says := range map[string]string{
		"jobs": "there are no jobs yet", "costs": "no requests were sent", "models": "no models are configured", "diff @last": "nothing is changed",
		"why @last": "there are no tasks yet; now: Failed: no key",
	} {
		l := newLine().on("job.list", gives(protocol.JobList{})).on("costs.list", gives(protocol.CostsDoc{})).on("models.list", gives(protocol.ModelsDoc{})).
			on("job.diff", gives(protocol.DiffDoc{})).on("job.why", gives(protocol.WhyList{})).on("job.show", gives(protocol.JobDoc{Status: job.Failed, Reason: "no key"}))
		exit, out, note := (&scene{line: l}).run(t.Context(), strings.Fields(args)...)
		exits(t, exit, 0, note)
		has(t, note, says)
		if out != "" {
			t.Errorf("relo %s prints %q", args, out)
		}
	}
}

func TestAPatchDoesNotSteerATerminal(t *testing.T) {
	_, out, note := (&scene{line: pages(), terminal: true}).run(t.Context(), "diff", "@last")
	if strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	has(t, note, "the patch is too long and was cut; git diff b c prints all of it")
}

func TestAPatchForGitIsWhole(t *testing.T) {
	git := exec.CommandContext(t.Context(), "git", "apply", "--stat", "-")
	patch := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\u202eb\n+c\x1bd\n"
	_, out, _ := (&scene{line: newLine().on("job.diff", gives(protocol.DiffDoc{Diff: patch}))}).run(t.Context(), "diff", "@last")
	if out != patch {
		t.Errorf("%q was printed as %q", patch, out)
	}
	git.Stdin = strings.NewReader(out)
	if text, err := git.CombinedOutput(); err != nil {
		t.Errorf("git: %v: %s", err, text)
	}
}

func TestWatchGoesToTheEndThatHolds(t *testing.T) {
	l := story().ends(job.Failed, job.Finished{Reason: "no luck"})
	l.tells(
		job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "failed", To: "running"}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Body: &job.StatusChange{From: "running", To: "finished"}},
	)
	l.ends(job.Ready, job.Finished{})
	exit, out, note := (&scene{line: l, daemon: true}).run(t.Context(), "watch", "@last", "--json")
	exits(t, exit, 0, note)
	lines := jsonLines(t, out)
	if len(lines) != len(l.events) || lines[len(lines)-1]["outcome"] != "ready" {
		t.Errorf("%d of %d events, the last is %v", len(lines), len(l.events), lines[len(lines)-1])
	}
}

func TestWatchOfAJobThatNobodyWorksOn(t *testing.T) {
	l := story().on("job.show", gives(protocol.JobDoc{ID: jobID, Status: job.Running, Seq: 8}))
	exit, _, note := (&scene{line: l}).run(t.Context(), "watch", "@last")
	exits(t, exit, exitAway, note)
	has(t, note, "Draw the card: Running", "nobody works on it", "relo daemon start goes on with it")
}

func TestWatchLeavesTheJobAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, signal := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { signal(&SignalError{Number: syscall.SIGINT}) })
		s := &scene{daemon: true, terminal: true, line: story().on("job.show", gives(protocol.JobDoc{ID: jobID, Status: job.Running, Seq: 8}))}
		exit, _, note := s.run(ctx, "watch", "@last")
		exits(t, exit, 130, note)
		if on := strings.Contains(note, "job 01a22de0-303b goes on; relo watch 01a22de0-303b follows it, relo cancel 01a22de0-303b ends it"); !on {
			t.Errorf("it is not said that the job goes on: %s", note)
		}
		if diff := cmp.Diff([]string{"job.show"}, s.line.calls()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnActiveJobThatNobodyWorksOn(t *testing.T) {
	for _, daemon := range []bool{true, false} {
		l := pages().on("job.list", gives(protocol.JobList{Jobs: []protocol.JobLine{{ID: jobID, Status: job.Running}, {ID: jobID, Status: job.Failed}}}))
		for args, words := range map[string]string{"show @last": "Running, but nobody works on it: relo daemon start goes on with it\n", "jobs": "Running, but nobody works on it  0 of 0"} {
			exit, out, note := (&scene{line: l, daemon: daemon}).run(t.Context(), strings.Fields(args)...)
			exits(t, exit, 0, note)
			if strings.Contains(out, words) == daemon {
				t.Errorf("a daemon runs: %v; relo %s prints:\n%s", daemon, args, out)
			}
			if args != "jobs" && (strings.Contains(out, "  relo daemon start ") == daemon || strings.Contains(out, "relo watch") != daemon) {
				t.Errorf("a daemon runs: %v; the next step is wrong:\n%s", daemon, out)
			}
			if strings.Contains(out+note, "relo daemon start goes on with it") == daemon || strings.Contains(out, "Failed, but") {
				t.Errorf("a daemon runs: %v; relo %s prints:\n%s%s", daemon, args, out, note)
			}
		}
	}
}

func TestShowEndsAsRunDoes(t *testing.T) {
	eyes := []string{"the card: no model could look at it"}
	for name, doc := range map[string]protocol.JobDoc{
		"in its end": {ID: jobID, Status: job.Ready, End: &job.Finished{NeedsEyes: eyes}}, "in the document": {ID: jobID, Status: job.Ready, NeedsEyes: eyes},
	} {
		for _, flags := range [][]string{nil, {"--json"}} {
			exit, _, note := (&scene{line: pages().on("job.show", gives(doc))}).run(t.Context(), append([]string{"show", "@last", "--exit-status"}, flags...)...)
			exits(t, exit, exitPerson, name+": "+note)
		}
	}
}

func TestTheLastOfNoJobs(t *testing.T) {
	none := fails(&protocol.Error{Code: protocol.CodeNotFound, Message: `there is no job or task "@last"`, Hint: "relo jobs lists them"})
	for _, endpoint := range []string{"show", "why", "diff", "apply", "cancel"} {
		exit, _, note := (&scene{line: newLine().on("job."+endpoint, none)}).run(t.Context(), endpoint, "@last")
		exits(t, exit, exitUsage, note)
		if want := "relo: there are no jobs yet\n  " + firstJob + " makes one\n"; note != want {
			t.Errorf("relo %s says %q", endpoint, note)
		}
	}
}

func TestWhySaysStatesInTheWordsOfTheViews(t *testing.T) {
	for line, want := range map[string]string{
		"now: accepted": "now: Done", "now: ready": "now: Queued", "now: held: a: b": "now: Waiting for you: a: b", "now: a later state": "now: a later state", "model: now: x": "model: now: x",
	} {
		if got := nowWords(line, false); got != want {
			t.Errorf("%q is %q, not %q", line, got, want)
		}
	}
	if got := nowWords("now: ready", true); got != "now: "+waitsForWorker {
		t.Error(got)
	}
}

func TestCostsAskForFewTitles(t *testing.T) {
	var doc protocol.CostsDoc
	for i := range mostTitles + 5 {
		doc.Rows = append(doc.Rows, protocol.CostRow{Job: fmt.Sprintf("01a22de0-%04d-7000", i), Requests: 1, Cost: new(0.01)}, protocol.CostRow{Job: fmt.Sprintf("01a22de0-%04d-7000", i)})
	}
	l := pages().on("costs.list", gives(doc))
	exit, out, note := (&scene{line: l}).run(t.Context(), "costs")
	exits(t, exit, 0, note)
	if n := strings.Count(l.asked(), "job.show"); n != mostTitles {
		t.Errorf("%d jobs were asked for", n)
	}
	has(t, out, "01a22de0-0019 Match the card", "01a22de0-0024  ")
}

func TestRetryStartsADaemonWhenNoneRuns(t *testing.T) {
	for _, daemon := range []bool{true, false} {
		s := &scene{line: pages(), daemon: daemon}
		exit, out, note := s.run(t.Context(), "retry", "@last")
		exits(t, exit, 0, note)
		has(t, out, "task t1 goes on, from its last point where there is one; relo watch 01a22de0-303b follows it")
		if (s.starts == 1) == daemon {
			t.Errorf("a daemon runs: %v, and %d were started", daemon, s.starts)
		}
	}
}

func TestRetryGivesABudget(t *testing.T) {
	for args, want := range map[string]string{
		"retry @last --budget 2.5": `{"id":"@last","budget":2.5}`, "retry @last --budget 0": `{"id":"@last","budget":0}`, "retry @last": `{"id":"@last"}`,
		"retry @last/card --model far/plan --anew": `{"id":"@last/card","model":"far/plan","anew":true}`,
	} {
		var got string
		l := pages().on("job.retry", func(body []byte) (any, error) {
			got = string(body)
			return protocol.Resolved{Job: jobID}, nil
		})
		exit, _, note := (&scene{line: l, daemon: true}).run(t.Context(), strings.Fields(args)...)
		exits(t, exit, 0, note)
		if got != want {
			t.Errorf("relo %s asks for %s, not %s", args, got, want)
		}
	}
	exit, _, note := (&scene{line: pages(), daemon: true}).run(t.Context(), "retry", "@last", "--budget", "-1")
	exits(t, exit, exitUsage, note)
	has(t, note, "--budget is a sum in USD")
}

func TestASecondApplyChangesNothing(t *testing.T) {
	l := pages().on("job.apply", gives(protocol.ApplyDoc{Job: jobID, Commit: "c", BackupRef: "refs/b", Files: []string{"x"}, Already: true}))
	exit, out, note := (&scene{line: l}).run(t.Context(), "apply", "@last")
	exits(t, exit, 0, note)
	if out != "already applied; nothing was changed now\n" {
		t.Errorf("%q", out)
	}
}

func TestUnknownWordsAreGuessed(t *testing.T) {
	for args, says := range map[string]string{
		"jbos": "did you mean jobs?", "help jbos": "did you mean jobs?", "help frob": `"frob" is not a command of relo`, "help models gess": "did you mean guess?", "--version frob": `"frob" is not a command`,
		"run x --budget abc": `invalid argument "abc" for "--budget": it must be a number` + "\n", "run x --timeout soon": "it must be a time such as 20m\n",
		"costs --days few": "it must be a whole number\n", "run x --yes=perhaps": "it must be true or false\n", "models gess": "did you mean guess?", "config shwo": "did you mean show?", "zzzzzz": "relo --help lists the commands",
		"apply": "ID is missing", "say x": "TEXT is missing", "show a b": `"b" is one argument too many`, "jobs a": `"a" is one argument too many`, "costs a b": "one argument too many",
		"image": "PATH is missing", "costs --days 0": "--days is 1 or more", "costs x --days 2": "--days is for all jobs", "worker": "--join is missing",
	} {
		exit, out, note := (&scene{}).run(t.Context(), strings.Fields(args)...)
		exits(t, exit, exitUsage, note)
		has(t, note, says)
		if out != "" {
			t.Errorf("relo %s prints %q", args, out)
		}
	}
}

func TestADemoSaysWhatIsLeftToLookAt(t *testing.T) {
	dir := t.TempDir()
	for _, flags := range [][]string{nil, {"--json"}} {
		l := applying(story().ends(job.Ready, job.Finished{})).on("job.diff", gives(protocol.DiffDoc{Diff: "+button\n"}))
		s := &scene{line: l, dir: dir}
		s.sh = s.shell(nil, nil)
		s.sh.rehearse = func(_ context.Context, _ app.Env, at string) (*app.Demo, func() error, error) {
			if at != filepath.Join(dir, "here") {
				t.Errorf("the demo is made in %q", at)
			}
			return &app.Demo{Repo: at, Text: "Match the card", Env: app.Env{Getenv: func(string) string { return "/home of demo" }}}, func() error { return nil }, nil
		}
		exit, out, note := s.run(t.Context(), append([]string{"demo", "--keep", "--dir", "here"}, flags...)...)
		exits(t, exit, 0, note)
		has(t, note, demoBand)
		if flags == nil {
			has(t, out, "What was applied\n+button\n", "Repository  "+filepath.Join(dir, "here"), "rehearsal: 0.00 USD, 0 requests, none left this machine", "RELO_HOME='/home of demo' bin/relo diff")
			continue
		}
		lines := jsonLines(t, out)
		if last := lines[len(lines)-1]; last["kind"] != "demo.finished" || lines[0]["kind"] != "job.submitted" {
			t.Errorf("the stream ends with %v", last)
		}
	}
}
