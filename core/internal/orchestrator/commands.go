package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// Submit takes a new job. When it returns, the record has the job and nothing
// of it can be lost.
func (o *Orchestrator) Submit(ctx context.Context, s protocol.Submit) (protocol.Accepted, error) {
	rules, err := o.checkSubmit(ctx, s)
	if err != nil {
		return protocol.Accepted{}, err
	}
	if o.Solo && len(o.active()) > 0 {
		return protocol.Accepted{}, &protocol.Error{
			Code:    protocol.CodeNotReady,
			Message: "this process runs one job and ends with it", Hint: "relo serve takes several",
		}
	}
	repo, err := o.Repos.Open(ctx, s.Repo)
	if err != nil {
		return protocol.Accepted{}, err
	}
	id := job.NewID()
	base, err := repo.Snapshot(ctx, baseRef(id))
	if err != nil {
		return protocol.Accepted{}, err
	}
	body := &job.Submitted{
		Text: s.Text, Title: titleOf(s.Text), Repo: base.Root, Base: base.Commit, Head: base.Head, Dirty: base.Dirty,
		Chosen: s.Model, Budget: rules.Budget.PerJob, Private: s.Private, Approve: s.Approve,
		Attended: s.Attended,
	}
	if s.Budget != nil {
		body.Budget = s.Budget
	}
	for _, a := range s.Images {
		body.Images = append(body.Images, job.Image{Path: a.Name, SHA256: a.SHA256, Attachment: true, Bytes: a.Bytes})
	}
	r := newRun(o, id, &job.Job{Tasks: map[string]*job.Task{}, ID: id}, rules)
	r.conducted.Store(!o.Idle)
	o.mu.Lock()
	o.runs[id] = r
	o.mu.Unlock()
	err = r.do(ctx, func(t *turn) error {
		t.emit(job.Event{Kind: job.KindSubmitted, Body: body})
		return nil
	})
	if err != nil {
		o.mu.Lock()
		delete(o.runs, id)
		o.mu.Unlock()
		return protocol.Accepted{}, err
	}
	return protocol.Accepted{Job: id}, nil
}

