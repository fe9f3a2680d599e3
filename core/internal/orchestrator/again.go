package orchestrator

import (
	"context"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

const youRetried = "you asked for another attempt"

// Retry gives what waits for a person, failed or was cancelled another attempt;
// with no task named, all such tasks of the job. More attempts are allowed by
// it. An attempt that was interrupted is gone on with, unless the person wants
// the next one to begin anew.
func (o *Orchestrator) Retry(ctx context.Context, ref protocol.Resolved, q protocol.Retry) error {
	if err := checkBudget(q.Budget); err != nil {
		return err
	}
	r, err := o.run(ctx, ref.Job)
	if err != nil {
		return err
	}
	if err := r.takeOver(ctx); err != nil {
		return err
	}
	if err := r.checkChosen(q.Model); err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		if q.Budget != nil {
			t.emit(job.Event{Kind: job.KindBudget, Body: &job.NewBudget{Budget: q.Budget}})
		}
		if t.replans() {
			t.moveJob(job.JobReplan, "")
			for _, task := range t.state.List() {
				if task.Status == job.TaskCancelled {
					t.move(task, job.MoveReopen, "")
				}
			}
			return nil
		}
		if t.retryTasks(ref.Task, q) == 0 {
			return &protocol.Error{
				Code: protocol.CodeNotReady, Message: fmt.Sprintf("nothing here waits for another attempt; the job is %s", t.state.Status),
				Hint: "relo show " + short(ref.Job),
			}
		}
		switch t.state.Status { //nolint:exhaustive // the others run already
		case job.Failed, job.Cancelled:
			t.moveJob(job.JobReopen, "")
		case job.StoppedAtBudget, job.WaitingForPerson, job.Paused:
			t.moveJob(job.JobResume, "")
		}
		return nil
	})
}

func (r *run) checkChosen(model string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules.allows(model, r.state.Private, "choose a model on your own machines")
}

// replans reports whether the job has no plan that was begun: then it is planned,
// or its plan is shown, again.
func (t *turn) replans() bool {
	if s := t.state.Status; s != job.Failed && s != job.StoppedAtBudget && s != job.Cancelled {
		return false
	}
	for _, task := range t.state.List() {
		if len(task.Attempts) > 0 || t.state.Approve != approvePlan {
			return false
		}
	}
	return true
}

// retryTasks moves the tasks that a retry means, and counts them.
func (t *turn) retryTasks(named string, q protocol.Retry) int {
	n := 0
	for _, task := range t.state.List() {
		switch task.Status { //nolint:exhaustive // the others are under way or done
		case job.TaskHeld, job.TaskBlocked, job.TaskFailed:
			if strings.HasPrefix(task.Reason, needsCancelled) && task.Status == job.TaskHeld {
				t.move(task, job.MoveReopen, "")
				if task.ID == named {
					n++
				}
				continue
			}
			if retried(task, named) {
				t.againWith(task, q)
				n++
			}
		case job.TaskCancelled:
			if t.state.Status == job.Cancelled || task.ID == named {
				t.reopen(task, q)
				n++
			}
		case job.TaskSkipped: // it is skipped again when what it needs is still not to be had
			t.move(task, job.MoveReopen, "")
		}
	}
	return n
}

// againWith moves a task to its next attempt, with the model that the person set.
func (t *turn) againWith(task *job.Task, q protocol.Retry) {
	if q.Model != "" && task.Kind() != job.Review && task.Chosen != q.Model {
		t.emit(job.Event{Kind: job.KindChosen, Task: task.ID, Body: &job.ChosenBody{Chosen: q.Model}})
	}
	t.moveWith(task, job.MoveAgain, job.StatusChange{Reason: youRetried, Anew: q.Anew})
}

// reopen takes a cancelled task up where it was: waiting when it had not begun,
// judged when its attempt was done, else with another attempt.
func (t *turn) reopen(task *job.Task, q protocol.Retry) {
	last := lastEnded(task)
	switch {
	case last == nil:
		t.move(task, job.MoveReopen, "")
	case last.Counted() && last.End.Outcome == job.Done && !q.Anew && q.Model == "":
		t.move(task, job.MoveRestore, "")
	default:
		t.againWith(task, q)
	}
}

// retried reports whether a person's retry means the task: one that is named, or
// that the budget holds, which is one for all; with none named every one but
// reviews and debuggers that failed, as the next attempt gets its own.
func retried(task *job.Task, named string) bool {
	if task.ID == named || (task.Status == job.TaskHeld && task.Reason == heldByBudget) {
		return true
	}
	return named == "" && (task.Kind() == job.Work || task.Status == job.TaskHeld)
}
