package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/record"
)

// run is one job in hand: its state, the deadlines of its leases, and what is
// being done for it. One turn at a time changes it.
type run struct {
	o      *Orchestrator
	id     string
	rules  Rules
	unruly error               // why there are no rules
	damage *record.DamageError // of its journal: the job is only shown

	conducted atomic.Bool // what is due is done; else the job is only shown

	merging chan struct{} // holds one while an attempt is laid on the branch and written down

	mu       sync.Mutex
	state    *job.Job
	folded   int64                // event of the newest snapshot
	torn     bool                 // state holds what was not committed, and could not be read again
	deadline map[string]time.Time // of live leases, by attempt; monotonic
	posted   map[string]time.Time // when a task was last put into a mailbox, by attempt
	busy     map[string]bool      // effects under way, by what they do
	calls    map[string]map[int]context.CancelFunc
	nextCall int
	choices  map[string]routed // the route of a ready task, by task
	late     map[string]bool   // attempts whose late result was told
	troubles map[string]string // of effects, as they were told
}

func newRun(o *Orchestrator, id string, state *job.Job, rules Rules) *run {
	return &run{
		o: o, id: id, rules: rules, merging: make(chan struct{}, 1), state: state, deadline: map[string]time.Time{}, posted: map[string]time.Time{}, busy: map[string]bool{},
		calls: map[string]map[int]context.CancelFunc{}, choices: map[string]routed{}, late: map[string]bool{}, troubles: map[string]string{},
	}
}

// turn collects what one decision changes. Events are applied to the state as
// they are made, and committed together at the end.
type turn struct {
	*run
	now   time.Time
	batch record.Batch
	after []func() // what is done once the commit is on the disk
	undo  []func() // what is taken back when it is not
	err   error    // the first move that the tables refused
}

// do runs one decision and everything that follows from it, commits it, and
// tells the news. When the commit fails the state is read again from the record.
func (r *run) do(ctx context.Context, f func(*turn) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.damage != nil {
		return damageFault(r.id, r.damage)
	}
	if r.torn {
		if err := r.reload(ctx); err != nil {
			return err
		}
	}
	t := &turn{run: r, now: time.Now(), batch: record.Batch{Job: r.id}}
	err := f(t)
	if err == nil && r.conducted.Load() {
		t.advance()
	}
	if err == nil {
		err = t.err
	}
	if err == nil {
		err = t.commit(ctx)
	}
	if err != nil {
		for _, f := range t.undo {
			f()
		}
		if len(t.batch.Events) > 0 {
			return errors.Join(err, r.reload(ctx))
		}
		return err
	}
	t.tell()
	for _, f := range t.after {
		f()
	}
	return nil
}

func (t *turn) commit(ctx context.Context) error {
	b := &t.batch
	if len(b.Events) == 0 && b.Settle == nil && len(b.Grants) == 0 && len(b.Free) == 0 && len(b.Outbox) == 0 {
		return nil
	}
	b.Status, b.Title, b.Line = t.state.Status, t.state.Title, raw(lineOf(t.state))
	if t.state.Seq-t.folded >= snapshotEvery {
		b.Snapshot = &record.Snapshot{Seq: t.state.Seq, State: raw(t.state)}
	}
	if err := t.o.Journal.Commit(ctx, *b); err != nil {
		return err
	}
	if b.Snapshot != nil {
		t.folded = b.Snapshot.Seq
	}
	if len(b.Outbox) > 0 {
		t.o.wakePump()
	}
	return nil
}

// tell publishes the events; what is lost on the way is asked for by the viewer,
// who sees the gap in the numbers.
func (t *turn) tell() {
	for _, e := range t.batch.Events {
		if err := t.o.Lanes.Tell(t.id, fmt.Sprintf("%s:%d", t.id, e.Seq), raw(e)); err != nil {
			t.o.Log.Debug().Str("job", t.id).Err(err).Msg("news was not told")
		}
	}
}

