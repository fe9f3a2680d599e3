package orchestrator

import (
	"context"
	"fmt"

	"github.com/relo-dev/relo/core/internal/job"
)

// advance does everything that is due in the job's present state. It is the one
// place that says what follows from what, so that a restart, which knows only
// the state, goes on exactly as an unbroken run.
func (t *turn) advance() {
	switch t.state.Status { //nolint:exhaustive // in the other states Relo waits for a person
	case job.Planning:
		switch {
		case len(t.state.Order) > 0: // it was paused, or taken up again, with its plan made
			t.begin()
			t.advance()
		case t.state.ID != "":
			t.effect("planning", t.plan)
		}
	case job.Paused:
		t.settlePaused()
	case job.Running:
		t.advanceTasks()
		t.advanceJob()
	}
}

// settlePaused notes the agents that came to their safe point; everything else
// waits until the job goes on.
func (t *turn) settlePaused() {
	for _, task := range t.state.List() {
		if a := lastEnded(task); task.Status == job.TaskFinished && a != nil && a.End.Outcome == job.OutPaused {
			t.judged(task)
		}
	}
}

// advanceTasks moves tasks until none moves by itself.
func (t *turn) advanceTasks() {
	for t.err == nil {
		seq := t.state.Seq
		for _, task := range t.state.List() {
			t.advanceTask(task)
		}
		if t.state.Seq == seq {
			return
		}
	}
}

func (t *turn) advanceTask(task *job.Task) {
	switch task.Status { //nolint:exhaustive // the others wait for a worker or a person, or are at an end
	case job.TaskWaiting:
		t.release(task)
	case job.TaskReady:
		if !t.budgetReached() && !t.o.closing.Load() {
			t.dispatch(task)
		}
	case job.TaskHeld:
		if task.Reason == heldByPause && !t.o.closing.Load() {
			t.move(task, job.MoveAgain, "it goes on where it was laid aside")
		}
	case job.TaskFinished:
		t.judged(task)
	case job.TaskReviewing:
		t.reviewed(task)
	case job.TaskRework:
		t.again(task)
	case job.TaskLost:
		if task.Losses >= lossesMax {
			t.move(task, job.MoveFail, fmt.Sprintf("quarantined: it was lost %d times, so it may crash who works on it; the last time: %s", task.Losses, task.Reason))
			return
		}
		t.move(task, job.MoveAgain, "the lease ended, so it is given out again")
	}
}

// release lets a task go when its dependencies are merged, or skips it when one
// of them came to nothing.
func (t *turn) release(task *job.Task) {
	for _, id := range task.DependsOn {
		dep := t.state.Tasks[id]
		if dep == nil {
			continue
		}
		if dep.Status == job.TaskCancelled {
			t.holdDependants(dep)
			return
		}
		if dep.Status.Terminal() && dep.Status != job.TaskAccepted {
			t.move(task, job.MoveSkip, fmt.Sprintf("it needs %q, which %s", dep.Title, endWords(dep.Status)))
			return
		}
		if dep.Status != job.TaskAccepted {
			return
		}
	}
	t.move(task, job.MoveRelease, "")
}

func endWords(s job.TaskState) string {
	switch s {
	case job.TaskFailed:
		return "failed"
	case job.TaskCancelled:
		return "was cancelled"
	default:
		return "was skipped"
	}
}

// judged decides what follows from an attempt's end.
func (t *turn) judged(task *job.Task) {
	a := lastEnded(task)
	if a == nil {
		return
	}
	if a.End.Outcome == job.OutPaused {
		reason := heldByPause
		if a.End.Question != "" {
			reason = asksYou + a.End.Question
		}
		t.move(task, job.MoveHold, reason)
		return
	}
	if a.End.Code == job.CodeWorkspace && unready(task) {
		t.move(task, job.MoveHold, a.End.Reason)
		return
	}
	if task.Kind() != job.Work {
		t.judgedHelper(task, a)
		return
	}
	if a.End.Code == job.CodeKey {
		t.move(task, job.MoveHold, a.End.Reason)
		return
	}
	switch a.End.Outcome {
	case job.Done:
		t.move(task, job.MoveReview, "")
		if !t.rules.AutoReview {
			t.emit(job.Event{Kind: job.KindVerdict, Task: task.ID, Attempt: a.ID, Body: &job.Verdict{Verdict: job.VerdictAccept, Summary: "reviews are switched off"}})
		}
	case job.OutBudget:
		t.move(task, job.MoveHold, heldByBudget)
	case job.Unverified:
		if unverified(task) >= unverifiedMax {
			t.move(task, job.MoveFail, a.End.Reason)
			return
		}
		t.move(task, job.MoveRework, a.End.Reason)
	case job.OutBlocked:
		if task.Tried() >= t.rules.Attempts {
			t.move(task, job.MoveBlock, a.End.Reason)
			return
		}
		t.move(task, job.MoveRework, a.End.Reason)
	default:
		t.move(task, job.MoveRework, a.End.Reason)
	}
}

