package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/almanac"
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Listing is what came of asking one provider for its list of models.
type Listing struct {
	Provider string `json:"provider"`
	State    string `json:"state"` // ok, fail, or skip when it was not asked
	Outcome
	Read    *time.Time    `json:"read,omitempty"` // when the list that counts was read; absent: there is none
	Models  int           `json:"models"`         // of that list; each is one of the four below
	Sees    int           `json:"sees"`
	Blind   int           `json:"blind"`
	Unknown int           `json:"unknown"`
	NotChat int           `json:"notChat"`
	New     []string      `json:"new"`     // ids since the list before it
	Gone    []string      `json:"gone"`    // likewise
	Changed []SightChange `json:"changed"` // likewise: what counts, from all sources
	Notes   []string      `json:"notes,omitempty"`
	MS      int64         `json:"ms"`
}

// Outcome words what was tried at a provider.
type Outcome struct {
	Words string         `json:"words"`
	Hint  string         `json:"hint,omitempty"`
	Fault provider.Fault `json:"fault,omitempty"`
	// BadKey: it failed because of the key or its account.
	BadKey bool `json:"badKey,omitempty"`
}

// SightChange is a model whose answer is another than before.
type SightChange struct {
	ID  string       `json:"id"`
	Was vision.Sight `json:"was"`
	Now vision.Sight `json:"now"`
}

// DiscoverOptions say whom to ask.
type DiscoverOptions struct {
	Names []string // providers; empty: all whose discover is on
	Force bool     // although the list is young
	// Older asks only for lists that are older than this; 0: than a minute.
	Older time.Duration
}

// youngList is how old a list is at least before it is asked for again.
const youngList = time.Minute

// Discover asks providers for their lists of models, keeps what they say, and tells
// each as it ends, one at a time. Of one that fails the list before it stays. The
// error is of a name that is no provider's, or of ctx.
func (p Providers) Discover(ctx context.Context, cfg *config.Config, o DiscoverOptions, tell func(Listing)) error {
	names := o.Names
	if len(names) == 0 {
		names = providerNames(cfg)
	}
	for _, name := range names {
		if _, ok := cfg.Providers[name]; !ok {
			return noProvider(cfg, name)
		}
	}
	d := &discoverer{cfg: cfg, known: p.Env.knowledge(), tell: tell, now: time.Now}
	d.before = d.known.almanac.Look()
	var ask []discovery.Endpoint
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		row := cfg.Providers[name]
		if words := d.unasked(row, o); words != "" {
			d.say(name, Listing{State: stateSkip, Outcome: Outcome{Words: words}})
			continue
		}
		e, err := endpointFor(ctx, p.keys(), name, row)
		if err != nil {
			d.failed(name, err)
			continue
		}
		ask = append(ask, e)
	}
	d.began = d.now()
	discovery.AskAll(ctx, ask, d.last, func(e discovery.Endpoint, r discovery.Report, err error) { d.answered(ctx, e.Name, r, err) })
	return ctx.Err()
}

// discoverer asks for lists once.
type discoverer struct {
	cfg    *config.Config
	known  knowledge
	before *almanac.Page
	began  time.Time
	now    func() time.Time
	tell   func(Listing)

	mu sync.Mutex // one is told at a time
}

// last is the list that an endpoint gave before.
func (d *discoverer) last(at catalog.Endpoint) discovery.Report {
	r, _ := d.before.Report(at)
	return r
}

// unasked says why a provider is not asked; empty: it is.
func (d *discoverer) unasked(row config.Provider, o DiscoverOptions) string {
	age := d.now().Sub(d.last(endpointOf(row)).At)
	switch {
	case row.Wire == "rehearsal":
		return "the rehearsal has no list"
	case len(o.Names) == 0 && !row.Discovers():
		return "not asked: its discover is off"
	case !o.Force && age >= 0 && age < cmp.Or(o.Older, youngList):
		return fmt.Sprintf("not asked again: its list was read %d seconds ago", int(age.Seconds()))
	}
	return ""
}

