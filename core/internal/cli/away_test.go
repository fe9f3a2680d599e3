package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// stops makes the daemon stop answering after a while.
func stops(l *line, gone *atomic.Bool) *line {
	for _, endpoint := range []string{"job.events", "job.cancel"} {
		a := l.answers[endpoint]
		l.on(endpoint, func(body []byte) (any, error) {
			if gone.Load() {
				return nil, protocol.ErrAway
			}
			if a != nil {
				return a(body)
			}
			var q protocol.EventsQuery
			err := json.Unmarshal(body, &q)
			l.mu.Lock()
			defer l.mu.Unlock()
			return protocol.EventPage{Events: l.events[min(int(q.After), len(l.events)):]}, err
		})
	}
	return l
}

func TestRunEndsWhenTheDaemonStaysAwayAndNobodyIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		flags    []string
	}{"off a terminal": {}, "without input": {true, []string{"--no-input"}}, "as JSON": {false, []string{"--json"}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var gone atomic.Bool
				time.AfterFunc(5*time.Second, func() { gone.Store(true) })
				start := time.Now()
				exit, out, note := (&scene{line: stops(story(), &gone), daemon: true, terminal: c.terminal}).run(t.Context(), append([]string{"run", "x"}, c.flags...)...)
				exits(t, exit, exitAway, note)
				has(t, note, awayWords, "has not answered for 30s", "relo daemon start goes on with it, relo watch 01a22de0-303b follows it")
				if took := time.Since(start); took < 35*time.Second || took > 38*time.Second {
					t.Errorf("it ended after %v", took)
				}
				if strings.Count(note, awayWords) != 1 || strings.Contains(note, "still running") || strings.Contains(note, backWords) {
					t.Error(note)
				}
				if c.flags != nil && c.flags[0] == "--json" {
					lines := jsonLines(t, out)
					if doc, ok := lines[len(lines)-1]["error"].(map[string]any); !ok || doc["code"] != protocol.CodeUnreachable {
						t.Error(out)
					}
				}
			})
		})
	}
}

func TestWatchWaitsForTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		l := stops(story().on("job.show", gives(protocol.JobDoc{ID: jobID, Status: job.Running, Seq: 1})), &gone)
		time.AfterFunc(time.Second, func() { gone.Store(true) })
		time.AfterFunc(5*time.Minute, func() {
			l.tells(job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a1", Body: &job.StatusChange{From: "running", To: "finished"}})
			l.ends(job.Ready, job.Finished{})
			gone.Store(false)
		})
		exit, _, note := (&scene{line: l, daemon: true}).run(t.Context(), "watch")
		exits(t, exit, exitDone, note)
		for _, words := range []string{awayWords, backWords} {
			if strings.Count(note, words) != 1 {
				t.Errorf("%q is not said once:\n%s", words, note)
			}
		}
	})
}

func TestASignalWhileTheDaemonIsAway(t *testing.T) {
	for name, c := range map[string]struct {
		verb     []string
		terminal bool
		after    time.Duration
		signal   syscall.Signal
		exit     int
		says     string
	}{
		"off a terminal":     {[]string{"run", "x"}, false, 12 * time.Second, syscall.SIGINT, 130, "relo: job 01a22de0-303b could not be cancelled: no daemon answers, so it waits\n  relo daemon start, then relo cancel 01a22de0-303b ends it\n"},
		"before it is known": {[]string{"run", "x"}, false, 5100 * time.Millisecond, syscall.SIGTERM, 143, "could not be cancelled: no daemon answers"},
		"on a terminal":      {[]string{"run", "x", "--approve", "never"}, true, 12 * time.Second, syscall.SIGINT, 130, "\njob 01a22de0-303b waits until a daemon runs; relo daemon start\n"},
		"of watch":           {[]string{"watch"}, true, 12 * time.Second, syscall.SIGINT, 130, "\njob 01a22de0-303b waits until a daemon runs; relo daemon start\n"},
		"of logs":            {[]string{"logs", "--follow"}, true, 12 * time.Second, syscall.SIGINT, 130, "\njob 01a22de0-303b waits until a daemon runs; relo daemon start\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var gone atomic.Bool
				time.AfterFunc(5*time.Second, func() { gone.Store(true) })
				ctx, signal := context.WithCancelCause(t.Context())
				time.AfterFunc(c.after, func() { signal(&SignalError{Number: c.signal}) })
				l := stops(story().on("job.show", gives(protocol.JobDoc{ID: jobID, Status: job.Running, Seq: 1})), &gone)
				l.on("job.resolve", gives(protocol.Resolved{Job: jobID})).on("job.logs", gives(protocol.LogsDoc{}))
				exit, _, note := (&scene{line: l, daemon: true, terminal: c.terminal}).run(ctx, c.verb...)
				exits(t, exit, c.exit, note)
				has(t, note, c.says)
				if strings.Contains(note, "deadline") || strings.Contains(note, "goes on;") {
					t.Error(note)
				}
			})
		})
	}
}

func TestWhoLeavesAPlanThatWaitsIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, _ := planning(t)
		ctx, signal := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { signal(&SignalError{Number: syscall.SIGINT}) })
		exit, _, note := (&scene{line: l, daemon: true, terminal: true}).run(ctx, "watch")
		exits(t, exit, exitInterrupt, note)
		has(t, note, "\n\njob 01a22de0-303b waits for your word on its plan; relo approve 01a22de0-303b begins it, relo cancel 01a22de0-303b ends it\n")
	})
}

func TestTheLiveViewStopsItsClockWhileTheDaemonIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		v := newView((&scene{}).shell(&strings.Builder{}, &strings.Builder{}), jobID)
		v.progress = progressTTY
		ctx, leave := context.WithCancel(t.Context())
		followed := make(chan error)
		go func() { followed <- v.stream(ctx, client.New(stops(story(), &gone))) }()
		shows := func(after time.Duration) string {
			<-time.After(after)
			v.mu.Lock()
			defer v.mu.Unlock()
			var text strings.Builder
			for _, l := range v.frame(board.Size{Width: 100, Height: 24}) {
				text.WriteString(l.String() + "\n")
			}
			return text.String()
		}
		there := shows(10 * time.Second)
		gone.Store(true)
		first := shows(10 * time.Second)
		has(t, first, awayWords)
		if later := shows(time.Hour); later != first || strings.Contains(there, awayWords) {
			t.Errorf("the view moves while nobody answers:\n%s\n%s", first, later)
		}
		gone.Store(false)
		back := shows(time.Second)
		has(t, back, backWords)
		if strings.Contains(back, awayWords) || back == first {
			t.Error(back)
		}
		leave()
		if err := <-followed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestAFaultyConfigurationKeepsNobodyFromAJob(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".relo"), 0o750); err != nil {
		t.Fatal(err)
	}
	bad := []byte("{\n  \"budgt\": 1\n}\n")
	for _, c := range []struct {
		name, file string
		says       bool
	}{{"the project's", filepath.Join(dir, ".relo", "relo.json"), false}, {"the person's", filepath.Join(home, "config", "relo.json"), true}} {
		if c.says { // where the person's is, places say
			c.file = config.FindPlaces(func(n string) string { return map[string]string{"RELO_HOME": home}[n] }).File()
		}
		if err := os.MkdirAll(filepath.Dir(c.file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) (int, string) {
			s := &scene{line: story().ends(job.Ready, job.Finished{}), daemon: true, dir: dir, env: map[string]string{"RELO_HOME": home}}
			for _, verb := range []string{"pause", "resume", "cancel"} {
				s.line.on("job."+verb, gives(protocol.Resolved{Job: jobID})).on("job.logs", gives(protocol.LogsDoc{}))
			}
			s.line.on("job.list", gives(protocol.JobList{})).on("job.say", gives(protocol.SayDoc{Resolved: protocol.Resolved{Job: jobID}}))
			s.sh = s.shell(nil, nil)
			s.sh.load = app.Load
			s.sh.export = func(_ context.Context, _ app.Env, cfg *config.Config, _ string, o app.ExportOptions) (app.ExportDoc, error) {
				if cfg == nil || o.NoPictures != c.says {
					t.Errorf("%s: exported without pictures: %v, under %v", c.name, o.NoPictures, cfg)
				}
				return app.ExportDoc{}, nil
			}
			exit, _, note := s.run(t.Context(), args...)
			return exit, note
		}
		for _, verb := range []string{"jobs", "show @last", "watch @last", "costs", "pause x", "resume x", "cancel x", "say x y", "export x"} {
			exit, note := run(strings.Fields(verb)...)
			exits(t, exit, exitDone, c.name+", "+verb+": "+note)
			if got := strings.Count(note, "the configuration has a fault, which does not matter here: "); (got == 1) != c.says || got > 1 {
				t.Errorf("%s, %s: %s", c.name, verb, note)
			}
		}
		for _, verb := range []string{"run x", "models", "config show"} {
			exit, note := run(strings.Fields(verb)...)
			exits(t, exit, exitUsage, c.name+", "+verb+": "+note)
			has(t, note, "budgt")
		}
	}
}
