package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// beatsPerLease is how often a worker must show itself within one lease: three
// beats may be lost before the lease ends.
const beatsPerLease = 4

// Hello notes a worker and renews the leases that it lists. Attempts that are
// no longer its own come back to be stopped.
func (o *Orchestrator) Hello(ctx context.Context, h protocol.Hello) (protocol.Welcome, error) {
	if h.Version != protocol.Version {
		return protocol.Welcome{}, &protocol.Error{
			Code:    protocol.CodeUsage,
			Message: fmt.Sprintf("worker %s speaks version %q of the API, this daemon %q", h.Worker, h.Version, protocol.Version), Hint: "use the same Relo on both sides",
		}
	}
	fresh := o.crew.heard(h, time.Now())
	if fresh {
		if err := o.Lanes.PrepareMailbox(ctx, h.Worker); err != nil {
			o.crew.forget(h.Worker)
			return protocol.Welcome{}, err
		}
	}
	w := protocol.Welcome{LeaseMS: o.Lease.Milliseconds(), BeatMS: (o.Lease / beatsPerLease).Milliseconds()}
	holds := map[string]bool{}
	for _, hold := range h.Running {
		holds[hold.Attempt] = true
		o.renew(ctx, hold, &w)
	}
	o.dropMissing(ctx, h, holds, fresh)
	if fresh {
		o.kick()
	}
	return w, nil
}

