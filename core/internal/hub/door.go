package hub

import (
	"context"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/loopback"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Door is the hub over HTTP (MCP's streamable HTTP), for one agent on this machine
// that has the key. It is an http.Handler; whoever serves it closes it afterwards.
type Door struct {
	server *mcp.Server
	inside http.Handler
	guard  *loopback.Guard
	end    context.CancelFunc
}

// Handler makes the door. Before a byte of a body is read it refuses with 403 who is
// not talking to this machine by one of its own names (Host, against DNS rebinding)
// and whatever a web page sends (Origin, Sec-Fetch-Site), and with 401 who has not
// exactly the key, compared in constant time. An empty key lets nobody in.
func (h *Hub) Handler(key secret.Value) *Door {
	life, end := context.WithCancel(context.Background())
	return newDoor(h.server(life), end, key)
}

// newDoor puts the door before a server whose calls end with end.
func newDoor(s *mcp.Server, end context.CancelFunc, key secret.Value) *Door {
	d := &Door{server: s, guard: loopback.NewGuard(map[string]loopback.Hash{"agent": loopback.HashOf(key)}, ""), end: end}
	d.inside = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		SessionTimeout: restTime, MaxRequestBodyBytes: maxBody,
	})
	return d
}

// Close ends every connection and the calls under way, and waits for them.
func (d *Door) Close() error {
	d.end()
	for s := range d.server.Sessions() {
		_ = s.Close() // its client may be gone
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch _, err := d.guard.Admit(r); {
	case errors.Is(err, loopback.ErrHost):
		http.Error(w, "this is not the Host that the hub is reached by", http.StatusForbidden)
	case errors.Is(err, loopback.ErrPage):
		http.Error(w, "web pages have no business here", http.StatusForbidden)
	case err != nil:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the key is missing or wrong", http.StatusUnauthorized)
	default:
		d.inside.ServeHTTP(w, r)
	}
}
