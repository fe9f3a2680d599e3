package gateway

import (
	"sync"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/packing"
)

// memory is what refusals taught about endpoints' requests while this process ran:
// nothing of it says that a model is blind. It only saves the same refusal next time.
type memory struct {
	mu         sync.Mutex
	placements map[catalog.Ref]provider.Placement
	sizes      map[catalog.Ref]packing.Limits
	unreadable map[catalog.Ref]map[string]bool // by SHA-256 of what was sent
	settled    map[catalog.Ref]bool            // a doubt was settled: it got the picture
	asking     map[catalog.Ref]*sync.Mutex     // held while a doubt is being settled
	count      int
}

func newMemory() *memory {
	return &memory{
		placements: map[catalog.Ref]provider.Placement{}, sizes: map[catalog.Ref]packing.Limits{},
		unreadable: map[catalog.Ref]map[string]bool{}, settled: map[catalog.Ref]bool{}, asking: map[catalog.Ref]*sync.Mutex{},
	}
}

func (m *memory) placement(ref catalog.Ref) provider.Placement {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.placements[ref]
}

func (m *memory) place(ref catalog.Ref, p provider.Placement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.placements[ref] = p
}

func (m *memory) limits(ref catalog.Ref) (packing.Limits, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.sizes[ref]
	return l, ok
}

func (m *memory) limit(ref catalog.Ref, l packing.Limits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sizes[ref] = l
}

// refusedPictures are those that the endpoint could not read.
func (m *memory) isUnreadable(ref catalog.Ref, sha string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unreadable[ref][sha]
}

func (m *memory) cannotRead(ref catalog.Ref, shas map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unreadable[ref] == nil || m.count >= learnedKept {
		m.unreadable[ref], m.count = map[string]bool{}, 0
	}
	for sha := range shas {
		m.unreadable[ref][sha] = true
		m.count++
	}
}

// settle gives the lock under which one doubt about a model is settled, and whether it
// was settled before.
func (m *memory) settle(ref catalog.Ref) (*sync.Mutex, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asking[ref] == nil {
		m.asking[ref] = &sync.Mutex{}
	}
	return m.asking[ref], m.settled[ref]
}

func (m *memory) isSettled(ref catalog.Ref) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settled[ref]
}

func (m *memory) hasSettled(ref catalog.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settled[ref] = true
}
