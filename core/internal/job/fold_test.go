package job

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

// journal writes events of one job with their numbers and times.
type journal struct{ events []Event }

func (j *journal) add(k Kind, task, attempt string, body any) *journal {
	n := int64(len(j.events) + 1)
	e := Event{Seq: n, Time: noon.Add(time.Duration(n) * time.Second), Job: "j", Kind: k, Task: task, Attempt: attempt, Body: body}
	if k == KindTaskStatus || k == KindRouted {
		e.Worker, e.Model = "w", "p/m"
	}
	j.events = append(j.events, e)
	return j
}

func (j *journal) status(task, attempt, from, to string, epoch int64) *journal {
	kind := KindTaskStatus
	if task == "" {
		kind = KindJobStatus
	}
	return j.add(kind, task, attempt, &StatusChange{From: from, To: to, Epoch: epoch, Reason: to + " it is"})
}

// begun is a job with the task t, ready.
func begun() *journal {
	return new(journal).add(KindSubmitted, "", "", &Submitted{Text: "do", Title: "T", Repo: "/r"}).
		add(KindPlanned, "", "", &Planned{Tasks: 1, Summary: "one task"}).
		add(KindTaskAdded, "t", "", &Added{ID: "t", Key: "k", Title: "task", Difficulty: Easy}).
		status("", "", "planning", "running", 0).
		status("t", "", "waiting", "ready", 0)
}

