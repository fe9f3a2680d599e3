package app

import (
	"context"
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
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

var (
	_ hub.Describer = (*describer)(nil)
	_ gateway.Money = (*tab)(nil)
	_ gateway.Album = noAlbum{}
	_ gateway.Book  = absent{}
)

// describer asks a model of the configuration about a picture, through the gateway, on
// behalf of no job. What it cost is in the ledger when a daemon runs, else in this process only.
type describer struct {
	env     Env
	cfg     *config.Config
	shelf   *shelf
	book    *book
	gateway *gateway.Gateway
	purse   *purse
	rules   traffic.PictureRules
	budget  ledger.Budget
	private bool // only models on the person's own machines may look
}

func newDescriber(e Env, cfg *config.Config, dark *Darkroom, private bool) *describer {
	d := &describer{
		env: e, cfg: cfg,
		shelf: newShelf(), book: newBook(cfg, e.Getenv, e.knowledge()), purse: &purse{}, private: private,
		rules:  traffic.PictureRules{Keep: cfg.Pictures.Keep, Settle: cfg.Pictures.SettleDoubt},
		budget: ledger.Budget{PerJob: cfg.Budget.PerJob, PerDay: cfg.Budget.PerDay, DenyUnknown: cfg.Budget.UnknownPrice == "deny"},
	}
	d.shelf.put(d.book)
	d.gateway = gateway.New(gateway.Parts{
		Book: absent{d.shelf}, Money: &tab{purse: d.purse}, Album: noAlbum{}, Darkroom: dark, Log: zerolog.Nop(), Now: time.Now,
	})
	return d
}

// anybody reports whether some model may look.
func (d *describer) anybody() bool { return len(absent{d.shelf}.Lookers("", d.private)) > 0 }

// Describe asks until a model has seen the picture and answered.
func (d *describer) Describe(ctx context.Context, p vision.Picture, meta vision.Meta, question string) (hub.Description, error) {
	if doc, ok := liveEndpoints(d.env); ok && !doc.Standalone { // a daemon runs: its ledger has it then
		seen, err := lookThere(ctx, d.env, d.cfg, Daemon, lookAsk{Picture: pictureOf(p, meta), Question: question, Private: d.private})
		return hub.Description{Words: seen.Words, By: string(seen.By), Cost: seen.Cost}, err
	}
	view := vision.View{ID: job.NewID(), Path: meta.Path, Role: vision.Other, Region: meta.Crop, Source: meta.Source}
	seen, err := d.gateway.Look(ctx, traffic.Look{
		Private: d.private, Picture: provider.Picture{Picture: p, View: view}, Question: question, Budget: d.budget, Rules: d.rules,
	})
	if err != nil {
		if e, ok := asProvider(err); ok && e.Hint != "" && !strings.Contains(err.Error(), e.Hint) {
			err = fmt.Errorf("%w; %s", err, e.Hint)
		}
		return hub.Description{}, err
	}
	return hub.Description{Words: seen.Words, By: string(seen.By), Cost: seen.Cost}, nil
}

// absent is a shelf in a process that plays no rehearsal: a rehearsal without an address
// is not there to look.
type absent struct{ *shelf }

func (a absent) Lookers(asker catalog.Ref, private bool) []catalog.Ref {
	return slices.DeleteFunc(a.shelf.Lookers(asker, private), func(ref catalog.Ref) bool {
		name, _ := ref.Split()
		b := a.naming(name)
		return b == nil || b.cfg.Providers[name].Wire == "rehearsal" && b.cfg.Providers[name].URL == ""
	})
}

// noAlbum is the album of a process without a record: requests bring their pictures.
type noAlbum struct{}

// Blob has none.
func (noAlbum) Blob(sha string) ([]byte, error) {
	return nil, fmt.Errorf("picture %s is not kept here", sha)
}

// PutBlob keeps nothing.
func (noAlbum) PutBlob([]byte) (string, error) { return "", nil }

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

// tab holds requests against the purse.
type tab struct{ *purse }

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
	t.rows = append(t.rows, r)
	return record.Granted, "", nil
}

// Unsent takes a request back that never went out.
func (t *tab) Unsent(_ context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = slices.DeleteFunc(t.rows, func(r ledger.Row) bool { return r.ID == id })
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

// Notice has no job to tell.
func (*tab) Notice(context.Context, ledger.Row, string) error { return nil }
