package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// house answers the commands about the daemon.
func house(doc app.DaemonDoc, err error) *scene {
	s := &scene{}
	s.sh = s.shell(nil, nil)
	look := func(context.Context, app.Env) (app.DaemonDoc, error) { return doc, err }
	s.sh.daemonDoors = daemonDoors{
		startDaemon: look, lookDaemon: look,
		stopDaemon: func(context.Context, app.Env, bool) (app.DaemonDoc, error) { return doc, err },
	}
	return s
}

func runningDaemon() app.DaemonDoc {
	at := time.Now().Add(-90 * time.Second)
	return app.DaemonDoc{
		Running: true, PID: 7, Version: "1.2", API: "1", Started: &at, Jobs: 2, Home: "/h/state", Log: "/h/relo.log",
		Workers: []protocol.WorkerDoc{{ID: "local-1", PID: 8, Slots: 1, Busy: 1}},
	}
}

func TestTheDaemonsCommandsSayWhatWasDone(t *testing.T) {
	faulty := runningDaemon()
	faulty.Faults = []config.Fault{{File: "relo.json", Line: 3, Column: 2, Path: "budgt", Message: "is not known"}}
	faulty.Restart = []string{"workers.local is 2 and becomes 3"}
	already := runningDaemon()
	already.Already = true
	none := app.DaemonDoc{Home: "/h/state", Log: "/h/relo.log"}
	away := &protocol.Error{Code: protocol.CodeUnreachable, Message: "the daemon did not start", Hint: "relo doctor"}
	for _, c := range []struct {
		args string
		doc  app.DaemonDoc
		err  error
		exit int
		want []string
	}{
		{"start", runningDaemon(), nil, 0, []string{"the daemon runs: process 7, Relo 1.2, 2 jobs go on", "not confined", "relo daemon stop"}},
		{"start", already, nil, 0, []string{"runs already: process 7"}},
		{"start", none, away, 6, []string{"the daemon did not start", "relo doctor"}},
		{"stop", runningDaemon(), nil, 0, []string{"(process 7) has ended", "2 jobs wait for the next start", "safe point"}},
		{"stop", none, nil, 0, []string{"no daemon is running"}},
		{"status", runningDaemon(), nil, 0, []string{"process 7, Relo 1.2, API 1", "2m ago", "2 active jobs", "local-1: 1 of 1 busy, process 8", "/h/state", "/h/relo.log"}},
		{"status", faulty, nil, 0, []string{"needs a restart: workers.local is 2 and becomes 3", "relo.json:3:2: budgt: is not known", "new jobs are refused"}},
		{"status", none, nil, 6, []string{"no daemon is running", "relo daemon start starts one"}},
	} {
		exit, out, note := house(c.doc, c.err).run(t.Context(), append([]string{"daemon"}, strings.Fields(c.args)...)...)
		exits(t, exit, c.exit, note)
		has(t, out+note, c.want...)
		exit, out, note = house(c.doc, c.err).run(t.Context(), append([]string{"daemon", "--json"}, strings.Fields(c.args)...)...)
		exits(t, exit, c.exit, note)
		if docs := jsonLines(t, out); len(docs) != 1 {
			t.Errorf("relo daemon %s --json prints %d documents", c.args, len(docs))
		}
	}
}

func TestALogIsPrintedInWords(t *testing.T) {
	s := &scene{}
	s.sh = s.shell(nil, nil)
	s.sh.readLog = func(_ context.Context, _ app.Env, lines int, follow bool, each func(string)) error {
		if lines != 5 || !follow {
			return errors.New("not what was asked for")
		}
		each("panic: oh")
		each(`{"level":"warn","component":"x","pid":1,"job":"j\u001b[31m","time":"2026-11-30T12:00:00Z","message":"a sentence"}`)
		return nil
	}
	exit, out, note := s.run(t.Context(), "daemon", "logs", "-f", "--lines", "5")
	exits(t, exit, 0, note)
	has(t, out, "panic: oh\n", "warn  a sentence  job=j[31m\n")
	_, out, _ = s.run(t.Context(), "daemon", "logs", "-f", "--lines", "5", "--json")
	if docs := jsonLines(t, out); len(docs) != 2 || docs[0]["message"] != "panic: oh" || docs[1]["message"] != "a sentence" {
		t.Errorf("%s", out)
	}
}

