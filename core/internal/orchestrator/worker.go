package orchestrator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// WorkerOptions say who a worker is and where it works.
type WorkerOptions struct {
	ID    string
	Dir   string // worktrees and private temp folders go here
	Slots int
	// Orphan ends a worker that has not reached its daemon for so long; 0: never.
	Orphan time.Duration
}

// WorkerParts are a worker's hands.
type WorkerParts struct {
	Home     Home
	Phone    Phone
	Mailbox  Mailbox
	Trees    Trees
	Shop     Shop
	Pictures func(never []string, tracked func(name string) bool) Pictures
	Rooms    *showing.Rooms // of all workers of the process; nil: of this one alone
	Engines  Engines
	// Outside opens the person's own tool servers for a worktree; nil: there are none.
	Outside func(dir string, private bool) Outside
	Log     zerolog.Logger
}

// Worker does tasks: it claims them from its mailbox, works on each in a git
// worktree of its own, and keeps every result until the record has it.
type Worker struct {
	WorkerOptions
	WorkerParts
	boot  string
	slots chan struct{}

	mu      sync.Mutex
	holds   map[string]*holding // by attempt
	lease   time.Duration
	beat    time.Duration
	heard   time.Time // when the daemon last answered; monotonic
	leaving bool
}

// holding is an attempt that this worker works on.
type holding struct {
	hold protocol.Hold
	stop context.CancelFunc // ends the agent
	// decided is set once the agent has ended and its result is on the way: a
	// lease that ends no longer matters to it.
	decided bool
	pause   bool             // lay it aside at the next safe point
	words   []protocol.Words // of the person, in the order they came
}

// NewWorker makes a worker.
func NewWorker(o WorkerOptions, p WorkerParts) *Worker {
	p.Log = p.Log.With().Str("component", "worker").Str("worker", o.ID).Logger()
	if p.Rooms == nil {
		p.Rooms = showing.NewRooms()
	}
	return &Worker{
		WorkerOptions: o, WorkerParts: p, boot: rand.Text(), slots: make(chan struct{}, o.Slots), holds: map[string]*holding{},
		lease: firstLease, beat: firstBeat, heard: time.Now(),
	}
}

// Before the first answer of the daemon a worker knows no lease: these are short
// enough that it is heard of at once.
const (
	firstLease = 20 * time.Second
	firstBeat  = 200 * time.Millisecond
)

// LeaveWait bounds how long a worker that is asked to go waits for its agents to
// come to a safe point: a model's answer and a tool call usually end within it.
const LeaveWait = 20 * time.Second

// Run works until ctx ends, the daemon sends it away, or it is an orphan. When
// ctx ends, agents are laid aside at their next safe point, so that they go on
// from there with the next daemon; after LeaveWait they are stopped. It returns
// when every agent that it started is gone.
func (w *Worker) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return err
	}
	stop, err := w.Mailbox.Orders(w.ID, w.order)
	if err != nil {
		return err
	}
	defer stop()
	var beats, work sync.WaitGroup
	beats.Go(func() { w.beats(life, cancel) })
	err = w.Mailbox.Tasks(ctx, w.ID, func(data []byte) bool { return w.take(ctx, life, data, &work) })
	over := ctx.Err() != nil
	cancel()
	w.leave(&work)
	end()
	work.Wait()
	beats.Wait()
	if over {
		return nil
	}
	return err
}

// leave asks every agent to lay its work aside, and waits for them.
func (w *Worker) leave(work *sync.WaitGroup) {
	w.mu.Lock()
	w.leaving = true
	for _, h := range w.holds {
		h.pause = true
	}
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(LeaveWait):
		w.Log.Warn().Msg("agents did not come to a safe point in time and are stopped")
	}
}

// take claims one task and starts on it; it waits for a free slot first. False
// means: deliver it again.
func (w *Worker) take(ctx, life context.Context, data []byte, work *sync.WaitGroup) bool {
	var hold protocol.Hold
	if err := json.Unmarshal(data, &hold); err != nil {
		w.Log.Error().Err(err).Msg("a task in the mailbox cannot be read")
		return true
	}
	actx, stop := context.WithCancel(life)
	h := &holding{hold: hold, stop: stop}
	if !w.keep(h) {
		stop()
		return true // delivered twice
	}
	a, err := w.claim(ctx, actx, hold)
	if err != nil {
		w.drop(h)
		if ctx.Err() == nil && actx.Err() != nil {
			return true // the daemon took it back meanwhile
		}
		if codeOf(err) == protocol.CodeStale || codeOf(err) == protocol.CodeNotFound {
			return true // somebody else's by now, or delivered twice
		}
		w.Log.Warn().Err(err).Msg("a task could not be claimed")
		return false
	}
	work.Go(func() {
		defer func() { <-w.slots }()
		w.attempt(actx, life, a, h)
		w.drop(h)
	})
	return true
}

// claim waits for a free slot and claims the task. The slot stays taken when
// there is no error.
func (w *Worker) claim(ctx, held context.Context, hold protocol.Hold) (protocol.Assignment, error) {
	select {
	case w.slots <- struct{}{}:
	case <-held.Done():
		return protocol.Assignment{}, held.Err()
	case <-ctx.Done():
		return protocol.Assignment{}, ctx.Err()
	}
	a, err := w.Home.Claim(held, hold)
	if err != nil {
		<-w.slots
	}
	return a, err
}

// keep notes a task that is at hand: from before the claim, so that every hello
// speaks of it, also of one that waits for a slot or whose claim is under way.
func (w *Worker) keep(h *holding) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holds[h.hold.Attempt] != nil {
		return false
	}
	w.holds[h.hold.Attempt] = h
	return true
}

