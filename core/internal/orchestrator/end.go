package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// Cancel ends a job or one task of it at once: nothing of it runs or asks a model
// afterwards. What was done is kept, and a retry goes on from there.
func (o *Orchestrator) Cancel(ctx context.Context, ref protocol.Resolved, reason string) error {
	r, err := o.run(ctx, ref.Job)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		if ref.Task != "" {
			return t.cancelTask(t.state.Tasks[ref.Task], reason)
		}
		if _, err := job.NextStatus(t.state.Status, job.JobCancel); err != nil {
			return &protocol.Error{
				Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job has ended already (%s); there is nothing to cancel", t.state.Status),
				Hint: "relo show " + short(ref.Job),
			}
		}
		t.stop(t.state.List(), reason)
		t.endJob(job.JobCancel, reason, "")
		t.after = append(t.after, func() { r.hangUp(planningCall) })
		return nil
	})
}

// stop cancels tasks that have not ended, and tells their workers.
func (t *turn) stop(tasks []*job.Task, reason string) {
	stop := map[string][]string{}
	for _, task := range tasks {
		if task.Status.Terminal() {
			continue
		}
		if attempt := task.Current; attempt != "" {
			worker := task.Attempt(attempt).Worker
			stop[worker] = append(stop[worker], attempt)
			t.free(task, attempt)
		}
		t.move(task, job.MoveCancel, reason)
	}
	t.order(stop, func(attempts []string) protocol.Order { return protocol.Order{Stop: attempts, Reason: reason} })
}

// order sends workers something once the turn is on the disk. What is lost on
// the way a worker learns with its next beat.
func (t *turn) order(attempts map[string][]string, what func(attempts []string) protocol.Order) {
	if len(attempts) == 0 {
		return
	}
	o := t.o
	t.after = append(t.after, func() {
		for worker, list := range attempts {
			if err := o.Lanes.Order(worker, raw(what(list))); err != nil {
				o.Log.Warn().Str("worker", worker).Err(err).Msg("an order was not sent; the worker learns it with its next beat")
			}
		}
	})
}

// cancelTask ends one task with the reviews of it. Those that need it are held:
// whether they are worth doing without it is the person's to say.
func (t *turn) cancelTask(task *job.Task, reason string) error {
	if task == nil || task.Status.Terminal() || t.state.Status.Terminal() && t.state.Status != job.WaitingForPerson && t.state.Status != job.StoppedAtBudget {
		return &protocol.Error{Code: protocol.CodeNotReady, Message: "the task has ended already; there is nothing to cancel", Hint: "relo show " + short(t.id)}
	}
	t.stop(append(t.state.ReviewsOf(task.ID), task), reason)
	t.holdDependants(task)
	if t.state.Status == job.WaitingForPerson { // it may have been what the job waited for
		t.moveJob(job.JobResume, "")
	}
	return nil
}

// needsCancelled begins the reason of a task that is held because one that it
// needs was cancelled.
const needsCancelled = "it needs "

func (t *turn) holdDependants(task *job.Task) {
	for _, other := range t.state.List() {
		for _, id := range other.DependsOn {
			if id == task.ID && other.Status == job.TaskWaiting {
				t.move(other, job.MoveHold, fmt.Sprintf("%s%q, which you cancelled: retry that one, or cancel this one too", needsCancelled, task.Title))
				break
			}
		}
	}
}