func mustFold(t *testing.T, j *journal) *Job {
	t.Helper()
	state, err := Fold(j.events)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestFoldTellsAnAttemptFromBeginningToEnd(t *testing.T) {
	looks := []Look{
		{ID: "v1", How: HowPixels, Role: vision.Result, Tree: "then", Fresh: true, AfterLastEdit: true},
		{ID: "v2", How: HowPixels, Role: vision.Result, Tree: "now", Fresh: true},
	}
	j := begun().
		add(KindRouted, "t", "", &Routed{Rung: 1, Reasons: []Reason{{Code: "up", Words: "up"}}, Sight: vision.Sees, SightSource: vision.Name}).
		add(KindTaskWaiting, "t", "", &WaitingBody{For: "a free worker"}).
		status("t", "a1", "ready", "dispatched", 1).
		status("t", "a1", "dispatched", "running", 0).
		add(KindStarted, "t", "a1", &Started{Number: 1, Base: "b", Tools: []string{"read"}}).
		add(KindStep, "t", "a1", &Step{Summary: "reads"}).
		add(KindLook, "t", "a1", &looks[0]).add(KindLook, "t", "a1", &looks[0]).add(KindLook, "t", "a1", &looks[1]).
		add(KindUsage, "t", "a1", &UsageBody{Cost: new(0.25)}).
		add(KindUsage, "", "", &UsageBody{Cost: new(0.5)}).
		add(KindCheck, "t", "a1", &CheckResult{Command: "true"}).
		add(KindAttemptFinished, "t", "a1", &AttemptEnd{Outcome: Done, Tree: "now", Epoch: 1}).
		status("t", "a1", "running", "finished", 0).
		status("t", "a1", "finished", "reviewing", 0).
		add(KindVerdict, "t", "a1", &Verdict{Review: "r", Verdict: VerdictAccept}).
		add(KindMerged, "t", "a1", &Merged{Commit: "c"}).
		status("t", "a1", "reviewing", "accepted", 0).
		add(KindNotice, "", "", &Notice{Level: "info", Words: "well"}).
		status("", "", "running", "integrating", 0).status("", "", "integrating", "ready", 0).
		add(KindFinished, "", "", &Finished{Outcome: Ready}).
		add(KindApplied, "", "", &AppliedBody{Commit: "d"})
	got := mustFold(t, j)
	task := got.Tasks["t"]
	a := task.Attempt("a1")
	if got.Status != Ready || got.End.Outcome != Ready || got.Applied.Commit != "d" || got.Summary != "one task" || len(got.Notices) != 1 {
		t.Errorf("job: %+v", got)
	}
	if task.Status != TaskAccepted || task.Rung != 1 || task.Sight != vision.Sees || task.Model != "p/m" || task.Epoch != 1 || task.Current != "" ||
		task.Waiting != nil || task.Merged != "c" || task.MergedSeq != 22 || len(task.Verdicts) != 1 || task.Tried() != 1 || task.Last() != a {
		t.Errorf("task: %+v", task)
	}
	if a.Base != "b" || a.LastStep != "reads" || a.Worker != "w" || a.Model != "p/m" || a.Number != 1 || len(a.Checks) != 1 || a.Cost != (Cost{Known: 0.25, Requests: 1}) {
		t.Errorf("attempt: %+v", a)
	}
	if len(a.Looks) != 2 || a.Looks[0].AfterLastEdit || !a.Looks[1].AfterLastEdit {
		t.Errorf("the end decides which look was after the last edit: %+v", a.Looks)
	}
	if !looks[0].AfterLastEdit {
		t.Error("the fold changed the event it was given")
	}
	if got.Cost != (Cost{Known: 0.75, Requests: 2}) || *got.Cost.USD() != 0.75 {
		t.Errorf("cost: %+v", got.Cost)
	}
}

func TestOneUnknownCostMakesTheSumUnknown(t *testing.T) {
	got := mustFold(t, begun().add(KindUsage, "t", "", &UsageBody{Cost: new(1.0)}).add(KindUsage, "t", "", &UsageBody{}))
	if got.Cost.USD() != nil || got.Cost != (Cost{Known: 1, Requests: 2, Unknown: 1}) {
		t.Errorf("%+v", got.Cost)
	}
	if usd := (Cost{}).USD(); usd == nil || *usd != 0 {
		t.Error("no request costs nothing, which is known")
	}
}

func TestLostAndCancelledAttemptsDoNotCount(t *testing.T) {
	j := begun().
		status("t", "a1", "ready", "dispatched", 1).status("t", "a1", "dispatched", "lost", 0).status("t", "", "lost", "ready", 0).
		status("t", "a2", "ready", "dispatched", 2).status("t", "a2", "dispatched", "running", 0).
		add(KindAttemptFinished, "t", "a2", &AttemptEnd{Outcome: OutFailed, Epoch: 2}).
		status("t", "a2", "running", "finished", 0).status("t", "a2", "finished", "rework", 0).status("t", "", "rework", "ready", 0).
		status("t", "a3", "ready", "dispatched", 3).status("t", "a3", "dispatched", "cancelled", 0)
	task := mustFold(t, j).Tasks["t"]
	var ends []Outcome
	var numbers []int
	for _, a := range task.Attempts {
		ends, numbers = append(ends, a.End.Outcome), append(numbers, a.Number)
	}
	if diff := cmp.Diff([]Outcome{OutLost, OutFailed, OutCancelled}, ends); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 1, 2}, numbers); diff != "" {
		t.Errorf("a lost attempt's number is given again: %s", diff)
	}
	if task.Tried() != 1 || task.Losses != 1 || task.Current != "" || task.Epoch != 3 || task.Last().ID != "a2" || task.NeedsAgain != "rework it is" {
		t.Errorf("%+v", task)
	}
}

