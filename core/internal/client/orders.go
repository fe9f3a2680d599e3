package client

import (
	"context"

	"github.com/relo-dev/relo/core/internal/protocol"
)

// Pause lets the running steps of a job end and begins no new ones.
func (c *Client) Pause(ctx context.Context, id string) (protocol.Resolved, error) {
	return call[protocol.Resolved](ctx, c, "job.pause", protocol.Ref{ID: id})
}

// Resume lets a paused or stopped job go on.
func (c *Client) Resume(ctx context.Context, q protocol.Resume) (protocol.Resolved, error) {
	return call[protocol.Resolved](ctx, c, "job.resume", q)
}

// Say hands words to the agents of a job or a task.
func (c *Client) Say(ctx context.Context, id, text string) (protocol.SayDoc, error) {
	return call[protocol.SayDoc](ctx, c, "job.say", protocol.Say{ID: id, Text: text})
}

// Plan gives a job's plan as it can be edited.
func (c *Client) Plan(ctx context.Context, id string) (protocol.PlanDoc, error) {
	return call[protocol.PlanDoc](ctx, c, "job.plan", protocol.Ref{ID: id})
}

// Approve lets a plan begin; plan, when not nil, takes its place first.
func (c *Client) Approve(ctx context.Context, id string, plan *protocol.PlanDoc) (protocol.Resolved, error) {
	return call[protocol.Resolved](ctx, c, "job.approve", protocol.Approve{ID: id, Plan: plan})
}

// Undo takes an apply back.
func (c *Client) Undo(ctx context.Context, id string) (protocol.UndoDoc, error) {
	return call[protocol.UndoDoc](ctx, c, "job.undo", protocol.Ref{ID: id})
}

// Discard throws a job's work away.
func (c *Client) Discard(ctx context.Context, id string, force bool) (protocol.DiscardDoc, error) {
	return call[protocol.DiscardDoc](ctx, c, "job.discard", protocol.Discard{ID: id, Force: force})
}

// Logs lists attempts with their traces.
func (c *Client) Logs(ctx context.Context, id string) (protocol.LogsDoc, error) {
	return call[protocol.LogsDoc](ctx, c, "job.logs", protocol.Ref{ID: id})
}

// Stop ends the daemon; the answer is its last status.
func (c *Client) Stop(ctx context.Context) (protocol.StatusDoc, error) {
	return call[protocol.StatusDoc](ctx, c, "daemon.stop", protocol.Empty{})
}
