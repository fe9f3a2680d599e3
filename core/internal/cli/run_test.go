package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func TestRunEndsWithTheCodeOfTheJob(t *testing.T) {
	for _, c := range []struct {
		name   string
		status job.Status
		end    job.Finished
		exit   int
		says   string
	}{
		{"a ready job is done", job.Ready, job.Finished{}, 0, "Done, not applied"},
		{"done, but only eyes can confirm", job.Ready, job.Finished{NeedsEyes: []string{"the card: no model could look at it"}}, 7, "no model could look at it"},
		{"a job that waits for a person", job.WaitingForPerson, job.Finished{Reason: "a conflict"}, 7, "Waiting for you: a conflict"},
		{"a job that waits for a key", job.WaitingForPerson, job.Finished{Reason: "no key", Code: job.CodeKey}, 4, "Waiting for you: no key"},
		{"a job stopped at its budget", job.StoppedAtBudget, job.Finished{}, 5, "relo resume 01a22de0-303b --budget N"},
		{"a failed job", job.Failed, job.Finished{Reason: "attempts are spent"}, 3, "Failed: attempts are spent"},
		{"a job that failed at a key", job.Failed, job.Finished{Code: job.CodeKey}, 4, "Failed"},
		{"a job that somebody cancelled", job.Cancelled, job.Finished{}, 9, "Cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			exit, out, note := (&scene{line: story().ends(c.status, c.end)}).run(t.Context(), "run", "Match the card")
			exits(t, exit, c.exit, note)
			has(t, out, "Match the card: "+jobState(c.status), c.says, "0.05 USD: plan 0.05 (1 request)", "relo/"+jobID, "Next")
			has(t, note, "not confined", "started the daemon (process 7)", "Draw the card: Running, attempt 1 on here/eyes: hard, needs eyes")

			exit, out, note = (&scene{line: story().ends(c.status, c.end)}).run(t.Context(), "run", "Match the card", "--json")
			exits(t, exit, c.exit, note)
			lines := jsonLines(t, out)
			if lines[0]["kind"] != "job.submitted" || lines[len(lines)-1]["kind"] != "job.finished" {
				t.Errorf("the stream begins with %v and ends with %v", lines[0]["kind"], lines[len(lines)-1]["kind"])
			}
		})
	}
}

