// Package loopback says who may speak to a port of this machine: a program that calls it by
// one of its own names, that no web page has sent, and that has a key. It opens no port and
// writes no answer; a refusal is answered in the words of whoever asks.
package loopback

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/secret"
)

// The refusals of Admit, in the order in which they are looked for.
var (
	// ErrHost: the request does not call this port by a name of this machine (403). A page
	// whose name was made to lead here does that.
	ErrHost = errors.New("the Host is none of the names that this port is reached by")
	// ErrPage: a browser sent it for a web page (403).
	ErrPage = errors.New("web pages have no business here")
	// ErrKey: no key, an unknown one, or more than one (401, with WWW-Authenticate).
	ErrKey = errors.New("the key is missing or wrong")
)

// Hash is what a guard keeps of a key.
type Hash [sha256.Size]byte

// HashOf gives the hash of a key.
func HashOf(key secret.Value) Hash { return sha256.Sum256([]byte(key.Reveal())) }

// Guard knows the keys of a port. The zero value lets nobody in. It is safe for
// concurrent use.
type Guard struct {
	mu     sync.RWMutex
	keys   map[string]Hash
	header string
}

// NewGuard makes a guard for keys, name → hash. Keys come as "Authorization: Bearer …";
// when header is not empty they may come bare in that header too (Anthropic's own clients
// send X-Api-Key: its API reference, "Authentication").
func NewGuard(keys map[string]Hash, header string) *Guard {
	g := &Guard{header: header}
	g.Replace(keys)
	return g
}

// Replace puts other keys in the place of those that were known. The hash of the empty key
// is passed over: it would let in whoever has none.
func (g *Guard) Replace(keys map[string]Hash) {
	kept, none := make(map[string]Hash, len(keys)), HashOf(secret.Value{})
	for name, h := range keys {
		if h != none && h != (Hash{}) {
			kept[name] = h
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys = kept
}

// Admit gives the name of the key that a request came with. It reads no byte of the body.
// Errors are ErrHost, ErrPage and ErrKey.
func (g *Guard) Admit(r *http.Request) (name string, err error) {
	switch {
	case !ownName(r):
		return "", ErrHost
	case foreign(r):
		return "", ErrPage
	}
	var given []string
	for _, header := range r.Header.Values("Authorization") {
		scheme, key, ok := strings.Cut(header, " ")
		if !ok || !strings.EqualFold(scheme, "Bearer") {
			return "", ErrKey
		}
		given = append(given, key)
	}
	if g.header != "" && len(given) == 0 {
		given = r.Header.Values(g.header)
	}
	return g.name(given)
}

// name holds one given key against all. Hashes are compared, and each of them, so that
// neither the length of a key nor which one is near is told by the time that it takes.
func (g *Guard) name(given []string) (string, error) {
	if len(given) != 1 {
		return "", ErrKey
	}
	h := HashOf(secret.New(given[0]))
	g.mu.RLock()
	defer g.mu.RUnlock()
	found, known := "", false
	for name, key := range g.keys {
		if subtle.ConstantTimeCompare(h[:], key[:]) == 1 {
			found, known = name, true
		}
	}
	if !known {
		return "", ErrKey
	}
	return found, nil
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

// foreign reports whether a browser sent the request for a page that is not the port's
// own; it has none, so only an Origin that names the port itself is let through.
func foreign(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return true
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}
