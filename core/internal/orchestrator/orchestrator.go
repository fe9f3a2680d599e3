// Package orchestrator conducts jobs: it plans them, gives tasks to workers under
// leases, judges what comes back, queues reviews, merges what was accepted, and
// tells everybody. On a worker's side it conducts one attempt from its claim to
// its result. It decides by rules of lower floors, and all that it knows is in
// the record: a new process that reads it goes on where the last one stopped.
package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Rules are what the config says of the jobs of one folder.
type Rules struct {
	Ladder     routing.Ladder // the Primary on its own rung at the top unless the ladder names it
	Primary    catalog.Ref
	Planning   []catalog.Ref // route; empty: the Primary
	Review     []catalog.Ref // route; empty: the ladder
	Engine     string
	AutoReview bool
	Budget     ledger.Budget // PerJob is the default of a job
	AskUnknown bool          // refuse a job whose models have no price until the person says yes
	Attempts   int
	Rounds     int
	Minutes    int
	MaxTasks   int
	MaxEdge    int
	Never      []string
	Pictures   traffic.PictureRules
	Book       Book
}

// ladder is the ladder with what is known of its models now: one may have turned out
// blind, or been found to see, since the job was handed in.
func (o *Rules) ladder() routing.Ladder {
	out := make(routing.Ladder, len(o.Ladder))
	for i, rung := range o.Ladder {
		out[i] = routing.Rung{Difficulty: rung.Difficulty, Models: slices.Clone(rung.Models)}
		for k, m := range rung.Models {
			if now, ok := o.Book.Model(m.Ref); ok {
				out[i].Models[k] = now
			}
		}
	}
	return out
}

// Options are what holds for all jobs of the daemon.
type Options struct {
	Lease   time.Duration
	Subject func(worker string) string // the mailbox of a worker
	Solo    bool                       // conduct only jobs submitted here (a standalone run)
	Idle    bool                       // answer questions, conduct nothing
}

// Parts are the hands that the orchestrator conducts.
type Parts struct {
	Journal Journal
	Outbox  Outbox
	Album   Album
	Lanes   Lanes
	Repos   Repos
	Models  Models
	// Rules reads the config that holds in a folder; its error is told to who
	// submits a job there.
	Rules func(ctx context.Context, dir string) (Rules, error)
	// Prepare makes an attachment ready to be shown; never are globs of names that are shown to no model.
	Prepare func(data []byte, name string, maxEdge int, never []string) (vision.Picture, vision.Meta, error)
	Log     zerolog.Logger
}

// Orchestrator conducts the jobs of one record. It is safe for concurrent use.
type Orchestrator struct {
	Options
	Parts
	crew *crew

	mu   sync.Mutex
	runs map[string]*run
	stop context.CancelFunc
	work sync.WaitGroup
	ctx  func() context.Context // of everything that it starts; nil before Start
	wake chan struct{}          // the outbox has something

	closing atomic.Bool // no more work is given out
}

// New makes an orchestrator that has read nothing yet.
func New(o Options, p Parts) *Orchestrator {
	p.Log = p.Log.With().Str("component", "orchestrator").Logger()
	return &Orchestrator{Options: o, Parts: p, crew: newCrew(), runs: map[string]*run{}, wake: make(chan struct{}, 1)}
}

// Start reads the record and goes on with every job that is not at an end.
func (o *Orchestrator) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	o.stop = cancel
	o.ctx = func() context.Context { return ctx }
	if o.Idle {
		return nil
	}
	if !o.Solo {
		if err := o.resumeAll(ctx); err != nil {
			return err
		}
	}
	o.work.Go(func() { o.watch(ctx) })
	o.work.Go(func() { o.pump(ctx) })
	return nil
}

// Stop ends everything that was started and waits for it. Jobs stay as the
// record has them.
func (o *Orchestrator) Stop() {
	o.stop()
	o.work.Wait()
}