func TestRunHandsInWhatTheFlagsSay(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "card.png"), []byte("pixels"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := 1.5
	whole := protocol.Submit{
		Text: "Match the card", Repo: filepath.Join(dir, "sub"), Model: "here/eyes", Private: true, Budget: &one, Approve: "never", AllowUnknown: true,
		Images: []protocol.Attachment{{Name: "card.png", SHA256: "d3a9c9ab52a0ad879b21fe26a6db9fdbea0b35b90bd1ef8f50cc02b4e7a9e4f8", Bytes: 6}},
	}
	for _, c := range []struct {
		name  string
		args  []string
		stdin string
		want  protocol.Submit
	}{
		{"flags before the text", []string{"run", "--repo", "sub", "--image", "card.png", "--model=here/eyes", "--private", "--budget", "1.5", "--yes", "Match the card"}, "", whole},
		{"flags behind the text", []string{"run", "Match the card", "--yes", "--budget=1.5", "--private", "--model", "here/eyes", "--image", "card.png", "--repo", filepath.Join(dir, "sub")}, "", whole},
		{"the text from stdin", []string{"--json", "run", "-", "--no-input"}, "Match\nthe card\n", protocol.Submit{Text: "Match\nthe card\n", Repo: dir, Approve: "never"}},
		{"a budget of nothing is a budget", []string{"run", "x", "--budget", "0"}, "", protocol.Submit{Text: "x", Repo: dir, Approve: "never", Budget: new(float64)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := story().ends(job.Ready, job.Finished{}).on("blob.put", gives(protocol.Empty{}))
			var got protocol.Submit
			l.on("job.submit", func(body []byte) (any, error) {
				return protocol.Accepted{Job: jobID}, json.Unmarshal(body, &got)
			})
			exit, _, note := (&scene{line: l, dir: dir, stdin: c.stdin}).run(t.Context(), c.args...)
			exits(t, exit, 0, note)
			for i := range got.Images {
				if len(got.Images[i].SHA256) != 64 {
					t.Errorf("%q is no hash", got.Images[i].SHA256)
				}
				got.Images[i].SHA256 = c.want.Images[i].SHA256
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRunRefusesWhatItCannotFollow(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/card.png", "b/card.png"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "huge.png"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "huge.png"), maxImage+1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"no text", []string{"run"}, "TEXT is missing"},
		{"an empty text", []string{"run", " "}, "the text is empty"},
		{"nothing on stdin", []string{"run", "-"}, "the text is empty"},
		{"a text without quotes", []string{"run", "fix", "it"}, "put it in quotes"},
		{"the text twice", []string{"run", "x", "--file", "a/card.png"}, "the text is given twice"},
		{"a text that is not there", []string{"run", "--file", "no.txt"}, "--file no.txt cannot be opened: no such file"},
		{"a plan that is applied", []string{"run", "x", "--dry-run", "--apply"}, "--dry-run makes the plan and nothing else"},
		{"a live view off a terminal", []string{"run", "x", "--progress", "tty"}, "--progress tty needs a terminal"},
		{"an unknown progress", []string{"run", "x", "--progress", "bars"}, "it is auto, tty, plain or none"},
		{"another approval", []string{"run", "x", "--approve", "all"}, "it is never or plan"},
		{"a budget below nothing", []string{"run", "x", "--budget", "-1"}, "--budget is a sum in USD"},
		{"a budget in words", []string{"run", "x", "--budget", "much"}, `invalid argument "much" for "--budget": it must be a number`},
		{"a budget without end", []string{"run", "x", "--budget", "inf"}, "--budget is a sum in USD"},
		{"detached in this process", []string{"run", "x", "--detach", "--standalone"}, "choose one"},
		{"detached and applied", []string{"run", "x", "--detach", "--apply"}, "choose one"},
		{"an unknown flag", []string{"run", "x", "--nosuch"}, "unknown flag: --nosuch"},
		{"a picture that is not there", []string{"run", "x", "--image", "no.png"}, "--image no.png cannot be opened: no such file"},
		{"a folder as a picture", []string{"run", "x", "--image", "a"}, "--image a is not a file"},
		{"a picture that is too large", []string{"run", "x", "--image", "huge.png"}, "larger than 40 MiB"},
		{"two pictures of one name", []string{"run", "x", "--image", "a/card.png", "--image", "b/card.png"}, "two pictures have the name card.png"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scene{dir: dir}
			exit, out, note := s.run(t.Context(), c.args...)
			exits(t, exit, exitUsage, note)
			has(t, note, c.says)
			if out != "" || len(s.modes) > 0 {
				t.Errorf("stdout is %q and the API was opened %d times", out, len(s.modes))
			}
			_, out, _ = (&scene{dir: dir}).run(t.Context(), append(c.args, "--json")...)
			doc, ok := jsonLines(t, out)[0]["error"].(map[string]any)
			if !ok || doc["code"] != "usage" || doc["retryable"] != false {
				t.Errorf("the error's document is %s", out)
			}
		})
	}
}

func TestErrorsOfTheAPIHaveCodesAndHints(t *testing.T) {
	for code, exit := range map[string]int{
		protocol.CodeInternal: 1, protocol.CodeUsage: 2, protocol.CodeConfig: 2, protocol.CodeNotFound: 2, protocol.CodeAmbiguous: 2, protocol.CodeNotReady: 1,
		protocol.CodeConflict: 7, protocol.CodeKey: 4, protocol.CodeBudget: 5, protocol.CodeUnreachable: 6, protocol.CodeUnknown: 7, protocol.CodeProvider: 1, protocol.CodeUnapplied: 7, protocol.CodeDamaged: 1,
	} {
		fault := &protocol.Error{Code: code, Message: "it went wrong", Hint: "do this", Retryable: true}
		got, out, note := (&scene{line: newLine().on("job.submit", fails(fault))}).run(t.Context(), "run", "x", "--json")
		exits(t, got, exit, code+": "+note)
		want := map[string]any{"error": map[string]any{"code": code, "message": "it went wrong", "hint": "do this", "retryable": true}}
		if diff := cmp.Diff(want, jsonLines(t, out)[0]); diff != "" {
			t.Error(diff)
		}
		has(t, note, "relo: it went wrong\n  do this\n")
	}
	exit, _, note := (&scene{line: newLine().on("job.list", fails(protocol.ErrAway))}).run(t.Context(), "jobs")
	exits(t, exit, exitAway, note)
	has(t, note, "the daemon does not answer", "relo daemon start")
}

func TestRunUsesTheDaemonThatRuns(t *testing.T) {
	for _, c := range []struct {
		name   string
		daemon bool
		flags  []string
		exit   int
		mode   app.Mode
	}{
		{"it runs", true, nil, 0, app.Daemon},
		{"it runs and is not wanted", true, []string{"--standalone"}, 0, app.Standalone},
		{"it does not run", false, nil, 0, app.Daemon},
		{"it does not run and is not wanted", false, []string{"--standalone"}, 0, app.Standalone},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scene{line: story().ends(job.Ready, job.Finished{}), daemon: c.daemon}
			exit, _, note := s.run(t.Context(), append([]string{"run", "x"}, c.flags...)...)
			exits(t, exit, c.exit, note)
			if s.modes[0] != c.mode || (c.exit == 0 && s.closed != 1) {
				t.Errorf("opened in mode %d, closed %d times", s.modes[0], s.closed)
			}
			if started := s.starts == 1; started != (!c.daemon && c.mode == app.Daemon) {
				t.Errorf("%d daemons were started", s.starts)
			}
		})
	}
}

func TestDetachPrintsTheJob(t *testing.T) {
	exit, out, note := (&scene{line: story(), daemon: true}).run(t.Context(), "run", "x", "--detach", "--json")
	exits(t, exit, 0, note)
	if out != `{"job":"`+jobID+"\"}\n" {
		t.Errorf("stdout is %q", out)
	}
	_, out, note = (&scene{line: story(), daemon: true}).run(t.Context(), "run", "x", "--detach")
	if out != jobID+"\n" {
		t.Errorf("stdout is %q", out)
	}
	has(t, note, "relo watch 01a22de0-303b follows it")
}

func applying(l *line) *line {
	return l.on("job.apply", func([]byte) (any, error) {
		l.tells(
			job.Event{Kind: job.KindApplied, Body: &job.AppliedBody{Commit: "c", BackupRef: "refs/relo/backup/x", Files: []string{"a.css"}}},
			job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "ready", To: "applied"}},
		)
		return protocol.ApplyDoc{Job: jobID, Commit: "c", BackupRef: "refs/relo/backup/x", Files: []string{"a.css"}}, nil
	})
}

