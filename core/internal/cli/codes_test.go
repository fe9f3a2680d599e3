package cli

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// Programs read stdout: at every exit code it holds JSON and nothing else.
func TestStdoutIsJSONAtEveryExitCode(t *testing.T) {
	failing := func(code string) *line {
		return newLine().on("job.submit", fails(&protocol.Error{Code: code, Message: "it went wrong"}))
	}
	running := func() *line {
		return story().on("job.show", gives(protocol.JobDoc{ID: jobID, Status: job.Running, Seq: 8}))
	}
	interrupt := func(ctx context.Context) context.Context {
		ctx, signal := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { signal(&SignalError{Number: syscall.SIGINT}) })
		return ctx
	}
	for _, c := range []struct {
		name string
		exit int
		args string
		line *line
		ctx  func(context.Context) context.Context
	}{
		{"done", 0, "run x", story().ends(job.Ready, job.Finished{}), nil},
		{"done and applied", 0, "run x --apply", applying(story().ends(job.Ready, job.Finished{})), nil},
		{"an error", 1, "run x", failing(protocol.CodeInternal), nil},
		{"usage", 2, "run", newLine(), nil},
		{"an unknown command", 2, "nosuch", newLine(), nil},
		{"an unknown flag", 2, "run x --nosuch", newLine(), nil},
		{"failed", 3, "run x", story().ends(job.Failed, job.Finished{Reason: "no luck"}), nil},
		{"failed, as shown", 3, "show --exit-status", story().ends(job.Failed, job.Finished{}), nil},
		{"a key", 4, "run x", story().ends(job.WaitingForPerson, job.Finished{Code: job.CodeKey}), nil},
		{"a key at once", 4, "run x", failing(protocol.CodeKey), nil},
		{"the budget", 5, "run x", story().ends(job.StoppedAtBudget, job.Finished{}), nil},
		{"away", 6, "run x", failing(protocol.CodeUnreachable), nil},
		{"eyes", 7, "run x", story().ends(job.Ready, job.Finished{NeedsEyes: []string{"the card"}}), nil},
		{"a conflict", 7, "run x --apply", story().ends(job.Ready, job.Finished{}).on("job.apply", fails(&protocol.Error{Code: protocol.CodeConflict})), nil},
		{"running", 8, "show @last --exit-status", running(), nil},
		{"cancelled", 9, "run x", story().ends(job.Cancelled, job.Finished{}), nil},
		{"watched to its end", 9, "watch", story().ends(job.Cancelled, job.Finished{}), nil},
		{"replayed", 8, "watch --no-follow", running(), nil},
		{"the time", 124, "run x --timeout 1s", running(), nil},
		{"a signal", 130, "run x", cancelling(story()), interrupt},
		{"a signal to a view", 130, "watch", running(), interrupt},
		{"a question", 1, "logs", newLine(), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.ctx != nil {
					ctx = c.ctx(ctx)
				}
				exit, out, note := (&scene{line: c.line, daemon: true}).run(ctx, append(strings.Fields(c.args), "--json")...)
				exits(t, exit, c.exit, note)
				dec, n := json.NewDecoder(strings.NewReader(out)), 0
				for ; ; n++ {
					var doc map[string]any
					if err := dec.Decode(&doc); err == io.EOF {
						break
					} else if err != nil {
						t.Fatalf("after %d documents: %v in %q", n, err, out)
					}
					if fault, ok := doc["error"].(map[string]any); ok && (fault["code"] == "" || fault["message"] == nil) {
						t.Errorf("%v", doc)
					}
				}
				if n == 0 {
					t.Errorf("nothing on stdout; stderr: %s", note)
				}
			})
		})
	}
}

func TestQuietKeepsResultsAndErrors(t *testing.T) {
	t.Parallel()
	exit, out, note := (&scene{line: story().ends(job.Failed, job.Finished{Reason: "no luck"}), daemon: true}).run(t.Context(), "-q", "run", "x")
	exits(t, exit, exitFailed, note)
	has(t, out, "Match the card: Failed: no luck")
	if note != "" {
		t.Errorf("stderr says %q", note)
	}
	_, _, note = (&scene{line: newLine(), daemon: true}).run(t.Context(), "jobs", "--quiet")
	has(t, note, "relo: ")
	_, _, note = (&scene{line: story().ends(job.Ready, job.Finished{}), daemon: true}).run(t.Context(), "run", "x", "--progress=none")
	if strings.Contains(note, "Draw the card") {
		t.Error(note)
	}
}

func TestColoursAreForThoseWhoWantThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		terminal bool
		env      map[string]string
		flags    []string
		want     bool
	}{
		{"a terminal", true, nil, nil, true},
		{"no terminal", false, nil, nil, false},
		{"forced", false, map[string]string{"CLICOLOR_FORCE": "1"}, nil, true},
		{"forced by nothing", false, map[string]string{"CLICOLOR_FORCE": "0"}, nil, false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, nil, false},
		{"an empty NO_COLOR", true, map[string]string{"NO_COLOR": ""}, nil, true},
		{"--no-color", true, nil, []string{"--no-color"}, false},
		{"a dumb terminal", true, map[string]string{"TERM": "dumb"}, nil, false},
		{"a screen reader", true, map[string]string{"RELO_SCREEN_READER": "1"}, nil, false},
		{"--screen-reader", true, nil, []string{"--screen-reader"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, out, _ := (&scene{line: pages(), terminal: c.terminal, env: c.env}).run(t.Context(), append([]string{"jobs"}, c.flags...)...)
			if got := strings.Contains(out, "\x1b["); got != c.want {
				t.Errorf("colours: %v in %q", got, out)
			}
		})
	}
}

func TestWordsAreNotBrokenAtTheEdgeOfATerminal(t *testing.T) {
	t.Parallel()
	s := &scene{line: pages(), terminal: true}
	s.size.Width, s.size.Height = 60, 500
	exit, out, note := s.run(t.Context(), "show", "--no-color")
	exits(t, exit, 0, note)
	for l := range strings.Lines(out) {
		if len([]rune(l)) > 61 {
			t.Errorf("%q is too long for 60 columns", l)
		}
	}
	has(t, out, "Draw the card")
}

func TestAListOfJobsKeepsToOneLineEach(t *testing.T) {
	t.Parallel()
	s := &scene{line: pages(), terminal: true}
	s.size.Width = 72
	_, out, _ := s.run(t.Context(), "jobs", "--no-color")
	if strings.Count(out, "\n") != 3 {
		t.Errorf("%s", out)
	}
	has(t, out, "Match the[31m card a…")
}

func TestHelpIsShortOrWhole(t *testing.T) {
	t.Parallel()
	exit, out, note := (&scene{}).run(t.Context(), "run", "-h")
	exits(t, exit, 0, note)
	has(t, out, "relo run \"Make the login page", "git diff | relo run -", "relo run --help says more")
	if strings.Contains(out, "--standalone") || strings.Count(out, "\n") > 10 {
		t.Errorf("-h says:\n%s", out)
	}
	_, out, _ = (&scene{}).run(t.Context(), "run", "--help")
	has(t, out, "--standalone", "a live view follows the work", "Examples:")
	_, out, _ = (&scene{}).run(t.Context(), "--help")
	if work, setup := strings.Index(out, "Every day:"), strings.Index(out, "Set up:"); work < 0 || setup < work {
		t.Errorf("the daily commands come first:\n%s", out)
	}
	for topic, says := range map[string]string{"exit-codes": "124      --timeout was reached", "environment": "NO_COLOR", "states": "Lost contact"} {
		_, out, _ := (&scene{}).run(t.Context(), "help", topic)
		has(t, out, says)
	}
}

func TestEveryCommandOfTheTableIsThere(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	each((&scene{}).shell(nil, nil).root(), func(c *cobra.Command) { known[strings.TrimPrefix(c.CommandPath(), "relo ")] = true })
	for name := range abouts {
		if !known[name] {
			t.Errorf("there is no command %q", name)
		}
	}
}

func TestShellsCompleteIdsModelsAndWords(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"watch ":           {"@last\tMatch the[31m card and more", "01a22de0-303b\tDone, not applied", "01a11111-2222"},
		"why ":             {"01a22de0-303b/card\tDraw the card"},
		"run x --model ":   {"far/plan\timages", "here/coder\ttext only"},
		"run --approve ":   {"never", "plan"},
		"completion ":      {"bash", "powershell"},
		"watch --progress": {"--progress"},
	} {
		l := pages().on("job.show", gives(protocol.JobDoc{ID: jobID, Tasks: []protocol.TaskDoc{{Key: "card", Title: "Draw the card"}}}))
		fields := strings.Split(args, " ")
		exit, out, note := (&scene{line: l}).run(t.Context(), append([]string{"__complete"}, fields...)...)
		exits(t, exit, 0, note)
		has(t, out, want...)
	}
	exit, out, _ := (&scene{line: newLine()}).run(t.Context(), "__complete", "watch", "")
	if exit != 0 || strings.Contains(out, "script has no") {
		t.Errorf("what cannot be asked is said in the middle of a line: %d %q", exit, out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		exit, out, note := (&scene{}).run(t.Context(), "completion", shell)
		exits(t, exit, 0, note)
		has(t, out, "relo")
	}
	exit, _, note := (&scene{}).run(t.Context(), "completion", "csh")
	exits(t, exit, exitUsage, note)
}
