package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	if how := os.Getenv(serverAct); how != "" {
		serveTools(how)
		return
	}
	if program := os.Getenv(pictureBench); program != "" {
		if err := servePictureBench(program, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "relo-e2e-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "relo")
	out, err := exec.Command("go", "build", "-o", binary, "../cmd/relo").CombinedOutput() //nolint:noctx // bounded by the tests' own limit
	if err != nil {
		panic(fmt.Sprintf("build relo: %v\n%s", err, out))
	}
	return m.Run()
}

// patience bounds every wait of these tests; on an idle machine they take a
// fraction of it.
const patience = 90 * time.Second

// world is one RELO_HOME, one repository and one provider double.
type world struct {
	t    testing.TB
	home string
	repo string
	play *play
	dbl  *double.Server
	url  string
	path string // PATH of the program; empty: the test's
	// extra are more variables of the program.
	extra []string
}

// lad says what the world's ladder is made of.
type lad struct {
	workers  int
	lease    int
	attempts int
	budget   string // USD, "null" for none
	price    string
	output   int
	models   map[string]double.Model
	ladder   string
	primary  string
	review   bool
}

// mixed is a ladder over both wires: blind, blind, seeing; the Primary sees too.
func mixed() lad {
	return lad{
		workers: 2, lease: 5, attempts: 3, budget: "50", price: `{"input": 1, "output": 2, "cached": 0.5}`, output: 4000, review: true,
		models:  map[string]double.Model{"small": {}, "middle": {}, "big": {Sees: true}, "chief": {Sees: true}},
		ladder:  `[{"model":"open/small","difficulty":"easy"},{"model":"anth/middle","difficulty":"normal"},{"model":"open/big","difficulty":"hard"}]`,
		primary: "anth/chief",
	}
}

func newWorld(t testing.TB, l lad, p *play) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), play: p}
	w.dbl = double.New(double.Options{Models: l.models, Key: "test-key", Play: p.answer})
	srv := httptest.NewServer(w.dbl)
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.configure(l)
	t.Cleanup(w.endDaemon)
	return w
}

// endDaemon ends a daemon that the program started by itself.
func (w *world) endDaemon() {
	if !app.Running(w.env(), nil) {
		return
	}
	cmd := exec.Command(binary, "daemon", "stop", "--now") //nolint:noctx // it has a bound of its own
	cmd.Env, cmd.Dir = w.environ(), w.home
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("the daemon could not be stopped: %v\n%s", err, out)
	}
}

func (w *world) configure(l lad) {
	w.t.Helper()
	models := func(ids ...string) string {
		var rows []string
		for _, id := range ids {
			rows = append(rows, fmt.Sprintf(`%q: {"vision": %t, "context": 200000, "maxOutput": %d, "price": %s}`, id, l.models[id].Sees, l.output, l.price))
		}
		return strings.Join(rows, ", ")
	}
	text := fmt.Sprintf(`{
  "providers": {
    "open": {"api": "openai-chat", "url": "%s/v1", "key": "env:RELO_TEST_KEY", "models": {%s}},
    "anth": {"api": "anthropic", "url": "%s", "key": "env:RELO_TEST_KEY", "models": {%s}}
  },
  "ladder": %s, "primary": %q,
  "workers": {"local": %d, "leaseSeconds": %d},
  "limits": {"attempts": %d},
  "review": {"auto": %t},
  "budget": {"perJob": %s}
}`, w.url, models("small", "big"), w.url, models("middle", "chief"), l.ladder, l.primary, l.workers, l.lease, l.attempts, l.review, l.budget)
	w.write(filepath.Join(w.home, "relo.json"), text)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// smallRepo is a repository of a few files with a reference picture.
func (w *world) smallRepo() *world {
	w.t.Helper()
	w.repo = w.t.TempDir()
	w.write(filepath.Join(w.repo, "README.md"), "# A project\n")
	w.write(filepath.Join(w.repo, "ui.css"), "body { color: black }\n")
	return w.commitRepo()
}

func (w *world) commitRepo() *world {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.repo, "ref"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.repo, "ref", "login.png"), drawing(w.t, 120, 80), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.name", "A person")
	w.git("config", "user.email", "person@localhost")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "start")
	return w
}

// drawing is a picture with some structure, as PNG.
func drawing(t testing.TB, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, color.RGBA{uint8(2 * x), uint8(3 * y), uint8(x ^ y), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = w.repo
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) environ() []string {
	path := w.path
	if path == "" {
		path = os.Getenv("PATH")
	}
	return append([]string{"PATH=" + path, "HOME=" + w.home, "RELO_HOME=" + w.home, "RELO_TEST_KEY=test-key", "RELO_LOG=debug", "TMPDIR=" + os.TempDir()}, w.extra...)
}

// result of one run of the program.
type result struct {
	exit           int
	stdout, stderr string
}

func (w *world) relo(args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = w.environ(), w.home
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	r := result{stdout: out.String(), stderr: errs.String()}
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		r.exit = e.ExitCode()
	} else if err != nil {
		w.t.Fatalf("relo %v: %v", args, err)
	}
	return r
}

// start starts the program; its output is collected.
func (w *world) start(args ...string) (*exec.Cmd, *lockedBuffer) {
	w.t.Helper()
	out := &lockedBuffer{}
	cmd := exec.CommandContext(w.t.Context(), binary, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.environ(), w.home, out, out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, out
}

func exitOf(err error) int {
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		return e.ExitCode()
	}
	return 0
}

// events reads the lines of `run --json`.
func (r result) events(t testing.TB) []job.Event {
	t.Helper()
	var out []job.Event
	for line := range strings.Lines(r.stdout) {
		var e job.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("not an event: %v\n%s", err, line)
		}
		out = append(out, e)
	}
	return out
}

