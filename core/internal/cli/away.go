package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/protocol"
)

const (
	// awayMost is how long run waits for a silent daemon when nobody is there to
	// start one: a restart takes a second, and a CI's minutes cost money.
	awayMost = 30 * time.Second
	// lastTry is how long a daemon that is silent already is given to hear of a signal.
	lastTry = 2 * time.Second

	startWords = "relo daemon start"
	awayWords  = "the daemon does not answer; the job waits: " + goOnWords
	backWords  = "the daemon is back"
)

var errAwayTooLong = errors.New("the daemon was away for too long")

// stream gives the view every event, and notes when the daemon is away. With
// patience it ends when that lasts too long.
func (v *view) stream(ctx context.Context, c *client.Client) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var limit *time.Timer
	err := c.FollowWith(within, v.id, v.state.Seq, v.take, func(since time.Time, gone bool) {
		v.absent(since, gone)
		switch {
		case limit != nil:
			limit.Stop()
			limit = nil
		case gone && v.patience > 0 && !v.here:
			limit = time.AfterFunc(v.patience-time.Since(since), func() { stop(errAwayTooLong) })
		}
	})
	if limit != nil {
		limit.Stop()
	}
	if ctx.Err() == nil && errors.Is(context.Cause(within), errAwayTooLong) {
		return &protocol.Error{
			Code: protocol.CodeUnreachable, Message: fmt.Sprintf("the daemon has not answered for %v; job %s waits", v.patience, short(v.id)),
			Hint: goOnWords + ", " + v.sh.hint("watch", v.id) + " follows it", Retryable: true,
		}
	}
	return err
}

// absent notes that the daemon went silent, or is back, and says so once.
func (v *view) absent(since time.Time, gone bool) {
	if v.here {
		return // the record is in this process: it is slow, and nobody is away
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	words := backWords
	v.away = time.Time{}
	if gone {
		words, v.away = awayWords, since
	}
	if v.progress == progressTTY {
		v.board.Tell(words)
		return
	}
	v.sh.note.loud("%s", words)
	v.spoke = time.Now()
}

func (v *view) isAway() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.away.IsZero()
}

// clock is the time that a view may show: nothing is known of what happened
// since the daemon went silent. The lock is held.
func (v *view) clock() time.Time {
	if !v.away.IsZero() {
		return v.away
	}
	return time.Now()
}

// frame is the live view as it stands. The lock is held.
func (v *view) frame(size board.Size) []board.Line {
	if !v.away.IsZero() {
		v.board.Tell(awayWords) // for as long as it lasts
	}
	return v.board.Frame(size, v.clock())
}

// notCancelled says that a signal could not reach the job.
func (s *shell) notCancelled(v *view, code int) error {
	s.fail(errorDoc{Error: protocol.Error{
		Code: protocol.CodeUnreachable, Message: fmt.Sprintf("job %s could not be cancelled: no daemon answers, so it waits", short(v.id)),
		Hint: fmt.Sprintf("%s, then %s ends it", startWords, s.hint("cancel", v.id)), Retryable: true,
	}})
	return &endError{code}
}

// afterSignal ends the line on which the terminal wrote ^C.
func (s *shell) afterSignal() {
	if s.terminal(s.note.w) {
		s.note.raw("\n")
	}
}
