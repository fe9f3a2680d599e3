package app

import (
	"slices"

	"github.com/relo-dev/relo/core/internal/almanac"
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

const (
	// modelsMost is how many models one answer lists: some 600 bytes each, in a message
	// of the bus.
	modelsMost = 10_000
	// saysMost is how many models of the providers' lists are told with what every
	// source says; of more only the answer that counts is.
	saysMost = 4_000
)

// documents lists models for people, with the rungs that name them: those of the
// config, with all those of the providers' lists too, or just those that are named.
// Of the named it leaves out what nobody knows.
func (b *book) documents(r protocol.ModelsRequest) protocol.ModelsDoc {
	page, rungs := b.known.almanac.Look(), b.rungs()
	doc := protocol.ModelsDoc{Models: []protocol.ModelDoc{}}
	configured := allRefs(b.cfg) // sorted
	refs, brief := configured, false
	switch {
	case len(r.Refs) > 0:
		refs = b.named(r.Refs, page)
	case r.All:
		listed := listedRefs(b.cfg, page)
		brief = len(listed) > saysMost
		refs = union(configured, listed)
		if over := len(refs) - modelsMost; over > 0 {
			doc.Left, refs = over, union(configured, listed[:max(0, modelsMost-len(configured))])
		}
	}
	for _, ref := range refs {
		d := modelDoc(b.known.resolve(b.cfg, ref, page))
		_, d.Configured = slices.BinarySearch(configured, ref)
		d.Rungs = rungs[ref]
		if brief && !d.Configured {
			d.VisionSays = []protocol.SightDoc{}
		}
		if report, ok := page.Report(endpointOf(b.cfg.Providers[d.Provider])); ok {
			d.ListRead = new(report.At.UTC())
		}
		doc.Models = append(doc.Models, d)
	}
	return doc
}

// rungs tells of each model of the ladder where it stands, from 1.
func (b *book) rungs() map[catalog.Ref][]int {
	at := map[catalog.Ref][]int{}
	for i, rung := range b.ladder() {
		for _, m := range rung.Models {
			at[m.Ref] = append(at[m.Ref], i+1)
		}
	}
	return at
}

func union(a, b []catalog.Ref) []catalog.Ref {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// named gives those of refs that could be models, once each and in their order.
func (b *book) named(refs []string, page *almanac.Page) []catalog.Ref {
	var out []catalog.Ref
	for _, r := range refs {
		if ref := catalog.Ref(r); !slices.Contains(out, ref) && mayBe(b.cfg, ref, page) {
			out = append(out, ref)
		}
	}
	return out
}

// listedRefs names every model of the providers' lists, as they were last read.
func (b *book) listedRefs() []catalog.Ref { return listedRefs(b.cfg, b.known.almanac.Look()) }

func modelDoc(m catalog.Model) protocol.ModelDoc {
	d := protocol.ModelDoc{
		Ref: string(m.Ref), Provider: m.Provider, ID: m.ID, Name: m.ID, Vision: m.Sight.Sight, VisionSource: m.Sight.Source,
		VisionDetail: m.Sight.Detail, VisionSays: []protocol.SightDoc{}, Shown: m.MayShow(), Chat: m.Chat, Context: m.Context, Tools: m.Tools,
		Private: m.Private, Price: protocol.PriceDoc(m.Price), Listed: m.Listed,
	}
	for _, a := range m.Said {
		d.VisionSays = append(d.VisionSays, sightDoc(a))
	}
	return d
}

func sightDoc(a vision.Answer) protocol.SightDoc {
	return protocol.SightDoc{Source: a.Source, Vision: a.Sight, Detail: a.Detail}
}

// forget ends what was learned of some models, or of all of the config and lists.
func (b *book) forget(r protocol.ForgetRequest) protocol.ForgottenDoc {
	doc := protocol.ForgottenDoc{Forgotten: []protocol.ForgottenModel{}}
	for _, ref := range union(allRefs(b.cfg), b.listedRefs()) {
		if len(r.Refs) > 0 && !slices.Contains(r.Refs, string(ref)) {
			continue
		}
		name, id := ref.Split()
		was, ok := b.known.refusals.forget(spot{endpointOf(b.cfg.Providers[name]), id})
		if !ok {
			continue
		}
		now := b.known.modelOf(b.cfg, ref)
		doc.Forgotten = append(doc.Forgotten, protocol.ForgottenModel{Ref: string(ref), Was: sightDoc(was), Vision: sightDoc(now.Sight)})
	}
	if len(r.Refs) == 0 {
		b.known.refusals.clear() // of providers that the config has no more
	}
	return doc
}
