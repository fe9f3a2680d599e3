package app

import (
	"slices"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

// documents lists models for people, with the rungs that name them: those of the
// config, with all those of the providers' lists too, or just those that are named.
func (b *book) documents(r protocol.ModelsRequest) protocol.ModelsDoc {
	doc := protocol.ModelsDoc{Models: []protocol.ModelDoc{}}
	ladder, page := b.ladder(), b.known.almanac.Look()
	refs := allRefs(b.cfg)
	configured := len(refs)
	if r.All || len(r.Refs) > 0 {
		refs = append(refs, b.listedRefs()...)
	}
	for i, ref := range refs {
		if len(r.Refs) > 0 && !slices.Contains(r.Refs, string(ref)) || i >= configured && slices.Contains(refs[:configured], ref) {
			continue
		}
		d := modelDoc(b.known.resolve(b.cfg, ref, page))
		d.Configured = i < configured
		for k, rung := range ladder {
			if slices.ContainsFunc(rung.Models, func(x catalog.Model) bool { return x.Ref == ref }) {
				d.Rungs = append(d.Rungs, k+1)
			}
		}
		doc.Models = append(doc.Models, d)
	}
	return doc
}

// listedRefs names every model of the providers' lists, as they were last read.
func (b *book) listedRefs() []catalog.Ref {
	var refs []catalog.Ref
	page := b.known.almanac.Look()
	for name, p := range b.cfg.Providers {
		report, _ := page.Report(endpointOf(p))
		for _, m := range report.Models {
			refs = append(refs, catalog.Ref(name+"/"+m.ID))
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

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
	refs := append(allRefs(b.cfg), b.listedRefs()...)
	slices.Sort(refs)
	for _, ref := range slices.Compact(refs) {
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
