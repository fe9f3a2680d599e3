// Package gateway is the one door of every model call: it packs the request for the
// model's wire (pictures in a size that it takes, or words where a model cannot see),
// holds the budget, keeps each endpoint's pace, follows the route, heals refusals of
// pictures, settles doubts whether they arrived, keeps the receipts and writes the
// ledger. It speaks no wire itself.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Parts are what a gateway needs of others; Now is the clock.
type Parts struct {
	Book     Book
	Money    Money
	Album    Album
	Darkroom Darkroom
	Log      zerolog.Logger
	Now      func() time.Time
}

// Gateway answers calls. It is safe for concurrent use.
type Gateway struct {
	book   Book
	money  Money
	album  Album
	dark   Darkroom
	log    zerolog.Logger
	now    func() time.Time
	gates  *gates
	memory *memory
	words  *kept[said]
	fits   *kept[vision.Picture]

	metering sync.Mutex
	meters   map[string]meter
}

// New makes a gateway.
func New(p Parts) *Gateway {
	return &Gateway{
		book: p.Book, money: p.Money, album: p.Album, dark: p.Darkroom, log: p.Log.With().Str("component", "gateway").Logger(), now: p.Now,
		gates: newGates(p.Now), memory: newMemory(), words: newKept[said](wordsKept), fits: newKept[vision.Picture](fitsKept), meters: map[string]meter{},
	}
}

// Call asks the models of the chain until one answers. It returns *traffic.BudgetError,
// *traffic.MissingError or the last *provider.Error. The answer's cost is that of all
// requests that it took, also when there is an error.
func (g *Gateway) Call(ctx context.Context, c traffic.Call) (traffic.Answer, error) {
	last := errors.New("the route has no model")
	spent := new(float64)
	for place, ref := range g.route(c) {
		model, ok := g.book.Model(ref)
		if !ok {
			last = fmt.Errorf("model %s is not in the config", ref)
			continue
		}
		if c.Private && !model.Private {
			last = fmt.Errorf("%s is not on your own machines, and this is private", ref)
			continue
		}
		client, err := g.book.Client(ctx, ref)
		if err != nil {
			last = err
			continue
		}
		on := attemptOn{model: model, client: client, place: place, spent: &spent}
		answer, err := g.tryModel(ctx, c, on, place == len(c.Chain)-1)
		answer.Cost = spent
		if err == nil || !nextHelps(err) || ctx.Err() != nil || begun(c) {
			return answer, err
		}
		g.log.Warn().Str("job", c.Job).Str("model", string(ref)).Err(err).Msg("a model of the route failed")
		last = err
	}
	return traffic.Answer{Cost: spent}, last
}

// route is the chain in the order in which it is asked: behind the first, which was
// chosen, a request with pictures goes to those that see before it goes to others.
func (g *Gateway) route(c traffic.Call) []catalog.Ref {
	if len(c.Chain) < 3 || len(collect(c.Request.Messages, keepPictures)) == 0 {
		return c.Chain
	}
	out := slices.Clone(c.Chain)
	slices.SortStableFunc(out[1:], func(a, b catalog.Ref) int { return g.blindness(a) - g.blindness(b) })
	return out
}

func (g *Gateway) blindness(ref catalog.Ref) int {
	if m, ok := g.book.Model(ref); ok && m.Sight.Sight == vision.Sees {
		return 0
	}
	return 1
}

type attemptOn struct {
	model   catalog.Model
	client  provider.Client
	place   int
	spent   **float64 // of all requests of the call; nil in it: not known
	probing bool
}

// nextHelps reports whether another model may do what this one could not: a
// request that was refused for what it says would be refused again.
func nextHelps(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && e.Kind != provider.KindRefused
}

// againHelps reports whether the same model may answer a little later, and how often
// it is worth asking.
func againHelps(err error, last bool) (wait time.Duration, tries int) {
	e, is := errors.AsType[*provider.Error](err)
	if !is {
		return 0, 0
	}
	tries = triesPerModel
	if last {
		tries = triesOfLast
	}
	switch e.Kind { //nolint:exhaustive // the others are not mended by waiting
	case provider.KindBusy:
		if tooMany(e) && last {
			tries = triesOfBusy
		}
		return min(e.RetryAfter, longestTold), tries
	case provider.KindCut, provider.KindStalled:
		return 0, tries
	}
	return 0, 0
}

