package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/gateway"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/chat"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/vision"
)

var _ gateway.Book = (*book)(nil)

// book knows the config's models and speaks to their providers.
type book struct {
	cfg    *config.Config
	getenv func(string) string
	models map[catalog.Ref]catalog.Model

	mu      sync.Mutex
	clients map[string]provider.Client
	// rehearsal is the address of the rehearsal provider, when it runs here.
	rehearsal string
}

func newBook(cfg *config.Config, getenv func(string) string) *book {
	b := &book{cfg: cfg, getenv: getenv, models: map[catalog.Ref]catalog.Model{}, clients: map[string]provider.Client{}}
	for _, ref := range allRefs(cfg) {
		b.models[ref] = modelOf(cfg, ref)
	}
	return b
}

// allRefs lists what the ladder, primary and routes name, and every model that
// a provider's row names.
func allRefs(cfg *config.Config) []catalog.Ref {
	refs := cfg.Models()
	for name, p := range cfg.Providers {
		for id := range p.Models {
			if ref := catalog.Ref(name + "/" + id); !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	slices.Sort(refs)
	return refs
}

// modelOf resolves what is known of a model: the person's word before the guess.
func modelOf(cfg *config.Config, ref catalog.Ref) catalog.Model {
	name, id := ref.Split()
	p := cfg.Providers[name]
	facts := p.Models[id]
	guess, isChat := vision.Guess(id)
	m := catalog.Model{
		Ref: ref, Provider: name, ID: id, Chat: isChat, Tools: facts.Tools == nil || *facts.Tools, Context: facts.Context,
		MaxOutput: facts.MaxOutput, Price: facts.Price, Private: p.IsPrivate(), TakesPictures: p.TakesPictures,
	}
	var configured vision.Answer
	if facts.Vision != nil {
		configured = vision.Answer{Sight: vision.Of(*facts.Vision), Source: vision.Configured}
	}
	m.Sight = vision.Resolve(configured, guess)
	return m
}

// Model gives what is known of a model.
func (b *book) Model(ref catalog.Ref) (catalog.Model, bool) {
	m, ok := b.models[ref]
	return m, ok
}

// Client gives the wire to a model's provider, made once.
func (b *book) Client(ctx context.Context, ref catalog.Ref) (provider.Client, error) {
	name, _ := ref.Split()
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.clients[name]; c != nil {
		return c, nil
	}
	p, ok := b.cfg.Providers[name]
	if !ok {
		return nil, fmt.Errorf("provider %q is not in the config", name)
	}
	c, err := b.dial(ctx, name, p)
	if err != nil {
		return nil, err
	}
	c = keyed{c, p.Key}
	b.clients[name] = c
	return c, nil
}

func (b *book) dial(ctx context.Context, name string, p config.Provider) (provider.Client, error) {
	key, err := config.ResolveKey(ctx, p.Key, b.getenv)
	if err != nil {
		return nil, &provider.Error{Kind: provider.KindKey, Provider: name, Words: err.Error(), Cause: err}
	}
	headers := map[string]string{}
	for h, v := range p.Headers {
		headers[h] = v
		if strings.HasPrefix(v, "env:") || strings.HasPrefix(v, "file:") || strings.HasPrefix(v, "cmd:") {
			secret, err := config.ResolveKey(ctx, v, b.getenv)
			if err != nil {
				return nil, &provider.Error{Kind: provider.KindKey, Provider: name, Words: fmt.Sprintf("header %s: %v", h, err), Cause: err}
			}
			headers[h] = secret.Reveal()
		}
	}
	hc, err := httpClient(p)
	if err != nil {
		return nil, err
	}
	url := p.URL
	switch p.Wire {
	case "anthropic":
		return anthropic.New(anthropic.Options{Provider: name, BaseURL: url, Key: key, Headers: headers, HTTP: hc}), nil
	case "rehearsal":
		if url == "" {
			url = b.rehearsal
		}
		fallthrough
	case "openai-chat":
		return chat.New(chat.Options{Provider: name, BaseURL: url, Key: key, Headers: headers, HTTP: hc}), nil
	default:
		return nil, fmt.Errorf("provider %s: the wire %q is not in this version; use anthropic or an OpenAI chat one", name, p.Wire)
	}
}

// httpClient honours caFile and insecure; nil is the wire's own client.
func httpClient(p config.Provider) (*http.Client, error) {
	if p.CAFile == "" && !p.Insecure {
		return nil, nil
	}
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the program's transport was replaced")
	}
	t := base.Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: p.Insecure} //nolint:gosec // only when the person set insecure
	if p.CAFile != "" {
		pem, err := os.ReadFile(p.CAFile)
		if err != nil {
			return nil, fmt.Errorf("caFile: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("caFile %s holds no certificate", p.CAFile)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: t}, nil
}

// ladder makes the router's ladder of the config's: the Primary stands on a rung
// of its own at the top unless a rung names it.
func (b *book) ladder() routing.Ladder {
	var out routing.Ladder
	named := false
	for _, r := range b.cfg.Ladder {
		rung := routing.Rung{Difficulty: job.Difficulty(r.Difficulty)}
		for _, ref := range r.Model {
			rung.Models = append(rung.Models, b.models[ref])
			named = named || ref == b.cfg.Primary
		}
		out = append(out, rung)
	}
	if !named && b.cfg.Primary != "" {
		out = append(out, routing.Rung{Models: []catalog.Model{b.models[b.cfg.Primary]}})
	}
	return out
}

// documents lists the models for people, with the rungs that name them.
func (b *book) documents() protocol.ModelsDoc {
	doc := protocol.ModelsDoc{Models: []protocol.ModelDoc{}}
	ladder := b.ladder()
	for _, ref := range allRefs(b.cfg) {
		m := b.models[ref]
		d := protocol.ModelDoc{
			Ref: string(ref), Provider: m.Provider, ID: m.ID, Name: m.ID, Vision: m.Sight.Sight, VisionSource: m.Sight.Source, VisionDetail: m.Sight.Detail,
			Chat: m.Chat, Context: m.Context, Tools: m.Tools, Private: m.Private, Price: protocol.PriceDoc(m.Price),
		}
		for i, r := range ladder {
			if slices.ContainsFunc(r.Models, func(x catalog.Model) bool { return x.Ref == ref }) {
				d.Rungs = append(d.Rungs, i+1)
			}
		}
		doc.Models = append(doc.Models, d)
	}
	return doc
}

// keyed says of a refused key which one it was and what it means.
type keyed struct {
	provider.Client
	ref string // where the key is kept; never the key
}

// Stream passes the call on.
func (k keyed) Stream(ctx context.Context, r provider.Request, onDelta func(provider.Delta)) (provider.Response, error) {
	resp, err := k.Client.Stream(ctx, r, onDelta)
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Kind != provider.KindKey {
		return resp, err
	}
	ref := k.ref
	if ref == "" {
		ref = "none is set"
	}
	told := *e
	switch e.Status {
	case http.StatusPaymentRequired, http.StatusTooManyRequests, http.StatusBadRequest:
		told.Words = fmt.Sprintf("the account of this key (%s) has no credit: %s", ref, e.Words)
	case http.StatusForbidden:
		told.Words = fmt.Sprintf("this key (%s) may not use the model: %s", ref, e.Words)
	default:
		told.Words = fmt.Sprintf("the key (%s) was refused: %s", ref, e.Words)
	}
	return resp, &told
}
