package app

import (
	"sync"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/vision"
)

// refusals are the pictures that endpoints refused while this process ran, each
// proved by the same request without them. They lie over every other source and are
// forgotten at the end of the process, or when a person says so.
type refusals struct {
	mu      sync.Mutex
	said    map[spot]vision.Answer
	changes int // of said, so that what was resolved before is known to be old
}

// spot is a model at an endpoint: another provider of the same id may see.
type spot struct {
	endpoint catalog.Endpoint
	id       string
}

func newRefusals() *refusals { return &refusals{said: map[spot]vision.Answer{}} }

// learn remembers that a model is blind; phrase is the endpoint's own, for people.
func (r *refusals) learn(at spot, phrase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said[at] = vision.Answer{Sight: vision.Blind, Source: vision.Refused, Detail: phrase}
	r.changes++
}

// of gives what was learned of a model; the zero Answer when nothing was.
func (r *refusals) of(at spot) vision.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said[at]
}

// forget gives and ends what was learned of a model.
func (r *refusals) forget(at spot) (was vision.Answer, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, ok = r.said[at]; ok {
		delete(r.said, at)
		r.changes++
	}
	return was, ok
}

// clear forgets all.
func (r *refusals) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.said)
	r.changes++
}

// state counts the changes.
func (r *refusals) state() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}