// reload drops what was not committed. Until it succeeds no turn is taken: one
// that built on what is not in the record would leave a gap there.
func (r *run) reload(ctx context.Context) error {
	r.torn = true
	state, folded, err := r.o.read(context.WithoutCancel(ctx), r.id)
	if err != nil {
		return fmt.Errorf("read the job again: %w", err)
	}
	r.state, r.folded, r.torn = state, folded, false
	clear(r.choices)
	return nil
}

// emit makes an event and applies it.
func (t *turn) emit(e job.Event) {
	if t.err != nil {
		return
	}
	e.Seq, e.Time, e.Job = t.state.Seq+1, t.now.UTC(), t.id
	if err := t.state.Apply(e); err != nil {
		t.err = err
		return
	}
	t.batch.Events = append(t.batch.Events, e)
}

// notice tells the person something.
func (t *turn) notice(level, format string, args ...any) {
	t.emit(job.Event{Kind: job.KindNotice, Body: &job.Notice{Level: level, Words: fmt.Sprintf(format, args...)}})
}

// move makes a task's move, checked against the table.
func (t *turn) move(task *job.Task, m job.TaskMove, reason string) {
	t.moveWith(task, m, job.StatusChange{Reason: reason})
}

// moveWith is move with more to say about it; From and To are filled in.
func (t *turn) moveWith(task *job.Task, m job.TaskMove, body job.StatusChange) {
	to, err := job.Next(task.Status, m)
	if err != nil {
		t.err = fmt.Errorf("task %s: %w", task.Key, err)
		return
	}
	body.From, body.To = string(task.Status), string(to)
	t.emit(job.Event{Kind: job.KindTaskStatus, Task: task.ID, Attempt: task.Current, Model: task.Model, Body: &body})
}

// moveJob makes the job's move.
func (t *turn) moveJob(m job.JobMove, reason string) {
	to, err := job.NextStatus(t.state.Status, m)
	if err != nil {
		t.err = err
		return
	}
	t.emit(job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: string(t.state.Status), To: string(to), Reason: reason}})
}

// free ends a task's lease with this turn, frees its worker's slot and hangs up
// its calls.
func (t *turn) free(task *job.Task, attempt string) {
	worker := task.Attempt(attempt).Worker
	t.o.crew.release(worker, attempt)
	t.undo = append(t.undo, func() { t.o.crew.hold(worker, attempt) })
	t.batch.Free = append(t.batch.Free, record.Lease{Task: task.ID, Epoch: task.Epoch})
	delete(t.deadline, attempt)
	delete(t.posted, attempt)
	t.after = append(t.after, func() { t.hangUp(attempt) })
}

// effect starts f once for name; it runs after the commit, outside the lock.
func (t *turn) effect(name string, f func(ctx context.Context) error) {
	if t.busy[name] || t.o.Idle {
		return
	}
	r := t.run
	r.busy[name] = true
	t.undo = append(t.undo, func() { delete(r.busy, name) })
	t.after = append(t.after, func() {
		r.o.work.Go(func() {
			ctx := r.o.ctx()
			if err := f(ctx); err != nil && ctx.Err() == nil {
				r.o.Log.Error().Str("job", r.id).Str("effect", name).Err(err).Msg("will be tried again")
				r.troubled(ctx, name, err)
				select {
				case <-ctx.Done():
				case <-time.After(retryEffect):
				}
			}
			r.mu.Lock()
			delete(r.busy, name) // not before the pause: whatever happens meanwhile would start it again
			r.mu.Unlock()
			if ctx.Err() == nil {
				r.poke(ctx)
			}
		})
	})
}

// troubled tells the person once that something is tried again.
func (r *run) troubled(ctx context.Context, name string, err error) {
	r.mu.Lock()
	told := r.troubles[name] == err.Error()
	r.troubles[name] = err.Error()
	r.mu.Unlock()
	if told {
		return
	}
	_ = r.do(ctx, func(t *turn) error { // when even this cannot be written the log has it
		t.notice("warn", "%s did not work and is tried again: %v", name, err)
		return nil
	})
}

