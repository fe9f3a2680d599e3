package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// TestAnyWalkKeepsTheInvariants draws what workers, the broker, the disk, the
// daemon and the person do, in any order, and holds the record against I1 to I6
// after every step. In the end everybody does their best, and the job must come
// to an end.
func TestAnyWalkKeepsTheInvariants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Uint16Range(0, walkActs*64-1), 0, 60).Draw(rt, "steps")
		var fault string
		synctest.Test(t, func(t *testing.T) {
			w := newWalk(t)
			for i, s := range steps {
				if fault = w.step(int(s)%walkActs, int(s)/walkActs); fault != "" {
					fault = fmt.Sprintf("step %d: %s\n%s", i, fault, strings.Join(w.trail, "\n"))
					return
				}
			}
			if fault = w.end(); fault != "" {
				fault += "\n" + strings.Join(w.trail, "\n")
			}
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// walk is a job of three tasks, two workers, and what they remember.
type walk struct {
	*stage
	id    string
	hands []*hand
	held  map[string][]protocol.Assignment // by worker
	past  []protocol.Finish
	trail []string
}

func newWalk(t *testing.T) *walk {
	w := &walk{stage: newStage(t, "weak:blind:easy middle:sees:normal strong:sees:hard"), held: map[string][]protocol.Assignment{}}
	w.models.plan = planOf(t, "a easy\nb normal vision\nc hard after a,b\n")
	w.hands = []*hand{w.hand("w1", 1), w.hand("w2", 2)}
	w.id = w.submit()
	return w
}

const walkActs = 10

// step does one act; choice says who and how. It gives what is wrong afterwards.
func (w *walk) step(act, choice int) string {
	h := w.hands[choice%2]
	name := [...]string{"beat", "claim", "finish", "finish", "again", "anew", "time", "restart", "trouble", "person"}[act]
	w.trail = append(w.trail, fmt.Sprintf("%s %s %d", name, h.id, choice/2))
	choice /= 2
	switch name {
	case "beat":
		h.beat()
		w.tidy(h)
	case "claim":
		w.claim(h)
	case "finish":
		w.finish(h, choice)
	case "again":
		if len(w.past) > 0 {
			w.send(w.past[choice%len(w.past)])
		}
	case "anew": // the worker's process is killed and another starts
		h.boot, h.holds = fmt.Sprint("boot", len(w.trail)), nil
		w.held[h.id] = nil
		h.beat()
	case "time":
		pass([]time.Duration{time.Second, 6 * time.Second, leaseTime + time.Second}[choice%3])
	case "restart":
		if choice%2 == 0 {
			synctest.Wait()
		}
		w.mem.refusing(0, nil) // a daemon that cannot write does not start
		w.restart()
	case "trouble":
		if choice%2 == 0 {
			w.mem.refusing(1, nil)
		} else {
			lost := false
			w.lanes.lose = func(string) bool { was := lost; lost = true; return !was }
		}
	case "person":
		if err := w.Retry(w.t.Context(), protocol.Resolved{Job: w.id}, protocol.Retry{}); err != nil && codeOf(err) != protocol.CodeNotReady && !strings.Contains(err.Error(), errFull.Error()) {
			return err.Error()
		}
	}
	synctest.Wait()
	return w.check()
}

// tidy drops what the daemon told the hand to stop.
func (w *walk) tidy(h *hand) {
	w.held[h.id] = slices.DeleteFunc(w.held[h.id], func(a protocol.Assignment) bool { return !slices.Contains(h.holds, a.Hold) })
}

func (w *walk) claim(h *hand) {
	hold, ok := w.lanes.take(h.id)
	if !ok {
		return
	}
	if a, err := w.Claim(w.t.Context(), hold); err == nil { // else the disk was full: it is posted again
		h.holds = append(h.holds, a.Hold)
		w.held[h.id] = append(w.held[h.id], a)
	}
}

// finish reports one of the attempts that a hand holds.
func (w *walk) finish(h *hand, choice int) {
	held := w.held[h.id]
	if len(held) == 0 {
		return
	}
	a := held[choice%len(held)]
	f := done(a, "a.go")
	if a.Vision && h.look(a, "result shot.png") != nil {
		return // the disk was full
	}
	switch choice / 2 % 8 {
	case 0:
		f.End.Outcome, f.End.Reason = job.OutFailed, "it failed"
	case 1:
		f.End.Outcome, f.End.Reason = job.OutBlocked, "blocked"
	case 2:
		f.End.Outcome, f.End.Reason = job.OutCancelled, "the attempt was stopped"
	case 3:
		if f.Verdict != nil {
			f.Verdict.Verdict = job.VerdictRework
		}
	case 4:
		f.End.Outcome, f.End.Reason = job.OutBudget, "the budget"
	case 5:
		f.End.Outcome, f.End.Code, f.End.Reason = job.OutFailed, job.CodeKey, "the key"
	}
	w.send(f)
}

// send sends a result; the hand keeps the attempt when it was not taken.
func (w *walk) send(f protocol.Finish) {
	if !slices.ContainsFunc(w.past, func(p protocol.Finish) bool { return p.Attempt == f.Attempt }) {
		w.past = append(w.past, f)
	}
	if _, err := w.Finish(w.t.Context(), f); err != nil {
		return
	}
	for _, h := range w.hands {
		h.drop(f.Attempt)
		w.tidy(h)
	}
}

// end lets everybody do their best; the job must come to an end by itself or
// wait for the person, who tries again three times.
func (w *walk) end() string {
	w.mem.refusing(0, nil)
	w.lanes.lose = nil
	retries := 0
	for range 1000 {
		synctest.Wait()
		if fault := w.check(); fault != "" {
			return fault
		}
		switch w.job(w.id).Status { //nolint:exhaustive // the others go on by themselves
		case job.Ready, job.Failed:
			return w.merges()
		case job.WaitingForPerson, job.StoppedAtBudget:
			if retries++; retries > 20 {
				return "the person's retries lead nowhere"
			}
			if err := w.Retry(w.t.Context(), protocol.Resolved{Job: w.id}, protocol.Retry{}); err != nil {
				return fmt.Sprintf("the job waits for a person who cannot help: %v", err)
			}
			continue
		}
		for _, h := range w.hands {
			h.beat()
			w.tidy(h)
			w.claim(h)
			w.finish(h, 6*2)
		}
		pass(time.Second)
	}
	return "the job is stuck: " + w.state()
}

func (w *walk) state() string {
	j := w.job(w.id)
	out := string(j.Status)
	for _, t := range j.List() {
		out += fmt.Sprintf("; %s %s (%s)", t.Key, t.Status, t.Reason)
	}
	return out
}

// merges says what is wrong with the branch when all has ended.
func (w *walk) merges() string {
	laid := map[string]int{}
	for _, t := range w.job(w.id).List() {
		for _, a := range t.Attempts {
			if n := w.repo.times[a.ID]; n > 0 {
				laid[t.Key] += n
			}
		}
		if t.Kind() == job.Work && t.Status == job.TaskAccepted && laid[t.Key] != 1 {
			return fmt.Sprintf("%s was laid on the branch %d times", t.Key, laid[t.Key])
		}
		if t.Status != job.TaskAccepted && laid[t.Key] > 0 {
			return fmt.Sprintf("%s is %s and yet on the branch", t.Key, t.Status)
		}
	}
	return ""
}

// check holds the record, the state at hand, the leases and the crew against
// each other.
func (w *walk) check() string {
	events, err := w.mem.Events(w.t.Context(), w.id, 0, 0)
	if err != nil {
		return err.Error()
	}
	j := &job.Job{}
	for _, e := range events {
		if end, ok := e.Body.(*job.AttemptEnd); ok {
			if t := j.Tasks[e.Task]; t.Epoch != end.Epoch || t.Attempt(e.Attempt).End != nil {
				return fmt.Sprintf("an end of epoch %d was taken in epoch %d of %s", end.Epoch, t.Epoch, t.Key)
			}
		}
		if err := j.Apply(e); err != nil {
			return err.Error()
		}
	}
	r, err := w.run(w.t.Context(), w.id)
	if err != nil {
		return err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(j, r.state, cmpopts.EquateEmpty()); diff != "" {
		return "the state at hand is not the record's (-record +at hand):\n" + diff
	}
	live := w.mem.live()
	busy := map[string]int{}
	for _, t := range j.Tasks {
		l, ok := live[t.ID]
		if ok != t.Status.Live() || (ok && (l.Attempt != t.Current || l.Epoch != t.Epoch)) {
			return fmt.Sprintf("%s is %s and its lease is %v (live: %v)", t.Key, t.Status, l, ok)
		}
		if ok {
			busy[l.Worker]++
		}
		for i, a := range t.Attempts {
			if a.Epoch != int64(i)+1 {
				return fmt.Sprintf("attempt %d of %s has epoch %d", i+1, t.Key, a.Epoch)
			}
		}
	}
	for _, d := range w.Workers() {
		if d.Busy != busy[d.ID] || d.Busy > d.Slots {
			return fmt.Sprintf("%s has %d of %d slots busy and %d live attempts", d.ID, d.Busy, d.Slots, busy[d.ID])
		}
	}
	return ""
}

// TestARestartAtEveryStepTellsTheSameStory plays every story with a new daemon
// before each step: what is told is the same, but for who waits for workers and
// how a silent one is found out.
func TestARestartAtEveryStepTellsTheSameStory(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := readStory(string(text))
			synctest.Test(t, func(t *testing.T) {
				p := newTeller(t, s)
				p.restarts = true
				if diff := cmp.Diff(withoutWaiting(s.parts["events"]), withoutWaiting(p.play())); diff != "" {
					t.Errorf("(-unbroken +restarted):\n%s", diff)
				}
			})
		})
	}
}

func withoutWaiting(told string) string {
	var out strings.Builder
	for line := range strings.Lines(told) {
		if !strings.HasPrefix(line, string(job.KindTaskWaiting)) {
			out.WriteString(strings.ReplaceAll(line, "was not heard of for 20s", "started anew"))
		}
	}
	return out.String()
}
