package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/gateway"
	"github.com/relo-dev/relo/core/internal/hub"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

var (
	_ hub.Describer = (*describer)(nil)
	_ gateway.Money = (*tab)(nil)
	_ gateway.Album = (*onePicture)(nil)
)

const (
	// lookersMost of a chain that nobody wrote down: more would only make a person wait.
	lookersMost = 3
	// lookTokens of an answer: about 250 words, and what a model thinks before them.
	lookTokens = 2048
	// lookTime bounds one question, all models of the chain together.
	lookTime = 3 * time.Minute
	// trafficVision is what the ledger calls looking for somebody else.
	trafficVision = "vision"
)

// describer asks a model of the configuration about a picture, through the gateway, on
// behalf of no job. What it cost is kept in this process only.
type describer struct {
	looker
	shelf  *shelf
	purse  *purse
	budget ledger.Budget
}

func newDescriber(e Env, cfg *config.Config, private bool) *describer {
	b := newBook(cfg, e.Getenv, e.knowledge())
	d := &describer{
		looker: looker{book: b, private: private}, shelf: newShelf(), purse: &purse{},
		budget: ledger.Budget{PerJob: cfg.Budget.PerJob, PerDay: cfg.Budget.PerDay, DenyUnknown: cfg.Budget.UnknownPrice == "deny"},
	}
	d.shelf.put(b)
	return d
}

// looker says who may look at a picture of an agent that nobody knows.
type looker struct {
	book    *book
	private bool // only models on the person's own machines
}

// chain is the route of the configuration as far as its models may be shown pictures;
// without one, models that are known to see, in the order of the configuration.
func (l looker) chain() []catalog.Ref {
	route := l.book.cfg.Routes.Vision
	var chain []catalog.Ref
	for _, ref := range l.candidates() {
		m, ok := l.book.Model(ref)
		name, _ := ref.Split()
		here := l.book.cfg.Providers[name]
		switch {
		case !ok, !m.Chat, l.private && !m.Private, here.Wire == "rehearsal" && here.URL == "":
		case len(route) > 0 && m.MayShow(), m.Sight.Sight == vision.Sees:
			chain = append(chain, ref)
		}
	}
	if len(route) == 0 {
		chain = chain[:min(len(chain), lookersMost)]
	}
	return chain
}