func TestApplyRefusesWhatCannotFollow(t *testing.T) {
	late := func(seq int64, e Event) Event { e.Seq = seq; return e }
	note := Event{Job: "j", Kind: KindNotice, Body: &Notice{}}
	tests := []struct {
		e    Event
		says string
		why  string
	}{
		{late(7, note), "event 7 after 5", "a gap"},
		{late(5, note), "event 5 after 5", "an event twice"},
		{late(6, Event{Kind: KindStep, Task: "z", Body: &Step{}}), "unknown task z", "a task that is not there"},
		{late(6, Event{Kind: "later.kind", Task: "z"}), "unknown task z", "also of a later kind"},
		{late(6, Event{Kind: KindTaskAdded, Task: "t", Body: &Added{ID: "t"}}), "there already", "a task twice"},
		{late(6, Event{Kind: KindSubmitted, Body: &Submitted{}}), "submitted before", "a job twice"},
		{late(6, Event{Kind: KindTaskStatus, Task: "t", Body: &StatusChange{From: "running", To: "finished"}}), "is ready, not running", "a move from elsewhere"},
		{late(6, Event{Kind: KindTaskStatus, Task: "t", Body: &StatusChange{From: "ready", To: "accepted"}}), "no move leads", "a move that the table does not have"},
		{late(6, Event{Kind: KindJobStatus, Body: &StatusChange{From: "planning", To: "running"}}), "is running, not planning", "a job's move from elsewhere"},
		{late(6, Event{Kind: KindJobStatus, Body: &StatusChange{From: "running", To: "applied"}}), "no move leads", "a job's move that the table does not have"},
		{late(6, Event{Kind: KindNotice, Body: &Step{}}), "body of type", "a body of another kind"},
		{late(6, Event{Kind: KindNotice, Body: Notice{}}), "body of type", "a body by value"},
		{late(6, Event{Kind: KindNotice}), "body of type", "no body"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			state, before := mustFold(t, begun()), mustFold(t, begun())
			err := state.Apply(c.e)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if diff := cmp.Diff(before, state); diff != "" {
				t.Errorf("a refused event left a trace:\n%s", diff)
			}
		})
	}
	if _, err := Fold(append(begun().events, late(9, note))); err == nil {
		t.Error("a journal with a gap was folded")
	}
	if err := new(Job).Apply(late(1, Event{Kind: KindTaskAdded, Task: "t", Body: &Added{ID: "t"}})); err != nil {
		t.Errorf("a job that nobody prepared: %v", err)
	}
}

func TestEventsOfLaterKindsAreCountedAndChangeNothingElse(t *testing.T) {
	j := begun()
	want := mustFold(t, j)
	got := mustFold(t, begun().add("task.sung", "t", "", nil).add("job.sung", "", "", nil))
	want.Seq, want.At = got.Seq, got.At
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A journal that was stored as JSON folds to the same as before.
func TestFoldAfterAJourneyThroughJSON(t *testing.T) {
	j := begun().add(KindRouted, "t", "", filled(KindRouted)).status("t", "a1", "ready", "dispatched", 4).
		add(KindLook, "t", "a1", filled(KindLook)).add(KindAttemptFinished, "t", "a1", filled(KindAttemptFinished))
	text, err := json.Marshal(j.events)
	if err != nil {
		t.Fatal(err)
	}
	var back []Event
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mustFold(t, j), mustFold(t, &journal{back})); diff != "" {
		t.Error(diff)
	}
}

func TestReviewsAreFoundByTheTaskTheyLookAt(t *testing.T) {
	j := begun().add(KindTaskAdded, "r", "", &Added{ID: "r", TaskKind: Review, ReviewOf: "t"}).add(KindTaskAdded, "d", "", &Added{ID: "d", TaskKind: Debug, ReviewOf: "t"})
	got := mustFold(t, j)
	if of := got.ReviewsOf("t"); len(of) != 2 || of[0].ID != "r" || of[1].Kind() != Debug {
		t.Errorf("%+v", of)
	}
	if len(got.List()) != 3 || got.List()[0].Kind() != Work || len(got.ReviewsOf("r")) != 0 {
		t.Errorf("%+v", got.List())
	}
}

func TestIDsSortByTimeAndNamesFindPictures(t *testing.T) {
	last := ""
	for range 1000 {
		id := NewID()
		if id <= last {
			t.Fatalf("%s follows %s", id, last)
		}
		last = id
	}
	if p := (Image{Path: "a.png", Attachment: true}).WorkspacePath(); p != ".relo/attachments/a.png" {
		t.Error(p)
	}
	if p := (Image{Path: "docs/a.png"}).WorkspacePath(); p != "docs/a.png" {
		t.Error(p)
	}
}