func (w *Worker) drop(h *holding) {
	h.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.holds, h.hold.Attempt)
}

// beats shows the daemon that the worker lives, and ends agents whose lease it
// lost: by the daemon's word, or by its own monotonic clock when it is cut off.
func (w *Worker) beats(ctx context.Context, leave context.CancelFunc) {
	for ctx.Err() == nil {
		w.hello(ctx, leave)
		w.mu.Lock()
		wait := w.beat
		w.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

func (w *Worker) hello(ctx context.Context, leave context.CancelFunc) {
	w.mu.Lock()
	h := protocol.Hello{Worker: w.ID, PID: os.Getpid(), Boot: w.boot, Slots: w.Slots, Version: protocol.Version, Leaving: w.leaving}
	for name := range w.Engines {
		h.Engines = append(h.Engines, name)
	}
	for _, x := range w.holds {
		h.Running = append(h.Running, x.hold)
	}
	wait := w.lease - time.Since(w.heard) // no longer than the lease lasts, so that its end is seen
	if wait <= 0 {
		wait = w.beat
	}
	w.mu.Unlock()
	slices.Sort(h.Engines)
	sent := time.Now()
	bounded, cancel := context.WithTimeout(ctx, wait)
	welcome, err := w.Home.Hello(bounded, h)
	cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		silent := time.Since(w.heard)
		if silent >= w.lease {
			w.stopAll("the lease ended while the daemon was out of reach")
		}
		if w.Orphan > 0 && silent > w.Orphan && len(w.holds) == 0 {
			w.Log.Warn().Msg("the daemon is gone; the worker ends")
			leave()
		}
		return
	}
	if sent.Sub(w.heard) > w.lease { // asleep or stopped for longer than a lease: what it holds is no longer its own
		w.Log.Warn().Dur("silent", sent.Sub(w.heard)).Msg("was away for longer than a lease")
	}
	w.heard = sent
	w.lease, w.beat = time.Duration(welcome.LeaseMS)*time.Millisecond, time.Duration(welcome.BeatMS)*time.Millisecond
	w.stopThese(welcome.Stop)
	w.pauseThese(welcome.Pause)
	w.heed(welcome.Heed)
	if welcome.Leave {
		w.leaving = true
		leave()
	}
}

// order carries out a signed message of the daemon.
func (w *Worker) order(data []byte) {
	var o protocol.Order
	if err := json.Unmarshal(data, &o); err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopThese(o.Stop)
	w.pauseThese(o.Pause)
	w.heed(o.Heed)
}

func (w *Worker) pauseThese(attempts []string) {
	for _, id := range attempts {
		if h := w.holds[id]; h != nil && !h.pause {
			w.Log.Info().Str("attempt", id).Msg("the attempt is laid aside at its next safe point")
			h.pause = true
		}
	}
}

// heed keeps what the person said to agents; it is told again with every beat.
func (w *Worker) heed(list []protocol.Heed) {
	for _, one := range list {
		h := w.holds[one.Attempt]
		if h == nil {
			continue
		}
		for _, words := range one.Words {
			if !slices.ContainsFunc(h.words, func(have protocol.Words) bool { return have.ID == words.ID }) {
				h.words = append(h.words, words)
			}
		}
	}
}

func (w *Worker) paused(h *holding) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return h.pause
}

func (w *Worker) wordsFor(h *holding) []protocol.Words {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(h.words)
}

func (w *Worker) stopThese(attempts []string) {
	for _, id := range attempts {
		if h := w.holds[id]; h != nil && !h.decided {
			w.Log.Info().Str("attempt", id).Msg("the attempt is stopped")
			h.stop()
		}
	}
}

func (w *Worker) stopAll(why string) {
	for id, h := range w.holds {
		if !h.decided {
			w.Log.Warn().Str("attempt", id).Msg(why)
			h.stop()
		}
	}
}

// leaseHeld reports whether, by this machine's own clock, the lease can still be
// current: asked before every effect outside the worktree.
func (w *Worker) leaseHeld() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.heard) < w.lease
}

func (w *Worker) decide(h *holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.decided = true
}

// attempt works on one assignment and sends its result until the record has it.
// ctx ends with the agent's right to work, life with the worker.
func (w *Worker) attempt(ctx, life context.Context, a protocol.Assignment, h *holding) {
	log := w.Log.With().Str("job", a.Job).Str("task", a.Task).Str("attempt", a.Attempt).Logger()
	work := newWork(w, a, h, log)
	finish := work.do(ctx)
	w.decide(h)
	work.handIn(context.WithoutCancel(life), &finish)
	for wait := firstBeat; life.Err() == nil; wait = min(2*wait, retryEffect) {
		got, err := w.Home.Finish(life, finish)
		if err == nil {
			if got.Late {
				log.Warn().Msg("the result came too late and was not applied")
			}
			break
		}
		if codeOf(err) == protocol.CodeNotFound {
			log.Error().Err(err).Msg("the record does not know the job")
			break
		}
		log.Warn().Err(err).Msg("the result is sent again")
		select {
		case <-life.Done():
		case <-time.After(wait):
		}
	}
	if !work.goesOn(finish) {
		work.clean(context.WithoutCancel(life))
	}
}

// commitMessage names an attempt's commit in the person's history.
func commitMessage(a protocol.Assignment, outcome job.Outcome) string {
	if outcome == job.Done {
		return a.Title
	}
	return a.Title + " (" + string(outcome) + ")"
}
