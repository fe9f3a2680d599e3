package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// crew knows the workers that were heard of, and what each of them holds.
type crew struct {
	mu      sync.Mutex
	members map[string]*member
}

type member struct {
	id      string
	boot    string
	pid     int
	slots   int
	seen    time.Time
	leaving bool
	holds   map[string]bool // attempts given out and not ended
}

func newCrew() *crew { return &crew{members: map[string]*member{}} }

// heard notes a hello. It reports whether the worker is new, or a new process
// under an old name.
func (c *crew) heard(h protocol.Hello, now time.Time) (fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.member(h.Worker)
	fresh = m.boot != h.Boot
	m.boot, m.pid, m.slots, m.seen, m.leaving = h.Boot, h.PID, h.Slots, now, h.Leaving
	return fresh
}

func (c *crew) member(id string) *member {
	m := c.members[id]
	if m == nil {
		m = &member{id: id, holds: map[string]bool{}}
		c.members[id] = m
	}
	return m
}

// forget makes a worker unheard of, so that its next hello is its first again.
func (c *crew) forget(worker string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[worker]; m != nil {
		m.boot, m.seen = "", time.Time{}
	}
}

// take reserves a slot of the preferred worker, else of the least busy one that is alive; why says what
// stands in the way of each when there is none.
func (c *crew) take(attempt string, now time.Time, alive time.Duration, prefer string) (worker string, why []job.WorkerReason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *member
	for _, m := range c.sorted() {
		if reason := m.unable(now, alive); reason != "" {
			why = append(why, job.WorkerReason{Worker: m.id, Reason: reason})
			continue
		}
		if best == nil || m.id == prefer || (best.id != prefer && len(m.holds) < len(best.holds)) {
			best = m
		}
	}
	if best == nil {
		return "", why
	}
	best.holds[attempt] = true
	return best.id, nil
}

func (m *member) unable(now time.Time, alive time.Duration) string {
	switch {
	case m.leaving:
		return "is leaving"
	case now.Sub(m.seen) > alive:
		return fmt.Sprintf("was last heard of %d s ago", int(now.Sub(m.seen).Seconds()))
	case len(m.holds) >= m.slots && m.slots == 1:
		return "is busy"
	case len(m.holds) >= m.slots:
		return fmt.Sprintf("all %d slots are busy", m.slots)
	}
	return ""
}

func (c *crew) sorted() []*member {
	out := make([]*member, 0, len(c.members))
	for _, m := range c.members {
		if !m.seen.IsZero() { // not one that is only known to hold something from before a restart
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *member) int { return cmp.Compare(a.id, b.id) })
	return out
}

// hold notes that a worker has an attempt, heard of or not (after a restart). It is called where
// release is, under the lock of the job, so that a hello that was under way when
// the attempt ended cannot bring it back.
func (c *crew) hold(worker, attempt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.member(worker).holds[attempt] = true
}

// release frees a slot.
func (c *crew) release(worker, attempt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[worker]; m != nil {
		delete(m.holds, attempt)
	}
}

// list shows the workers; those not heard of for gone are left out.
func (c *crew) list(now time.Time, gone time.Duration) []protocol.WorkerDoc {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []protocol.WorkerDoc{}
	for _, m := range c.sorted() {
		if ago := now.Sub(m.seen); ago <= gone {
			out = append(out, protocol.WorkerDoc{ID: m.id, PID: m.pid, Slots: m.slots, Busy: len(m.holds), SeenAgo: ago.Seconds()})
		}
	}
	return out
}
