package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider/double"
)

// onlyJSON holds stdout against the rule of --json: documents and nothing else,
// and on a failure an error with a code and words, or events before.
func onlyJSON(t *testing.T, name string, r result, want int) {
	t.Helper()
	if r.exit != want {
		t.Errorf("%s: exit %d, want %d\nstdout: %s\nstderr: %s", name, r.exit, want, tail(r.stdout), tail(r.stderr))
		return
	}
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	n := 0
	for dec.More() {
		var doc map[string]any
		if err := dec.Decode(&doc); err != nil {
			t.Errorf("%s: not JSON: %v\n%s", name, err, tail(r.stdout))
			return
		}
		if e, ok := doc["error"].(map[string]any); ok && (e["code"] == "" || e["message"] == "") {
			t.Errorf("%s: an error without a code or words: %v", name, doc)
		}
		n++
	}
	if n == 0 {
		t.Errorf("%s: stdout is empty; stderr: %s", name, tail(r.stderr))
	}
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Log("not run: jq is not on this machine; the documents were read here only")
		return
	}
	cmd := exec.CommandContext(t.Context(), jq, "-c", ".")
	cmd.Stdin = strings.NewReader(r.stdout)
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Count(out, []byte("\n")) != n {
		t.Errorf("%s: jq says %v\n%s", name, err, out)
	}
}

// `relo run --json | jq` works at every exit code.
func TestJSONAtEveryExitCode(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.review = false
	one := func() *play { return &play{plan: planOf(task("one", "easy"))} }
	runs := []struct {
		name string
		want int
		lad  func() lad
		play func() *play
		args []string
		env  string
	}{
		{"done", 0, nil, one, nil, ""},
		{"usage", 2, nil, one, []string{"--approve", "perhaps"}, ""},
		{"failed", 3, nil, func() *play { return &play{plan: planOf(task("one", "easy", after("nobody")))} }, nil, ""},
		{"key refused", 4, nil, one, nil, "RELO_TEST_KEY=wrong"},
		{"budget", 5, func() lad {
			x := l
			x.price, x.output = `{"input": 0, "output": 3000}`, 1000
			return x
		}, one, []string{"--budget", "1"}, ""},
		{"plan to approve", 7, nil, one, []string{"--approve", "plan", "--no-input"}, ""},
		{"only eyes can confirm", 7, func() lad {
			x := l
			x.models = map[string]double.Model{"small": {}, "middle": {}, "big": {}, "chief": {}}
			return x
		}, func() *play { return &play{plan: planOf(task("one", "easy", eyes("ref/login.png")))} }, nil, ""},
		{"time-out", 124, nil, func() *play {
			p := one()
			p.workers = map[string]act{"Do one": func(c ctx, _ turn) double.Reply { <-c.Done(); return done("late") }}
			return p
		}, []string{"--timeout", "2s"}, ""},
	}
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := l
			if c.lad != nil {
				x = c.lad()
			}
			w := newWorld(t, x, c.play()).smallRepo()
			if c.env != "" {
				w.extra = append(w.extra, c.env)
			}
			r := w.relo(append([]string{"run", "a change", "--repo", w.repo, "--standalone", "--json"}, c.args...)...)
			onlyJSON(t, c.name, r, c.want)
		})
	}
}