// resumeAll takes up the jobs that are under way. One that cannot be read does
// not keep the others from going on; the log and its views say why.
func (o *Orchestrator) resumeAll(ctx context.Context) error {
	entries, err := o.Journal.JobsWith(ctx, append(job.ActiveStates(), job.Paused)...)
	if err != nil {
		return err
	}
	for _, e := range entries {
		err := o.resume(ctx, e.ID)
		if _, damaged := errors.AsType[*record.DamageError](err); damaged {
			o.Log.Error().Str("job", e.ID).Err(err).Msg("a job is damaged and is only shown")
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resume takes up a job after a restart: its leases count from now, what was
// under way at a provider is written off, and what is due is done.
func (o *Orchestrator) resume(ctx context.Context, id string) error {
	r, err := o.run(ctx, id)
	if err != nil {
		return err
	}
	if r.damage != nil {
		return r.damage
	}
	if err := r.writeOff(ctx); err != nil {
		return err
	}
	if r.unruly != nil {
		return r.do(ctx, func(t *turn) error {
			t.notice("error", "the job waits: its folder's config cannot be used: %v", r.unruly)
			return nil
		})
	}
	r.conducted.Store(true)
	return r.do(ctx, func(t *turn) error {
		for _, task := range r.state.List() {
			if task.Status.Live() {
				r.extend(task.Current, o.Lease)
				o.crew.hold(task.Attempt(task.Current).Worker, task.Current)
			}
		}
		return nil
	})
}

// run gives the live state of a job, read from the record when it is not at hand.
func (o *Orchestrator) run(ctx context.Context, id string) (*run, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.runs[id]; r != nil {
		return r, nil
	}
	state, folded, err := o.read(ctx, id)
	damage, damaged := errors.AsType[*record.DamageError](err)
	if err != nil && (!damaged || state == nil) {
		return nil, err
	}
	if state.Seq == 0 && damaged {
		return nil, damageFault(id, damage)
	}
	if state.Seq == 0 {
		return nil, notFound(id)
	}
	rules, err := o.Rules(ctx, state.Repo)
	if err != nil { // what is done already can be shown all the same
		o.Log.Error().Str("job", id).Err(err).Msg("the config of the job's folder cannot be used")
	}
	r := newRun(o, id, state, rules)
	r.unruly, r.folded, r.damage = err, folded, damage
	o.runs[id] = r
	return r, nil
}

// read gives a job's state from the record: of a damaged journal what can be
// believed, with *record.DamageError. folded says up
// to which event a snapshot has it.
func (o *Orchestrator) read(ctx context.Context, id string) (state *job.Job, folded int64, err error) {
	state = &job.Job{Tasks: map[string]*job.Task{}}
	snap, ok, err := o.Journal.Snapshot(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	if ok {
		var from job.Job
		if err := json.Unmarshal(snap.State, &from); err == nil && from.Seq == snap.Seq { // one of another version is not used
			state, folded = &from, snap.Seq
		}
	}
	events, err := o.Journal.Events(ctx, id, folded, 0)
	if _, damaged := errors.AsType[*record.DamageError](err); err != nil && !damaged {
		return nil, 0, err
	}
	for _, e := range events { // of a damaged journal: those before the damage
		if err := state.Apply(e); err != nil {
			return nil, 0, fmt.Errorf("read the record: %w", err)
		}
	}
	return state, folded, err
}

// damageFault is told to who asks, and stays a *record.DamageError for who acts on it.
func damageFault(id string, d *record.DamageError) error {
	return errors.Join(&protocol.Error{Code: protocol.CodeDamaged, Message: d.Error(), Hint: "relo doctor says more; its branch " + branchOf(id) + " is as it was"}, d)
}

func notFound(id string) error {
	return &protocol.Error{Code: protocol.CodeNotFound, Message: fmt.Sprintf("there is no job or task %q", id), Hint: "relo jobs lists them"}
}

// watch ends leases that ran out, sends again what the broker lost, and gives
// free workers something to do.
func (o *Orchestrator) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, r := range o.active() {
			if err := r.tick(ctx); err != nil && ctx.Err() == nil {
				o.Log.Error().Str("job", r.id).Err(err).Msg("a job could not be looked after")
			}
		}
	}
}

// active gives the jobs that are conducted here.
func (o *Orchestrator) active() []*run {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []*run
	for _, r := range o.runs {
		if r.conducted.Load() {
			out = append(out, r)
		}
	}
	return out
}

// kick lets every job look for a free worker. It must not be called inside a turn.
func (o *Orchestrator) kick() {
	if o.Idle || o.ctx().Err() != nil {
		return
	}
	for _, r := range o.active() {
		o.work.Go(func() {
			if err := r.do(o.ctx(), func(*turn) error { return nil }); err != nil && o.ctx().Err() == nil {
				o.Log.Error().Str("job", r.id).Err(err).Msg("a job could not go on")
			}
		})
	}
}

// pump publishes the outbox: at least once, in order, until the broker has it.
func (o *Orchestrator) pump(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := o.publish(ctx); err != nil && ctx.Err() == nil {
			o.Log.Warn().Err(err).Msg("the bus did not take a message; it is sent again")
		}
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-tick.C:
		}
	}
}

func (o *Orchestrator) publish(ctx context.Context) error {
	for {
		messages, err := o.Outbox.Outbox(ctx, outboxBatch)
		if err != nil || len(messages) == 0 {
			return err
		}
		var done []int64
		for _, m := range messages {
			if err = o.Lanes.Send(ctx, m.Subject, m.ID, m.Payload); err != nil {
				break
			}
			done = append(done, m.Seq)
		}
		if err := errors.Join(err, o.Outbox.Published(ctx, done)); err != nil {
			return err
		}
	}
}

func (o *Orchestrator) wakePump() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Settle writes a request's end into the ledger and into its job's events, and
// the looks with it: one commit.
func (o *Orchestrator) Settle(ctx context.Context, row ledger.Row, looks []job.Look) error {
	r, err := o.run(ctx, row.Job)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		t.settle(row, looks)
		return nil
	})
}

// Blinded tells the job that a model turned out not to see. row is the request that
// was refused.
func (o *Orchestrator) Blinded(ctx context.Context, row ledger.Row, b job.Blinded) error {
	r, err := o.run(ctx, row.Job)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		t.emit(job.Event{Kind: job.KindBlinded, Task: row.Task, Attempt: row.Attempt, Model: string(row.Model), Body: &b})
		return nil
	})
}

// Told lets a job know what a person should hear of one of its requests. A request of no
// job is nobody's news.
func (o *Orchestrator) Told(ctx context.Context, row ledger.Row, words string) error {
	if row.Job == "" {
		return nil
	}
	r, err := o.run(ctx, row.Job)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		t.emit(job.Event{Kind: job.KindNotice, Task: row.Task, Attempt: row.Attempt, Model: string(row.Model), Body: &job.Notice{Level: "info", Words: words}})
		return nil
	})
}

// isStale reports whether a commit was refused because a lease is not current.
func isStale(err error) bool { return errors.Is(err, record.ErrStale) }