// poke lets the job look again at what is due.
func (r *run) poke(ctx context.Context) {
	if err := r.do(ctx, func(*turn) error { return nil }); err != nil && ctx.Err() == nil {
		r.o.Log.Error().Str("job", r.id).Err(err).Msg("a job could not go on")
	}
}

// extend moves the end of a lease.
func (r *run) extend(attempt string, d time.Duration) { r.deadline[attempt] = time.Now().Add(d) }

// tick ends leases that ran out and sends again what was not claimed.
func (r *run) tick(ctx context.Context) error {
	r.mu.Lock()
	due := false
	now := time.Now()
	for _, task := range r.state.Tasks {
		if !task.Status.Live() {
			due = due || task.Status == job.TaskReady
			continue
		}
		end, ok := r.deadline[task.Current]
		due = due || !ok || now.After(end) || r.unclaimed(task, now)
	}
	r.mu.Unlock()
	if !due {
		return nil
	}
	return r.do(ctx, func(t *turn) error {
		t.looseEnds()
		return nil
	})
}

func (r *run) unclaimed(task *job.Task, now time.Time) bool {
	at, ok := r.posted[task.Current]
	return task.Status == job.TaskDispatched && (!ok || now.Sub(at) > r.o.Lease/4)
}

// looseEnds ends leases that ran out. A dispatched task that nobody claimed is
// put into the mailbox again with the same epoch: the broker may have lost it.
func (t *turn) looseEnds() {
	for _, task := range t.state.List() {
		if !task.Status.Live() {
			continue
		}
		end, ok := t.deadline[task.Current]
		switch {
		case !ok:
			t.extend(task.Current, t.o.Lease)
		case t.now.After(end):
			t.lose(task, fmt.Sprintf("worker %s was not heard of for %s", task.Attempt(task.Current).Worker, t.o.Lease))
		case t.unclaimed(task, t.now):
			a := task.Attempt(task.Current)
			t.post(task, record.Lease{Task: task.ID, Job: t.id, Attempt: a.ID, Worker: a.Worker, Epoch: a.Epoch}, fmt.Sprintf("again-%d", t.now.UnixNano()))
		}
	}
}

// lose ends a live lease without a result.
func (t *turn) lose(task *job.Task, reason string) {
	attempt := task.Current
	worker := task.Attempt(attempt).Worker
	t.emit(job.Event{
		Kind: job.KindTaskStatus, Task: task.ID, Attempt: attempt, Worker: worker, Model: task.Model,
		Body: &job.StatusChange{From: string(task.Status), To: string(job.TaskLost), Reason: reason},
	})
	t.free(task, attempt)
}

// settle ends a ledger row with this turn.
func (t *turn) settle(row ledger.Row, looks []job.Look) {
	t.batch.Settle = &row
	e := job.Event{Task: row.Task, Attempt: row.Attempt, Model: string(row.Model)}
	if task := t.state.Tasks[row.Task]; task != nil {
		if a := task.Attempt(row.Attempt); a != nil {
			e.Worker = a.Worker
		}
	}
	e.Kind = job.KindUsage
	e.Body = &job.UsageBody{
		Request: row.ID, Traffic: row.Traffic, TokensIn: row.Usage.TokensIn, TokensOut: row.Usage.TokensOut, TokensCached: row.Usage.TokensCached,
		Pictures: row.Pictures, PictureTokens: row.PictureTokens, Cost: row.Cost, MS: row.MS, Outcome: row.Outcome,
	}
	t.emit(e)
	for _, l := range looks {
		e.Kind, e.Body = job.KindLook, &l
		t.emit(e)
	}
}

// writeOff settles the rows that were open when the last process ended: what
// they cost is not known.
func (r *run) writeOff(ctx context.Context) error {
	rows, err := r.o.Journal.Rows(ctx, r.id, time.Time{})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Outcome != ledger.OutcomeOpen {
			continue
		}
		row.Outcome = ledger.OutcomeLost
		if err := r.o.Settle(ctx, row, nil); err != nil {
			return err
		}
	}
	return nil
}