// unready reports whether the folder of the last two attempts could not be made
// ready: no model can mend that, so the person is asked.
func unready(task *job.Task) bool {
	n := len(task.Attempts)
	return n > 1 && task.Attempts[n-2].End != nil && task.Attempts[n-2].End.Code == job.CodeWorkspace
}

// unverified counts the attempts that were called done without proof.
func unverified(task *job.Task) int {
	n := 0
	for _, a := range task.Attempts {
		if a.End != nil && a.End.Outcome == job.Unverified {
			n++
		}
	}
	return n
}

const heldByBudget = "the budget is reached"

// judgedHelper does the same for a review or debug task: its end is its own,
// what it found was told with it.
func (t *turn) judgedHelper(task *job.Task, a *job.Attempt) {
	if a.End.Code == job.CodeKey {
		t.move(task, job.MoveHold, a.End.Reason)
		return
	}
	switch a.End.Outcome {
	case job.Done:
		t.move(task, job.MoveAccept, "")
	case job.OutBudget:
		t.move(task, job.MoveHold, heldByBudget)
	default:
		t.move(task, job.MoveRework, a.End.Reason)
	}
}

// lastEnded is the newest attempt when it has ended.
func lastEnded(task *job.Task) *job.Attempt {
	if len(task.Attempts) == 0 {
		return nil
	}
	a := task.Attempts[len(task.Attempts)-1]
	if a.End == nil {
		return nil
	}
	return a
}

// reviewed looks for the verdict on the last attempt: none yet means that a
// review is queued or runs, an accept that the merge is due.
func (t *turn) reviewed(task *job.Task) {
	a := lastEnded(task)
	if a == nil {
		return
	}
	if v := verdictOn(t.state, task, a); v != nil {
		t.follow(task, *v)
		return
	}
	for _, r := range t.state.ReviewsOf(task.ID) {
		if r.Kind() != job.Review || r.OfAttempt != a.ID {
			continue
		}
		if r.Status.Terminal() {
			t.move(task, job.MoveHold, "its review came to no verdict: "+r.Reason)
		}
		return
	}
	t.addReview(task, a)
}

func verdictOn(j *job.Job, task *job.Task, a *job.Attempt) *job.Verdict {
	for i := len(task.Verdicts) - 1; i >= 0; i-- {
		v := task.Verdicts[i]
		if v.Review == "" { // reviews are off: the verdict follows its attempt at once
			if i == len(task.Verdicts)-1 && a.End.Outcome == job.Done {
				return &task.Verdicts[i]
			}
			continue
		}
		if r := j.Tasks[v.Review]; r != nil && r.OfAttempt == a.ID {
			return &task.Verdicts[i]
		}
	}
	return nil
}

func (t *turn) follow(task *job.Task, v job.Verdict) {
	switch v.Verdict {
	case job.VerdictAccept:
		id := task.ID
		t.effect("merging "+task.Key, func(ctx context.Context) error { return t.merge(ctx, id) })
	case job.VerdictReject:
		t.move(task, job.MoveRework, "the review rejects it: "+v.Summary)
	default:
		t.move(task, job.MoveRework, "the review asks for rework: "+v.Summary)
	}
}

// again gives a task its next attempt, or ends it when they are spent. Before
// the last attempt of a task that failed twice a debug task looks at why.
func (t *turn) again(task *job.Task) {
	tried := task.Tried()
	if tried >= t.rules.Attempts {
		t.move(task, job.MoveFail, task.Reason)
		return
	}
	if task.Kind() == job.Work && tried >= 2 && tried == t.rules.Attempts-1 {
		dbg := debugOf(t.state, task)
		if dbg == nil {
			t.addDebug(task)
			return
		}
		if !dbg.Status.Terminal() {
			return
		}
	}
	t.move(task, job.MoveAgain, task.Reason)
}

func debugOf(j *job.Job, task *job.Task) *job.Task {
	for _, r := range j.ReviewsOf(task.ID) {
		if r.Kind() == job.Debug {
			return r
		}
	}
	return nil
}

