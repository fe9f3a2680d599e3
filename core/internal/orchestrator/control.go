package orchestrator

import (
	"context"
	"errors"

	"github.com/relo-dev/relo/core/internal/protocol"
)

var errSoon = errors.New("not in this build yet")

// Pause lets the running steps of a job end and begins no new ones.
func (o *Orchestrator) Pause(ctx context.Context, id string) error { return errSoon }

// Resume lets a paused or stopped job go on.
func (o *Orchestrator) Resume(ctx context.Context, id string, budget *float64) error { return errSoon }

// Say hands words to agents.
func (o *Orchestrator) Say(ctx context.Context, ref protocol.Resolved, text string) (protocol.SayDoc, error) {
	return protocol.SayDoc{}, errSoon
}

// Plan gives the plan.
func (o *Orchestrator) Plan(ctx context.Context, id string) (protocol.PlanDoc, error) {
	return protocol.PlanDoc{}, errSoon
}

// Approve lets a plan begin.
func (o *Orchestrator) Approve(ctx context.Context, id string, plan *protocol.PlanDoc) error {
	return errSoon
}

// Undo takes an apply back.
func (o *Orchestrator) Undo(ctx context.Context, id string) (protocol.UndoDoc, error) {
	return protocol.UndoDoc{}, errSoon
}

// Discard throws work away.
func (o *Orchestrator) Discard(ctx context.Context, id string, force bool) (protocol.DiscardDoc, error) {
	return protocol.DiscardDoc{}, errSoon
}

// Logs lists attempts.
func (o *Orchestrator) Logs(ctx context.Context, ref protocol.Resolved) (protocol.LogsDoc, error) {
	return protocol.LogsDoc{}, errSoon
}

// Trace takes what an attempt left.
func (o *Orchestrator) Trace(ctx context.Context, t protocol.Trace) error { return errSoon }
