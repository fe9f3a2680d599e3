package job

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Job is the state of a job: the fold of its events.
type Job struct {
	Submitted
	ID         string
	Seq        int64
	At         time.Time
	Status     Status
	Reason     string
	Summary    string // of the plan
	PlanFaults int
	Order      []string // task ids in the order they were added
	Tasks      map[string]*Task
	End        *Finished
	Applied    *AppliedBody
	Notices    []Notice
	Cost       Cost
	Said       []Said // by the person, to the whole job
	PausedFrom Status // where a paused job goes on
}

// Cost sums what was paid. A request without a known price counts in Unknown.
type Cost struct {
	Known    float64 // USD
	Requests int
	Unknown  int
}

// USD is the sum, or nil when a request's price is unknown.
func (c Cost) USD() *float64 {
	if c.Unknown > 0 {
		return nil
	}
	sum := c.Known
	return &sum
}

// Task is a task's state.
type Task struct {
	Added
	Status     TaskState
	Reason     string
	Epoch      int64 // of the newest lease; 0: none yet
	Model      string
	Rung       int
	RoutedAt   int // how many attempts the task had when it was routed last
	Sight      vision.Sight
	Source     vision.Source
	Reasons    []Reason
	Escalated  []Escalated
	Attempts   []*Attempt
	Losses     int
	Merged     string // commit on the job's branch
	MergedSeq  int    // of the event that said so
	Verdicts   []Verdict
	Waiting    *WaitingBody
	Current    string // the attempt that is dispatched or runs
	NeedsAgain string // why the next attempt is due
	Said       []Said // by the person, to this task
	Chosen     string // model set by the person for the next attempts
	Anew       bool   // the next attempt does not go on from the last point
	Question   string // of the agent to the person, not answered yet
	AskedAt    int    // how many words were said when it was asked
}

// Attempt is one try at a task.
type Attempt struct {
	ID       string
	Number   int
	Worker   string
	Model    string
	Epoch    int64
	Base     string
	Tools    []string
	Started  time.Time
	Ended    time.Time
	End      *AttemptEnd
	Looks    []Look
	Checks   []CheckResult
	LastStep string
	Cost     Cost
	From     string // the attempt that it went on from
	Trace    string // SHA-256 of its transcript; empty: none came
	Kept     string // commit of what it left, when it ended without a result
}

// Counted reports whether the attempt used up one of the task's attempts: a
// lost, cancelled or paused one does not, nor one that the budget stopped or whose model
// turned out not to see.
func (a *Attempt) Counted() bool {
	if a.End == nil || a.End.Code == CodeBlind {
		return false
	}
	switch a.End.Outcome { //nolint:exhaustive // the others count
	case OutLost, OutCancelled, OutBudget, OutPaused:
		return false
	}
	return true
}

// Interrupted reports whether the attempt was stopped in the middle of its work,
// by nothing that speaks against what it did.
func (a *Attempt) Interrupted() bool {
	return a.End != nil && (!a.Counted() || a.End.Code == CodeKey)
}

// Continues gives the attempt that the next one goes on from: the newest that
// had begun, when it was interrupted. Nil when the next begins anew.
func (t *Task) Continues() *Attempt {
	if t.Anew {
		return nil
	}
	for _, a := range slices.Backward(t.Attempts) {
		if a.ID == t.Current {
			continue
		}
		if !a.Interrupted() {
			return nil
		}
		if !a.Started.IsZero() {
			return a
		}
	}
	return nil
}

// Tried counts the attempts that were used up.
func (t *Task) Tried() int {
	n := 0
	for _, a := range t.Attempts {
		if a.Counted() {
			n++
		}
	}
	return n
}