func (l looker) candidates() []catalog.Ref {
	if route := l.book.cfg.Routes.Vision; len(route) > 0 {
		return route
	}
	refs := l.book.cfg.Models()
	for _, ref := range allRefs(l.book.cfg) {
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// nobody says that no model may look, and what to do.
func (l looker) nobody() error {
	switch {
	case l.private:
		return errors.New("no model may look at this picture: only those on the person's own machines may, and none of them is known to see; " +
			"say that nobody could look, or ask the person, who can name one under routes.vision")
	case len(l.book.cfg.Routes.Vision) > 0:
		return errors.New("no model may look at this picture: those under routes.vision cannot see; say that nobody could look, or ask the person, who can change routes.vision")
	}
	return errors.New("no model may look at this picture: none that is configured is known to see; say that nobody could look, or ask the person, who can name one under routes.vision")
}

// Describe asks until a model has seen the picture and answered.
func (d *describer) Describe(ctx context.Context, p vision.Picture, meta vision.Meta, question string) (hub.Description, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	t := &tab{purse: d.purse}
	g := gateway.New(d.shelf, t, onePicture{p}, zerolog.Nop(), time.Now)
	system, before := prompt.Look(question)
	view := vision.View{ID: job.NewID(), Path: meta.Path, Role: vision.Other, Region: meta.Crop, Source: meta.Source}
	request := provider.Request{System: system, MaxTokens: lookTokens, Messages: []provider.Message{{
		Role: provider.RoleUser, Parts: []provider.Part{provider.Text(before), provider.Show(provider.Picture{Picture: p, View: view})},
	}}}
	chain := d.chain()
	for {
		if len(chain) == 0 {
			return hub.Description{}, d.nobody()
		}
		a, err := g.Call(ctx, traffic.Call{Traffic: trafficVision, Chain: chain, Request: request, Budget: d.budget})
		if err != nil {
			return hub.Description{}, lookFault(err)
		}
		if len(a.Blind) > 0 || len(a.Receipts) == 0 { // it answered without the picture
			chain = chain[slices.Index(chain, a.By)+1:]
			continue
		}
		words := textOf(a.Message)
		if strings.TrimSpace(words) == "" {
			return hub.Description{}, fmt.Errorf("%s looked and said nothing; ask again, or ask something else", a.By)
		}
		return hub.Description{Words: words, By: string(a.By), Cost: t.cost()}, nil
	}
}

// lookFault words why no model answered.
func lookFault(err error) error {
	words := err.Error()
	if e, ok := asProvider(err); ok && e.Hint != "" {
		words += "; " + e.Hint
	}
	return fmt.Errorf("nobody could look at the picture: %s", words)
}

func textOf(m provider.Message) string {
	var words []string
	for _, p := range m.Parts {
		if p.Kind == provider.PartText {
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, "\n")
}

// onePicture is the album of a request that shows one.
type onePicture struct{ vision.Picture }

// Blob gives its bytes.
func (o onePicture) Blob(sha string) ([]byte, error) {
	if sha != o.SHA256 {
		return nil, fmt.Errorf("picture %s is not the one that was asked about", sha)
	}
	return o.Bytes, nil
}

// purse holds what the requests of this process may cost against the budget.
type purse struct {
	mu   sync.Mutex
	rows []ledger.Row
}

// spent sums the rows: settled alone, and with what is under way. A request whose cost
// is not known counts as what was reserved for it.
func (p *purse) spent(now time.Time) (settled, all ledger.Spent) {
	for _, r := range p.rows {
		cost := 0.0
		switch {
		case r.Cost != nil:
			cost = *r.Cost
		case r.Reserved != nil:
			cost = *r.Reserved
		}
		today := 0.0
		if !r.Time.Before(now.UTC().Truncate(24 * time.Hour)) {
			today = cost
		}
		all.Job, all.Day = all.Job+cost, all.Day+today
		if r.Outcome != ledger.OutcomeOpen {
			settled.Job, settled.Day = settled.Job+cost, settled.Day+today
		}
	}
	return settled, all
}

// tab is the purse for one question: it knows which rows are the question's own.
type tab struct {
	*purse
	mine []string
}

// Reserve holds a request against the budget.
func (t *tab) Reserve(_ context.Context, r ledger.Row, b ledger.Budget) (record.Verdict, string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	settled, all := t.spent(r.Time)
	if ok, why := b.Allow(settled, r.Reserved); !ok {
		return record.Refused, why, nil
	}
	if ok, why := b.Allow(all, r.Reserved); !ok {
		return record.Wait, why, nil
	}
	r.Outcome = ledger.OutcomeOpen
	t.rows, t.mine = append(t.rows, r), append(t.mine, r.ID)
	return record.Granted, "", nil
}

// Unsent takes a request back that never went out.
func (t *tab) Unsent(_ context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = slices.DeleteFunc(t.rows, func(r ledger.Row) bool { return r.ID == id })
	t.mine = slices.DeleteFunc(t.mine, func(s string) bool { return s == id })
	return nil
}

// Settle ends a row.
func (t *tab) Settle(_ context.Context, r ledger.Row, _ []job.Look) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.rows {
		if t.rows[i].ID == r.ID {
			t.rows[i] = r
		}
	}
	return nil
}

// TellBlinded has no job to tell; the book remembers.
func (*tab) TellBlinded(context.Context, ledger.Row, job.Blinded) error { return nil }

// cost is what the question cost, failed requests and all; nil when one is not known.
func (t *tab) cost() *float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := 0.0
	for _, r := range t.rows {
		if !slices.Contains(t.mine, r.ID) {
			continue
		}
		switch {
		case r.Cost != nil:
			sum += *r.Cost
		case r.Outcome == ledger.OutcomeOK || r.Reserved != nil: // what it cost is not known; a refusal with a status costs nothing
			return nil
		}
	}
	return &sum
}
