package app

import (
	"context"
	"sync"

	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// exit is how a daemon is told to end: once, and it ends in order; twice, and it
// waits for nobody.
type exit struct {
	mu    sync.Mutex
	asked int
	soft  chan struct{}
	hard  chan struct{}
}

func newExit() *exit { return &exit{soft: make(chan struct{}), hard: make(chan struct{})} }

// ask is one wish that the daemon ends.
func (x *exit) ask() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked++
	switch x.asked {
	case 1:
		close(x.soft)
	case 2: //nolint:mnd // the second wish
		close(x.hard)
	}
}

// leaving reports whether the daemon is about to end.
func (x *exit) leaving() bool {
	if x == nil {
		return false
	}
	select {
	case <-x.soft:
		return true
	default:
		return false
	}
}

// within gives a context that ends with a channel.
func within(ctx context.Context, ch <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		select {
		case <-ch:
			cancel()
		case <-done:
		}
	})
	return ctx, sync.OnceFunc(func() {
		close(done)
		work.Wait()
		cancel()
	})
}

// asker takes orders, but no new job while the daemon ends.
type asker struct {
	*orchestrator.Orchestrator
	exit *exit
}

// Submit takes a new job.
func (a asker) Submit(ctx context.Context, s protocol.Submit) (protocol.Accepted, error) {
	if a.exit.leaving() {
		return protocol.Accepted{}, &protocol.Error{
			Code: protocol.CodeUnreachable, Message: "the daemon is stopping and takes no new job", Hint: "run it again in a moment", Retryable: true,
		}
	}
	return a.Orchestrator.Submit(ctx, s)
}
