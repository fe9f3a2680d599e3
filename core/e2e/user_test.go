package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// The budget may be reached in any kind of task; the job ends all the same.
func TestABudgetReachedInADebugTaskEndsTheJob(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.budget, l.output, l.price = "7", 1000, `{"input": 0, "output": 3000}` // 3 a call
	out, in, cheap := int64(1000), int64(10), int64(1)
	p := &play{plan: planOf(task("one", "easy", checked("false"))), planUsage: double.Usage{In: &in, Out: &cheap}}
	p.workers = map[string]act{"Do one": func(ctx, turn) double.Reply {
		r := double.Reply{Calls: []double.Call{
			{Name: "write", Args: object{"path": "out/one.txt", "content": "one"}},
			{Name: "finish_task", Args: object{"outcome": "done", "summary": "wrote it"}},
		}}
		r.Usage = double.Usage{In: &in, Out: &out}
		return r
	}}
	w := newWorld(t, l, p).smallRepo()
	r := w.relo("run", "one", "--repo", w.repo, "--standalone", "--json").mustExit(t, 5)
	doc := w.show(r.events(t)[0].Job)
	if doc.Status != job.StoppedAtBudget || !strings.Contains(doc.Reason, "may cost up to 3") {
		t.Errorf("the job is %s: %s", doc.Status, doc.Reason)
	}
	// More budget, and it goes on.
	w.relo("retry", doc.ID, "--budget", "40").mustExit(t, 0)
	r = w.relo("watch", doc.ID)
	if r.exit != 3 || w.show(doc.ID).Status != job.Failed {
		t.Errorf("after the retry: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
}

// Without a daemon a retry starts one, which takes the job to its end.
func TestARetryWithoutADaemonStartsOne(t *testing.T) {
	t.Parallel()
	var mended atomic.Bool
	l := mixed()
	l.attempts = 1
	p := &play{plan: planOf(task("one", "easy"), task("two", "easy", after("one")))}
	p.workers = map[string]act{"Do one": func(c ctx, tn turn) double.Reply {
		if !mended.Load() {
			return done("did nothing")
		}
		return writes(c, tn)
	}}
	w := newWorld(t, l, p).smallRepo()
	w.relo("run", "one", "--repo", w.repo, "--standalone").mustExit(t, 3)
	mended.Store(true)
	w.relo("retry", "@last").mustExit(t, 0).says(t, "started the daemon")
	w.relo("watch", "@last", "--json").mustExit(t, 0)
	doc := w.show("@last")
	if doc.Status != job.Ready {
		t.Errorf("the job is %s: %s", doc.Status, doc.Reason)
	}
	w.commitsOnce(doc)
}

// A job whose plan could not be had is planned again.
func TestAFailedPlanningIsTriedAgain(t *testing.T) {
	t.Parallel()
	var mended atomic.Bool
	p := threeTasks()
	w := newWorld(t, mixed(), p)
	p.primary = func(ctx, turn) double.Reply {
		if mended.Load() {
			return call("submit_plan", p.plan)
		}
		return double.Reply{Status: 400}
	}
	w.smallRepo()
	w.relo("run", "one", "--repo", w.repo, "--standalone").mustExit(t, 3)
	mended.Store(true)
	w.relo("retry", "@last").mustExit(t, 0)
	w.relo("watch", "@last", "--json").mustExit(t, 0)
}

// A run that ends with its own job takes no other.
func TestAStandaloneRunTakesNoGuests(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy")), workers: map[string]act{"Do one": steps(shell("sleep 60"))}}
	w := newWorld(t, mixed(), p).smallRepo()
	cmd, _ := w.start("run", "one", "--repo", w.repo, "--standalone")
	w.wait("the command runs", func() bool { return len(w.marked()) > 0 })
	w.relo("run", "a guest", "--repo", w.repo, "--detach").mustExit(t, 6).says(t, "runs one job of its own")
	if r := w.relo("jobs"); r.exit != 0 || !strings.Contains(r.stdout, "one") {
		t.Errorf("others may look: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitOf(cmd.Wait()); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
}

// What is no picture is refused before anything starts.
func TestAnAttachmentMustBeAPicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), threeTasks()).smallRepo()
	text := filepath.Join(w.home, "f.png")
	w.write(text, "no picture")
	r := w.relo("run", "x", "--repo", w.repo, "--standalone", "--image", text).mustExit(t, 2)
	if !strings.Contains(r.stderr, "f.png") || w.calls() != 0 {
		t.Errorf("%d requests were sent; it said\n%s", w.calls(), r.stderr)
	}
}

// A second apply changes nothing and says so.
func TestASecondApplyChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	w.relo("run", "one", "--repo", w.repo, "--standalone", "--apply").mustExit(t, 0)
	name := filepath.Join(w.repo, "out", "do-one.txt")
	w.write(name, "my own\n")
	r := w.relo("apply", "@last").mustExit(t, 0)
	if got, err := os.ReadFile(name); err != nil || string(got) != "my own\n" {
		t.Errorf("the file is %q (%v)", got, err)
	}
	if !strings.Contains(r.stdout+r.stderr, "already applied") {
		t.Errorf("it said\n%s%s", r.stdout, r.stderr)
	}
}