// tooMany reports whether an endpoint says that it gets more than it takes.
func tooMany(e *provider.Error) bool {
	return e.Kind == provider.KindBusy && (e.Status == http.StatusTooManyRequests || e.RetryAfter > 0)
}

func (g *Gateway) tryModel(ctx context.Context, c traffic.Call, on attemptOn, last bool) (traffic.Answer, error) {
	wait := firstWait
	for try := 1; ; try++ {
		answer, err := g.heal(ctx, c, on)
		if err == nil {
			return answer, nil
		}
		told, tries := againHelps(err, last)
		if try >= tries || begun(c) {
			return answer, err
		}
		pause := told + rand.N(told/jitterShare+1) //nolint:gosec // jitter against many workers at once, not a secret
		if told == 0 {
			pause = wait/2 + rand.N(wait) //nolint:gosec // the same
			wait = min(2*wait, longestWait)
		}
		if !sleep(ctx, pause) {
			return answer, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// once packs and sends one request and writes its row. A model that answers and, as a
// tiny picture shows, gets no pictures is a *droppedError.
func (g *Gateway) once(ctx context.Context, c traffic.Call, on attemptOn, s strain) (traffic.Answer, sent, error) {
	p, err := g.pack(ctx, c, on, s)
	if err != nil {
		return traffic.Answer{}, sent{}, err
	}
	row := ledger.Row{
		ID: job.NewID(), Time: g.now(), Job: c.Job, Task: c.Task, Attempt: c.Attempt, Traffic: c.Traffic, Model: on.model.Ref,
		Place: on.place, Pictures: len(p.shown), PictureTokens: p.tokens,
		Reserved: ledger.Estimate(p.textBytes, p.tokens, p.request.MaxTokens, on.model.Price),
	}
	out := sent{row, p}
	if err := g.beforehand(ctx, c, on, p); err != nil {
		return traffic.Answer{}, out, err
	}
	leave, err := g.gates.enter(ctx, g.book.Endpoint(on.model.Ref))
	if err != nil {
		return traffic.Answer{}, out, err
	}
	if err := g.reserve(ctx, row, c.Budget); err != nil {
		leave(false, 0)
		return traffic.Answer{}, out, err
	}
	start := g.now()
	response, err := send(ctx, c, on, p)
	row.MS = g.now().Sub(start).Milliseconds()
	e, ok := errors.AsType[*provider.Error](err)
	leave(ok && tooMany(e), retryAfter(e))
	var known certainty
	var phrase string
	if err == nil {
		known, phrase = g.weigh(ctx, c, on, p, response)
	}
	looks := looksOf(c, on.model, response, p, known)
	out.row, err = g.settle(ctx, row, on, response, looks, err)
	if err != nil {
		return traffic.Answer{}, out, err
	}
	if known == lost && !begun(c) {
		return traffic.Answer{}, out, &droppedError{phrase}
	}
	return answerOf(response, on.model.Ref, p), out, nil
}

func retryAfter(e *provider.Error) time.Duration {
	if e == nil {
		return 0
	}
	return e.RetryAfter
}

func answerOf(r provider.Response, by catalog.Ref, p packed) traffic.Answer {
	a := traffic.Answer{Response: r, By: by}
	for _, w := range p.worded {
		a.Blind = append(a.Blind, w.picture.View.ID)
		if w.how == job.HowDescribed {
			a.Described = append(a.Described, w.picture.View.ID)
		}
	}
	return a
}

// begun reports whether another program has something of the answer: then it is too late
// for any other form or model.
func begun(c traffic.Call) bool { return c.Deliver != nil && c.Deliver.Begun() }

// direct gives the client when the program's own bytes go to it.
func direct(c traffic.Call, on attemptOn) (provider.Forwarder, bool) {
	if c.Deliver == nil || on.probing {
		return nil, false
	}
	to, ok := on.client.(provider.Forwarder)
	return to, ok && to.Speaks(c.Deliver.Wire())
}

// send asks the model: in the program's own bytes when there is one and its wire is the
// provider's.
func send(ctx context.Context, c traffic.Call, on attemptOn, p packed) (provider.Response, error) {
	if c.Deliver == nil {
		return on.client.Stream(ctx, p.request, nil)
	}
	to, ok := direct(c, on)
	if !ok {
		return on.client.Stream(ctx, p.request, func(d provider.Delta) { c.Deliver.Delta(d.Text) })
	}
	body, receipts, err := c.Deliver.Seal(on.model.ID, p.changes)
	if err != nil {
		return provider.Response{}, &provider.Error{Kind: provider.KindRefused, Provider: on.model.Provider, Model: on.model.ID, Words: err.Error(), Cause: err}
	}
	return to.Forward(ctx, provider.Forward{Request: p.request, Body: body, Receipts: receipts, Header: c.Deliver.Header(), Pass: c.Deliver.Pass})
}

// reserve waits while only requests under way stand in the way of the budget.
func (g *Gateway) reserve(ctx context.Context, row ledger.Row, b ledger.Budget) error {
	for {
		verdict, words, err := g.money.Reserve(ctx, row, b)
		switch {
		case err != nil:
			return fmt.Errorf("hold the request against the budget: %w", err)
		case verdict == record.Granted:
			return nil
		case verdict == record.Refused:
			return &traffic.BudgetError{Words: words}
		}
		if !sleep(ctx, budgetPoll) {
			return ctx.Err()
		}
	}
}

// settle writes what became of the request, also when the caller has left. A
// request that never went out leaves no row. It gives back the row and cause.
func (g *Gateway) settle(ctx context.Context, row ledger.Row, on attemptOn, r provider.Response, looks []job.Look, cause error) (ledger.Row, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWait)
	defer cancel()
	if cause != nil {
		e, ok := errors.AsType[*provider.Error](cause)
		if ok && !e.Sent {
			return row, errors.Join(cause, g.money.Unsent(ctx, row.ID))
		}
		row.Outcome = "error"
		if ok {
			row.Outcome = string(e.Kind)
		}
		if ok && e.Status >= http.StatusBadRequest {
			row.Reserved = nil // a refusal with a status of its own: providers charge for answers, so it takes no share of the budget
		} else {
			on.pay(nil)
		}
		if errors.Is(cause, context.Canceled) {
			row.Outcome = "cancelled"
		}
		return row, errors.Join(cause, g.money.Settle(ctx, row, nil))
	}
	row.Outcome, row.Usage = ledger.OutcomeOK, r.Usage
	row.Cost = ledger.Cost(r.Usage, on.model.Price)
	on.pay(row.Cost)
	if err := g.money.Settle(ctx, row, looks); err != nil {
		return row, fmt.Errorf("write the ledger: %w", err)
	}
	return row, nil
}

// pay adds what a request cost to the call's sum; nil: not known.
func (on attemptOn) pay(cost *float64) {
	if on.spent != nil {
		*on.spent = plus(*on.spent, cost)
	}
}

// looksOf turns receipts into looks, once a view; pictures that went as words, or that
// did not arrive, are told too.
func looksOf(c traffic.Call, m catalog.Model, r provider.Response, p packed, known certainty) []job.Look {
	var out []job.Look
	for _, x := range r.Receipts {
		if c.Shown[x.View.ID] {
			continue
		}
		how := job.HowPixels
		if known == lost {
			how = job.HowDropped
		}
		l := lookOf(x.View, m.Ref, how)
		l.SHA256, l.Place, l.Bytes, l.MediaType, l.Sent, l.RequestID = x.SHA256, x.Place, x.Bytes, x.MediaType, x.Size, r.RequestID
		l.Doubted = known == doubted
		out = append(out, l)
	}
	if len(r.Message.Parts) == 0 && r.Stop == "" {
		return out // there was no answer
	}
	for _, w := range p.worded {
		if c.Shown[w.picture.View.ID] {
			continue
		}
		by := m.Ref
		if w.how == job.HowDescribed {
			by = w.by
		}
		l := lookOf(w.picture.View, by, w.how)
		l.SHA256, l.MediaType, l.Sent = w.picture.SHA256, w.picture.MediaType, vision.Size{Width: w.picture.Width, Height: w.picture.Height}
		out = append(out, l)
	}
	return out
}

func lookOf(v vision.View, by catalog.Ref, how string) job.Look {
	return job.Look{
		ID: v.ID, Path: v.Path, Role: v.Role, Region: v.Region, Source: v.Source, How: how, By: string(by),
		Tree: v.Tree, Fresh: v.Fresh, AfterLastEdit: v.Fresh && v.Role == vision.Result && how == job.HowPixels,
	}
}
