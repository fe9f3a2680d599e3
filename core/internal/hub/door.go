package hub

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/secret"
)

// Door is the hub over HTTP (MCP's streamable HTTP), for one agent on this machine
// that has the key. It is an http.Handler; whoever serves it closes it afterwards.
type Door struct {
	server *mcp.Server
	inside http.Handler
	key    [sha256.Size]byte
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
	d := &Door{server: s, key: sha256.Sum256([]byte(key.Reveal())), end: end}
	d.inside = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		SessionTimeout: restTime, MaxRequestBodyBytes: maxBody,
	})
	if key.Empty() {
		d.inside = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "the hub has no key", http.StatusUnauthorized)
		})
	}
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
	switch {
	case !ownName(r):
		http.Error(w, "this is not the Host that the hub is reached by", http.StatusForbidden)
	case foreign(r):
		http.Error(w, "web pages have no business here", http.StatusForbidden)
	case !d.knows(r.Header.Values("Authorization")):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the key is missing or wrong", http.StatusUnauthorized)
	default:
		d.inside.ServeHTTP(w, r)
	}
}

// knows holds the request's key against the hub's. Hashes are compared, so that not even
// the length of the key is told by the time that it takes.
func (d *Door) knows(header []string) bool {
	if len(header) != 1 {
		return false
	}
	scheme, key, ok := strings.Cut(header[0], " ")
	given := sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(given[:], d.key[:]) == 1 && ok && strings.EqualFold(scheme, "Bearer")
}

// ownName reports whether Host is a loopback name of the very port that the request
// arrived at, written as clients write it.
func ownName(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	_, port, err := net.SplitHostPort(local.String())
	if err != nil {
		return false
	}
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		if r.Host == name+":"+port {
			return true
		}
	}
	return false
}

// foreign reports whether a browser sent the request for a page that is not the hub's
// own; it has none, so only an Origin that names the hub itself is let through.
func foreign(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return true
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}
