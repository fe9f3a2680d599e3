package app

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/rehearsal"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Probed is what came of showing a model a tiny picture.
type Probed struct {
	Ref     string        `json:"ref"`
	State   string        `json:"state"`   // ok: it showed whether it sees; fail: it did not
	Vision  vision.Sight  `json:"vision"`  // what it showed; unknown with fail
	Verdict probe.Verdict `json:"verdict"` // saw, guessed, no-image, dropped, refused or failed
	Outcome
	Kept      bool              `json:"kept"` // the answer counts from now on
	Now       protocol.SightDoc `json:"now"`  // what counts, from all sources but what a daemon learned
	Requests  int               `json:"requests"`
	TokensIn  *int64            `json:"tokensIn"` // null: not known
	TokensOut *int64            `json:"tokensOut"`
	MS        int64             `json:"ms"`
}

// probesAtOnce is how many providers are asked at a time; of one, one model after the other.
const probesAtOnce = 4

// Probe shows models a tiny picture, keeps what each showed with its endpoint and
// date, and tells each as it ends, one at a time. The requests belong to no job and
// are not in the ledger. The error is of a ref that is no model's, or of ctx.
func (p Providers) Probe(ctx context.Context, cfg *config.Config, refs []string, tell func(Probed)) error {
	known := p.Env.knowledge()
	byProvider, order := map[string][]catalog.Ref{}, []string{}
	for _, r := range refs {
		ref := catalog.Ref(r)
		if page := known.almanac.Look(); !mayBe(cfg, ref, page) {
			var all []string
			for _, other := range union(allRefs(cfg), listedRefs(cfg, page)) {
				all = append(all, string(other))
			}
			return UnknownModel(r, all)
		}
		name, _ := ref.Split()
		if len(byProvider[name]) == 0 {
			order = append(order, name)
		}
		if !slices.Contains(byProvider[name], ref) {
			byProvider[name] = append(byProvider[name], ref)
		}
	}
	var telling sync.Mutex
	say := func(x Probed) {
		telling.Lock()
		defer telling.Unlock()
		tell(x)
	}
	var work sync.WaitGroup
	places := make(chan struct{}, probesAtOnce)
	for _, name := range order {
		work.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			p.probeAt(ctx, cfg, known, name, byProvider[name], say)
		})
	}
	work.Wait()
	return ctx.Err()
}

// LadderModels are those of the ladder and the one that plans.
func LadderModels(cfg *config.Config) []string {
	var refs []string
	for _, r := range cfg.Ladder {
		for _, ref := range r.Model {
			refs = append(refs, string(ref))
		}
	}
	if cfg.Primary != "" && !slices.Contains(refs, string(cfg.Primary)) {
		refs = append(refs, string(cfg.Primary))
	}
	return refs
}

// probeAt probes the models of one provider.
func (p Providers) probeAt(ctx context.Context, cfg *config.Config, known knowledge, name string, refs []catalog.Ref, say func(Probed)) {
	row := cfg.Providers[name]
	var client provider.Client
	close := func() error { return nil }
	var err error
	if row.Wire == "rehearsal" && row.URL == "" {
		var r *rehearsal.Server
		if r, err = rehearsal.Start(ctx); err == nil {
			row.URL, close = r.URL(), r.Close
		}
	}
	if err == nil {
		client, err = dialProvider(ctx, p.keys(), name, row)
	}
	for _, ref := range refs {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			say(Probed{Ref: string(ref), State: stateFail, Verdict: probe.Failed, Outcome: outcomeOf(err)})
			continue
		}
		if x := known.probe(ctx, client, cfg, ref); ctx.Err() == nil {
			say(x)
		}
	}
	_ = close() // the rehearsal's: everything was said
}

// probe shows one model a tiny picture and keeps what it showed.
func (k knowledge) probe(ctx context.Context, client provider.Client, cfg *config.Config, ref catalog.Ref) Probed {
	name, id := ref.Split()
	at, began := endpointOf(cfg.Providers[name]), time.Now()
	ask := func(ctx context.Context, r provider.Request) (provider.Response, error) {
		ctx, cancel := context.WithTimeout(ctx, tellTime)
		defer cancel()
		r.Model = id
		return client.Stream(ctx, r, nil)
	}
	f := probe.Run(ctx, ask, probe.Options{})
	x := Probed{
		Ref: string(ref), State: stateOK, Vision: f.Sight, Verdict: f.Verdict, Outcome: Outcome{Words: f.Words},
		Requests: f.Requests, TokensIn: f.Usage.TokensIn, TokensOut: f.Usage.TokensOut, MS: time.Since(began).Milliseconds(),
	}
	if f.Sight == vision.Unknown {
		x.State = stateFail
		if f.Err != nil {
			x.Outcome = outcomeOf(f.Err)
		}
		if old := k.almanac.Look().Probe(at, id); old != nil && old.Sight != vision.Unknown {
			x.Words += fmt.Sprintf("; the probe of %s (%s) still counts", old.At.UTC().Format(time.DateOnly), old.Sight.Words())
		}
	} else if err := k.almanac.KeepProbe(catalog.Probe{Endpoint: at, ID: id, Sight: f.Sight, Verdict: string(f.Verdict), Words: f.Words, At: time.Now().UTC()}); err != nil {
		x.Words += "; it could not be kept: " + err.Error()
	} else {
		x.Kept = true
	}
	x.Now = sightDoc(k.modelOf(cfg, ref).Sight)
	return x
}
