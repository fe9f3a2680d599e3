package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

const (
	pauses    = 20 // of one job, at random points
	longSteps = 24 // tool calls of each of its two tasks
)

// diary is a file outside every worktree into which each tool call writes its
// own line: a call that is made twice shows there.
func (w *world) diary() string { return filepath.Join(w.home, "diary") }

func (w *world) diaryLines() []string {
	text, _ := os.ReadFile(w.diary())
	return strings.Fields(string(text))
}

// writesADiary makes one tool call after the other, each with an effect.
func (w *world) writesADiary(n int) act {
	return func(_ ctx, t turn) double.Reply {
		if t.step == n {
			r := call("finish_task", object{"outcome": "done", "summary": "wrote everything"})
			return r
		}
		r := shell(fmt.Sprintf("sleep 0.0%d; echo %s-%d >> %s; echo %d >> %s.txt", rand.IntN(5), slug(t.title), t.step, w.diary(), t.step, slug(t.title)))
		r.Delay = time.Duration(rand.IntN(30)) * time.Millisecond
		return r
	}
}

// settled waits until a paused job has no agent under way.
func (w *world) settled(l *app.Link, id string) {
	w.t.Helper()
	w.wait("every agent is laid aside", func() bool {
		doc, err := l.Show(w.t.Context(), id)
		if err != nil || doc.Status != job.Paused || doc.Pausing {
			return false
		}
		return !slices.ContainsFunc(doc.Tasks, func(t protocol.TaskDoc) bool { return t.Status.Live() })
	})
}

// One job is paused at twenty random points; each time the daemon is ended (asked
// to, or by kill -9) and started again before the job goes on. No tool call and
// no request is made twice, and the work is whole.
func TestPausedTwentyTimesNothingIsRepeated(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"), task("two", "easy"))}
	l := mixed()
	l.review = false
	w := newWorld(t, l, p).smallRepo()
	p.workers = map[string]act{"Do one": w.writesADiary(longSteps), "Do two": w.writesADiary(longSteps)}
	d := w.serve()
	id := w.submit("two long changes")
	for n := range pauses {
		at := min(1+n*2*longSteps/pauses+rand.IntN(3), 2*longSteps-2)
		link := w.link()
		w.wait(fmt.Sprintf("%d calls were made", at), func() bool { return len(w.diaryLines()) >= at })
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		if _, err := link.Pause(t.Context(), id); err != nil {
			if doc := w.show(id); doc.Status == job.Ready {
				t.Fatalf("the job was done after %d pauses", n)
			}
			t.Fatal(err)
		}
		w.settled(link, id)
		if n%5 != 4 {
			d.stop()
		} else {
			d.kill()
		}
		lines := len(w.diaryLines())
		d = w.serve()
		if got := len(w.diaryLines()); got != lines {
			t.Errorf("pause %d: %d calls were made while the job was paused", n, got-lines)
		}
		if _, err := w.link().Resume(t.Context(), protocol.Resume{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	w.ends(id)
	var want []string
	for _, task := range []string{"do-one", "do-two"} {
		for i := range longSteps {
			want = append(want, fmt.Sprintf("%s-%d", task, i))
		}
	}
	got := w.diaryLines()
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d calls were made, %d were asked for; twice or missing: %q", len(got), len(want), difference(got, want))
	}
	if n, most := w.calls(), 1+2*(longSteps+1); n != most {
		t.Errorf("%d requests for %d answers", n, most)
	}
	if text := w.git("show", "relo/"+id+":do-one.txt"); len(strings.Fields(text)) != longSteps {
		t.Errorf("the work is not whole: %q", text)
	}
}

// difference lists what the first has more often than the second, and the other way round.
func difference(a, b []string) []string {
	count := map[string]int{}
	for _, x := range a {
		count[x]++
	}
	for _, x := range b {
		count[x]--
	}
	var out []string
	for x, n := range count {
		if n != 0 {
			out = append(out, fmt.Sprintf("%s (%+d)", x, n))
		}
	}
	slices.Sort(out)
	return out
}

// The daemon and its workers are killed in the middle of a tool call: the agent is
// told that the call was cut off, and no call is made a second time by Relo.
func TestEverythingKilledInTheMiddleOfACall(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	p := &play{plan: planOf(task("one", "easy"))}
	l := mixed()
	l.review, l.workers = false, 1
	w := newWorld(t, l, p).smallRepo()
	p.workers = map[string]act{"Do one": func(_ ctx, tn turn) double.Reply {
		mu.Lock()
		for _, e := range tn.Entries {
			told = append(told, e.Text)
		}
		mu.Unlock()
		return steps(shell("echo first >> "+w.diary()), shell("echo second >> "+w.diary()+"; sleep 300"), shell("echo third >> "+w.diary()+"; echo x > x.txt"), done("done"))(nil, tn)
	}}
	d := w.serve()
	id := w.submit("a change")
	w.wait("the second call runs", func() bool { return len(w.diaryLines()) == 2 })
	workers := w.workerPIDs()
	d.kill()
	for _, pid := range workers {
		if proc, err := os.FindProcess(pid); err == nil {
			_ = proc.Kill()
		}
	}
	w.wait("the worker is gone", func() bool { return len(w.workerPIDs()) == 0 })
	w.serve()
	w.ends(id)
	if got := w.diaryLines(); !slices.Equal(got, []string{"first", "second", "third"}) {
		t.Errorf("calls: %q", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if text := strings.Join(told, "\n"); !strings.Contains(text, "under way when the work was interrupted") || !strings.Contains(text, "goes on now") {
		t.Errorf("the agent was told %q", told)
	}
}
