package httpwire

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// watch cancels an exchange that is silent (no byte in either direction) or quiet
// (bytes, but nothing of the answer).
type watch struct {
	limits Limits
	idle   *time.Timer
	quiet  *time.Timer
	cancel context.CancelCauseFunc
	cause  func() error // why the exchange was ended; nil: it was not
	// drained: the last byte of the request's body was taken for sending
	drained atomic.Bool
}

func newWatch(ctx context.Context, l Limits) (context.Context, *watch) {
	inner, cancel := context.WithCancelCause(ctx)
	w := &watch{limits: l, cancel: cancel}
	w.cause = func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx) // the caller's own reason comes first
		}
		return context.Cause(inner)
	}
	w.idle = time.AfterFunc(l.Idle, func() { cancel(ErrIdle) })
	w.quiet = time.AfterFunc(l.Quiet, func() { cancel(ErrQuiet) })
	return inner, w
}

// beat says that a byte moved. A timer that has fired stays fired.
func (w *watch) beat() {
	if w.idle.Stop() {
		w.idle.Reset(w.limits.Idle)
	}
}

func (w *watch) progress() {
	if w.quiet.Stop() {
		w.quiet.Reset(w.limits.Quiet)
	}
}

func (w *watch) stop() {
	w.idle.Stop()
	w.quiet.Stop()
	w.cancel(context.Canceled)
}

// reason says why the exchange ended: the caller's context, one of our timers,
// or else the connection.
func (w *watch) reason() error {
	if err := w.cause(); err != nil {
		return err
	}
	return ErrCut
}

// beating is a request body that beats as it is read for sending.
type beating struct {
	io.Reader
	w *watch
}

func (b *beating) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.w.beat()
	}
	if errors.Is(err, io.EOF) {
		b.w.drained.Store(true)
	}
	return n, err
}