func (r result) mustExit(t testing.TB, want int) result {
	t.Helper()
	if r.exit != want {
		t.Fatalf("exit %d, want %d\nstdout: %s\nstderr: %s", r.exit, want, tail(r.stdout), tail(r.stderr))
	}
	return r
}

func tail(s string) string {
	const most = 6000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// show reads a job's document from the program.
func (w *world) show(id string) protocol.JobDoc {
	w.t.Helper()
	var doc protocol.JobDoc
	r := w.relo("show", id, "--json").mustExit(w.t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		w.t.Fatalf("show: %v\n%s", err, r.stdout)
	}
	return doc
}

// daemon is a running `relo serve`.
type daemon struct {
	w    *world
	cmd  *exec.Cmd
	errs *lockedBuffer
	done chan struct{}
}

// lockedBuffer is written by the program and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (w *world) serve() *daemon {
	w.t.Helper()
	d := &daemon{w: w, cmd: exec.Command(binary, "serve"), errs: &lockedBuffer{}, done: make(chan struct{})} //nolint:noctx // ended by the test
	d.cmd.Env, d.cmd.Dir = w.environ(), w.home
	d.cmd.Stdout, d.cmd.Stderr = d.errs, d.errs
	if err := d.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // killed on purpose
	}()
	w.t.Cleanup(d.stop)
	w.wait("the daemon answers", func() bool { return app.Running(w.env(), nil) })
	return d
}

// kill is kill -9 of the daemon alone; its workers live on.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

// stop asks the daemon to end, then its workers by their locks.
func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(15 * time.Second):
		_ = d.cmd.Process.Kill()
		<-d.done
	}
	for _, pid := range d.w.workerPIDs() {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// workerPIDs are the worker processes of this world that are alive.
func (w *world) workerPIDs() []int {
	var out []int
	names, _ := filepath.Glob(filepath.Join(w.home, "state", "workers", "*.lock"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		var pid int
		if err != nil || json.Unmarshal(text, &pid) != nil || pid <= 0 {
			continue
		}
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(cmdline, []byte("worker")) && bytes.Contains(cmdline, []byte(binary)) {
			out = append(out, pid)
		}
	}
	return out
}

func (w *world) env() app.Env {
	return app.Env{Getenv: func(name string) string {
		for _, v := range w.environ() {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value
			}
		}
		return ""
	}, Dir: w.home, Stderr: &lockedBuffer{}}
}

// link opens a client of the running daemon.
func (w *world) link() *app.Link {
	w.t.Helper()
	cfg, err := app.Load(w.env())
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := app.Open(w.t.Context(), w.env(), cfg, app.Daemon)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = l.Close() })
	return l
}

// submit hands a job to the daemon.
func (w *world) submit(text string) string {
	w.t.Helper()
	r := w.relo("run", text, "--repo", w.repo, "--detach", "--json").mustExit(w.t, 0)
	var got protocol.Accepted
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || got.Job == "" {
		w.t.Fatalf("run --detach: %v %q", err, r.stdout)
	}
	return got.Job
}

// until follows the job until an event fits.
func (w *world) until(l *app.Link, id string, fits func(job.Event) bool) job.Event {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	var found job.Event
	err := l.Follow(ctx, id, 0, func(e job.Event) error {
		if fits(e) {
			found = e
			return client.ErrStop
		}
		return nil
	})
	if err != nil {
		w.t.Fatalf("wait for an event: %v\n%s", err, w.logs())
	}
	return found
}

func isKind(k job.Kind) func(job.Event) bool {
	return func(e job.Event) bool { return e.Kind == k }
}

func becomes(state job.TaskState) func(job.Event) bool {
	return func(e job.Event) bool {
		b, ok := e.Body.(*job.StatusChange)
		return ok && e.Kind == job.KindTaskStatus && b.To == string(state)
	}
}

func (w *world) wait(what string, f func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if f() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Fatalf("waited in vain: %s\n%s", what, w.logs())
}

func (w *world) logs() string {
	var b strings.Builder
	names, _ := filepath.Glob(filepath.Join(w.home, "state", "logs", "*.log"))
	for _, n := range names {
		text, _ := os.ReadFile(n)
		fmt.Fprintf(&b, "--- %s\n%s\n", filepath.Base(n), tail(string(text)))
	}
	return b.String()
}

// calls counts the model calls that the double saw.
func (w *world) calls() int {
	n := 0
	for _, r := range w.dbl.Requests() {
		if r.Wire != "" {
			n++
		}
	}
	return n
}

// ledgerRows counts the requests that the ledger shows for a job.
func (w *world) ledgerRows(id string) int {
	w.t.Helper()
	var doc protocol.CostsDoc
	r := w.relo("costs", id, "--json").mustExit(w.t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, row := range doc.Rows {
		n += row.Requests
	}
	return n
}

// commitsOnce checks that each of the tasks has exactly one commit on the job's branch.
func (w *world) commitsOnce(doc protocol.JobDoc) {
	w.t.Helper()
	log := w.git("log", "--format=%(trailers:key=Relo-Task,valueonly)", doc.Base+"..refs/heads/"+doc.Branch)
	count := map[string]int{}
	for line := range strings.Lines(log) {
		if key := strings.TrimSpace(line); key != "" {
			count[key]++
		}
	}
	for _, task := range doc.Tasks {
		if task.Kind == job.Work && count[task.Key] != 1 {
			w.t.Errorf("task %s has %d commits on the branch, want 1\n%s", task.Key, count[task.Key], log)
		}
	}
}
