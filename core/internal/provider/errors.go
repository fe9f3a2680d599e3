package provider

import (
	"errors"
	"fmt"
	"time"
)

// Kind is what Relo does next about an error: one kind for each reaction.
type Kind string

// The kinds.
const (
	KindRefused   Kind = "refused"   // 4xx: the request is wrong for this model; asking again the same way is useless
	KindKey       Kind = "key"       // 401, 402, 403: tell the person
	KindBusy      Kind = "busy"      // 408, 429, 5xx, 529: wait as told, then the next of the chain
	KindCut       Kind = "cut"       // the connection or the stream broke before the answer was whole
	KindStalled   Kind = "stalled"   // nothing arrived for the idle timeout
	KindMalformed Kind = "malformed" // an answer that the wire cannot read
	KindLarge     Kind = "large"     // 413, or an answer over a cap
)

// Error is a provider's refusal or failure. It keeps the status and the words
// of the provider, and our reading of them. It never holds a key.
type Error struct {
	Kind       Kind
	Provider   string        // the name in the config
	Model      string        // the provider's id
	Status     int           // HTTP status; 0 when none arrived
	Code       string        // the provider's own code, when it gave one
	Words      string        // the provider's message, or our own when it gave none
	Body       string        // the body as received, at most MaxErrorBody bytes
	RetryAfter time.Duration // 0: not said
	Sent       bool          // the request went out whole, so it may have been paid for
	Cause      error
	Fault      Fault  // what is wrong, finer than Kind; empty: no more than Words is known
	Hint       string // what the person can do about it; empty: nothing is known
}

// MaxErrorBody bounds Body: enough for every refusal seen, small enough for a log line.
const MaxErrorBody = 8 << 10

// Error gives one sentence with the provider's words, and what to do.
func (e *Error) Error() string {
	who := e.Provider
	if e.Model != "" {
		who += "/" + e.Model
	}
	words := e.Words
	if e.Hint != "" {
		words += " (" + e.Hint + ")"
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s answered %d: %s", who, e.Status, words)
	}
	return fmt.Sprintf("%s: %s", who, words)
}

// Unwrap gives the transport's error, when there is one.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether err carries a *Error of kind k.
func Is(err error, k Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == k
}
