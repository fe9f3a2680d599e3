package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// threeTasks is a small job: two at once, one after both.
func threeTasks() *play {
	return &play{plan: planOf(task("one", "easy"), task("two", "normal"), task("three", "easy", after("one", "two")))}
}

// ends waits until the job is ready and checks that nothing was done twice.
func (w *world) ends(id string) {
	w.t.Helper()
	l := w.link()
	w.until(l, id, isKind(job.KindFinished))
	doc, err := l.Show(w.t.Context(), id)
	if err != nil || doc.Status != job.Ready {
		w.t.Fatalf("the job is %s: %s (%v)\n%s", doc.Status, doc.Reason, err, w.logs())
	}
	w.commitsOnce(doc)
	// A row is opened before its request is sent, so the kill may fall between the two:
	// such a row is lost, and the provider never heard of it.
	rows, calls, lost := w.ledgerRows(id), w.calls(), w.lostRows(id)
	if rows < calls || rows > calls+lost {
		w.t.Errorf("the ledger has %d rows, %d of them lost; the providers saw %d calls", rows, lost, calls)
	}
}

// lostRows counts a job's ledger rows that were open when the daemon was killed.
func (w *world) lostRows(id string) (n int) {
	w.t.Helper()
	for _, e := range w.relo("watch", id, "--json").mustExit(w.t, 0).events(w.t) {
		if u, ok := e.Body.(*job.UsageBody); ok && u.Outcome == ledger.OutcomeLost {
			n++
		}
	}
	return n
}

func (w *world) loseBroker(lose bool) {
	w.t.Helper()
	if !lose {
		return
	}
	dir := filepath.Join(w.home, "state", "bus")
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
		w.t.Fatalf("the broker's folder is not where it was: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		w.t.Fatal(err)
	}
}

// each runs a crash with the broker's folder kept and lost.
func each(t *testing.T, f func(t *testing.T, lose bool)) {
	for _, lose := range []bool{false, true} {
		t.Run(fmt.Sprintf("broker lost %t", lose), func(t *testing.T) {
			t.Parallel()
			f(t, lose)
		})
	}
}

func TestKilledWhenPlanned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, lose bool) {
		l := mixed()
		l.workers = 0 // planned, and nobody to dispatch to
		w := newWorld(t, l, threeTasks()).smallRepo()
		d := w.serve()
		id := w.submit("three changes")
		w.until(w.link(), id, isKind(job.KindPlanned))
		d.kill()
		w.loseBroker(lose)
		w.configure(mixed())
		w.serve()
		w.ends(id)
	})
}

func TestKilledWhenDispatched(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, lose bool) {
		w := newWorld(t, mixed(), threeTasks()).smallRepo()
		d := w.serve()
		w.wait("two workers are heard of", func() bool {
			s, err := w.link().Status(t.Context())
			return err == nil && len(s.Workers) == 2
		})
		workers := w.workerPIDs()
		w.signal(workers, syscall.SIGSTOP) // the tasks lie in their mailboxes
		id := w.submit("three changes")
		w.until(w.link(), id, becomes(job.TaskDispatched))
		d.kill()
		w.loseBroker(lose)
		w.signal(workers, syscall.SIGCONT)
		w.serve()
		w.ends(id)
	})
}

func (w *world) signal(pids []int, s syscall.Signal) {
	w.t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil {
			w.t.Fatalf("signal worker %d: %v", pid, err)
		}
	}
}

func TestKilledInTheMiddleOfAnAttempt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, lose bool) {
		var d *daemon
		var once sync.Once
		asked, killed := make(chan struct{}), make(chan struct{})
		p := threeTasks()
		p.before = func(ctx context.Context, tn turn) {
			if tn.title == "Do one" && tn.Role == "worker" && tn.step == 1 {
				once.Do(func() {
					close(asked) // the request is here, its answer will never arrive
					select {
					case <-killed:
					case <-ctx.Done():
						<-killed
					}
				})
			}
		}
		w := newWorld(t, mixed(), p).smallRepo()
		d = w.serve()
		id := w.submit("three changes")
		<-asked
		d.kill()
		close(killed)
		w.loseBroker(lose)
		w.serve()
		w.ends(id)
	})
}

func TestKilledWhenAResultIsReceived(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, lose bool) {
		w := newWorld(t, mixed(), threeTasks()).smallRepo()
		d := w.serve()
		id := w.submit("three changes")
		w.until(w.link(), id, isKind(job.KindAttemptFinished))
		d.kill()
		w.loseBroker(lose)
		w.serve()
		w.ends(id)
	})
}

// gitThatKills is a git that kills its parent right after it moved a job's
// branch: the ref is new, the record does not know.
const gitThatKills = `#!/bin/sh
"%[1]s" "$@"
code=$?
case "$*" in
*update-ref*refs/heads/relo/*)
	if [ ! -e "%[2]s" ]; then : > "%[2]s"; kill -9 $PPID; fi;;
esac
exit $code
`

func TestKilledInTheMiddleOfAMerge(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, lose bool) {
		w := newWorld(t, mixed(), threeTasks()).smallRepo()
		mark := w.wrapGit(gitThatKills)
		d := w.serve()
		id := w.submit("three changes")
		select {
		case <-d.done:
		case <-time.After(patience):
			t.Fatalf("the daemon was not killed\n%s", w.logs())
		}
		if _, err := os.Stat(mark); err != nil {
			t.Fatalf("the daemon ended, but not by the merge: %v\n%s", err, d.errs)
		}
		w.loseBroker(lose)
		w.serve()
		w.ends(id)
	})
}

