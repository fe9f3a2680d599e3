package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// started runs `daemon start`.
func (w *world) started() app.DaemonDoc {
	w.t.Helper()
	return decode[app.DaemonDoc](w.t, w.relo("daemon", "start", "--json").mustExit(w.t, 0))
}

func decode[T any](t testing.TB, r result) T {
	t.Helper()
	var doc T
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	return doc
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z ")) // a zombie waits for whoever started it
}

// says checks that every part is in the words.
func (r result) says(t testing.TB, parts ...string) result {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(r.stdout+r.stderr, p) {
			t.Errorf("%q is missing in\nstdout: %s\nstderr: %s", p, r.stdout, r.stderr)
		}
	}
	return r
}

func TestADaemonIsStartedAndStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	w.relo("daemon", "status").mustExit(t, 6).says(t, "no daemon is running")
	first := w.started()
	if first.Already || !first.Running || !alive(first.PID) {
		t.Fatalf("%+v", first)
	}
	if again := w.started(); !again.Already || again.PID != first.PID {
		t.Errorf("a second start says %+v", again)
	}
	id := w.submit("one change")
	w.until(w.link(), id, isKind(job.KindFinished))
	status := decode[app.DaemonDoc](t, w.relo("daemon", "status", "--json").mustExit(t, 0))
	if status.PID != first.PID || status.API != protocol.Version || status.Version != app.Version || status.Started == nil || len(status.Workers) != 2 || status.Jobs != 0 {
		t.Errorf("status: %+v", status)
	}
	w.relo("daemon", "logs").mustExit(t, 0).says(t, "the daemon serves")
	w.relo("daemon", "clean").mustExit(t, 0).says(t, "0 things removed") // nothing is old
	workers := w.workerPIDs()
	if len(workers) != 2 {
		t.Errorf("workers: %v", workers)
	}
	w.relo("daemon", "stop").mustExit(t, 0).says(t, "has ended")
	for _, pid := range append(workers, first.PID) {
		if alive(pid) {
			t.Errorf("process %d is alive after the stop", pid)
		}
	}
	if _, err := os.Stat(filepath.Join(w.home, "run", "endpoints.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("endpoints.json is left: %v", err)
	}
	w.relo("daemon", "stop").mustExit(t, 0).says(t, "no daemon is running")
	w.relo("show", id).mustExit(t, 0) // the record is as it was
	w.relo("daemon", "clean", "--dry-run", "--json").mustExit(t, 0).says(t, `"removed":[]`)
}

func TestRunStartsTheDaemonAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	w.relo("run", "one change", "--repo", w.repo).mustExit(t, 0).says(t, "started the daemon (process ")
	pid := decode[app.DaemonDoc](t, w.relo("daemon", "status", "--json").mustExit(t, 0)).PID
	r := w.relo("run", "one change", "--repo", w.repo, "--json").mustExit(t, 0)
	if strings.Contains(r.stderr, "started the daemon") {
		t.Errorf("a second run says: %s", r.stderr)
	}
	if now := decode[app.DaemonDoc](t, w.relo("daemon", "status", "--json").mustExit(t, 0)).PID; now != pid {
		t.Errorf("process %d became %d", pid, now)
	}
}

func TestAStandaloneRunLeavesTheDaemonAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	w.relo("run", "one change", "--repo", w.repo, "--standalone").mustExit(t, 0)
	w.relo("daemon", "status").mustExit(t, 6)
}

func TestOfTwoStartsOneWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{})
	var wait sync.WaitGroup
	docs := make([]result, 4)
	for i := range docs {
		wait.Go(func() { docs[i] = w.relo("daemon", "start", "--json") })
	}
	wait.Wait()
	winners, pids := 0, map[int]bool{}
	for _, r := range docs {
		doc := decode[app.DaemonDoc](t, r.mustExit(t, 0))
		pids[doc.PID] = true
		if !doc.Already {
			winners++
		}
	}
	if winners != 1 || len(pids) != 1 {
		t.Errorf("%d winners, processes %v", winners, pids)
	}
}

