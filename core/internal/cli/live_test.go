package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// stageVariable makes this test's own program a relo with a scripted API, so
// that a real terminal can be put before it.
const stageVariable = "RELO_TEST_STAGE"

func TestMain(m *testing.M) {
	if args := os.Getenv(stageVariable); args != "" {
		os.Exit(perform(strings.Fields(args)))
	}
	os.Exit(m.Run())
}

// perform runs a command line on the real streams, with a daemon's job behind
// it that answers orders.
func perform(args []string) int {
	l := story()
	show := func([]byte) (any, error) {
		return protocol.JobDoc{ID: jobID, Title: "Match the card", Status: job.Running, Seq: 8}, nil
	}
	l.on("job.show", show).on("job.resolve", gives(protocol.Resolved{Job: jobID})).on("job.diff", gives(protocol.DiffDoc{Diff: "+a red button\n"}))
	l.on("job.pause", func([]byte) (any, error) {
		l.tells(job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "running", To: "paused", Reason: "you paused it"}})
		return protocol.Resolved{Job: jobID}, nil
	})
	l.on("job.resume", func([]byte) (any, error) {
		l.tells(job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "paused", To: "running"}})
		return protocol.Resolved{Job: jobID}, nil
	})
	l.on("job.say", func(body []byte) (any, error) {
		var q protocol.Say
		err := json.Unmarshal(body, &q)
		if q.Text == "ask" {
			l.wonders()
		}
		if q.Text == "blue" && q.ID == "t1" {
			l.answered()
		}
		if q.Text == "finish" {
			l.tells(job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a1", Body: &job.StatusChange{From: "running", To: "finished"}})
			l.ends(job.Ready, job.Finished{})
		}
		return protocol.SayDoc{Resolved: protocol.Resolved{Job: jobID}, Now: []string{q.Text + " to " + q.ID}}, err
	})
	s := (&scene{line: l, daemon: true}).shell(os.Stdout, os.Stderr)
	s.in, s.getenv, s.terminal, s.size = os.Stdin, os.Getenv, isTerminal, sizeOf
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-signals; end(&SignalError{Number: syscall.SIGTERM}) }()
	return s.start(ctx, args)
}

// terminal is a real one, of tmux.
type terminal struct {
	t    *testing.T
	sock string
}

