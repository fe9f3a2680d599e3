package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/packing"
	"github.com/relo-dev/relo/core/internal/provider/refusal"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// sent is a request that went out and its row.
type sent struct {
	row    ledger.Row
	packed packed
}

// heal sends one request. When it is refused for its pictures it is sent once more in
// another form (for a size: twice at most), by the class of the refusal. What a class
// teaches is remembered only when the other form was answered, since the words of a
// refusal alone prove nothing. A second refusal is the turn's error.
func (g *Gateway) heal(ctx context.Context, c traffic.Call, on attemptOn) (traffic.Answer, error) {
	var s strain
	var why ill
	for heals := 0; ; heals++ {
		answer, out, err := g.once(ctx, c, on, s)
		if err == nil {
			return answer, g.learn(ctx, on, why, s, out)
		}
		now := diagnose(err, out)
		if !now.curable() || ctx.Err() != nil || begun(c) {
			return answer, err
		}
		if heals >= now.most() || heals > 0 && now.class != why.class {
			g.log.Warn().Str("job", c.Job).Str("model", string(on.model.Ref)).Err(err).Msg("a refused picture was no reason, or not the only one: the other form is refused too")
			return answer, err
		}
		if heals == 0 {
			why = now
		}
		why.class, why.phrase = now.class, now.phrase
		s = g.remedy(on, now, s, out)
	}
}

// ill is why a request with pictures was not answered, or not with them.
type ill struct {
	class  refusal.Class
	phrase string
	lost   bool // it was answered, but its pictures never came to the model
	words  string
	asked  ledger.Row
}

// diagnose reads an error of a request; the zero ill has nothing to do with pictures.
func diagnose(err error, out sent) ill {
	if len(out.packed.shown) == 0 {
		return ill{}
	}
	if d, ok := errors.AsType[*droppedError](err); ok {
		return ill{class: refusal.Blind, phrase: d.words, lost: true, asked: out.row}
	}
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return ill{}
	}
	words := e.Body
	if words == "" {
		words = e.Words
	}
	r := refusal.Read(refusal.Refusal{Status: e.Status, Code: e.Code, Words: words, Model: e.Model})
	return ill{class: r.Class, phrase: r.Phrase, words: words, asked: out.row}
}

func (i ill) curable() bool { return i.class != refusal.Other }

// most is how often such a request is sent once more.
func (i ill) most() int {
	if i.class == refusal.Size {
		return healsOfSize
	}
	return healsPerRequest
}

// remedy is the other form of a refused request.
func (g *Gateway) remedy(on attemptOn, i ill, s strain, out sent) strain {
	switch i.class {
	case refusal.Shape:
		if p, ok := otherPlace(on, out.packed); ok {
			return strain{placement: p}
		}
		return strain{allWords: true}
	case refusal.Unreadable:
		return strain{words: suspects(out.packed)}
	case refusal.Size:
		l := g.smaller(i, s, out.packed)
		return strain{limits: &l}
	case refusal.Blind, refusal.Other:
	}
	return strain{allWords: true}
}

// otherPlace is another place for a tool's pictures, when the wire has one.
func otherPlace(on attemptOn, p packed) (provider.Placement, bool) {
	placer, ok := on.client.(provider.Placer)
	if !ok || !toolShows(p.request.Messages) {
		return "", false
	}
	places := placer.Placements(on.model.ID)
	used := p.request.Placement
	if used == "" && len(places) > 0 {
		used = places[0]
	}
	if i := slices.IndexFunc(places, func(x provider.Placement) bool { return x != used }); i >= 0 {
		return places[i], true
	}
	return "", false
}

func toolShows(messages []provider.Message) bool {
	return slices.ContainsFunc(messages, func(m provider.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p provider.Part) bool { return p.Result != nil && len(p.Result.Pictures) > 0 })
	})
}

// suspects are the pictures that the provider may have meant: those of the turn that has
// no answer yet, since the others were taken before; all when there are none.
func suspects(p packed) map[string]bool {
	out := map[string]bool{}
	for _, s := range collect(p.request.Messages, len(p.shown)+1) {
		if s.unanswered {
			out[s.picture.SHA256] = true
		}
	}
	if len(out) == 0 {
		for _, pic := range p.shown {
			out[pic.SHA256] = true
		}
	}
	return out
}

