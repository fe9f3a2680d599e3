package app

import (
	"cmp"
	"context"
	"slices"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/vision"
)

// book knows the models of one config, and how to speak to its providers.
type book struct {
	cfg    *config.Config
	getenv func(string) string
	models map[catalog.Ref]catalog.Model
}

func newBook(cfg *config.Config, getenv func(string) string) *book {
	b := &book{cfg: cfg, getenv: getenv, models: map[catalog.Ref]catalog.Model{}}
	for _, ref := range allRefs(cfg) {
		b.models[ref] = modelOf(cfg, ref)
	}
	return b
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

// modelOf resolves what is known of a model: the person's word before the
// catalogue's, and that before the guess.
func modelOf(cfg *config.Config, ref catalog.Ref) catalog.Model {
	name, id := ref.Split()
	p := cfg.Providers[name]
	facts := p.Models[id]
	guess, isChat := vision.Guess(id)
	m := catalog.Model{
		Ref: ref, Provider: name, ID: id, Chat: isChat, Tools: facts.Tools == nil || *facts.Tools, Context: facts.Context,
		MaxOutput: facts.MaxOutput, Price: facts.Price, Private: p.IsPrivate(), TakesPictures: p.TakesPictures,
	}
	known, listed := catalog.Find(p.API, id)
	if listed {
		m.Context, m.MaxOutput = cmp.Or(m.Context, known.Context), cmp.Or(m.MaxOutput, known.MaxOutput)
		if m.Price == (catalog.Price{}) {
			m.Price = known.Price
		}
	}
	var configured vision.Answer
	if facts.Vision != nil {
		configured = vision.Answer{Sight: vision.Of(*facts.Vision), Source: vision.Configured}
	}
	m.Sight = vision.Resolve(configured, known.Sight, guess)
	return m
}

// Model gives what is known of a model.
func (b *book) Model(ref catalog.Ref) (catalog.Model, bool) {
	m, ok := b.models[ref]
	return m, ok
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
	for _, r := range b.cfg.Ladder {
		rung := routing.Rung{Difficulty: job.Difficulty(r.Difficulty)}
		for _, ref := range r.Model {
			rung.Models = append(rung.Models, b.models[ref])
			named = named || ref == b.cfg.Primary
		}
		out = append(out, rung)
	}
	if !named && b.cfg.Primary != "" {
		out = append(out, routing.Rung{Models: []catalog.Model{b.models[b.cfg.Primary]}})
	}
	return out
}

// documents lists the models for people, with the rungs that name them.
func (b *book) documents() protocol.ModelsDoc {
	doc := protocol.ModelsDoc{Models: []protocol.ModelDoc{}}
	ladder := b.ladder()
	for _, ref := range allRefs(b.cfg) {
		m := b.models[ref]
		d := protocol.ModelDoc{
			Ref: string(ref), Provider: m.Provider, ID: m.ID, Name: m.ID, Vision: m.Sight.Sight, VisionSource: m.Sight.Source, VisionDetail: m.Sight.Detail,
			Chat: m.Chat, Context: m.Context, Tools: m.Tools, Private: m.Private, Price: protocol.PriceDoc(m.Price),
		}
		for i, r := range ladder {
			if slices.ContainsFunc(r.Models, func(x catalog.Model) bool { return x.Ref == ref }) {
				d.Rungs = append(d.Rungs, i+1)
			}
		}
		doc.Models = append(doc.Models, d)
	}
	return doc
}

// keyed hangs up when a key is refused: it is fetched anew for the next call, and
// may have been changed meanwhile where it is kept.
type keyed struct {
	provider.Client
	forget func(err error)
}

// Stream passes the call on.
func (k keyed) Stream(ctx context.Context, r provider.Request, onDelta func(provider.Delta)) (provider.Response, error) {
	resp, err := k.Client.Stream(ctx, r, onDelta)
	if e, ok := asProvider(err); ok && e.Kind == provider.KindKey {
		k.forget(err)
	}
	return resp, err
}