func TestApplyFollowsAReadyJobOnly(t *testing.T) {
	exit, out, note := (&scene{line: applying(story().ends(job.Ready, job.Finished{}))}).run(t.Context(), "run", "x", "--apply")
	exits(t, exit, 0, note)
	has(t, out, "Applied 1 file to your files:\n  a.css\n", "refs/relo/backup/x keeps your files")

	_, out, _ = (&scene{line: applying(story().ends(job.Ready, job.Finished{}))}).run(t.Context(), "run", "x", "--apply", "--json")
	lines := jsonLines(t, out)
	if last := lines[len(lines)-1]; last["to"] != "applied" || lines[len(lines)-2]["kind"] != "job.applied" {
		t.Errorf("the stream ends with %v", last)
	}

	failed := &scene{line: applying(story().ends(job.Failed, job.Finished{}))}
	exit, _, note = failed.run(t.Context(), "run", "x", "--apply")
	exits(t, exit, exitFailed, note)
	if strings.Contains(failed.line.asked(), "job.apply") {
		t.Error("a failed job was applied")
	}

	conflict := &protocol.Error{Code: protocol.CodeConflict, Message: "the same lines", Hint: "merge it yourself"}
	exit, out, note = (&scene{line: story().ends(job.Ready, job.Finished{}).on("job.apply", fails(conflict))}).run(t.Context(), "run", "x", "--apply")
	exits(t, exit, exitPerson, note)
	has(t, out, "Done, not applied")
	has(t, note, "the same lines", "merge it yourself")
}