// smaller is what the words of a refusal ask for; half of what was sent when they name
// no number, or when what they name was no help.
func (g *Gateway) smaller(i ill, s strain, p packed) packing.Limits {
	edge, most := 0, 0
	for _, pic := range p.shown {
		edge, most = max(edge, pic.Width, pic.Height), max(most, len(pic.Bytes))
	}
	n := refusal.ReadSizes(i.words)
	l := packing.Limits{
		Edge: below(n.Edge, edge), PictureBytes: below(n.Bytes, most), Pictures: below(n.Pictures, len(p.shown)),
		MinEdge: n.MinEdge, MinPixels: n.MinPixels,
	}
	if s.limits == nil && (l.Edge > 0 || l.PictureBytes > 0 || l.Pictures > 0 || l.MinEdge > 0 || l.MinPixels > 0) {
		return l
	}
	if s.limits != nil { // what the words said was no help, or half of it was not: half of the pictures too
		l = tighter(tighter(l, *s.limits), packing.Limits{Pictures: (len(p.shown) + 1) / 2})
	}
	return tighter(l, packing.Limits{Edge: max(1, edge/2)}) // with half the edge go three quarters of the bytes
}

// below keeps a limit that is one for what was sent.
func below(limit, now int) int {
	if limit > 0 && limit < now {
		return limit
	}
	return 0
}

// tighter holds a request to both.
func tighter(a, b packing.Limits) packing.Limits {
	least := func(x, y int) int {
		if x == 0 || y != 0 && y < x {
			return y
		}
		return x
	}
	a.Edge, a.Pictures, a.PictureBytes = least(a.Edge, b.Edge), least(a.Pictures, b.Pictures), least(a.PictureBytes, b.PictureBytes)
	a.RequestBytes, a.MaxPixels, a.MaxAspect = least(a.RequestBytes, b.RequestBytes), least(a.MaxPixels, b.MaxPixels), least(a.MaxAspect, b.MaxAspect)
	a.MinEdge, a.MinPixels = max(a.MinEdge, b.MinEdge), max(a.MinPixels, b.MinPixels)
	return a
}

// learn remembers what an answered second form proves, and tells the job once.
func (g *Gateway) learn(ctx context.Context, on attemptOn, i ill, s strain, proof sent) error {
	ref := on.model.Ref
	switch i.class {
	case refusal.Other:
		return nil
	case refusal.Blind:
		return g.blinded(ctx, on, i, proof.row)
	case refusal.Shape:
		if s.placement != "" {
			g.memory.place(ref, s.placement)
		}
	case refusal.Unreadable:
		g.memory.cannotRead(ref, s.words)
	case refusal.Size:
		g.memory.limit(ref, *s.limits)
	}
	g.log.Warn().Str("job", i.asked.Job).Str("model", string(ref)).Str("class", string(i.class)).Str("phrase", i.phrase).Msg("a refused request was sent in another form")
	return g.tell(ctx, func(ctx context.Context) error {
		return g.money.Notice(ctx, i.asked, fmt.Sprintf("%s refused a request with pictures (%q); it took %s", ref, i.phrase, formWords(i.class, s)))
	})
}

func formWords(class refusal.Class, s strain) string {
	switch {
	case s.placement != "":
		return "the same pictures in another place of the request, where they go from now on"
	case class == refusal.Size:
		return "smaller or fewer pictures, which it gets from now on"
	case class == refusal.Unreadable:
		return "words for the picture that it could not read"
	}
	return "words instead of the pictures"
}

// blinded remembers that the model does not see, and lets the job know.
func (g *Gateway) blinded(ctx context.Context, on attemptOn, i ill, proof ledger.Row) error {
	ref := on.model.Ref
	g.log.Warn().Str("job", i.asked.Job).Str("model", string(ref)).Str("phrase", i.phrase).Msg("a model turned out not to see")
	if i.lost { // it was learned when the tiny picture was not seen
		return g.tell(ctx, func(ctx context.Context) error {
			return g.money.TellBlinded(ctx, i.asked, job.Blinded{Class: string(i.class), Phrase: i.phrase, Proof: proof.ID, Words: lostWords(ref, i.phrase)})
		})
	}
	g.book.Blinded(ref, i.phrase)
	words := fmt.Sprintf("%s refused a picture (%q) and took the same request without it: it gets words instead of pictures from now on", ref, i.phrase)
	if was := on.model.Sight; was.Source == vision.Configured {
		words += `, although "vision": true is set on it`
	}
	words += "; relo models forget ends that"
	return g.tell(ctx, func(ctx context.Context) error {
		return g.money.TellBlinded(ctx, i.asked, job.Blinded{Class: string(i.class), Phrase: i.phrase, Proof: proof.ID, Words: words})
	})
}

// tell lets the job know, also when the caller has left.
func (g *Gateway) tell(ctx context.Context, say func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWait)
	defer cancel()
	if err := say(ctx); err != nil {
		return fmt.Errorf("tell the job what a refusal taught: %w", err)
	}
	return nil
}