// Attempt finds an attempt by id; nil when there is none.
func (t *Task) Attempt(id string) *Attempt {
	for _, a := range t.Attempts {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// Last is the newest attempt that has ended with a result; nil when there is none.
func (t *Task) Last() *Attempt {
	for _, a := range slices.Backward(t.Attempts) {
		if a.Counted() {
			return a
		}
	}
	return nil
}

// ReviewsOf lists the review and debug tasks of a task, oldest first.
func (j *Job) ReviewsOf(id string) []*Task {
	var out []*Task
	for _, o := range j.Order {
		if t := j.Tasks[o]; t.ReviewOf == id {
			out = append(out, t)
		}
	}
	return out
}

// List gives the tasks in the order they were added.
func (j *Job) List() []*Task {
	out := make([]*Task, 0, len(j.Order))
	for _, id := range j.Order {
		out = append(out, j.Tasks[id])
	}
	return out
}

// Fold applies events to a fresh job.
func Fold(events []Event) (*Job, error) {
	j := &Job{Tasks: map[string]*Task{}}
	for _, e := range events {
		if err := j.Apply(e); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// Apply takes the next event. It refuses a gap in the order, an event of an
// unknown task and a move that the tables do not have; the state is then unchanged.
func (j *Job) Apply(e Event) error {
	if e.Seq != j.Seq+1 {
		return fmt.Errorf("job %s: event %d after %d", e.Job, e.Seq, j.Seq)
	}
	if blank, known := bodies[e.Kind]; known && reflect.TypeOf(e.Body) != reflect.TypeOf(blank()) {
		return fmt.Errorf("job %s: event %d (%s) has a body of type %T", e.Job, e.Seq, e.Kind, e.Body)
	}
	if j.Tasks == nil {
		j.Tasks = map[string]*Task{}
	}
	var t *Task
	if e.Task != "" && e.Kind != KindTaskAdded {
		if t = j.Tasks[e.Task]; t == nil {
			return fmt.Errorf("job %s: event %d (%s) of unknown task %s", e.Job, e.Seq, e.Kind, e.Task)
		}
	}
	if err := j.applyBody(e, t); err != nil {
		return fmt.Errorf("job %s: event %d: %w", e.Job, e.Seq, err)
	}
	j.Seq, j.At = e.Seq, e.Time
	return nil
}

func (j *Job) applyBody(e Event, t *Task) error {
	switch b := e.Body.(type) {
	case *Submitted:
		if j.Status != "" {
			return errors.New("the job was submitted before")
		}
		j.Submitted, j.ID, j.Status = *b, e.Job, Planning
	case *Planned:
		if b.Edited {
			if j.Status != AwaitingApproval && j.Status != Planning {
				return fmt.Errorf("the plan of a job that is %s cannot be replaced", j.Status)
			}
			j.Order, j.Tasks = nil, map[string]*Task{}
		}
		j.Summary = b.Summary
	case *StatusChange:
		return j.applyStatus(e, t, b)
	case *Finished:
		j.End = b
	case *AppliedBody:
		j.Applied = b
	case *NewBudget:
		j.Budget = b.Budget
	case *Added:
		if j.Tasks[b.ID] != nil {
			return fmt.Errorf("task %s is there already", b.ID)
		}
		j.Tasks[b.ID] = &Task{Added: *b, Status: TaskWaiting}
		j.Order = append(j.Order, b.ID)
	case *Notice:
		j.Notices = append(j.Notices, *b)
	case *Said:
		if t != nil {
			t.Said, t.Question = append(t.Said, *b), ""
			return nil
		}
		j.Said = append(j.Said, *b)
	case *UsageBody:
		j.applyUsage(e, t, b)
	default:
		if t == nil {
			return nil // a kind of a later version, or one that changes nothing here
		}
		t.apply(e)
	}
	return nil
}

func (j *Job) applyStatus(e Event, t *Task, b *StatusChange) error {
	if t == nil {
		if string(j.Status) != b.From {
			return fmt.Errorf("job is %s, not %s", j.Status, b.From)
		}
		if !leads(jobMoves, b.From, b.To) {
			return fmt.Errorf("no move leads the job from %s to %s", b.From, b.To)
		}
		if j.Status == Applied {
			j.Applied = nil
		}
		if Status(b.To) == Paused {
			j.PausedFrom = j.Status
		}
		j.Status, j.Reason = Status(b.To), b.Reason
		return nil
	}
	if string(t.Status) != b.From {
		return fmt.Errorf("task %s is %s, not %s", t.Key, t.Status, b.From)
	}
	if !leads(taskMoves, b.From, b.To) {
		return fmt.Errorf("no move leads task %s from %s to %s", t.Key, b.From, b.To)
	}
	t.Status, t.Reason = TaskState(b.To), b.Reason
	if t.Status != TaskReady {
		t.Waiting = nil
	}
	switch t.Status { //nolint:exhaustive // the other states carry nothing more
	case TaskReady:
		t.Anew = t.Anew || b.Anew
		t.Question = ""
	case TaskDispatched:
		t.Epoch, t.Current = b.Epoch, e.Attempt
		t.Attempts = append(t.Attempts, &Attempt{ID: e.Attempt, Number: t.Tried() + 1, Worker: e.Worker, Model: e.Model, Epoch: b.Epoch})
	case TaskLost:
		t.Losses++
		t.Current = ""
		if a := t.Attempt(e.Attempt); a != nil && a.End == nil {
			a.End, a.Ended = &AttemptEnd{Outcome: OutLost, Reason: b.Reason, Epoch: a.Epoch}, e.Time
		}
	case TaskHeld:
		if a := t.Attempt(t.Current); a != nil && a.End == nil { // taken back before it was claimed
			a.End, a.Ended = &AttemptEnd{Outcome: OutPaused, Reason: b.Reason, Epoch: a.Epoch}, e.Time
			t.Current = ""
		}
	case TaskWaiting:
		t.Anew = t.Anew || b.Anew
	case TaskCancelled:
		if a := t.Attempt(t.Current); a != nil && a.End == nil {
			a.End, a.Ended = &AttemptEnd{Outcome: OutCancelled, Reason: b.Reason, Epoch: a.Epoch}, e.Time
		}
		t.Current = ""
	case TaskRework:
		t.NeedsAgain = b.Reason
	}
	return nil
}

func (j *Job) applyUsage(e Event, t *Task, b *UsageBody) {
	add := func(c *Cost) {
		c.Requests++
		if b.Cost == nil {
			c.Unknown++
			return
		}
		c.Known += *b.Cost
	}
	add(&j.Cost)
	if t == nil {
		return
	}
	if a := t.Attempt(e.Attempt); a != nil {
		add(&a.Cost)
	}
}

func (t *Task) apply(e Event) {
	a := t.Attempt(e.Attempt)
	switch b := e.Body.(type) {
	case *Routed:
		t.Model, t.Rung, t.Reasons, t.Sight, t.Source = e.Model, b.Rung, b.Reasons, b.Sight, b.SightSource
		t.RoutedAt = len(t.Attempts)
	case *WaitingBody:
		t.Waiting = b
	case *Escalated:
		t.Escalated = append(t.Escalated, *b)
	case *Merged:
		t.Merged, t.MergedSeq = b.Commit, int(e.Seq)
	case *Verdict:
		t.Verdicts = append(t.Verdicts, *b)
	case *Started:
		if a != nil {
			a.Base, a.Tools, a.Started, a.From = b.Base, b.Tools, e.Time, b.From
			t.Anew = false
		}
	case *ChosenBody:
		t.Chosen = b.Chosen
	case *TraceBody:
		if a != nil {
			a.Trace, a.Kept = b.Trace, b.Commit
		}
	case *Step:
		if a != nil {
			a.LastStep = b.Summary
		}
	case *Look:
		if a != nil && !slices.ContainsFunc(a.Looks, func(l Look) bool { return l.ID == b.ID }) {
			a.Looks = append(a.Looks, *b)
		}
	case *CheckResult:
		if a != nil {
			a.Checks = append(a.Checks, *b)
		}
	case *AttemptEnd:
		if a != nil {
			a.End, a.Ended = b, e.Time
			a.Trace, a.Kept, t.Question, t.AskedAt = b.Trace, b.Commit, b.Question, len(t.Said)
			for i := range a.Looks {
				a.Looks[i].AfterLastEdit = a.Looks[i].proves(b.Tree)
			}
		}
		if t.Current == e.Attempt {
			t.Current = ""
		}
	}
}

// Kind is what the task is for; work when an event of an older version names none.
func (t *Task) Kind() TaskKind {
	if t.TaskKind == "" {
		return Work
	}
	return t.TaskKind
}
