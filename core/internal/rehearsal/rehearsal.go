// Package rehearsal is the provider of the demo: an HTTP server on the loopback
// interface that plays three models through one small job of its own, so that
// everything round the models can be seen working without a key or a network.
// What the models answer is scripted, and each answer says so; what they say of
// a picture comes from the pixels that arrived in the request, and one that did
// not arrive ends the task as blocked. It knows no other job, opens no file of
// the person's and never calls out.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/relo-dev/relo/core/internal/provider/double"
)

// The ids of the models, the weakest first. The first two are text only.
const (
	Small  = "rehearsal-small"
	Medium = "rehearsal-medium"
	Large  = "rehearsal-large" // sees; also the Primary
)

// Words stand in every report of the rehearsal.
const Words = "Rehearsal: scripted answers, nothing was sent anywhere."

// Server is the rehearsal provider, listening.
type Server struct {
	double *double.Server
	http   *http.Server
	url    string
	stop   context.CancelFunc
	served chan error // one answer of Serve
}

// Start listens on a free port of 127.0.0.1 and answers until Close is called. No
// key is asked for. When ctx ends, so does every answer that is under way.
func Start(ctx context.Context) (*Server, error) { return start(ctx, pause) }

func start(ctx context.Context, pace func(double.Turn) time.Duration) (*Server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the rehearsal: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	play := func(_ context.Context, t double.Turn) double.Reply {
		reply := answer(t)
		reply.Delay = pace(t)
		return reply
	}
	models := map[string]double.Model{Small: {}, Medium: {}, Large: {Sees: true}}
	s := &Server{
		double: double.New(double.Options{Models: models, Play: play}),
		url:    "http://" + listener.Addr().String() + "/v1", stop: stop, served: make(chan error, 1),
	}
	s.http = &http.Server{
		Handler: s.double, ReadHeaderTimeout: readHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// URL is the base URL for a client of OpenAI's chat completions or of
// Anthropic's messages, such as http://127.0.0.1:40000/v1.
func (s *Server) URL() string { return s.url }

// Requests gives everything that arrived so far, oldest first.
func (s *Server) Requests() []double.Record { return s.double.Requests() }

// Close ends what is under way and returns when nothing listens or answers any more.
func (s *Server) Close() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	err := errors.Join(s.http.Shutdown(ctx), s.http.Close())
	served := <-s.served
	s.served <- served // for who closes it again
	if !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("end the rehearsal: %w", err)
	}
	return nil
}

// pause is how long a model seems to think: enough that two tasks are seen to
// run at once, and different from turn to turn. It follows from the turn's
// number, not from chance.
func pause(t double.Turn) time.Duration {
	return shortestPause + time.Duration(t.N*7%pauses)*pauseStep
}
