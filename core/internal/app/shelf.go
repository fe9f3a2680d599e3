package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/gateway"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/packing"
	"github.com/relo-dev/relo/core/internal/provider/probe"
)

var _ gateway.Book = (*shelf)(nil)

// shelf answers the gateway from all books that were made: a model is looked for
// in the newest one, and in older ones for jobs that were made with them. A
// provider whose row changed is dialled anew.
type shelf struct {
	// renew looks whether there is a newer book, before each call; set once.
	renew func()
	// daemon says that the process's environment is older than the person's.
	daemon bool
	log    zerolog.Logger

	mu        sync.Mutex
	books     []*book // newest first
	rehearsal string  // address of the rehearsal provider, when it runs here

	dialling sync.Mutex
	clients  map[string]dialled // by provider
}

type dialled struct {
	row    string // what the config said of the provider
	client provider.Client
}

// booksKept bounds the shelf: more changes than anybody makes while one job runs.
const booksKept = 64

func newShelf() *shelf {
	return &shelf{renew: func() {}, log: zerolog.Nop(), clients: map[string]dialled{}}
}

// put lays a book before all others.
func (s *shelf) put(b *book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books = append([]*book{b}, s.books[:min(len(s.books), booksKept-1)]...)
}

// find gives the newest book that a question fits.
func (s *shelf) find(fits func(*book) bool) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.books, fits); i >= 0 {
		return s.books[i]
	}
	return nil
}

// Model gives what is known of a model.
func (s *shelf) Model(ref catalog.Ref) (catalog.Model, bool) {
	s.renew()
	if b := s.find(func(b *book) bool { _, ok := b.Model(ref); return ok }); b != nil {
		return b.Model(ref)
	}
	return catalog.Model{}, false
}

// Blinded remembers that a model does not see at its endpoint, whichever book names it.
func (s *shelf) Blinded(ref catalog.Ref, phrase string) {
	if b := s.find(func(b *book) bool { _, ok := b.Model(ref); return ok }); b != nil {
		name, id := ref.Split()
		b.known.refusals.learn(spot{endpointOf(b.cfg.Providers[name]), id}, phrase)
	}
}

// Probed keeps what a tiny picture showed of a model at its endpoint.
func (s *shelf) Probed(ref catalog.Ref, f probe.Finding) {
	if b := s.find(func(b *book) bool { _, ok := b.Model(ref); return ok }); b != nil {
		name, id := ref.Split()
		kept := catalog.Probe{Endpoint: endpointOf(b.cfg.Providers[name]), ID: id, Sight: f.Sight, Verdict: string(f.Verdict), Words: f.Words, At: time.Now().UTC()}
		if err := b.known.almanac.KeepProbe(kept); err != nil {
			s.log.Warn().Str("model", string(ref)).Err(err).Msg("what a tiny picture showed was not kept")
		}
	}
}

// Endpoint names where a model is asked.
func (s *shelf) Endpoint(ref catalog.Ref) string {
	name, _ := ref.Split()
	if b := s.naming(name); b != nil {
		return fmt.Sprint(endpointOf(b.cfg.Providers[name]))
	}
	return name
}

// Limits are those of the requests to a model.
func (s *shelf) Limits(ref catalog.Ref) packing.Limits {
	name, id := ref.Split()
	if b := s.naming(name); b != nil {
		p := b.cfg.Providers[name]
		return packing.LimitsOf(p.API, p.Wire, id)
	}
	return packing.LimitsOf("", "", id)
}

// Lookers are the models that may look for one that cannot see, of the newest book that
// knows it.
func (s *shelf) Lookers(asker catalog.Ref, private bool) []catalog.Ref {
	s.renew()
	b := s.find(func(b *book) bool { _, ok := b.Model(asker); return ok || asker == "" })
	if b == nil {
		return nil
	}
	return b.Lookers(asker, private)
}

// naming gives the newest book that names a provider.
func (s *shelf) naming(provider string) *book {
	return s.find(func(b *book) bool { _, ok := b.cfg.Providers[provider]; return ok })
}

// Client gives the wire to a model's provider, made once for each row of the config.
func (s *shelf) Client(ctx context.Context, ref catalog.Ref) (provider.Client, error) {
	name, _ := ref.Split()
	b := s.find(func(b *book) bool { _, ok := b.cfg.Providers[name]; return ok })
	if b == nil {
		return nil, fmt.Errorf("provider %q is not in the config", name)
	}
	p := b.cfg.Providers[name]
	row, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", name, err)
	}
	s.dialling.Lock()
	defer s.dialling.Unlock()
	if c, ok := s.clients[name]; ok && c.row == string(row) {
		return c.client, nil
	}
	delete(s.clients, name)
	s.mu.Lock()
	at := s.rehearsal
	s.mu.Unlock()
	advise := func(err error) {
		if e, ok := asProvider(err); ok && s.daemon && e.Kind == provider.KindKey && strings.HasPrefix(p.Key, "env:") {
			e.Hint = strings.TrimPrefix(e.Hint+"; "+oldEnvironment, "; ")
		}
	}
	c, err := b.dial(ctx, name, p, at)
	if err != nil {
		advise(err)
		return nil, err
	}
	c = keyed{c, func(err error) { advise(err); s.forget(name) }}
	s.clients[name] = dialled{string(row), c}
	return c, nil
}

// oldEnvironment is what helps when a variable was set after the daemon began.
const oldEnvironment = "the daemon has the environment that it was started with: after setting it, relo daemon stop && relo daemon start"

// forget hangs up on a provider; the next call dials it anew.
func (s *shelf) forget(name string) {
	s.dialling.Lock()
	defer s.dialling.Unlock()
	delete(s.clients, name)
}

// serveRehearsal says where the rehearsal provider runs.
func (s *shelf) serveRehearsal(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rehearsal = url
}