// The codes that are no job's own end.
func TestJSONOfWhatIsNoEndOfAJob(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	p := &play{plan: planOf(task("one", "easy")), workers: map[string]act{"Do one": func(c ctx, tn turn) double.Reply {
		select {
		case <-gate:
		case <-c.Done():
		}
		return writes(c, tn)
	}}}
	l := mixed()
	l.review = false
	w := newWorld(t, l, p).smallRepo()
	onlyJSON(t, "no jobs", w.relo("jobs", "--json"), 0)
	onlyJSON(t, "an unknown job", w.relo("show", "nobody", "--json"), 2)
	onlyJSON(t, "no daemon", w.relo("daemon", "status", "--json"), 6)
	d := w.serve()
	id := w.submit("a change")
	w.wait("the model is asked", func() bool { return w.calls() >= 2 })
	onlyJSON(t, "still running", w.relo("show", id, "--exit-status", "--json"), 8)
	onlyJSON(t, "paused", w.relo("pause", id, "--json"), 0)
	onlyJSON(t, "resumed", w.relo("resume", id, "--json"), 0)
	onlyJSON(t, "cancelled", w.relo("cancel", id, "--json"), 0)
	onlyJSON(t, "a cancelled job", w.relo("watch", id, "--json"), 9)
	close(gate)
	onlyJSON(t, "taken up again", w.relo("retry", id, "--json"), 0)
	onlyJSON(t, "watched to its end", w.relo("watch", id, "--json"), 0)
	for _, args := range [][]string{
		{"show", id},
		{"jobs"},
		{"why", id},
		{"diff", id},
		{"pictures", id},
		{"logs", id},
		{"costs"},
		{"models"},
		{"config", "show"},
		{"daemon", "status"},
		{"providers", "list"},
		{"version"},
		{"trust", w.repo, "--show"},
		{"apply", id},
		{"apply", "--undo", id},
		{"discard", "--force", id},
	} {
		onlyJSON(t, strings.Join(args, " "), w.relo(append(args, "--json")...), 0)
	}
	d.stop()
	broken := newWorld(t, l, p)
	broken.write(filepath.Join(broken.home, "state"), "not a folder")
	onlyJSON(t, "an error of the system", broken.relo("jobs", "--json"), 1)
	broken = newWorld(t, l, p)
	broken.write(filepath.Join(broken.home, "relo.json"), `{"ladder": 7, "nonsense": true}`)
	onlyJSON(t, "a faulty config", broken.relo("run", "x", "--json", "--standalone"), 2)
}

// A signal off a terminal cancels the job; what was printed is still JSON.
func TestJSONWhenASignalComes(t *testing.T) {
	t.Parallel()
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := &play{plan: planOf(task("one", "easy")), workers: map[string]act{"Do one": steps(shell("sleep 303"))}}
			w := newWorld(t, mixed(), p).smallRepo()
			cmd := exec.CommandContext(t.Context(), binary, "run", "one", "--repo", w.repo, "--standalone", "--json")
			var out, errs lockedBuffer
			cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.environ(), w.home, &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.wait("the command runs", func() bool { return strings.Contains(fmt.Sprint(w.marked()), "sleep 303") })
			time.Sleep(100 * time.Millisecond)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			code := exitOf(cmd.Wait())
			onlyJSON(t, signal.String(), result{exit: code, stdout: out.String(), stderr: errs.String()}, want)
		})
	}
}

// In a CI-like shell: no terminal, no input, nothing asked, and the work is in
// the files at the end.
func TestRunApplyWithoutInput(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.review = false
	w := newWorld(t, l, &play{plan: planOf(task("one", "easy"))}).smallRepo()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" run "a change" --repo "$1" --apply --no-input --standalone </dev/null >out.txt 2>err.txt`, binary, w.repo)
	cmd.Env, cmd.Dir = append(w.environ(), "CI=true", "TERM=dumb"), w.home
	if err := cmd.Run(); err != nil {
		errs, _ := os.ReadFile(filepath.Join(w.home, "err.txt"))
		t.Fatalf("%v\n%s", err, errs)
	}
	if text, err := os.ReadFile(filepath.Join(w.repo, "out", "do-one.txt")); err != nil || string(text) != "work of Do one\n" {
		t.Errorf("%q %v", text, err)
	}
	for _, name := range []string{"out.txt", "err.txt"} {
		text, err := os.ReadFile(filepath.Join(w.home, name))
		if err != nil || bytes.ContainsAny(text, "\x1b\r") {
			t.Errorf("%s holds what only a terminal understands: %q %v", name, text, err)
		}
	}
}