// cancelling makes the job end when it is cancelled.
func cancelling(l *line) *line {
	return l.on("job.cancel", func(body []byte) (any, error) {
		var q protocol.CancelQuery
		err := json.Unmarshal(body, &q)
		l.tells(job.Event{Kind: job.KindTaskStatus, Task: "t1", Body: &job.StatusChange{From: "running", To: "cancelled", Reason: q.Reason}})
		l.ends(job.Cancelled, job.Finished{Reason: q.Reason})
		return protocol.Resolved{Job: jobID}, err
	})
}

func TestASignalCancelsTheJobOrLeavesTheView(t *testing.T) {
	for _, c := range []struct {
		name             string
		daemon, terminal bool
		signal           syscall.Signal
		exit             int
		cancels          bool
	}{
		{"Ctrl-C off a terminal cancels", true, false, syscall.SIGINT, 130, true},
		{"SIGTERM off a terminal cancels", true, false, syscall.SIGTERM, 143, true},
		{"Ctrl-C on a terminal leaves a daemon's job", true, true, syscall.SIGINT, 130, false},
		{"SIGTERM on a terminal cancels", true, true, syscall.SIGTERM, 143, true},
		{"Ctrl-C on a terminal cancels a job of this process", false, true, syscall.SIGINT, 130, true},
	} {
		for _, flags := range [][]string{nil, {"--json"}} {
			t.Run(c.name+strings.Join(flags, ""), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, signal := context.WithCancelCause(t.Context())
					time.AfterFunc(5*time.Second, func() { signal(&SignalError{Number: c.signal}) })
					s := &scene{line: cancelling(story()), daemon: c.daemon, terminal: c.terminal}
					exit, out, note := s.run(ctx, append([]string{"run", "x", "--standalone=" + strconv.FormatBool(!c.daemon)}, flags...)...)
					exits(t, exit, c.exit, note)
					if got := strings.Contains(s.line.asked(), "job.cancel"); got != c.cancels {
						t.Errorf("cancelled: %v", got)
					}
					if s.closed != 1 {
						t.Errorf("the API was closed %d times", s.closed)
					}
					switch {
					case !c.cancels:
						has(t, note, "job 01a22de0-303b goes on; relo watch 01a22de0-303b follows it, relo cancel 01a22de0-303b ends it")
					case flags != nil:
						lines := jsonLines(t, out)
						if lines[len(lines)-1]["outcome"] != "cancelled" {
							t.Errorf("the stream ends with %v", lines[len(lines)-1])
						}
					default:
						has(t, out, "Match the card: Cancelled")
					}
				})
			})
		}
	}
}

func TestTheTimeIsOver(t *testing.T) {
	for _, c := range []struct {
		name            string
		daemon, cancels bool
	}{{"a daemon's job goes on", true, false}, {"a job of this process is cancelled", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{line: cancelling(story()), daemon: c.daemon}
				exit, _, note := s.run(t.Context(), "run", "x", "--timeout", "85s", "--standalone="+strconv.FormatBool(!c.daemon))
				exits(t, exit, exitTimeout, note)
				if got := strings.Contains(s.line.asked(), "job.cancel"); got != c.cancels {
					t.Errorf("cancelled: %v", got)
				}
				has(t, note, "the time of --timeout is over", "still running: Draw the card")
				if n := strings.Count(note, "still running"); n != 2 {
					t.Errorf("%d heartbeats in 85 seconds of silence; the first is due after 30", n)
				}
			})
		})
	}
}