// Apply brings a finished job's work to the person's files: three ways, with a
// backup first.
func (o *Orchestrator) Apply(ctx context.Context, id string) (protocol.ApplyDoc, error) {
	r, err := o.run(ctx, id)
	if err != nil {
		return protocol.ApplyDoc{}, err
	}
	r.mu.Lock()
	state, sub, head, applied := r.state.Status, r.state.Submitted, r.head(), r.state.Applied
	r.mu.Unlock()
	if state == job.Applied && applied != nil {
		return protocol.ApplyDoc{Job: id, Commit: applied.Commit, BackupRef: applied.BackupRef, Files: applied.Files, Already: true}, nil
	}
	if state != job.Ready {
		return protocol.ApplyDoc{}, &protocol.Error{
			Code:    protocol.CodeNotReady,
			Message: fmt.Sprintf("the job is %s; only a ready one can be applied", state), Hint: "relo show " + short(id),
		}
	}
	repo, err := o.Repos.Open(ctx, sub.Repo)
	if err != nil {
		return protocol.ApplyDoc{}, err
	}
	done, err := repo.Apply(ctx, id, sub.Base, head)
	if err != nil {
		return protocol.ApplyDoc{}, err
	}
	if len(done.Conflicts) > 0 {
		return protocol.ApplyDoc{}, &protocol.Error{
			Code:    protocol.CodeConflict,
			Message: "your files and the job changed the same lines, so nothing was touched: " + strings.Join(done.Conflicts, ", "),
			Hint:    "merge the branch " + branchOf(id) + " yourself, or put your change aside and apply again",
		}
	}
	err = r.do(context.WithoutCancel(ctx), func(t *turn) error {
		t.emit(job.Event{Kind: job.KindApplied, Body: &job.AppliedBody{Commit: head, BackupRef: done.BackupRef, Files: done.Files}})
		t.moveJob(job.JobApply, "")
		return nil
	})
	return protocol.ApplyDoc{Job: id, Commit: head, BackupRef: done.BackupRef, Files: done.Files}, err
}

// Undo puts the person's files back to what they were before the apply; never
// over an edit that was made since.
func (o *Orchestrator) Undo(ctx context.Context, id string) (protocol.UndoDoc, error) {
	r, err := o.run(ctx, id)
	if err != nil {
		return protocol.UndoDoc{}, err
	}
	r.mu.Lock()
	state, dir := r.state.Status, r.state.Repo
	r.mu.Unlock()
	if state != job.Applied {
		return protocol.UndoDoc{}, &protocol.Error{
			Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job is %s; only an applied one can be undone", state), Hint: "relo show " + short(id),
		}
	}
	repo, err := o.Repos.Open(ctx, dir)
	if err != nil {
		return protocol.UndoDoc{}, err
	}
	files, err := repo.Undo(ctx, id)
	if err != nil {
		return protocol.UndoDoc{}, err
	}
	err = r.do(context.WithoutCancel(ctx), func(t *turn) error {
		t.moveJob(job.JobUndo, "you took the apply back")
		return nil
	})
	return protocol.UndoDoc{Job: id, Files: files}, err
}

// Discard throws a job's work away: its branch, what its attempts left, its
// worktrees. The events stay. Work that is not in the person's files goes only
// when force is set.
func (o *Orchestrator) Discard(ctx context.Context, id string, force bool) (protocol.DiscardDoc, error) {
	r, err := o.run(ctx, id)
	if err != nil {
		return protocol.DiscardDoc{}, err
	}
	r.mu.Lock()
	state, dir, merged := r.state.Status, r.state.Repo, r.head() != r.state.Base
	var attempts []string
	for _, task := range r.state.List() {
		for _, a := range task.Attempts {
			attempts = append(attempts, a.ID)
		}
	}
	r.mu.Unlock()
	if _, err := job.NextStatus(state, job.JobDiscard); err != nil && state != job.Discarded {
		hint := "relo cancel " + short(id) + " ends it first"
		if state == job.Applied {
			hint = "relo apply --undo " + short(id) + " takes it back first"
		}
		return protocol.DiscardDoc{}, &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job is %s and cannot be discarded", state), Hint: hint}
	}
	if merged && !force && state != job.Discarded {
		return protocol.DiscardDoc{}, &protocol.Error{
			Code: protocol.CodeUnapplied, Message: "the job holds work that is not in your files: the branch " + branchOf(id),
			Hint: "relo diff " + short(id) + " shows it; relo discard --force " + short(id) + " throws it away",
		}
	}
	removed, err := o.removeWork(ctx, dir, id, attempts)
	if err != nil {
		return protocol.DiscardDoc{}, err
	}
	doc := protocol.DiscardDoc{Job: id, Removed: removed}
	if state == job.Discarded { // a crash may have left something
		return doc, nil
	}
	return doc, r.do(context.WithoutCancel(ctx), func(t *turn) error {
		t.moveJob(job.JobDiscard, "")
		return nil
	})
}

// removeWork removes what git keeps of a job; of a folder that is gone there is nothing.
func (o *Orchestrator) removeWork(ctx context.Context, dir, id string, attempts []string) ([]string, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return []string{}, nil
	}
	repo, err := o.Repos.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return repo.Discard(ctx, id, attempts)
}