func TestCleaningSaysWhatItKeeps(t *testing.T) {
	s := &scene{}
	s.sh = s.shell(nil, nil)
	s.sh.clean = func(_ context.Context, _ app.Env, dry bool) (app.CleanDoc, error) {
		return app.CleanDoc{DryRun: dry, Removed: []string{"the folder of attempt a"}, Bytes: 2_500_000, Kept: []app.KeptDoc{{Job: jobID, Title: "T", Why: "it was not applied"}}}, nil
	}
	exit, out, note := s.run(t.Context(), "daemon", "clean", "-n")
	exits(t, exit, 0, note)
	has(t, out, "would be removed: the folder of attempt a", "1 thing would be removed, 2.5 MB", "kept: job 01a22de0-303b (T): it was not applied", "relo discard 01a22de0-303b")
}

// project is one that asks for something.
func project(t *testing.T, stdin string, terminal bool, trust *app.Trust) *scene {
	t.Helper()
	s := &scene{stdin: stdin, terminal: terminal}
	s.sh = s.shell(nil, nil)
	s.sh.trustDoors = trustDoors{
		lookTrust: func(app.Env, string) (app.Trust, error) { return *trust, nil },
		approve:   func(app.Env, app.Trust) error { trust.Approved = true; return nil },
		revoke:    func(app.Env, string) (bool, error) { had := trust.Approved; trust.Approved = false; return had, nil },
	}
	return s
}

func TestTrustShowsAsksAndKeepsTheWord(t *testing.T) {
	for _, c := range []struct {
		args, stdin string
		terminal    bool
		exit        int
		approved    bool
		want        string
	}{
		{"trust", "yes\n", true, 0, true, "approved; relo trust --revoke takes it back"},
		{"trust", "y\n", true, 0, true, "approved"},
		{"trust", "\n", true, 0, false, "nothing was approved"},
		{"trust", "", true, 0, false, "nothing was approved"},
		{"trust", "yes\n", false, 7, false, "relo trust --yes"},
		{"trust --no-input", "yes\n", true, 7, false, "relo trust --yes"},
		{"trust --yes", "", false, 0, true, "approved"},
		{"trust --show", "yes\n", true, 0, false, "waits for your approval"},
		{"trust --revoke", "", false, 0, false, "nothing was approved for this project"},
	} {
		trust := &app.Trust{Dir: "/p", File: "/p/.relo/relo.json", Hash: "h", Worktree: &config.Worktree{Copy: []string{".env"}, Setup: "make deps"}, Previews: []config.Preview{{Name: "web", Command: []string{"npm", "run", "dev"}}}}
		exit, out, note := project(t, c.stdin, c.terminal, trust).run(t.Context(), strings.Fields(c.args)...)
		exits(t, exit, c.exit, note)
		has(t, out+note, c.want)
		if trust.Approved != c.approved {
			t.Errorf("relo %s with %q: approved %v", c.args, c.stdin, trust.Approved)
		}
		if !strings.Contains(c.args, "revoke") {
			has(t, out, "run in each attempt's folder first: make deps", "copy into each attempt's folder: .env", "preview web: run npm run dev")
		}
	}
	exit, out, note := project(t, "", false, &app.Trust{Dir: "/p", File: "/p/.relo/relo.json"}).run(t.Context(), "trust")
	exits(t, exit, 0, note)
	has(t, out, "nothing in /p/.relo/relo.json needs your approval")
}

func TestAnExportSaysWhatItHolds(t *testing.T) {
	s := &scene{}
	s.sh = s.shell(nil, nil)
	s.sh.export = func(_ context.Context, _ app.Env, _ *config.Config, id string, o app.ExportOptions) (app.ExportDoc, error) {
		if id != "@last" || o.Out != "x.zip" || !o.NoPictures {
			return app.ExportDoc{}, errors.New("not what was asked for")
		}
		return app.ExportDoc{Job: jobID, File: "/d/x.zip", Holds: []string{"events.jsonl", "traces/a.jsonl", "pictures/p.png"}, Pictures: 1, LeftOut: []string{"a picture under pictures.never"}, Blind: []string{"the key of x"}}, nil
	}
	exit, out, note := s.run(t.Context(), "export", "@last", "--out", "x.zip", "--no-pictures")
	exits(t, exit, 0, note)
	has(t, out, "/d/x.zip\n")
	has(t, note, "It holds: events.jsonl, 1 transcript, 1 picture", "left out: a picture under pictures.never", "the key of x could not be read", "look at it before you pass it on")
}
