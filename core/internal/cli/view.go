package cli

import (
	"context"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/job"
)

// heartbeat is the longest that a view of a running job stays silent.
const heartbeat = 30 * time.Second

// view follows one job: it folds every event and tells each once, as a line on
// stderr or as JSON on stdout.
type view struct {
	sh       *shell
	id       string
	progress string        // tty, plain or none
	plan     bool          // a plan that waits for approval is an end
	quiet    int64         // events up to this number are folded and not told, and none of them is the end
	until    int64         // the end is not looked for before this number
	want     job.Status    // when set, only this state is the end
	brief    bool          // the event until is the end, whatever the state
	here     bool          // this process has the record, so no daemon can be away
	patience time.Duration // how long the daemon may be away before the view ends; 0: for ever

	mu    sync.Mutex
	state *job.Job
	board *board.Board
	ended bool              // the job's last move was told with its outcome
	words map[string]string // by task, and the job's under "": the state's word that was told last
	looks map[string]bool   // told once an attempt: a picture stays in later requests
	spoke time.Time
	away  time.Time // since when the daemon is silent; zero: it answers
}

func newView(s *shell, id string) *view {
	state := &job.Job{Tasks: map[string]*job.Task{}}
	return &view{
		sh: s, id: id, progress: progressPlain, state: state, board: board.New(state), words: map[string]string{}, looks: map[string]bool{}, spoke: time.Now(),
	}
}

// follow tells what was not yet told until the job rests. It returns early
// with the error of ctx.
func (v *view) follow(ctx context.Context, c *client.Client) error {
	if v.rests() {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		v.beat(ctx)
	}()
	err := v.stream(ctx, c)
	stop()
	<-quiet
	return err
}

// fold takes an event into the state and tells nothing.
func (v *view) fold(e job.Event) error {
	if err := v.state.Apply(e); err != nil {
		return err
	}
	v.board.Take(e)
	switch e.Body.(type) {
	case *job.Finished:
		v.ended = e.Seq > v.quiet
	case *job.StatusChange:
		v.ended = v.ended && e.Task != ""
	}
	return nil
}

// take is called with one event after the other.
func (v *view) take(e job.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.fold(e); err != nil {
		return err
	}
	if e.Seq > v.quiet {
		v.tell(e)
	}
	if v.sh.out.err != nil {
		return v.sh.out.err
	}
	if v.rests() {
		return client.ErrStop
	}
	return nil
}

func (v *view) tell(e job.Event) {
	if v.sh.json {
		v.sh.out.doc(e)
		return
	}
	if v.progress != progressPlain {
		return
	}
	for _, words := range v.lines(e) {
		v.sh.note.line("%s", words)
		v.spoke = time.Now()
	}
}

// rests reports whether nothing more happens by itself: the state is an end
// and its outcome was told.
func (v *view) rests() bool {
	s := v.state.Status
	switch {
	case v.state.Seq == 0 || v.state.Seq < v.until:
		return false
	case v.brief:
		return true
	case v.want != "":
		return s == v.want
	case s == job.Applied || s == job.Discarded:
		return true
	case s == job.AwaitingApproval:
		return v.plan
	}
	return s.Terminal() && v.ended
}

// beat says that the job still runs when nothing was said for a while.
func (v *view) beat(ctx context.Context) {
	if v.sh.json || v.progress != progressPlain {
		return
	}
	v.mu.Lock()
	wait := heartbeat - time.Since(v.spoke)
	v.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		v.mu.Lock()
		if wait = heartbeat - time.Since(v.spoke); wait <= 0 {
			if v.away.IsZero() { // else nobody knows
				v.sh.note.line("%s", v.stillWords())
			}
			v.spoke, wait = time.Now(), heartbeat
		}
		v.mu.Unlock()
	}
}
