package api

import (
	"context"

	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// Asker takes jobs and orders of people.
type Asker interface {
	Submit(ctx context.Context, s protocol.Submit) (protocol.Accepted, error)
	Cancel(ctx context.Context, r protocol.Resolved, reason string) error
	Retry(ctx context.Context, r protocol.Resolved, q protocol.Retry) error
	Pause(ctx context.Context, job string) error
	Resume(ctx context.Context, job string, budget *float64) error
	Say(ctx context.Context, r protocol.Resolved, text string) (protocol.SayDoc, error)
}

// Planner shows and changes plans that wait for a person.
type Planner interface {
	Plan(ctx context.Context, job string) (protocol.PlanDoc, error)
	Approve(ctx context.Context, job string, plan *protocol.PlanDoc) error
}

// Keeper brings finished work to the person's files, takes it back, or throws it away.
type Keeper interface {
	Apply(ctx context.Context, job string) (protocol.ApplyDoc, error)
	Undo(ctx context.Context, job string) (protocol.UndoDoc, error)
	Discard(ctx context.Context, job string, force bool) (protocol.DiscardDoc, error)
}

// Teller answers people's questions about jobs.
type Teller interface {
	Resolve(ctx context.Context, ref string) (protocol.Resolved, error)
	List(ctx context.Context) (protocol.JobList, error)
	Show(ctx context.Context, job string) (protocol.JobDoc, error)
	Events(ctx context.Context, q protocol.EventsQuery) (protocol.EventPage, error)
}

// Accountant explains: why, what changed, what it cost.
type Accountant interface {
	Why(ctx context.Context, r protocol.Resolved) (protocol.WhyList, error)
	Diff(ctx context.Context, r protocol.Resolved) (protocol.DiffDoc, error)
	Costs(ctx context.Context, job string, days int) (protocol.CostsDoc, error)
	Logs(ctx context.Context, r protocol.Resolved) (protocol.LogsDoc, error)
}

// Foreman speaks with workers.
type Foreman interface {
	Hello(ctx context.Context, h protocol.Hello) (protocol.Welcome, error)
	Claim(ctx context.Context, h protocol.Hold) (protocol.Assignment, error)
	Report(ctx context.Context, r protocol.Report) error
	Finish(ctx context.Context, f protocol.Finish) (protocol.Received, error)
}

// Phone gets answers from models for workers.
type Phone interface {
	Ask(ctx context.Context, a protocol.Ask) (traffic.Answer, error)
	Look(ctx context.Context, a protocol.LookAsk) (traffic.Seen, error)
}

// Album keeps files by their SHA-256.
type Album interface {
	PutBlob(data []byte) (sha string, err error)
	Blob(sha string) ([]byte, error)
}

// House tells of the daemon itself.
type House interface {
	Status(ctx context.Context) (protocol.StatusDoc, error)
	Models(ctx context.Context, r protocol.ModelsRequest) (protocol.ModelsDoc, error)
	// ForgetRefusals ends what was learned from refused pictures, for some models or all.
	ForgetRefusals(ctx context.Context, r protocol.ForgetRequest) (protocol.ForgottenDoc, error)
	// Stop ends the daemon: agents are laid aside at their next safe point.
	Stop(ctx context.Context) (protocol.StatusDoc, error)
}