// answered keeps and tells what one provider said. What a person stopped is not told.
func (d *discoverer) answered(ctx context.Context, name string, r discovery.Report, err error) {
	if err != nil {
		if ctx.Err() == nil {
			d.failed(name, err)
		}
		return
	}
	r.Endpoint = endpointOf(d.cfg.Providers[name])
	if err := d.known.almanac.Keep(r); err != nil {
		d.failed(name, fmt.Errorf("it answered, but its list cannot be kept: %w", err))
		return
	}
	d.say(name, Listing{State: stateOK, Notes: r.Notes})
}

// failed tells an error, and what still counts.
func (d *discoverer) failed(name string, err error) {
	d.say(name, Listing{State: stateFail, Outcome: outcomeOf(err)})
}

// outcomeOf reads an error for a person.
func outcomeOf(err error) Outcome {
	e, ok := asProvider(err)
	if !ok {
		return Outcome{Words: err.Error()}
	}
	o := Outcome{Words: e.Words, Hint: e.Hint, Fault: e.Fault, BadKey: e.Kind == provider.KindKey}
	if e.Status != 0 && e.Fault == "" {
		o.Words = fmt.Sprintf("it answered %d: %s", e.Status, e.Words)
	}
	return o
}

// say completes a listing with the list that counts now, and tells it.
func (d *discoverer) say(name string, l Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.Provider, l.New, l.Gone, l.Changed = name, []string{}, []string{}, []SightChange{}
	if !d.began.IsZero() && l.State != stateSkip {
		l.MS = d.now().Sub(d.began).Milliseconds()
	}
	at := endpointOf(d.cfg.Providers[name])
	page := d.known.almanac.Look()
	now, there := page.Report(at)
	if there {
		l.Read = new(now.At.UTC())
		d.count(&l, name, now, page)
	}
	switch {
	case l.State == stateOK:
		l.Words = l.summary()
		d.compare(&l, name, now, page)
	case l.State == stateFail && there:
		l.Words += fmt.Sprintf("; its list of %s (%s) still counts", now.At.UTC().Format(time.DateOnly), plural(l.Models, "model", "models"))
	}
	d.tell(l)
}

// count sorts the models of a list by what counts of each.
func (d *discoverer) count(l *Listing, name string, r discovery.Report, page *almanac.Page) {
	for _, listed := range r.Models {
		m := d.known.resolve(d.cfg, catalog.Ref(name+"/"+listed.ID), page)
		l.Models++
		switch {
		case !m.Chat:
			l.NotChat++
		case m.Sight.Sight == vision.Sees:
			l.Sees++
		case m.Sight.Sight == vision.Blind:
			l.Blind++
		default:
			l.Unknown++
		}
	}
}

// compare tells what is another than in the list before.
func (d *discoverer) compare(l *Listing, name string, now discovery.Report, page *almanac.Page) {
	was, there := d.before.Report(now.Endpoint)
	if !there {
		return // of a first list everything is new
	}
	for _, m := range now.Models {
		if listed, _ := d.before.Listed(was.Endpoint, m.ID); listed == nil {
			l.New = append(l.New, m.ID)
			continue
		}
		ref := catalog.Ref(name + "/" + m.ID)
		before, after := d.known.resolve(d.cfg, ref, d.before).Sight.Sight, d.known.resolve(d.cfg, ref, page).Sight.Sight
		if before != after {
			l.Changed = append(l.Changed, SightChange{m.ID, before, after})
		}
	}
	for _, m := range was.Models {
		if listed, _ := page.Listed(was.Endpoint, m.ID); listed == nil {
			l.Gone = append(l.Gone, m.ID)
		}
	}
	slices.SortFunc(l.Changed, func(a, b SightChange) int { return cmp.Compare(a.ID, b.ID) })
	slices.Sort(l.New)
	slices.Sort(l.Gone)
}

// summary counts the list in words.
func (l Listing) summary() string {
	if l.Models == 0 {
		return "its list is empty"
	}
	parts := []string{plural(l.Models, "model", "models")}
	for _, part := range []struct {
		n     int
		words string
	}{{l.Sees, "with images"}, {l.Blind, "text only"}, {l.Unknown, "not known"}, {l.NotChat, "not for chat"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.words))
		}
	}
	return strings.Join(parts, ", ")
}
