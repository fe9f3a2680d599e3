package gateway

import (
	"context"
	"sync"
	"time"
)

// gates lets requests through to each endpoint at the pace that it can take: all
// workers of a machine share a provider's limit, and a storm of refusals helps nobody.
type gates struct {
	mu  sync.Mutex
	all map[string]*gate
	now func() time.Time
}

// gate is one endpoint's. Its width halves when the endpoint says "too many requests",
// and grows by one after as many good answers as it is wide, gateRest times over.
type gate struct {
	width  int
	inside int
	good   int
	until  time.Time     // nobody is let through before
	change chan struct{} // closed and made anew when somebody may be let through
}

func newGates(now func() time.Time) *gates { return &gates{all: map[string]*gate{}, now: now} }

func (g *gates) of(endpoint string) *gate {
	one := g.all[endpoint]
	if one == nil {
		one = &gate{width: widestGate, change: make(chan struct{})}
		g.all[endpoint] = one
	}
	return one
}

// enter waits for a place. leave is called with what came of the request: busy says
// that the endpoint refused it as one too many, and wait how long it asked to be left
// alone (0: it did not say).
func (g *gates) enter(ctx context.Context, endpoint string) (leave func(busy bool, wait time.Duration), err error) {
	for {
		g.mu.Lock()
		one := g.of(endpoint)
		rest := one.until.Sub(g.now())
		if rest <= 0 && one.inside < one.width {
			one.inside++
			g.mu.Unlock()
			return func(busy bool, wait time.Duration) { g.leave(one, busy, wait) }, nil
		}
		change := one.change
		g.mu.Unlock()
		if err := waitFor(ctx, change, rest); err != nil {
			return nil, err
		}
	}
}

// waitFor waits for a change, or until rest is over when that is more than nothing.
func waitFor(ctx context.Context, change <-chan struct{}, rest time.Duration) error {
	var over <-chan time.Time
	if rest > 0 {
		t := time.NewTimer(rest)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-change:
	case <-over:
	}
	return nil
}

func (g *gates) leave(one *gate, busy bool, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	inside := one.inside
	one.inside--
	switch {
	case busy:
		one.good = 0
		one.width = max(1, min(one.width, inside)/2)
		if until := g.now().Add(min(wait, longestTold)); until.After(one.until) {
			one.until = until
		}
	case one.width < widestGate:
		if one.good++; one.good >= gateRest*one.width {
			one.good = 0
			one.width++
		}
	}
	close(one.change)
	one.change = make(chan struct{})
}
