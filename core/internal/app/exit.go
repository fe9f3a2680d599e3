package app

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/relo-dev/relo/core/internal/api"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// exit is how a daemon is told to end: in order, or without waiting for anybody.
type exit struct {
	soft, hard chan struct{}
	ask, hurry func() // may be called again and again
}

func newExit() *exit {
	x := &exit{soft: make(chan struct{}), hard: make(chan struct{})}
	x.ask = sync.OnceFunc(func() { close(x.soft) })
	x.hurry = sync.OnceFunc(func() { x.ask(); close(x.hard) })
	return x
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

// endName is daemon.stop that waits for no agent.
const endName = "daemon.end"

// endEndpoint is the API's row for it.
func (c *core) endEndpoint() api.Endpoint {
	return api.Endpoint{Name: endName, Description: "end the daemon at once; what its agents are doing is lost, what they did is not", Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		doc, err := c.Stop(ctx)
		if err != nil {
			return nil, err
		}
		c.exit.hurry()
		return json.Marshal(doc)
	}}
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
