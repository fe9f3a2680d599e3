package engine

import (
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
)

// EntryKind names what an Entry holds.
type EntryKind string

// The kinds of entries of a trace.
const (
	KindFirst  EntryKind = "first"  // the first user message
	KindAnswer EntryKind = "answer" // of the model, with its calls as they came
	KindCall   EntryKind = "call"   // a tool call begins: written before the tool runs
	KindResult EntryKind = "result" // its result
	KindWait   EntryKind = "wait"   // the call waits for the person
	KindSaid   EntryKind = "said"   // words to the agent: Relo's, or with an ID the person's
	KindState  EntryKind = "state"  // of who keeps the trace; engines pass over it
)

// Entry is one line of an attempt's trace: the whole conversation, in the order
// in which it happened. An engine that is given the entries goes on behind the
// last one; a person reads them as the attempt's log.
type Entry struct {
	Kind    EntryKind         `json:"kind"`
	Time    time.Time         `json:"time"`
	ID      string            `json:"id,omitempty"` // of the call, or of the person's message
	Text    string            `json:"text,omitempty"`
	Message *provider.Message `json:"message,omitempty"` // first, answer
	Stop    provider.Stop     `json:"stop,omitempty"`    // answer
	Result  *provider.Result  `json:"result,omitempty"`
	State   map[string]string `json:"state,omitempty"`
}