func newTerminal(t *testing.T, size [2]string, args string, env ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("not run: the live view on a real terminal needs tmux on the PATH; install it and run go test ./core/internal/cli -run Live")
	}
	dir, err := os.MkdirTemp("", "relo-live") //nolint:usetesting // a socket's path has little room, and t.TempDir names the test
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t, filepath.Join(dir, "s")}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := "env " + strings.Join(env, " ") + " " + stageVariable + "='" + args + "' '" + program + "'; echo exit=$?; cat"
	x.tmux("-f", "/dev/null", "new-session", "-d", "-x", size[0], "-y", size[1], command)
	t.Cleanup(func() {
		kill := exec.Command("tmux", "-S", x.sock, "kill-server") //nolint:noctx // it must run when the test's context has ended
		if out, err := kill.CombinedOutput(); err != nil {
			t.Errorf("tmux: %v: %s", err, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return x
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.CommandContext(x.t.Context(), "tmux", append([]string{"-S", x.sock}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// types presses keys.
func (x *terminal) types(keys ...string) { x.tmux(append([]string{"send-keys"}, keys...)...) }

// shows waits until the terminal shows every part, and gives what it shows.
func (x *terminal) shows(parts ...string) string {
	x.t.Helper()
	return x.until(fmt.Sprintf("%q is not shown", parts), func(text string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
	})
}

// hides waits until the terminal shows a part no more.
func (x *terminal) hides(part string) {
	x.t.Helper()
	x.until(fmt.Sprintf("%q is still shown", part), func(text string) bool { return !strings.Contains(text, part) })
}

func (x *terminal) until(words string, fits func(text string) bool) string {
	x.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	end := time.After(20 * time.Second)
	for {
		text := x.tmux("capture-pane", "-p", "-S", "-100")
		if fits(text) {
			return text
		}
		select {
		case <-look.C:
		case <-end:
			x.t.Fatalf("%s:\n%s", words, text)
		}
	}
}

func TestLiveViewOnARealTerminal(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, [2]string{"80", "24"}, "watch")
	x.shows("Match the card", "o Running", "o Draw the card", "attempt 1: hard, needs eyes", "p pause  s say  o open")
	x.types("p")
	x.shows("= Pausing", "you paused it", "p resume")
	x.types("p")
	x.shows("o Running", "it goes on")
	x.types("s")
	x.types("-l", "q: wide 幅")
	x.shows("say to the job: q: wide 幅_")
	x.types("Enter")
	x.shows("said; told at their next safe point: q: wide 幅 to 01a22de0")
	x.types("Down", "o")
	x.shows("Why this model", "Changes", "+a red button")
	x.types("o", "?")
	x.shows("leave the view; the job goes on")
	x.types("?")
	x.tmux("resize-window", "-x", "40", "-y", "12")
	x.shows("attempt 1 on here/eyes: hard", "? help\n")
	x.tmux("resize-window", "-x", "80", "-y", "24")
	x.types("Escape")
	x.hides("> o Draw the card") // until then the next key would make one of the two: Alt-s
	x.types("s")
	x.types("-l", "finish")
	x.shows("say to the job: finish_")
	x.types("Enter")
	text := x.shows("exit=0", "Match the card: Done, not applied", "relo apply 01a22de0-303b")
	if strings.Contains(text, "p pause") || !strings.Contains(text, "v Done, not applied\n") {
		t.Errorf("the last frame does not stay behind:\n%s", text)
	}
}

// wonders lets the only agent ask something, so that the whole job waits.
func (l *line) wonders() {
	l.tells(
		job.Event{Kind: job.KindAttemptFinished, Task: "t1", Attempt: "a1", Body: &job.AttemptEnd{Outcome: job.OutPaused, Question: "Which colour?"}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a1", Body: &job.StatusChange{From: "running", To: "finished"}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Body: &job.StatusChange{From: "finished", To: "held", Reason: "asks you: Which colour?"}},
		job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "running", To: "waiting_for_person"}},
		job.Event{Kind: job.KindFinished, Body: &job.Finished{Outcome: job.WaitingForPerson}},
	)
	l.on("costs.list", gives(protocol.CostsDoc{})).on("job.show", func([]byte) (any, error) {
		return protocol.JobDoc{ID: jobID, Title: "Match the card", Status: job.WaitingForPerson, Seq: int64(len(l.events))}, nil
	})
}

// answered lets the job go on after wonders, and end.
func (l *line) answered() {
	l.tells(
		job.Event{Kind: job.KindSaid, Task: "t1", Body: &job.Said{Text: "blue"}},
		job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "waiting_for_person", To: "running"}},
	)
	l.ends(job.Ready, job.Finished{})
}

func TestLiveViewStaysForAnAnswer(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, [2]string{"80", "24"}, "watch")
	x.shows("o Draw the card")
	x.types("s")
	x.types("-l", "ask")
	x.types("Enter")
	x.shows("! Waiting for you", "asks: Which colour?", "press s to answer", "p pause  s say")
	x.types("s")
	x.types("-l", "blue")
	x.shows("say to Draw the card: blue_")
	x.types("Enter")
	x.shows("exit=0", "Done, not applied")
}

func TestLiveViewIsLeftWithAQuestion(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, [2]string{"80", "24"}, "watch")
	x.shows("o Draw the card")
	x.types("s")
	x.types("-l", "ask")
	x.types("Enter")
	x.shows("press s to answer")
	x.types("q")
	x.shows("exit=7")
}

func TestAQuestionIsAskedInLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stdin string
		flags []string
		exit  int
		asks  bool
	}{{"blue\n", nil, 0, true}, {"\n", nil, exitPerson, true}, {"", nil, exitPerson, true}, {"blue\n", []string{"--no-input"}, exitPerson, false}} {
		l := story()
		l.wonders()
		l.on("job.say", func(body []byte) (any, error) {
			var q protocol.Say
			err := json.Unmarshal(body, &q)
			if q.ID == "t1" && q.Text == "blue" {
				l.answered()
			}
			return protocol.SayDoc{Resolved: protocol.Resolved{Job: jobID}}, err
		})
		exit, _, note := (&scene{line: l, daemon: true, terminal: true, stdin: c.stdin}).run(t.Context(), append([]string{"run", "it", "--approve=never"}, c.flags...)...)
		exits(t, exit, c.exit, note)
		if strings.Contains(note, "Your answer") != c.asks {
			t.Errorf("%q %v: %s", c.stdin, c.flags, note)
		}
	}
}

func TestLiveViewIsLeftAndTheJobGoesOn(t *testing.T) {
	t.Parallel()
	for key, exit := range map[string]string{"C-c": "exit=130", "q": "exit=8"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, [2]string{"80", "24"}, "run it --approve=never")
			x.shows("o Draw the card")
			x.types(key)
			x.shows("job 01a22de0-303b goes on; relo watch 01a22de0-303b follows it, relo cancel", exit)
			x.types("-l", "the terminal is as it was") // it echoes again
			x.shows("the terminal is as it was")
		})
	}
}

func TestLiveViewIsNotDrawnWhereItCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"RELO_SCREEN_READER=1", "TERM=dumb"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, [2]string{"80", "24"}, "run it --approve=never", env)
			text := x.shows("Draw the card: Running, attempt 1 on here/eyes: hard, needs eyes")
			if strings.Contains(text, "p pause") {
				t.Error(text)
			}
		})
	}
}
