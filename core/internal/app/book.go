package app

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/relo-dev/relo/core/internal/almanac"
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/routing"
)

// book knows the models of one config, and how to speak to its providers. What it
// says of a model is resolved from the sources as they are when it is asked.
type book struct {
	cfg    *config.Config
	getenv func(string) string
	known  knowledge

	mu       sync.Mutex
	page     *almanac.Page // that models was resolved with
	refusals int           // the state of them, likewise
	table    *catalog.Table
	models   map[catalog.Ref]catalog.Model
}

// knowledge is what a process knows of models beside the config.
type knowledge struct {
	almanac  *almanac.Almanac
	refusals *refusals
	tables   *tables
}

func (e Env) knowledge() knowledge {
	return knowledge{almanac.Open(e.places().State, e.places().Cache), newRefusals(), &tables{file: e.catalogFile()}}
}

func newBook(cfg *config.Config, getenv func(string) string, k knowledge) *book {
	return &book{cfg: cfg, getenv: getenv, known: k}
}

// allRefs lists what the ladder, primary and routes name, and every model that
// a provider's row names.
func allRefs(cfg *config.Config) []catalog.Ref {
	refs := cfg.Models()
	for name, p := range cfg.Providers {
		for id := range p.Models {
			if ref := catalog.Ref(name + "/" + id); !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	slices.Sort(refs)
	return refs
}

// endpointOf names where a provider of the config is asked.
func endpointOf(p config.Provider) catalog.Endpoint { return catalog.EndpointOf(p.Wire, p.URL) }

// resolve gives the one answer on a model, from all that is known now.
func (k knowledge) resolve(cfg *config.Config, ref catalog.Ref, page *almanac.Page) catalog.Model {
	name, id := ref.Split()
	p := cfg.Providers[name]
	set, at := p.Models[id], endpointOf(p)
	s := catalog.Sources{
		Ref: ref, API: p.API, URL: p.URL, Private: p.IsPrivate(), TakesPictures: p.TakesPictures,
		Set:     catalog.Facts{Vision: set.Vision, Tools: set.Tools, Context: set.Context, MaxOutput: set.MaxOutput, Price: set.Price},
		Probed:  page.Probe(at, id),
		Refused: k.refusals.of(spot{at, id}),
		Table:   k.tables.table(),
	}
	s.Listed, s.ListedAt = page.Listed(at, id)
	return catalog.Resolve(s)
}

// modelOf resolves one model for a process that asks once.
func (k knowledge) modelOf(cfg *config.Config, ref catalog.Ref) catalog.Model {
	return k.resolve(cfg, ref, k.almanac.Look())
}

// now brings the answers up to date and calls f with them, under the lock.
func (b *book) now(f func(models map[catalog.Ref]catalog.Model)) {
	page, table := b.known.almanac.Look(), b.known.tables.table()
	b.mu.Lock()
	defer b.mu.Unlock()
	if state := b.known.refusals.state(); b.models == nil || page != b.page || state != b.refusals || table != b.table {
		b.models = map[catalog.Ref]catalog.Model{}
		for _, ref := range allRefs(b.cfg) {
			b.models[ref] = b.known.resolve(b.cfg, ref, page)
		}
		b.page, b.refusals, b.table = page, state, table
	}
	f(b.models)
}

// Model gives what is known of a model of the config.
func (b *book) Model(ref catalog.Ref) (m catalog.Model, ok bool) {
	b.now(func(models map[catalog.Ref]catalog.Model) { m, ok = models[ref] })
	return m, ok
}

// Lookers are the models that may look at a picture for asker (empty: nobody knows who
// asks), best first.
func (b *book) Lookers(asker catalog.Ref, private bool) (refs []catalog.Ref) {
	b.now(func(models map[catalog.Ref]catalog.Model) {
		q := routing.Looking{Asker: models[asker], Private: private}
		for _, ref := range b.cfg.Routes.Vision {
			q.Route = append(q.Route, models[ref])
		}
		order := b.cfg.Models()
		for _, ref := range allRefs(b.cfg) {
			if !slices.Contains(order, ref) {
				order = append(order, ref)
			}
		}
		for _, ref := range order {
			q.Known = append(q.Known, models[ref])
		}
		refs = routing.Lookers(q)
	})
	return refs
}

// dial makes the wire to a provider; rehearsal is where the rehearsal runs, if here.
func (b *book) dial(ctx context.Context, name string, p config.Provider, rehearsal string) (provider.Client, error) {
	if p.Wire == "rehearsal" && p.URL == "" {
		p.URL = rehearsal
	}
	return dialProvider(ctx, keysOf(b.getenv), name, p)
}

// ladder makes the router's ladder of the config's: the Primary stands on a rung
// of its own at the top unless a rung names it.
func (b *book) ladder() routing.Ladder {
	var out routing.Ladder
	named := false
	b.now(func(models map[catalog.Ref]catalog.Model) {
		for _, r := range b.cfg.Ladder {
			rung := routing.Rung{Difficulty: job.Difficulty(r.Difficulty)}
			for _, ref := range r.Model {
				rung.Models = append(rung.Models, models[ref])
				named = named || ref == b.cfg.Primary
			}
			out = append(out, rung)
		}
		if !named && b.cfg.Primary != "" {
			out = append(out, routing.Rung{Models: []catalog.Model{models[b.cfg.Primary]}})
		}
	})
	return out
}

// keyed hangs up when a key is refused: it is fetched anew for the next call, and
// may have been changed meanwhile where it is kept.
type keyed struct {
	provider.Client
	forget func(err error)
}

// Speaks passes the question on.
func (k keyed) Speaks(wire string) bool {
	f, ok := k.Client.(provider.Forwarder)
	return ok && f.Speaks(wire)
}

// Forward passes the body on.
func (k keyed) Forward(ctx context.Context, f provider.Forward) (provider.Response, error) {
	to, ok := k.Client.(provider.Forwarder)
	if !ok {
		return provider.Response{}, fmt.Errorf("this provider takes no body of another program's")
	}
	resp, err := to.Forward(ctx, f)
	if e, ok := asProvider(err); ok && e.Kind == provider.KindKey {
		k.forget(err)
	}
	return resp, err
}

// Placements passes the question on.
func (k keyed) Placements(model string) []provider.Placement {
	if p, ok := k.Client.(provider.Placer); ok {
		return p.Placements(model)
	}
	return nil
}

// Stream passes the call on.
func (k keyed) Stream(ctx context.Context, r provider.Request, onDelta func(provider.Delta)) (provider.Response, error) {
	resp, err := k.Client.Stream(ctx, r, onDelta)
	if e, ok := asProvider(err); ok && e.Kind == provider.KindKey {
		k.forget(err)
	}
	return resp, err
}
