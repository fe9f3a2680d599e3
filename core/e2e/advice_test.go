package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// A key that was set after the daemon began: the advice says what helps.
func TestAKeySetAfterTheDaemonBegan(t *testing.T) {
	t.Parallel()
	w := ready(t)
	w.extra = []string{"RELO_TEST_KEY="}
	w.started()
	w.extra = nil
	w.relo("run", "a change", "--repo", w.repo, "--no-input").mustExit(t, 4).says(t, "environment that it was started with", "relo daemon stop && relo daemon start")
	w.relo("daemon", "stop").mustExit(t, 0)
	w.relo("run", "a change", "--repo", w.repo, "--no-input").mustExit(t, 0)
}

// stop --now waits for no agent, and leaves no command of one behind.
func TestStopNowLeavesNoCommandBehind(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.review = false
	p := &play{plan: planOf(task("one", "easy")), workers: map[string]act{"Do one": steps(shell("setsid sleep 304 & sleep 305"), done("done"))}}
	w := newWorld(t, l, p).smallRepo()
	w.started()
	id := w.submit("a change")
	w.wait("the command runs", func() bool {
		all := fmt.Sprint(w.marked())
		return strings.Contains(all, "sleep 304") && strings.Contains(all, "sleep 305")
	})
	w.relo("daemon", "stop", "--now").mustExit(t, 0)
	w.wait("no command is left", func() bool { return len(w.marked()) == 0 })
	if doc := w.show(id); doc.Status != job.Running {
		t.Errorf("the job is %s", doc.Status)
	}
}

// A new record is no old one: there is nothing to back up before it is made.
func TestANewRecordHasNoBackup(t *testing.T) {
	t.Parallel()
	w := ready(t)
	w.relo("jobs").mustExit(t, 0)
	if names, err := filepath.Glob(filepath.Join(w.home, "state", "record", "*.bak")); err != nil || len(names) > 0 {
		t.Errorf("%v %v", names, err)
	}
}

// A job whose folder is gone can be thrown away, and one that would stop at its
// budget again says so instead of going on.
func TestWhatCannotGoOnSaysSo(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.review, l.budget, l.output, l.price = false, "4", 1000, `{"input": 0, "output": 3000}`
	p := &play{plan: planOf(task("one", "easy")), planUsage: usage(1, 1)}
	w := newWorld(t, l, p).smallRepo()
	p.workers = map[string]act{"Do one": func(c ctx, tn turn) double.Reply {
		r := writes(c, tn)
		r.Usage = usage(10, 1000)
		return r
	}}
	w.started()
	id := w.submit("a change")
	w.becomes(w.link(), id, job.StoppedAtBudget)
	w.relo("resume", id).mustExit(t, 5).says(t, "would stop again at once", "--budget")
	if err := os.RemoveAll(w.repo); err != nil {
		t.Fatal(err)
	}
	w.relo("discard", "--force", id).mustExit(t, 0)
}
