package orchestrator

import (
	"context"
	"fmt"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Finish takes an attempt's result. Once it returns, the record has it: the
// worker may forget. The same result again is answered in the same way; one
// from before the current lease is kept out and told.
func (o *Orchestrator) Finish(ctx context.Context, f protocol.Finish) (protocol.Received, error) {
	r, err := o.run(ctx, f.Job)
	if err != nil {
		return protocol.Received{}, err
	}
	var late bool
	err = r.do(ctx, func(t *turn) error {
		task := r.holder(f.Hold)
		if task == nil || task.Status != job.TaskRunning {
			late = t.tooLate(f)
			return nil
		}
		t.batch.Held = &record.Lease{Task: f.Task, Attempt: f.Attempt, Worker: f.Worker, Epoch: f.Epoch}
		if f.End.Outcome == job.OutCancelled || f.End.Outcome == job.OutLost {
			t.lose(task, fmt.Sprintf("worker %s gave it up: %s", f.Worker, f.End.Reason)) // bounded as every loss is
			t.keepTrace(task, f)
			return nil
		}
		t.finish(task, f)
		return nil
	})
	if isStale(err) {
		return protocol.Received{Late: true}, nil
	}
	if err == nil {
		o.kick() // a slot is free
	}
	return protocol.Received{Late: late}, err
}

// tooLate answers a result whose lease is not current. One that was taken
// before is no news; another is told once, with where the work is kept.
func (t *turn) tooLate(f protocol.Finish) bool {
	task := t.state.Tasks[f.Task]
	if task == nil {
		return true
	}
	t.keepTrace(task, f)
	if a := task.Attempt(f.Attempt); a != nil && a.End != nil && a.End.Epoch == f.Epoch && a.End.Outcome == f.End.Outcome {
		return false // sent again after the answer was lost
	}
	if a := task.Attempt(f.Attempt); a != nil && a.End != nil && a.Counted() {
		return false
	}
	if a := task.Attempt(f.Attempt); a != nil && a.End != nil && a.End.Outcome == job.OutCancelled {
		return true // the person wanted it so; what it left comes as its trace
	}
	if !t.late[f.Attempt] {
		t.late[f.Attempt] = true
		t.undo = append(t.undo, func() { delete(t.late, f.Attempt) })
		t.emit(job.Event{Kind: job.KindNotice, Task: task.ID, Attempt: f.Attempt, Worker: f.Worker, Body: &job.Notice{
			Level: "warn",
			Words: fmt.Sprintf("late result of %q, not applied: its lease (epoch %d) had ended; the work is kept at refs/relo/attempt/%s", task.Title, f.Epoch, f.Attempt),
		}})
	}
	return true
}

// keepTrace notes what an attempt left that was interrupted: it can be looked at,
// and the next attempt may go on from it. It moves nothing, whatever its epoch.
func (t *turn) keepTrace(task *job.Task, f protocol.Finish) {
	a := task.Attempt(f.Attempt)
	if a == nil || a.Worker != f.Worker || a.Epoch != f.Epoch || !a.Interrupted() || a.Trace != "" || f.End.Trace == "" {
		return
	}
	t.emit(job.Event{
		Kind: job.KindTrace, Task: task.ID, Attempt: f.Attempt, Worker: f.Worker, Body: &job.TraceBody{Trace: f.End.Trace, Commit: f.End.Commit},
	})
}

// finish judges a result that came in time and writes down how the attempt ended.
func (t *turn) finish(task *job.Task, f protocol.Finish) {
	end := f.End
	end.Epoch = f.Epoch
	attempt := task.Attempt(f.Attempt)
	t.judge(task, attempt, &end)
	e := job.Event{Task: task.ID, Attempt: f.Attempt, Worker: f.Worker, Model: task.Model}
	if f.Verdict != nil && end.Outcome == job.Done && task.Kind() == job.Review {
		v := *f.Verdict
		v.Review = task.ID
		t.emit(job.Event{Kind: job.KindVerdict, Task: task.ReviewOf, Attempt: task.OfAttempt, Model: task.Model, Worker: f.Worker, Body: &v})
	}
	t.move(task, job.MoveFinish, end.Reason)
	e.Kind, e.Body = job.KindAttemptFinished, &end
	t.emit(e)
	t.free(task, f.Attempt)
}

// judge holds a result that says done against the evidence.
func (t *turn) judge(task *job.Task, a *job.Attempt, end *job.AttemptEnd) {
	m, _ := t.rules.Book.Model(catalog.Ref(task.Model))
	seen, visual, words := job.Judge(job.Evidence{
		Vision: task.Vision, CouldSee: m.MayShow(), Looks: a.Looks, Tree: end.Tree, Files: end.Files,
	})
	end.Seen, end.Visual = seen, visual
	if end.Outcome != job.Done {
		return
	}
	if bad := failedCheck(a.Checks); bad != "" {
		end.Outcome, end.Reason = job.OutFailed, bad
		return
	}
	switch task.Kind() {
	case job.Review:
		t.judgeReview(task, m.MayShow(), seen, end)
	case job.Debug:
	default:
		switch {
		case len(end.Files) == 0:
			end.Outcome, end.Reason = job.Unverified, "it was called done, but nothing was changed"
		case words != "":
			end.Outcome, end.Reason = job.Unverified, "it was called done unseen: "+words
		}
	}
}

// judgeReview asks a reviewer who can see for looks of its own: at a result when
// the author made pictures, at any picture otherwise.
func (t *turn) judgeReview(task *job.Task, couldSee bool, seen job.Seen, end *job.AttemptEnd) {
	if !task.Vision || !couldSee {
		return
	}
	author := t.state.Tasks[task.ReviewOf].Attempt(task.OfAttempt)
	any := seen.Reference + seen.Result + seen.Other
	switch {
	case author != nil && author.End != nil && changesPictures(author.End.Files) && seen.Result == 0:
		end.Outcome, end.Reason = job.Unverified, "the review gave a verdict on a visual task without looking at the result"
	case any == 0:
		end.Outcome, end.Reason = job.Unverified, "the review gave a verdict on a visual task without looking at a picture"
	}
	if end.Outcome == job.Done {
		end.Visual = job.VisualChecked
	}
}

func changesPictures(files []job.FileChange) bool {
	for _, f := range files {
		if f.Status != "deleted" && vision.IsPictureName(f.Path) {
			return true
		}
	}
	return false
}

func failedCheck(checks []job.CheckResult) string {
	for _, c := range checks {
		if c.Exit != 0 {
			return fmt.Sprintf("check %q failed with exit code %d", c.Command, c.Exit)
		}
	}
	return ""
}

// addReview queues the review of an attempt by itself, with the task's own need
// for eyes.
func (t *turn) addReview(task *job.Task, a *job.Attempt) {
	n := 1
	for _, r := range t.state.ReviewsOf(task.ID) {
		if r.Kind() == job.Review {
			n++
		}
	}
	t.addHelper(task, a, job.Review, fmt.Sprintf("%s.review%d", task.Key, n), "Review: "+task.Title)
}

// addDebug queues a debug task before the last attempt.
func (t *turn) addDebug(task *job.Task) {
	t.addHelper(task, task.Last(), job.Debug, task.Key+".debug", "Debug: "+task.Title)
}

func (t *turn) addHelper(task *job.Task, a *job.Attempt, kind job.TaskKind, key, title string) {
	add := &job.Added{
		ID: job.NewID(), Key: key, Title: title, Instructions: task.Instructions, TaskKind: kind, Difficulty: task.Difficulty,
		Vision: task.Vision, Images: task.Images, ReviewOf: task.ID,
	}
	if a != nil {
		add.OfAttempt = a.ID
	}
	t.emit(job.Event{Kind: job.KindTaskAdded, Task: add.ID, Body: add})
}
