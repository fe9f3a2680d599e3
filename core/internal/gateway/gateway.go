// Package gateway is the one door of every model call: it puts the pictures in,
// or words where a model cannot see, holds the budget, follows the route, keeps
// the receipts and writes the ledger. It speaks no wire itself.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// Gateway answers calls. It is safe for concurrent use.
type Gateway struct {
	book  Book
	money Money
	album Album
	log   zerolog.Logger
	now   func() time.Time
}

// New makes a gateway; now is the clock.
func New(b Book, m Money, a Album, log zerolog.Logger, now func() time.Time) *Gateway {
	return &Gateway{book: b, money: m, album: a, log: log.With().Str("component", "gateway").Logger(), now: now}
}

// Call asks the models of the chain until one answers. It returns *traffic.BudgetError,
// *traffic.MissingError or the last *provider.Error.
func (g *Gateway) Call(ctx context.Context, c traffic.Call) (traffic.Answer, error) {
	last := errors.New("the route has no model")
	for place, ref := range c.Chain {
		model, ok := g.book.Model(ref)
		if !ok {
			last = fmt.Errorf("model %s is not in the config", ref)
			continue
		}
		client, err := g.book.Client(ctx, ref)
		if err != nil {
			last = err
			continue
		}
		answer, err := g.tryModel(ctx, c, attemptOn{model, client, place})
		if err == nil || !nextHelps(err) || ctx.Err() != nil {
			return answer, err
		}
		g.log.Warn().Str("job", c.Job).Str("model", string(ref)).Err(err).Msg("a model of the route failed")
		last = err
	}
	return traffic.Answer{}, last
}

type attemptOn struct {
	model  catalog.Model
	client provider.Client
	place  int
}

// nextHelps reports whether another model may do what this one could not: a
// request that was refused for what it says would be refused again.
func nextHelps(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && e.Kind != provider.KindRefused
}

// againHelps reports whether the same model may answer a little later.
func againHelps(err error) (wait time.Duration, ok bool) {
	e, is := errors.AsType[*provider.Error](err)
	if !is {
		return 0, false
	}
	switch e.Kind { //nolint:exhaustive // the others are not mended by waiting
	case provider.KindBusy, provider.KindCut, provider.KindStalled:
		return min(e.RetryAfter, longestTold), true
	}
	return 0, false
}

func (g *Gateway) tryModel(ctx context.Context, c traffic.Call, on attemptOn) (traffic.Answer, error) {
	wait, tries := firstWait, triesPerModel
	if on.place == len(c.Chain)-1 {
		tries = triesOfLast
	}
	for try := 1; ; try++ {
		answer, err := g.heal(ctx, c, on)
		if err == nil {
			return answer, nil
		}
		told, again := againHelps(err)
		if !again || try == tries {
			return answer, err
		}
		pause := told
		if pause == 0 {
			pause = wait/2 + rand.N(wait) //nolint:gosec // jitter against many workers at once, not a secret
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

// once sends one request and writes its row, which it gives back.
func (g *Gateway) once(ctx context.Context, c traffic.Call, on attemptOn) (traffic.Answer, ledger.Row, error) {
	request, pictures, err := g.prepare(c.Request, on.model)
	if err != nil {
		return traffic.Answer{}, ledger.Row{}, err
	}
	row := ledger.Row{
		ID: job.NewID(), Time: g.now(), Job: c.Job, Task: c.Task, Attempt: c.Attempt, Traffic: c.Traffic, Model: on.model.Ref,
		Place: on.place, Pictures: pictures.shown, PictureTokens: pictures.tokens,
		Reserved: ledger.Estimate(pictures.textBytes, pictures.tokens, request.MaxTokens, on.model.Price),
	}
	if err := g.reserve(ctx, row, c.Budget); err != nil {
		return traffic.Answer{}, row, err
	}
	start := g.now()
	response, err := on.client.Stream(ctx, request, nil)
	row.MS = g.now().Sub(start).Milliseconds()
	looks := g.looks(c, on.model, response, pictures.left)
	if err := g.settle(ctx, row, on.model, response, looks, err); err != nil {
		return traffic.Answer{}, row, err
	}
	return traffic.Answer{Response: response, By: on.model.Ref, Blind: pictures.left.ids()}, row, err
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
// request that never went out leaves no row. It gives back cause.
func (g *Gateway) settle(ctx context.Context, row ledger.Row, m catalog.Model, r provider.Response, looks []job.Look, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWait)
	defer cancel()
	if cause != nil {
		e, ok := errors.AsType[*provider.Error](cause)
		if ok && !e.Sent {
			return errors.Join(cause, g.money.Unsent(ctx, row.ID))
		}
		row.Outcome = "error"
		if ok {
			row.Outcome = string(e.Kind)
		}
		if ok && e.Status >= http.StatusBadRequest {
			row.Reserved = nil // a refusal with a status of its own: providers charge for answers, so it takes no share of the budget
		}
		if errors.Is(cause, context.Canceled) {
			row.Outcome = "cancelled"
		}
		return errors.Join(cause, g.money.Settle(ctx, row, nil))
	}
	row.Outcome, row.Usage = ledger.OutcomeOK, r.Usage
	row.Cost = ledger.Cost(r.Usage, m.Price)
	if err := g.money.Settle(ctx, row, looks); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
}