func usage(code, hint, format string, args ...any) error {
	return &protocol.Error{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// checkSubmit holds a job against the rules of its folder, and gives these.
func (o *Orchestrator) checkSubmit(ctx context.Context, s protocol.Submit) (Rules, error) {
	if strings.TrimSpace(s.Text) == "" {
		return Rules{}, usage(protocol.CodeUsage, `relo run "what should be done"`, "the job has no text")
	}
	if info, err := os.Stat(s.Repo); err != nil || !info.IsDir() {
		return Rules{}, usage(protocol.CodeUsage, "give a folder with --repo", "%s is not a folder", s.Repo)
	}
	rules, err := o.Rules(ctx, s.Repo)
	if err != nil {
		return Rules{}, err
	}
	if len(rules.Ladder) == 0 || rules.Primary == "" {
		return Rules{}, usage(protocol.CodeConfig, "relo config init proposes them; relo demo needs none", "no models are configured: set providers, ladder and primary")
	}
	return rules, errors.Join(rules.checkModel(s), o.checkImages(s, rules))
}

func (o *Rules) checkModel(s protocol.Submit) error {
	if s.Model != "" {
		m, ok := o.Book.Model(catalog.Ref(s.Model))
		switch {
		case !ok:
			return usage(protocol.CodeUsage, "relo models lists them", "model %q is not in the config", s.Model)
		case s.Private && !m.Private:
			return usage(protocol.CodeUsage, "leave out --private, or choose a model on your own machines", "the job is to be private, but %s is not on your own machines", s.Model)
		}
	}
	return nil
}

func (o *Orchestrator) checkImages(s protocol.Submit, rules Rules) error {
	for _, a := range s.Images {
		if a.Name == "" || strings.ContainsAny(a.Name, "/\\\x00") || a.Name == ".." || a.Name == "." {
			return usage(protocol.CodeUsage, "", "attachment name %q is not a plain file name", a.Name)
		}
		data, err := o.Album.Blob(a.SHA256)
		if err != nil {
			return usage(protocol.CodeMissing, "", "attachment %s was not sent: %v", a.Name, err)
		}
		if o.Prepare == nil {
			continue
		}
		if _, _, err := o.Prepare(data, a.Name, rules.MaxEdge); err != nil {
			return usage(protocol.CodeUsage, "relo image shows what would be sent of a picture", "attachment %s cannot be shown: %v", a.Name, err)
		}
	}
	return nil
}

// unpriced lists the models of the ladder (or the chosen one) that cost an
// unknown sum. A private model costs nothing that Relo could count.
func (o *Rules) unpriced(chosen string) []string {
	var out []string
	add := func(m catalog.Model) {
		if !m.Price.Known() && !m.Private {
			out = append(out, string(m.Ref))
		}
	}
	for _, rung := range o.Ladder {
		for _, m := range rung.Models {
			add(m)
		}
	}
	if m, ok := o.Book.Model(catalog.Ref(chosen)); ok && chosen != "" {
		add(m)
	}
	return out
}

func titleOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > titleRunes {
		return string(r[:titleRunes-1]) + "…"
	}
	return line
}

// Cancel ends a job at once: nothing of it runs or asks a model afterwards.
func (o *Orchestrator) Cancel(ctx context.Context, ref protocol.Resolved, reason string) error {
	id := ref.Job
	r, err := o.run(ctx, id)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		if _, err := job.NextStatus(t.state.Status, job.JobCancel); err != nil {
			return &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job has ended already (%s); there is nothing to cancel", t.state.Status), Hint: "relo show " + short(id)}
		}
		stop := map[string][]string{}
		for _, task := range t.state.List() {
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
		t.endJob(job.JobCancel, reason, "")
		t.after = append(t.after, func() {
			r.hangUp(planningCall)
			for worker, attempts := range stop {
				if err := o.Lanes.Order(worker, raw(protocol.Order{Stop: attempts, Reason: reason})); err != nil {
					o.Log.Warn().Str("worker", worker).Err(err).Msg("the order to stop was not sent; the worker learns it with its next beat")
				}
			}
		})
		return nil
	})
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

// Retry gives a task that waits for a person, or that failed, another attempt;
// with no task named, all such tasks of the job. More attempts are allowed by it.
func (o *Orchestrator) Retry(ctx context.Context, ref protocol.Resolved, q protocol.Retry) error {
	id, taskID, budget := ref.Job, ref.Task, q.Budget
	if budget != nil && *budget < 0 {
		return &protocol.Error{Code: protocol.CodeUsage, Message: "the budget is below zero"}
	}
	r, err := o.run(ctx, id)
	if err != nil {
		return err
	}
	r.conducted.Store(!o.Idle)
	return r.do(ctx, func(t *turn) error {
		if budget != nil {
			t.emit(job.Event{Kind: job.KindBudget, Body: &job.NewBudget{Budget: budget}})
		}
		if len(t.state.Order) == 0 && (t.state.Status == job.Failed || t.state.Status == job.StoppedAtBudget) {
			t.moveJob(job.JobReplan, "you asked for another attempt")
			return nil
		}
		n := 0
		for _, task := range t.state.List() {
			switch task.Status { //nolint:exhaustive // the others are under way or done
			case job.TaskHeld, job.TaskBlocked, job.TaskFailed:
				if retried(task, taskID) {
					t.move(task, job.MoveAgain, "you asked for another attempt")
					n++
				}
			case job.TaskSkipped: // it is skipped again when what it needs is still not to be had
				t.move(task, job.MoveReopen, "")
			}
		}
		if n == 0 {
			return &protocol.Error{Code: protocol.CodeNotReady, Message: "nothing here waits for another attempt"}
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

// retried reports whether a person's retry means the task: one that is named, or
// that the budget holds, which is one for all; with none named every one but
// reviews and debuggers that failed, as the next attempt gets its own.
func retried(task *job.Task, named string) bool {
	if task.ID == named || (task.Status == job.TaskHeld && task.Reason == heldByBudget) {
		return true
	}
	return named == "" && (task.Kind() == job.Work || task.Status == job.TaskHeld)
}

// Workers lists those heard of lately.
func (o *Orchestrator) Workers() []protocol.WorkerDoc {
	return o.crew.list(time.Now(), workerGone*o.Lease)
}