// A worker that was away for longer than its lease comes back with a result:
// the task was done by another meanwhile, and the late work is not applied.
func TestALateResultIsNotApplied(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.lease, l.workers = 5, 2
	var mu sync.Mutex
	var first string
	stopped := make(chan struct{})
	p := &play{plan: planOf(task("one", "easy"))}
	w := newWorld(t, l, p)
	// The first answer to finish is held back until its worker has been stopped,
	// so that the worker has its result in hand only after its lease.
	p.workers = map[string]act{"Do one": func(ctx context.Context, tn turn) double.Reply {
		if tn.step == 0 {
			mu.Lock()
			defer mu.Unlock()
			content := "in time\n"
			if first == "" {
				first, content = "late", "late\n"
			}
			return call("write", object{"path": "out/one.txt", "content": content})
		}
		if strings.Contains(asJSON(tn.Entries[1].Calls), "late") {
			select {
			case <-stopped:
			case <-ctx.Done():
			}
		}
		return done("wrote it")
	}}
	w.smallRepo()
	w.serve()
	id := w.submit("one change")
	link := w.link()
	started := w.until(link, id, isKind(job.KindStarted))
	w.wait("the first attempt has written", func() bool { mu.Lock(); defer mu.Unlock(); return first != "" })
	w.wait("its second question is here", func() bool { return w.calls() >= 3 })
	pid := w.workerPID(started.Worker)
	w.signal([]int{pid}, syscall.SIGSTOP)
	close(stopped)
	w.until(link, id, becomes(job.TaskLost))
	w.until(link, id, isKind(job.KindFinished))
	w.signal([]int{pid}, syscall.SIGCONT)
	w.wait("the worker is heard of again", func() bool {
		s, err := link.Status(t.Context())
		return err == nil && len(s.Workers) == 2
	})
	doc := w.show(id)
	if doc.Status != job.Ready {
		t.Fatalf("the job is %s: %s", doc.Status, doc.Reason)
	}
	w.commitsOnce(doc)
	if got := w.git("show", "refs/heads/"+doc.Branch+":out/one.txt"); got != "in time" {
		t.Errorf("the branch holds %q", got)
	}
	task := doc.Tasks[0]
	if task.Attempts[0].Result == nil || task.Attempts[0].Result.Outcome != job.OutLost || task.Attempts[1].Epoch != task.Attempts[0].Epoch+1 {
		t.Errorf("the attempts are %s", asJSON(task.Attempts))
	}
}

// gitThatStops is a git that stops its parent right after it made an attempt's
// commit: the worker has its result in hand and has told nobody.
const gitThatStops = `#!/bin/sh
"%[1]s" "$@"
code=$?
case "$*" in
*commit-tree*)
	if [ ! -e "%[2]s" ]; then echo $PPID > "%[2]s.new"; mv "%[2]s.new" "%[2]s"; kill -STOP $PPID; fi;;
esac
exit $code
`

// The same with a whole result in hand: it says done, its commit is made, and it
// comes after the lease. It is told, and kept out.
func TestALateDoneIsToldAndNotApplied(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.lease = 5
	var n atomic.Int32
	p := &play{plan: planOf(task("one", "easy"))}
	p.workers = map[string]act{"Do one": func(_ ctx, tn turn) double.Reply {
		if tn.step > 0 {
			return done("wrote it")
		}
		return call("write", object{"path": "out/one.txt", "content": fmt.Sprintf("try %d\n", n.Add(1))})
	}}
	w := newWorld(t, l, p).smallRepo()
	mark := w.wrapGit(gitThatStops)
	w.serve()
	id := w.submit("one change")
	link := w.link()
	w.until(link, id, becomes(job.TaskLost))
	w.until(link, id, isKind(job.KindFinished))
	var pid int
	text, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	w.signal([]int{pid}, syscall.SIGCONT)
	notice := w.until(link, id, func(e job.Event) bool {
		b, ok := e.Body.(*job.Notice)
		return ok && strings.Contains(b.Words, "late result")
	})
	doc := w.show(id)
	if doc.Status != job.Ready {
		t.Fatalf("the job is %s: %s", doc.Status, doc.Reason)
	}
	w.commitsOnce(doc)
	if got := w.git("show", "refs/heads/"+doc.Branch+":out/one.txt"); got != "try 2" {
		t.Errorf("the branch holds %q", got)
	}
	if got := w.git("show", "refs/relo/attempt/"+notice.Attempt+":out/one.txt"); got != "try 1" {
		t.Errorf("the late work is not kept: %q", got)
	}
}

// wrapGit puts a script before git on the program's PATH; it gets the real git
// and the name of a file that it makes once.
func (w *world) wrapGit(script string) (mark string) {
	w.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		w.t.Fatal(err)
	}
	bin, mark := w.t.TempDir(), filepath.Join(w.t.TempDir(), "done")
	if err := os.WriteFile(filepath.Join(bin, "git"), fmt.Appendf(nil, script, real, mark), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.path = bin + string(os.PathListSeparator) + os.Getenv("PATH")
	return mark
}

func (w *world) workerPID(id string) int {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.home, "state", "workers", id+".lock"))
	if err != nil {
		w.t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		w.t.Fatal(err)
	}
	return pid
}
