package job

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// walker draws a legal journal: any move of the tables, at any time, with the
// events that stand between moves.
type walker struct {
	journal
	job    Status
	tasks  map[string]TaskState
	ids    []string
	epochs map[string]int64
}

func newWalker() *walker {
	w := &walker{job: Planning, tasks: map[string]TaskState{}, epochs: map[string]int64{}}
	w.add(KindSubmitted, "", "", &Submitted{Text: "x"})
	return w
}

func (w *walker) step(t *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		id := "t" + string(rune('a'+len(w.ids)))
		if len(w.ids) == 20 {
			return
		}
		w.ids, w.tasks[id] = append(w.ids, id), TaskWaiting
		w.add(KindTaskAdded, id, "", &Added{ID: id, Key: id})
	case 1:
		w.moveJob(t)
	case 2:
		w.add("kind.of.later", "", "", nil)
	case 3:
		w.between(t)
	default:
		w.moveTask(t)
	}
}

// legal lists the moves of rows that lead on from a state.
func legal(rows []row, from string) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !slices.Contains(strings.Fields(r.from), from) })
}

func (w *walker) moveJob(t *rapid.T) {
	may := legal(jobRows, string(w.job))
	if len(may) == 0 {
		return
	}
	r := rapid.SampledFrom(may).Draw(t, "job's move")
	w.status("", "", string(w.job), r.to, 0)
	w.job = Status(r.to)
}

func (w *walker) moveTask(t *rapid.T) {
	if len(w.ids) == 0 {
		return
	}
	id := rapid.SampledFrom(w.ids).Draw(t, "task")
	may := legal(taskRows, string(w.tasks[id]))
	if len(may) == 0 {
		return
	}
	r := rapid.SampledFrom(may).Draw(t, "move")
	if r.move == "dispatch" {
		w.epochs[id]++
	}
	w.status(id, w.attempt(id), string(w.tasks[id]), r.to, w.epochs[id])
	w.tasks[id] = TaskState(r.to)
}

func (w *walker) attempt(id string) string { return id + "#" + string(rune('0'+w.epochs[id])) }

func (w *walker) between(t *rapid.T) {
	kinds := []Kind{KindRouted, KindTaskWaiting, KindEscalated, KindMerged, KindStarted, KindStep, KindLook, KindUsage, KindCheck, KindAttemptFinished, KindVerdict, KindNotice, KindSaid, KindChosen, KindTrace}
	k := rapid.SampledFrom(kinds).Draw(t, "kind")
	if len(w.ids) == 0 {
		w.add(KindNotice, "", "", &Notice{})
		return
	}
	id := rapid.SampledFrom(w.ids).Draw(t, "of")
	w.add(k, id, w.attempt(id), filled(k))
}

func TestAnyLegalJournalFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalker()
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			w.step(t)
		}
		got, err := Fold(w.events)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != w.job || got.Seq != int64(len(w.events)) {
			t.Fatalf("job is %s at %d, want %s at %d", got.Status, got.Seq, w.job, len(w.events))
		}
		for _, id := range w.ids {
			task := got.Tasks[id]
			if task.Status != w.tasks[id] || task.Epoch != w.epochs[id] {
				t.Fatalf("%s is %s in epoch %d, want %s in %d", id, task.Status, task.Epoch, w.tasks[id], w.epochs[id])
			}
			if task.Tried() > len(task.Attempts) || int64(len(task.Attempts)) != w.epochs[id] {
				t.Fatalf("%d attempts in %d epochs, %d used up", len(task.Attempts), w.epochs[id], task.Tried())
			}
			if task.Status == TaskCancelled && task.Current != "" {
				t.Fatalf("%s has ended and still runs %s", id, task.Current)
			}
		}
	})
}

func TestFoldingInTwoPartsIsFoldingAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalker()
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			w.step(t)
		}
		cut := rapid.IntRange(0, len(w.events)).Draw(t, "cut")
		all, err := Fold(w.events)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := Fold(w.events[:cut])
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.events[cut:] {
			if err := parts.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(all, parts); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A state that was written down as JSON and read again is the same, and goes on
// as the other does: that is what a snapshot needs.
func TestAStateComesThroughJSONAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalker()
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			w.step(t)
		}
		cut := rapid.IntRange(1, len(w.events)).Draw(t, "cut")
		all, err := Fold(w.events)
		if err != nil {
			t.Fatal(err)
		}
		half, err := Fold(w.events[:cut])
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(half)
		if err != nil {
			t.Fatal(err)
		}
		var again Job
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(half, &again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		for _, e := range w.events[cut:] {
			if err := again.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(all, &again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Whatever is tried after an accepted task, it stays what it is.
func TestAnEndStaysAnEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalker()
		for range rapid.IntRange(20, 100).Draw(t, "steps") {
			w.step(t)
		}
		state, err := Fold(w.events)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range w.ids {
			was := w.tasks[id]
			if was != TaskAccepted {
				continue
			}
			to := rapid.SampledFrom(taskStates).Draw(t, "to")
			err := state.Apply(Event{Seq: state.Seq + 1, Kind: KindTaskStatus, Task: id, Body: &StatusChange{From: string(was), To: string(to)}})
			if err == nil || state.Tasks[id].Status != was {
				t.Fatalf("%s went from %s to %s: %v", id, was, state.Tasks[id].Status, err)
			}
		}
	})
}
