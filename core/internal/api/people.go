package api

import (
	"context"

	"github.com/relo-dev/relo/core/internal/protocol"
)

// of resolves the short id of a request before it is answered.
func of[In, Out any](d Teller, id func(In) string, f func(context.Context, protocol.Resolved, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		r, err := d.Resolve(ctx, id(in))
		if err != nil {
			var none Out
			return none, err
		}
		return f(ctx, r, in)
	}
}

func refID(q protocol.Ref) string { return q.ID }

// orders are what a person has done with jobs.
func orders(d Desks) []Endpoint {
	return []Endpoint{
		row("job.submit", "take a new job", d.Submit),
		row("job.cancel", "end a job or a task at once", of(d, func(q protocol.CancelQuery) string { return q.ID },
			func(ctx context.Context, r protocol.Resolved, q protocol.CancelQuery) (protocol.Resolved, error) {
				return r, d.Cancel(ctx, r, q.Reason)
			})),
		row("job.pause", "let running steps end, and begin no new ones", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.Resolved, error) {
				return r, d.Pause(ctx, r.Job)
			})),
		row("job.resume", "let a paused or stopped job go on", of(d, func(q protocol.Resume) string { return q.ID },
			func(ctx context.Context, r protocol.Resolved, q protocol.Resume) (protocol.Resolved, error) {
				return r, d.Resume(ctx, r.Job, q.Budget)
			})),
		row("job.retry", "give what waits, failed or was cancelled another attempt", of(d, func(q protocol.Retry) string { return q.ID },
			func(ctx context.Context, r protocol.Resolved, q protocol.Retry) (protocol.Resolved, error) {
				return r, d.Retry(ctx, r, q)
			})),
		row("job.say", "tell the agents something, or answer one", of(d, func(q protocol.Say) string { return q.ID },
			func(ctx context.Context, r protocol.Resolved, q protocol.Say) (protocol.SayDoc, error) {
				return d.Say(ctx, r, q.Text)
			})),
		row("job.plan", "the plan of a job, as it can be edited", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.PlanDoc, error) {
				return d.Plan(ctx, r.Job)
			})),
		row("job.approve", "let a plan that waits begin, edited or as it is", of(d, func(q protocol.Approve) string { return q.ID },
			func(ctx context.Context, r protocol.Resolved, q protocol.Approve) (protocol.Resolved, error) {
				return r, d.Approve(ctx, r.Job, q.Plan)
			})),
		row("job.apply", "bring a ready job's work to the person's files", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.ApplyDoc, error) {
				return d.Apply(ctx, r.Job)
			})),
		row("job.undo", "take an apply back", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.UndoDoc, error) {
				return d.Undo(ctx, r.Job)
			})),
		row("job.discard", "throw a job's work away", of(d, func(q protocol.Discard) string { return q.ID },
			func(ctx context.Context, r protocol.Resolved, q protocol.Discard) (protocol.DiscardDoc, error) {
				return d.Discard(ctx, r.Job, q.Force)
			})),
	}
}

// questions change nothing.
func questions(d Desks) []Endpoint {
	return []Endpoint{
		row("job.resolve", "find the job or task that a short id means", of(d, refID,
			func(_ context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.Resolved, error) { return r, nil })),
		row("job.list", "list the jobs, newest first", func(ctx context.Context, _ protocol.Empty) (protocol.JobList, error) { return d.List(ctx) }),
		row("job.show", "a job with tasks, attempts and looks", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.JobDoc, error) {
				return d.Show(ctx, r.Job)
			})),
		row("job.events", "the events of a job after a number", d.Events),
		row("job.why", "why a task has its model and its state", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.WhyList, error) {
				return d.Why(ctx, r)
			})),
		row("job.diff", "what a job or a task changes", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.DiffDoc, error) {
				return d.Diff(ctx, r)
			})),
		row("job.logs", "the attempts of a job or a task with their traces", of(d, refID,
			func(ctx context.Context, r protocol.Resolved, _ protocol.Ref) (protocol.LogsDoc, error) {
				return d.Logs(ctx, r)
			})),
		row("costs.list", "the ledger, of a job or of the last days", func(ctx context.Context, q protocol.CostsQuery) (protocol.CostsDoc, error) {
			if q.ID == "" {
				return d.Costs(ctx, "", q.Days)
			}
			r, err := d.Resolve(ctx, q.ID)
			if err != nil {
				return protocol.CostsDoc{}, err
			}
			return d.Costs(ctx, r.Job, q.Days)
		}),
	}
}
