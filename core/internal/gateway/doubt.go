package gateway

import (
	"context"
	"fmt"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// A 2xx proves that a picture was sent, not that the model got it: some proxies drop it.

// certainty is what is known of the pictures of an answered request.
type certainty int

const (
	sure    certainty = iota // nothing speaks against it
	doubted                  // they may not have come to the model, and nobody found out
	lost                     // a tiny picture did not come to the model either
)

// droppedError says that a model answers and gets no pictures.
type droppedError struct{ words string }

func (e *droppedError) Error() string { return "pictures do not come to the model: " + e.words }

// meter is what an attempt's last request to a model counted.
type meter struct {
	in, text int64
	views    map[string]bool
}

// beforehand settles the doubt about a model that is known by name alone before its answer
// goes to another program: what was handed over cannot be taken back.
func (g *Gateway) beforehand(ctx context.Context, c traffic.Call, on attemptOn, p packed) error {
	m := on.model
	if c.Deliver == nil || len(p.shown) == 0 || on.probing || !c.Rules.Settle || g.memory.isSettled(m.Ref) {
		return nil
	}
	if m.Sight.Sight != vision.Unknown && m.Sight.Source != vision.Name {
		return nil
	}
	lock, _ := g.memory.settle(m.Ref)
	lock.Lock()
	defer lock.Unlock()
	if g.memory.isSettled(m.Ref) {
		return nil
	}
	if known, words := g.settleDoubt(ctx, c, on); known == lost {
		return &droppedError{words}
	}
	return nil
}

// weigh says what is known of the pictures that went to the model, and settles a doubt
// once a model.
func (g *Gateway) weigh(ctx context.Context, c traffic.Call, on attemptOn, p packed, r provider.Response) (certainty, string) {
	flat := g.flat(c, on.model.Ref, p, r.Usage)
	if len(p.shown) == 0 || on.probing || g.memory.isSettled(on.model.Ref) || on.model.Sight.Source == vision.Probed {
		return sure, ""
	}
	byName := on.model.Sight.Sight == vision.Unknown || on.model.Sight.Source == vision.Name
	if !flat && !byName {
		return sure, ""
	}
	if !c.Rules.Settle {
		return doubted, ""
	}
	lock, _ := g.memory.settle(on.model.Ref)
	lock.Lock()
	defer lock.Unlock()
	if g.memory.isSettled(on.model.Ref) {
		return sure, ""
	}
	if m, ok := g.book.Model(on.model.Ref); ok && m.Sight.Sight == vision.Blind { // found out while this one waited
		return lost, m.Sight.Detail
	}
	return g.settleDoubt(ctx, c, on)
}

// settleDoubt shows the model a tiny picture.
func (g *Gateway) settleDoubt(ctx context.Context, c traffic.Call, on attemptOn) (certainty, string) {
	f := probe.Run(ctx, func(ctx context.Context, r provider.Request) (provider.Response, error) {
		probing := on
		probing.probing = true
		ask := traffic.Call{
			Job: c.Job, Task: c.Task, Attempt: c.Attempt, Traffic: job.TrafficVision, Request: r, Budget: c.Budget, Private: c.Private, Shown: viewsOf(r),
		}
		a, _, err := g.once(ctx, ask, probing, strain{})
		return a.Response, err
	}, probe.Options{Model: on.model.ID})
	log := g.log.Info().Str("job", c.Job).Str("model", string(on.model.Ref)).Str("verdict", string(f.Verdict))
	log.Msg("a doubt whether a model gets pictures was settled with a tiny one")
	switch f.Sight {
	case vision.Sees:
		g.memory.hasSettled(on.model.Ref)
		g.book.Probed(on.model.Ref, f)
		return sure, ""
	case vision.Blind:
		g.book.Probed(on.model.Ref, f)
		g.book.Blinded(on.model.Ref, f.Words)
		return lost, f.Words
	case vision.Unknown:
	}
	return doubted, ""
}

// viewsOf are the pictures of a probe: their looks are nobody's.
func viewsOf(r provider.Request) map[string]bool {
	out := map[string]bool{}
	for _, s := range collect(r.Messages, keepPictures) {
		out[s.picture.View.ID] = true
	}
	return out
}

// flat reports whether the count of tokens grew by less than the pictures that were new
// in this request must have cost. It is compared with the attempt's request before, else
// with what the text alone would cost; both ways it is rather said once too often: the
// price of that is one tiny picture.
func (g *Gateway) flat(c traffic.Call, ref catalog.Ref, p packed, u provider.Usage) bool {
	if u.TokensIn == nil || nobodys(c) {
		return false
	}
	key := c.Attempt + " " + c.Job + " " + string(ref)
	if c.Traffic == job.TrafficVision {
		key = "" // each look stands alone
	}
	now := meter{in: *u.TokensIn, text: int64(p.textBytes), views: map[string]bool{}}
	for _, pic := range p.shown {
		now.views[pic.View.ID] = true
	}
	g.metering.Lock()
	before := g.meters[key]
	if len(g.meters) >= meters {
		clear(g.meters)
	}
	if key != "" {
		g.meters[key] = now
	}
	g.metering.Unlock()
	var fresh, all int64
	for _, pic := range p.shown {
		all += ledger.PictureTokens(pic.Width, pic.Height)
		if !before.views[pic.View.ID] {
			fresh += ledger.PictureTokens(pic.Width, pic.Height)
		}
	}
	grown, text := now.in-before.in, now.text-before.text
	if text < 0 { // it does not go on from the request before
		grown, text, fresh = now.in, now.text, all
	}
	return fresh >= leastPicture && float64(grown) < float64(text)/bytesAToken+float64(fresh)*leastShare
}

const (
	// bytesAToken of text: prose has about 4 (OpenAI's guide to its tokenizer), code and
	// JSON less.
	bytesAToken = 3.5
	// leastShare of a picture's estimate that has to be seen in the count: providers
	// reduce pictures, to a third of the estimate at the usual size.
	leastShare = 0.35
)

// nobodys reports whether a call is of no attempt and no job: there is nothing to compare.
func nobodys(c traffic.Call) bool { return c.Attempt == "" && c.Job == "" }

func lostWords(ref catalog.Ref, phrase string) string {
	return fmt.Sprintf("%s answers, but pictures do not come to it (%s): it gets words instead of pictures from now on; relo models forget ends that", ref, phrase)
}