// renew extends a lease when it is current, and says again what the worker may
// not have heard of it; else the attempt is to be stopped.
func (o *Orchestrator) renew(ctx context.Context, h protocol.Hold, w *protocol.Welcome) {
	r, err := o.run(ctx, h.Job)
	if err != nil {
		w.Stop = append(w.Stop, h.Attempt)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	task := r.holder(h)
	if task == nil {
		w.Stop = append(w.Stop, h.Attempt)
		return
	}
	r.extend(h.Attempt, o.Lease)
	o.crew.hold(h.Worker, h.Attempt)
	if r.state.Status == job.Paused || o.closing.Load() {
		w.Pause = append(w.Pause, h.Attempt)
	}
	if words := r.words(task); len(words) > 0 {
		w.Heed = append(w.Heed, protocol.Heed{Attempt: h.Attempt, Words: words})
	}
}

// holder gives the task when h is its current lease.
func (r *run) holder(h protocol.Hold) *job.Task {
	task := r.state.Tasks[h.Task]
	if task == nil || !task.Status.Live() || task.Current != h.Attempt || task.Epoch != h.Epoch || task.Attempt(h.Attempt).Worker != h.Worker {
		return nil
	}
	return task
}

// dropMissing ends leases of a worker that started anew: a new process does not
// know what the old one had claimed.
func (o *Orchestrator) dropMissing(ctx context.Context, h protocol.Hello, holds map[string]bool, fresh bool) {
	if !fresh {
		return
	}
	for _, r := range o.active() {
		err := r.do(ctx, func(t *turn) error {
			for _, task := range t.state.List() {
				if task.Status != job.TaskRunning || holds[task.Current] {
					continue
				}
				if a := task.Attempt(task.Current); a.Worker == h.Worker && !a.Started.IsZero() {
					t.lose(task, fmt.Sprintf("worker %s started anew", h.Worker))
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			o.Log.Error().Str("job", r.id).Err(err).Msg("leases of a restarted worker were not ended")
		}
	}
}

func stale(h protocol.Hold) error {
	return &protocol.Error{Code: protocol.CodeStale, Message: fmt.Sprintf("attempt %s (epoch %d) is not the current one of its task", h.Attempt, h.Epoch)}
}

// Claim starts an attempt: the lease must be current and nobody may have
// claimed it. The answer holds all that the worker needs.
func (o *Orchestrator) Claim(ctx context.Context, h protocol.Hold) (protocol.Assignment, error) {
	r, err := o.run(ctx, h.Job)
	if err != nil {
		return protocol.Assignment{}, err
	}
	var out protocol.Assignment
	err = r.do(ctx, func(t *turn) error {
		task := r.holder(h)
		if task == nil || task.Status != job.TaskDispatched {
			return stale(h)
		}
		if out, err = r.assignment(ctx, task, h); err != nil {
			return err
		}
		t.batch.Held = &record.Lease{Task: h.Task, Attempt: h.Attempt, Worker: h.Worker, Epoch: h.Epoch}
		t.emit(job.Event{
			Kind: job.KindStarted, Task: h.Task, Attempt: h.Attempt, Worker: h.Worker, Model: task.Model,
			Body: &job.Started{Number: out.Number, Engine: out.Engine, Epoch: h.Epoch, Tools: offered(task.Kind(), out.Eyes, out.Lookers), Base: baseOf(out), From: fromOf(out)},
		})
		t.move(task, job.MoveClaim, "")
		t.extend(h.Attempt, o.Lease)
		return nil
	})
	if isStale(err) {
		err = stale(h)
	}
	return out, err
}

// baseOf and fromOf are where the attempt goes on, when it does.
func baseOf(a protocol.Assignment) string {
	if a.Continue != nil {
		return a.Continue.Base
	}
	return a.Base
}

func fromOf(a protocol.Assignment) string {
	if a.Continue != nil {
		return a.Continue.Attempt
	}
	return ""
}

// assignment writes down what the worker needs. The base of a work task is the
// job's branch as it is now: its dependencies are merged there.
func (r *run) assignment(ctx context.Context, task *job.Task, h protocol.Hold) (protocol.Assignment, error) {
	m, ok := r.rules.Book.Model(catalog.Ref(task.Model))
	if !ok {
		return protocol.Assignment{}, fmt.Errorf("model %s is not in the config any more", task.Model)
	}
	a := protocol.Assignment{
		Hold: h, Number: task.Attempt(h.Attempt).Number, Kind: task.Kind(), Title: task.Title, Instructions: task.Instructions, Vision: task.Vision,
		Images: task.Images, Checks: task.Checks, Model: task.Model, Eyes: m.Eyes(), MaxOutput: m.MaxOutput, Engine: r.rules.Engine,
		Private: r.state.Private, Lookers: len(r.rules.Book.Lookers(m.Ref, r.state.Private)) > 0,
		Repo: r.state.Repo, Base: r.head(), Rounds: r.rules.Rounds, Minutes: r.rules.Minutes, MaxEdge: r.rules.MaxEdge, Never: r.rules.Never,
		Earlier: r.earlier(task), Siblings: r.siblings(task), Attachments: r.state.Images, Continue: r.goOn(task), Said: r.words(task),
		Attended: r.state.Attended,
	}
	if task.Kind() == job.Work {
		return a, nil
	}
	of := r.state.Tasks[task.ReviewOf]
	author := of.Attempt(task.OfAttempt)
	if author == nil || author.End == nil {
		return a, fmt.Errorf("task %s reviews an attempt that is not there", task.Key)
	}
	a.Images, a.Instructions, a.Title, a.Checks = of.Images, of.Instructions, of.Title, nil
	if task.Kind() == job.Debug {
		a.Earlier = r.earlier(of)
	}
	if author.End.Commit != "" {
		a.Base = author.End.Commit
	}
	a.Review = &protocol.ReviewMaterial{Summary: author.End.Summary, Visual: author.End.Visual, Checks: author.Checks, Looks: author.Looks, Files: author.End.Files}
	if author.End.Commit != "" && author.End.Base != "" && author.End.Commit != author.End.Base {
		repo, err := r.o.Repos.Open(ctx, r.state.Repo)
		if err != nil {
			return a, err
		}
		c, err := repo.Compare(ctx, author.End.Base, author.End.Commit, diffForReview)
		if err != nil {
			return a, err
		}
		a.Review.Diff = c.Diff
	}
	return a, nil
}

// head is where the next attempt starts: the last merge, or the job's base.
func (r *run) head() string {
	head, at := r.state.Base, 0
	for _, task := range r.state.List() {
		if task.Merged != "" && task.MergedSeq > at {
			head, at = task.Merged, task.MergedSeq
		}
	}
	return head
}

// earlier tells the next attempt what the ones before came to, with what
// reviewers and debuggers found.
func (r *run) earlier(task *job.Task) []protocol.Earlier {
	var out []protocol.Earlier
	for _, a := range task.Attempts {
		if !a.Counted() {
			continue
		}
		e := protocol.Earlier{Number: a.Number, Outcome: string(a.End.Outcome), Summary: a.End.Summary}
		if a.End.Reason != "" {
			e.Findings = append(e.Findings, a.End.Reason)
		}
		for _, c := range a.Checks {
			if c.Exit != 0 {
				e.Findings = append(e.Findings, fmt.Sprintf("check %q exited %d: %s", c.Command, c.Exit, c.Output))
			}
		}
		if v := verdictOn(r.state, task, a); v != nil {
			e.Findings = append(e.Findings, v.Summary)
			for _, f := range v.Findings {
				e.Findings = append(e.Findings, findingWords(f))
			}
			if v.Verdict == job.VerdictAccept && task.Merged == "" {
				e.Findings = append(e.Findings, "it was accepted, but others changed the same lines meanwhile, so it could not be merged; do it again on top of the workspace as it is now")
			}
		}
		out = append(out, e)
	}
	for _, h := range r.state.ReviewsOf(task.ID) {
		if last := h.Last(); h.Kind() == job.Debug && last != nil && last.End.Outcome == job.Done {
			out = append(out, protocol.Earlier{Outcome: "debugged", Summary: last.End.Summary, Findings: []string{last.End.Notes}})
		}
	}
	return out
}

func findingWords(f job.Finding) string {
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s%s (%s)", where, f.Text, f.Severity)
}

func (r *run) siblings(task *job.Task) []string {
	var out []string
	for _, s := range r.state.List() {
		if s.ID != task.ID && s.Kind() == job.Work {
			out = append(out, fmt.Sprintf("%s (%s)", s.Title, s.Status))
		}
	}
	return out
}

// Report writes down an attempt's steps and checks.
func (o *Orchestrator) Report(ctx context.Context, rep protocol.Report) error {
	r, err := o.run(ctx, rep.Job)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		task := r.holder(rep.Hold)
		if task == nil {
			return stale(rep.Hold)
		}
		t.extend(rep.Attempt, o.Lease)
		e := job.Event{Task: rep.Task, Attempt: rep.Attempt, Worker: rep.Worker, Model: task.Model}
		for _, s := range rep.Steps {
			e.Kind, e.Body = job.KindStep, &s
			t.emit(e)
		}
		for _, c := range rep.Checks {
			e.Kind, e.Body = job.KindCheck, &c
			t.emit(e)
		}
		return nil
	})
}

// Ask gets an answer for an attempt that holds its lease; the call ends when the
// lease does.
func (o *Orchestrator) Ask(ctx context.Context, a protocol.Ask) (traffic.Answer, error) {
	r, err := o.run(ctx, a.Job)
	if err != nil {
		return traffic.Answer{}, err
	}
	call, ctx, done, err := r.askCall(ctx, a)
	if err != nil {
		return traffic.Answer{}, err
	}
	defer done()
	answer, err := o.Models.Call(ctx, call)
	if err != nil {
		return answer, askError(err)
	}
	if words := r.betterEyes(a.Hold); words != "" {
		return answer, &protocol.Error{Code: protocol.CodeBlind, Message: words}
	}
	return answer, nil
}

// betterEyes says why the task of a running attempt is to go on with another model: it
// needs eyes, its own turned out to have none, and another one of the ladder has. A model
// that the person chose is left alone: another looks for it.
func (r *run) betterEyes(h protocol.Hold) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	task := r.holder(h)
	if task == nil || !task.Vision || task.Chosen != "" || (r.state.Chosen != "" && task.Kind() == job.Work) {
		return ""
	}
	if m, ok := r.rules.Book.Model(catalog.Ref(task.Model)); !ok || m.Sight.Sight != vision.Blind {
		return ""
	}
	ladder := r.rules.ladder()
	rung, ok := ladder.Seeing(max(0, min(task.Rung, len(ladder)-1)), r.needOf(task))
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s turned out not to see; the task needs eyes, and %s has them", task.Model, ladder[rung].Models[0].Ref)
}

// Look answers a question about a picture for a running attempt.
func (o *Orchestrator) Look(ctx context.Context, a protocol.LookAsk) (traffic.Seen, error) {
	r, err := o.run(ctx, a.Job)
	if err != nil {
		return traffic.Seen{}, err
	}
	call, ctx, done, err := r.askCall(ctx, protocol.Ask{Hold: a.Hold})
	if err != nil {
		return traffic.Seen{}, err
	}
	defer done()
	seen, err := o.Models.Look(ctx, traffic.Look{
		Job: call.Job, Task: call.Task, Attempt: call.Attempt, Asker: call.Chain[0], Private: call.Private, Picture: a.Picture, Question: a.Question,
		Budget: call.Budget, Rules: call.Rules,
	})
	if e, ok := errors.AsType[*traffic.NobodyError](err); ok {
		return seen, &protocol.Error{Code: protocol.CodeNobody, Message: e.Words}
	}
	if err != nil {
		return seen, askError(err)
	}
	return seen, nil
}

func (r *run) askCall(ctx context.Context, a protocol.Ask) (traffic.Call, context.Context, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	task := r.holder(a.Hold)
	if task == nil || task.Status != job.TaskRunning {
		return traffic.Call{}, ctx, nil, stale(a.Hold)
	}
	class := job.TrafficConversation
	if task.Kind() == job.Review {
		class = job.TrafficReview
	}
	shown := map[string]bool{}
	for _, l := range task.Attempt(a.Attempt).Looks {
		shown[l.ID] = true
	}
	call := traffic.Call{
		Job: r.id, Task: a.Task, Attempt: a.Attempt, Traffic: class, Chain: r.chainOf(task), Request: a.Request,
		Budget: r.budget(r.state.Submitted), Shown: shown, Private: r.state.Private, Rules: r.rules.Pictures,
	}
	call.Request.CacheKey = a.Attempt
	ctx, done := r.callLocked(ctx, a.Attempt)
	return call, ctx, done, nil
}

// askError puts a failed call into the words and codes that cross the bus.
func askError(err error) error {
	if e, ok := errors.AsType[*traffic.BudgetError](err); ok {
		return &protocol.Error{Code: protocol.CodeBudget, Message: e.Words}
	}
	if e, ok := errors.AsType[*traffic.MissingError](err); ok {
		return &protocol.Error{Code: protocol.CodeMissing, Message: e.Error(), Retryable: true}
	}
	if e, ok := errors.AsType[*provider.Error](err); ok {
		code := protocol.CodeProvider
		if e.Kind == provider.KindKey {
			code = protocol.CodeKey
		}
		return &protocol.Error{Code: code, Message: e.Error()}
	}
	return err
}