// budgetReached reports whether a task is held because of the budget, or about
// to be: then nothing new is given out.
func (t *turn) budgetReached() bool {
	for _, task := range t.state.Tasks {
		if task.Status == job.TaskHeld && task.Reason == heldByBudget {
			return true
		}
		if a := lastEnded(task); task.Status == job.TaskFinished && a != nil && a.End.Outcome == job.OutBudget {
			return true
		}
	}
	return false
}

// budgetWords says how the budget stopped the job: the newest attempt that it
// ended knows the sums.
func (t *turn) budgetWords() string {
	words := heldByBudget
	for _, task := range t.state.List() {
		if a := lastEnded(task); a != nil && a.End.Outcome == job.OutBudget && a.End.Reason != "" {
			words = a.End.Reason
		}
	}
	return words
}

// advanceJob ends the job when its tasks have, or says whom it waits for.
func (t *turn) advanceJob() {
	if t.err != nil || len(t.state.Order) == 0 {
		return
	}
	open, failed, stuck, accepted, cancelled := 0, 0, 0, 0, 0
	for _, task := range t.state.Tasks {
		switch {
		case task.Status == job.TaskFailed && task.Kind() == job.Work:
			failed++
		case task.Status == job.TaskAccepted && task.Kind() == job.Work:
			accepted++
		case task.Status == job.TaskCancelled && task.Kind() == job.Work:
			cancelled++
		case task.Status.Terminal():
		case task.Status == job.TaskHeld && task.Reason == heldByPause:
			open++
		case task.Status == job.TaskHeld || task.Status == job.TaskBlocked:
			stuck++
		case task.Status == job.TaskWaiting:
		case (task.Status == job.TaskReviewing || task.Status == job.TaskRework) && t.heldHelper(task):
		case task.Status == job.TaskReady && t.budgetReached():
		default:
			open++
		}
	}
	switch {
	case open > 0:
	case t.budgetReached():
		t.endJob(job.JobStop, t.budgetWords(), "")
	case stuck > 0:
		words, code := t.stuckWords()
		t.endJob(job.JobWait, words, code)
	case failed > 0:
		t.endJob(job.JobFail, t.failedWords(), "")
	case accepted == 0 && cancelled > 0:
		t.endJob(job.JobCancel, "you cancelled all its tasks", "")
	default:
		t.moveJob(job.JobIntegrate, "")
		t.endJob(job.JobReady, "", "")
	}
}

// heldHelper reports whether the review or debugger that a task waits for is held.
func (t *turn) heldHelper(task *job.Task) bool {
	for _, r := range t.state.ReviewsOf(task.ID) {
		if !r.Status.Terminal() {
			return r.Status == job.TaskHeld || r.Status == job.TaskBlocked || (r.Status == job.TaskReady && t.budgetReached())
		}
	}
	return false
}

func (t *turn) stuckWords() (words, code string) {
	for _, task := range t.state.List() {
		if task.Status == job.TaskHeld || task.Status == job.TaskBlocked {
			if a := lastEnded(task); a != nil {
				code = a.End.Code
			}
			return fmt.Sprintf("%q waits for you: %s", task.Title, task.Reason), code
		}
	}
	return "", ""
}

func (t *turn) failedWords() string {
	for _, task := range t.state.List() {
		if task.Status == job.TaskFailed && task.Kind() == job.Work {
			return fmt.Sprintf("%q failed: %s", task.Title, task.Reason)
		}
	}
	return ""
}

// endJob makes the job's last move for now and says what it came to.
func (t *turn) endJob(m job.JobMove, reason, code string) {
	t.moveJob(m, reason)
	end := &job.Finished{Outcome: t.state.Status, Cost: t.state.Cost.USD(), Reason: reason, Code: code}
	for _, task := range t.state.List() {
		if task.Merged != "" {
			end.Branch = branchOf(t.id)
		}
		if eyes := needsEyes(task); eyes != "" {
			end.NeedsEyes = append(end.NeedsEyes, eyes)
		}
	}
	t.emit(job.Event{Kind: job.KindFinished, Body: end})
}

// needsEyes says what a person should look at when no model could.
func needsEyes(task *job.Task) string {
	a := task.Last()
	if !task.Vision || task.Kind() != job.Work || task.Status != job.TaskAccepted || a == nil || a.End.Visual != job.VisualUnavailable {
		return ""
	}
	return fmt.Sprintf("%s: no model could look at it", task.Title)
}

func branchOf(id string) string { return "relo/" + id }

func branchRef(id string) string { return "refs/heads/" + branchOf(id) }

func baseRef(id string) string { return "refs/relo/base/" + id }
