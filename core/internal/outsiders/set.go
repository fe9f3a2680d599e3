// Package outsiders are the person's own MCP servers as tools of an agent: their names are
// prefixed, their list is pinned by its hash, their results are capped, and what they send as
// pictures is handed on as bytes to be prepared.
package outsiders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Server is one of the person's: a command or a URL, with its secrets resolved.
type Server struct {
	Name    string
	Command []string
	Env     []string // NAME=value, all that it gets
	URL     string
	Headers map[string]string // sent to the URL's own host only
}

// Options make a Set.
type Options struct {
	Servers []Server
	Dir     string // where commands run: the agent's worktree
	// Prepare makes a picture ready for a model; errors are in words for the agent.
	Prepare func(ctx context.Context, data []byte, name string) (vision.Picture, vision.Meta, error)
	Pins    Pins
	HTTP    *http.Client // nil: one of its own
}

// Set is the servers of one attempt. It is safe for concurrent use.
type Set struct {
	o     Options
	life  context.Context //nolint:containedctx // of what it starts, until Close
	end   context.CancelFunc
	hosts []*host
}

// New makes a set; it starts nothing.
func New(o Options) *Set {
	life, end := context.WithCancel(context.Background())
	s := &Set{o: o, life: life, end: end}
	for _, one := range o.Servers {
		s.hosts = append(s.hosts, &host{set: s, server: one})
	}
	return s
}

// Tools starts the servers and gives their tools, and in words what a person should know:
// who could not be reached, whose list changed since it was pinned, what was left out.
func (s *Set) Tools(ctx context.Context) (tools []tool.Tool, notices []string) {
	lists := make([][]*mcp.Tool, len(s.hosts))
	faults := make([]error, len(s.hosts))
	var work sync.WaitGroup
	for i, h := range s.hosts {
		work.Go(func() { lists[i], faults[i] = h.list(ctx) })
	}
	work.Wait()
	taken := map[string]bool{}
	for i, h := range s.hosts {
		if faults[i] != nil {
			notices = append(notices, fmt.Sprintf("the tool server %q cannot be used: %v", h.server.Name, faults[i]))
			continue
		}
		kept, left := fit(h.server.Name, lists[i], taken)
		notices = append(notices, left...)
		if words := s.pinned(h.server.Name, lists[i]); words != "" {
			notices = append(notices, words)
			continue
		}
		for _, k := range kept {
			if len(tools) == maxAll {
				notices = append(notices, fmt.Sprintf("tools behind the first %d of all servers are left out", maxAll))
				return tools, notices
			}
			tools = append(tools, &outside{host: h, spec: k.spec, own: k.own})
		}
	}
	return tools, notices
}

// Close ends every server with everything that it started.
func (s *Set) Close() error {
	s.end()
	for _, h := range s.hosts {
		h.mu.Lock()
		h.hangUp()
		h.mu.Unlock()
	}
	return nil
}

// host is one server and the connection to it.
type host struct {
	set    *Set
	server Server

	mu      sync.Mutex
	session *mcp.ClientSession
	cmd     *exec.Cmd
	said    *opening
}

// reach gives the connection, made anew when there is none; the lock is held.
func (h *host) reach(ctx context.Context) (*mcp.ClientSession, error) {
	if h.session != nil {
		return h.session, nil
	}
	if err := h.set.life.Err(); err != nil {
		return nil, errors.New("it was ended")
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "relo", Version: "1"}, nil)
	type reached struct {
		session *mcp.ClientSession
		err     error
	}
	transport := h.transport()
	got := make(chan reached, 1)
	go func() {
		session, err := client.Connect(h.set.life, transport, nil)
		got <- reached{session, err}
	}()
	timer := time.NewTimer(startTime)
	defer timer.Stop()
	var err error
	select {
	case r := <-got:
		if r.err == nil {
			h.session = r.session
			return r.session, nil
		}
		err = r.err
	case <-timer.C:
		err = fmt.Errorf("it did not answer within %v", startTime)
	case <-ctx.Done():
		err = ctx.Err()
	}
	kill(h.cmd)
	go func() { // what comes late is hung up on
		if r := <-got; r.session != nil {
			_ = r.session.Close()
		}
	}()
	if errors.Is(err, ctx.Err()) && ctx.Err() != nil {
		return nil, err
	}
	return nil, h.words(err)
}

func (h *host) transport() mcp.Transport {
	if h.server.URL != "" {
		client := h.set.o.HTTP
		if client == nil {
			client = &http.Client{}
		}
		own := *client
		own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // no header goes to another host
		own.Transport = headed{next: client.Transport, headers: h.server.Headers}
		return &mcp.StreamableClientTransport{Endpoint: h.server.URL, HTTPClient: &own, MaxRetries: -1, DisableStandaloneSSE: true}
	}
	// It outlives the call that starts it, and ends with the set.
	cmd := exec.Command(h.server.Command[0], h.server.Command[1:]...) //nolint:gosec,noctx // the person's own file names it
	cmd.Dir, cmd.Env = h.set.o.Dir, h.server.Env
	h.said = &opening{}
	cmd.Stderr = h.said
	ownGroup(cmd)
	h.cmd = cmd
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: closeTime}
}

// headed adds headers to each request.
type headed struct {
	next    http.RoundTripper
	headers map[string]string
}

// RoundTrip implements http.RoundTripper.
func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	if h.next == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return h.next.RoundTrip(r)
}

// hangUp ends the connection and the process; the lock is held.
func (h *host) hangUp() {
	if h.session != nil {
		done := make(chan struct{})
		go func(s *mcp.ClientSession) { defer close(done); _ = s.Close() }(h.session)
		select {
		case <-done:
		case <-time.After(closeTime):
		}
		h.session = nil
	}
	kill(h.cmd) // and what it started
	h.cmd = nil
}

// words puts what a server said before it ended behind an error, without its secrets.
func (h *host) words(err error) error {
	text := err.Error()
	if h.said != nil {
		if said := plain(h.said.String()); said != "" {
			text += "; it said: " + said
		}
	}
	for _, secret := range h.secrets() {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return errors.New(text)
}

// secrets are the values that were given to it, as far as they could be told apart from words.
func (h *host) secrets() []string {
	const least = 6
	var out []string
	for _, v := range h.server.Headers {
		if len(v) >= least {
			out = append(out, v)
		}
	}
	for _, e := range h.server.Env {
		if name, v, _ := strings.Cut(e, "="); len(v) >= least && !slices.Contains(openly, name) {
			out = append(out, v)
		}
	}
	return out
}

// openly are variables that are no secrets.
var openly = []string{"PATH", "HOME", "LANG", "TMPDIR", "USER", "LOGNAME", "TERM", "SHELL", "TZ"}

// list asks for all tools.
func (h *host) list(ctx context.Context) ([]*mcp.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	session, err := h.reach(ctx)
	if err != nil {
		return nil, err
	}
	var all []*mcp.Tool
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			h.hangUp()
			return nil, h.words(err)
		}
		all = append(all, page.Tools...)
		if params.Cursor = page.NextCursor; params.Cursor == "" || len(all) > maxPages*maxTools {
			return all, nil
		}
	}
	return all, nil
}

// opening keeps the last of what a process says.
type opening struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps the end.
func (o *opening) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b.Write(p[max(0, len(p)-maxSaid):])
	if over := o.b.Len() - maxSaid; over > 0 {
		o.b.Next(over)
	}
	return len(p), nil
}

// String gives it.
func (o *opening) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