// session gives the session that a process belongs to.
func session(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	n, err := strconv.Atoi(strings.Fields(rest)[3])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestADaemonOutlivesTheTerminalThatStartedIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	// A shell that leads a session, as one of a terminal does, and waits.
	shell := exec.Command("/bin/sh", "-c", `"$0" daemon start && echo ready && sleep 600`, binary) //nolint:noctx // ended by the test
	shell.Env, shell.Dir = w.environ(), w.home
	out := &lockedBuffer{}
	shell.Stdout, shell.Stderr = out, out
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	w.wait("the daemon was started", func() bool { return strings.Contains(out.String(), "ready") })
	pid := decode[app.DaemonDoc](t, w.relo("daemon", "status", "--json").mustExit(t, 0)).PID
	if session(t, pid) == session(t, shell.Process.Pid) {
		t.Error("the daemon is in the session of its terminal")
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} { // as when its window is closed
		_ = syscall.Kill(-shell.Process.Pid, s)
	}
	_ = shell.Wait() // killed on purpose
	id := w.submit("one change")
	w.until(w.link(), id, isKind(job.KindFinished))
	if now := decode[app.DaemonDoc](t, w.relo("daemon", "status", "--json").mustExit(t, 0)).PID; now != pid {
		t.Errorf("the daemon is process %d, it was %d", now, pid)
	}
}

// rewrite changes the file in which the daemon says where it is.
func (w *world) rewrite(change map[string]any) {
	w.t.Helper()
	name := filepath.Join(w.home, "run", "endpoints.json")
	text, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	doc := map[string]any{}
	if err := json.Unmarshal(text, &doc); err != nil {
		w.t.Fatal(err)
	}
	maps.Copy(doc, change)
	w.write(name, asJSON(doc))
}

func TestAnotherVersionIsToldInOneSentence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{}).smallRepo()
	w.started()
	const fix = "relo daemon stop && relo daemon start"
	w.rewrite(map[string]any{"version": "0.0.9"})
	w.relo("jobs").mustExit(t, 0).says(t, "note: the daemon is Relo 0.0.9", fix)
	w.rewrite(map[string]any{"api": "0"})
	for _, args := range [][]string{{"jobs"}, {"run", "x", "--repo", w.repo}, {"daemon", "start"}, {"daemon", "status"}} {
		r := w.relo(args...).mustExit(t, 6).says(t, "Relo 0.0.9 with API 0", fix)
		if n := strings.Count(strings.TrimSpace(r.stderr), "\n"); n > 1 {
			t.Errorf("relo %v says more than a sentence and its fix:\n%s", args, r.stderr)
		}
	}
	w.relo("doctor").mustExit(t, 1).says(t, "API 0", fix)
	w.relo("daemon", "stop").mustExit(t, 0).says(t, "has ended")
}

func TestWhatAKilledDaemonLeftIsSeenThrough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	first := w.started()
	_ = syscall.Kill(first.PID, syscall.SIGKILL)
	w.wait("it is gone", func() bool { return !alive(first.PID) })
	w.relo("daemon", "status").mustExit(t, 6).says(t, "no daemon is running")
	w.relo("doctor").mustExit(t, 0).says(t, "left", "when it was killed")

	// Its number and its port belong to somebody else by now, who gets no word of ours.
	trap, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by the test
	if err != nil {
		t.Fatal(err)
	}
	var caught atomic.Int32
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			c, err := trap.Accept()
			if err != nil {
				return
			}
			caught.Add(1)
			_ = c.Close()
		}
	})
	w.rewrite(map[string]any{"pid": os.Getpid(), "bus": "nats://" + trap.Addr().String()})
	w.write(filepath.Join(w.home, "run", "owner.creds"), asJSON(object{"url": "nats://" + trap.Addr().String(), "user": "owner", "password": "x"}))
	w.relo("jobs").mustExit(t, 0)
	w.relo("daemon", "status").mustExit(t, 6)
	w.relo("daemon", "stop").mustExit(t, 0).says(t, "no daemon is running")
	if caught.Load() != 0 {
		t.Errorf("a stranger's port was called %d times", caught.Load())
	}
	_ = trap.Close()
	wait.Wait()
	w.relo("run", "one change", "--repo", w.repo).mustExit(t, 0).says(t, "started the daemon")
}

func TestAPortInUseHasItsOwnWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{})
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	w.relo("config", "set", "bus.listen", l.Addr().String()).mustExit(t, 0)
	w.relo("daemon", "start").mustExit(t, 6).says(t, "the daemon did not start", "cannot listen on "+l.Addr().String(), "address already in use", "relo config set bus.listen 127.0.0.1:0")
}

func TestAStoppedDaemonsJobGoesOnWithoutRepeatingAnything(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"stop", "signal"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			stoppedInTheMiddle(t, how)
		})
	}
}

func stoppedInTheMiddle(t *testing.T, how string) {
	const rounds = 4
	var mu sync.Mutex
	asked := map[string]int{}
	middle, released := make(chan struct{}), make(chan struct{})
	var once sync.Once
	p := &play{plan: planOf(task("one", "easy"))}
	p.before = func(c ctx, tn turn) {
		mu.Lock()
		asked[fmt.Sprintf("%s %s %d", tn.Role, tn.title, tn.step)]++
		mu.Unlock()
		if tn.title == "Do one" && tn.Role == "worker" && tn.step == 2 {
			once.Do(func() { close(middle) })
			select {
			case <-released:
			case <-c.Done():
			}
		}
	}
	p.workers = map[string]act{"Do one": func(_ ctx, tn turn) double.Reply {
		if tn.step < rounds {
			return shell(fmt.Sprintf("mkdir -p out && echo call %d >> out/calls.txt", tn.step))
		}
		return done("four calls")
	}}
	w := newWorld(t, mixed(), p).smallRepo()
	first := w.started()
	id := w.submit("one change")
	<-middle // a model's answer is on its way
	stopped := make(chan result)
	go func() {
		if how == "signal" {
			_ = syscall.Kill(first.PID, syscall.SIGTERM)
		}
		stopped <- w.relo("daemon", "stop")
	}()
	w.wait("the daemon takes no new job", func() bool {
		r := w.relo("run", "another", "--repo", w.repo, "--detach", "--model", "no/such") // refused in any case
		return strings.Contains(r.stderr, "stopping")
	})
	close(released)
	r := <-stopped
	r.mustExit(t, 0)
	if how == "stop" {
		r.says(t, "1 job waits for the next start")
	}
	if doc := w.show(id); doc.Status != job.Running {
		t.Errorf("after the stop the job is %s", doc.Status)
	}
	w.started()
	w.until(w.link(), id, isKind(job.KindFinished))
	doc := w.show(id)
	if doc.Status != job.Ready {
		t.Fatalf("the job is %s: %s\n%s", doc.Status, doc.Reason, w.logs())
	}
	if got := w.git("show", "refs/heads/"+doc.Branch+":out/calls.txt"); got != "call 0\ncall 1\ncall 2\ncall 3" {
		t.Errorf("the tool was called:\n%s", got)
	}
	mu.Lock()
	defer mu.Unlock()
	for turn, n := range asked {
		if n != 1 {
			t.Errorf("%q was asked %d times", turn, n)
		}
	}
}

// An agent whose model does not answer keeps nobody who is in a hurry.
func TestWhoIsInAHurryDoesNotWaitForAgents(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(w *world, pid int){
		"stop --now": func(w *world, _ int) { w.relo("daemon", "stop", "--now").mustExit(w.t, 0) },
		"a second signal": func(w *world, pid int) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			w.wait("it is stopping", func() bool {
				return strings.Contains(w.relo("run", "x", "--repo", w.repo, "--detach", "--model", "no/such").stderr, "stopping")
			})
			_ = syscall.Kill(pid, syscall.SIGTERM)
			w.wait("it is gone", func() bool { return !alive(pid) })
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var released atomic.Bool
			middle, over := make(chan struct{}), make(chan struct{})
			var once sync.Once
			p := &play{plan: planOf(task("one", "easy"))}
			p.before = func(c ctx, tn turn) {
				if tn.title == "Do one" && tn.Role == "worker" && !released.Load() {
					once.Do(func() { close(middle) })
					select {
					case <-over:
					case <-c.Done():
					}
				}
			}
			w := newWorld(t, mixed(), p).smallRepo()
			first := w.started()
			id := w.submit("one change")
			<-middle
			end(w, first.PID)
			if alive(first.PID) {
				t.Error("the daemon is alive")
			}
			released.Store(true)
			close(over)
			w.started()
			w.isReady(id)
		})
	}
}
