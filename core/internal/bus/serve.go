package bus

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// Endpoint is one row of a table that the bus serves.
type Endpoint struct {
	Name        string // noun.verb
	Description string
	Handle      func(ctx context.Context, body []byte) ([]byte, error)
	// Fault turns an error into a code, a sentence and a JSON document.
	Fault func(error) (code, words string, data []byte)
}

// Service is a table being served.
type Service struct {
	svc    micro.Service
	cancel context.CancelFunc
	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// Serve answers the endpoints as a NATS micro service named relo until Close.
// Each call runs in a goroutine of its own and shows signs of life.
func (c *Conn) Serve(ctx context.Context, version string, table []Endpoint) (*Service, error) {
	ctx, cancel := context.WithCancel(ctx)
	svc, err := micro.AddService(c.nc, micro.Config{Name: "relo", Version: version, Description: "Relo's API"})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("serve the API: %w", err)
	}
	s := &Service{svc: svc, cancel: cancel}
	for _, e := range table {
		handler := micro.HandlerFunc(func(r micro.Request) {
			if !s.begin(func() { answer(ctx, c, e, r) }) {
				away(c, r.Reply())
			}
		})
		err := svc.AddEndpoint(strings.ReplaceAll(e.Name, ".", "-"), handler, micro.WithEndpointSubject(API+e.Name),
			micro.WithEndpointMetadata(map[string]string{"description": e.Description}))
		if err != nil {
			return nil, fmt.Errorf("serve %s: %w", e.Name, err)
		}
	}
	if err := c.nc.Flush(); err != nil {
		return nil, fmt.Errorf("serve the API: %w", err)
	}
	return s, nil
}

// begin starts work that Close waits for; ok is false when it is too late.
func (s *Service) begin(work func()) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(work)
	}
	return !s.closed
}

// Close stops taking calls, ends those under way and waits for them. Calls that
// still arrive (the broker takes the subscriptions back in its own time) are told
// that nobody is there.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err := s.svc.Stop()
	s.cancel()
	s.work.Wait()
	return err
}

// away answers as the broker does for a subject without a listener.
func away(c *Conn, reply string) {
	m := nats.NewMsg(reply)
	m.Header.Set("Status", "503")
	_ = c.nc.PublishMsg(m) // lost: the caller's silence limit covers it
}

func answer(ctx context.Context, c *Conn, e Endpoint, r micro.Request) {
	reply := r.Reply()
	done := make(chan struct{})
	var beat sync.WaitGroup
	beat.Go(func() { signsOfLife(c, reply, done) })
	out, err := e.Handle(ctx, r.Data())
	close(done)
	beat.Wait()
	if err != nil {
		code, words, data := e.Fault(err)
		_ = r.Error(code, oneLine(words), data) // the caller's silence limit covers a lost answer
		return
	}
	_ = r.Respond(out)
}

// oneLine makes words fit into a NATS header.
func oneLine(words string) string {
	return strings.Join(strings.Fields(words), " ")
}

func signsOfLife(c *Conn, reply string, done <-chan struct{}) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-t.C:
			m := nats.NewMsg(reply)
			m.Header.Set(headerProgress, "1")
			_ = c.nc.PublishMsg(m)
		}
	}
}
