package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/codec/listing"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
)

// place is one address that may hold an endpoint's list.
type place struct {
	url    string
	header map[string]string
	page   func(next string) string // the address of a later page; nil: the list has one
}

// ask chooses how an endpoint is asked. The paths are those of the vendors' API
// references: Ollama /api/tags and /api/show, LM Studio /api/v1/models and before it
// /api/v0/models, llama.cpp /props beside its list, Anthropic and Gemini in pages, xAI
// /language-models; everybody else /models, as OpenAI has it.
func (a *asker) ask(ctx context.Context) (Report, error) {
	base := a.base()
	plain := place{url: base + "/models"}
	switch {
	case a.e.Wire == "bedrock":
		return Report{}, a.fails(provider.KindRefused, "this version asks Bedrock for no list of models; name them in the config")
	case a.e.Wire == "ollama":
		return a.ollama(ctx)
	case a.e.Wire == "anthropic":
		return a.first(ctx, a.anthropic())
	case a.e.Wire == "gemini":
		return a.first(ctx, gemini(base+"/models", nil))
	case a.e.API == "gemini-openai":
		own := gemini(a.root()+"/v1beta/models", map[string]string{googleKey: a.e.Key.Reveal()})
		if !strings.HasSuffix(base, "/v1beta/openai") {
			return a.first(ctx, plain) // a proxy in front of it
		}
		return a.first(ctx, own, plain)
	case a.e.API == "lmstudio":
		return a.first(ctx, place{url: a.root() + "/api/v1/models"}, place{url: a.root() + "/api/v0/models"}, plain)
	case a.e.API == "llamacpp":
		return a.llama(ctx, plain)
	case a.e.API == "xai":
		return a.first(ctx, place{url: base + "/language-models"}, plain)
	}
	return a.first(ctx, plain)
}

func (a *asker) anthropic() place {
	base := a.base()
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	list := withQuery(base+"/models", "limit", strconv.Itoa(perPage))
	return place{url: list, page: func(next string) string { return withQuery(list, "after_id", next) }}
}

func gemini(list string, header map[string]string) place {
	list = withQuery(list, "pageSize", strconv.Itoa(perPage))
	return place{url: list, header: header, page: func(next string) string { return withQuery(list, "pageToken", next) }}
}

// first gives the list of the first place that has one.
func (a *asker) first(ctx context.Context, places ...place) (r Report, err error) {
	for _, p := range places {
		if r, err = a.list(ctx, p); err == nil || !notHere(err) {
			return r, err
		}
	}
	return r, err
}

// list reads the pages of one place. What was read stays when a later page fails.
func (a *asker) list(ctx context.Context, p place) (Report, error) {
	header := map[string]string{}
	for name, value := range p.header {
		header[name] = value
	}
	if a.last.Tag != "" && a.last.Shape == pathOf(p.url) {
		header["If-None-Match"] = a.last.Tag
	}
	got, page, err := a.page(ctx, p.url, header)
	if err != nil {
		return Report{}, err
	}
	if got.Status == http.StatusNotModified {
		return a.last, nil
	}
	r := Report{Shape: pathOf(p.url), Tag: tagOf(got.Header), Models: page.Models, Marks: page.Marks, Owners: page.Owners, Notes: page.Notes}
	if page.Next == "" || p.page == nil {
		return r, nil
	}
	r.Tag = "" // of the first page alone
	delete(header, "If-None-Match")
	a.more(ctx, p, page.Next, header, &r)
	return r, nil
}

// more reads the pages behind the first.
func (a *asker) more(ctx context.Context, p place, next string, header map[string]string, r *Report) {
	ids := map[string]bool{}
	for _, m := range r.Models {
		ids[m.ID] = true
	}
	been := map[string]bool{}
	for n := 2; next != ""; n++ {
		if n > maxPages || been[next] {
			r.Notes = append(r.Notes, fmt.Sprintf("the list goes on behind page %d and was left there", n-1))
			return
		}
		been[next] = true
		_, page, err := a.page(ctx, p.page(next), header)
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("page %d of the list could not be read: %v", n, err))
			return
		}
		for _, m := range page.Models {
			if !ids[m.ID] {
				ids[m.ID] = true
				r.Models = append(r.Models, m)
			}
		}
		r.Notes = append(r.Notes, page.Notes...)
		next = page.Next
	}
}

// maxTag in bytes; a longer mark is not kept.
const maxTag = 256

func tagOf(h http.Header) string {
	if tag := h.Get("Etag"); len(tag) <= maxTag {
		return tag
	}
	return ""
}

// page reads one page.
func (a *asker) page(ctx context.Context, url string, header map[string]string) (exchange.Fetched, listing.Page, error) {
	got, err := a.client.Fetch(ctx, exchange.Fetch{URL: url, Header: header, Idle: idleTime, Most: maxPage})
	if err != nil || got.Status == http.StatusNotModified {
		return got, listing.Page{}, err
	}
	page, err := listing.Read(got.Body)
	if err != nil {
		e := a.fails(provider.KindMalformed, "%s", httpwire.Plain(err.Error()))
		e.Status, e.Cause = http.StatusOK, fmt.Errorf("%w: %w", errNoList, err)
		return got, page, e
	}
	return got, page, nil
}

// llama reads llama.cpp's list, and of its one model what the server says of itself.
func (a *asker) llama(ctx context.Context, list place) (Report, error) {
	r, err := a.first(ctx, list)
	if err != nil || len(r.Models) != 1 { // a router of many models speaks for none
		return r, err
	}
	got, err := a.client.Fetch(ctx, exchange.Fetch{URL: a.root() + "/props", Idle: idleTime, Most: maxPage})
	if err == nil {
		err = listing.ReadProps(got.Body, &r.Models[0])
	}
	if err != nil && !notHere(err) {
		r.Notes = append(r.Notes, "the server's properties could not be read: "+httpwire.Plain(err.Error()))
	}
	r.Tag = "" // of the list, not of the properties
	return r, nil
}

// ollama reads the list and asks about each model, a few at a time; one whose digest
// is as before is not asked about again. One that gives no answer stays as the list
// has it.
func (a *asker) ollama(ctx context.Context) (Report, error) {
	r, err := a.list(ctx, place{url: a.root() + "/api/tags"})
	if err != nil {
		return r, err
	}
	known := map[string]provider.Listed{}
	for _, m := range a.last.Models {
		if mark := a.last.Marks[m.ID]; mark != "" && mark == r.Marks[m.ID] && m.Chat != nil {
			known[m.ID] = m
		}
	}
	gate := make(chan struct{}, showsAtOnce)
	var wait sync.WaitGroup
	asked := 0
	for i := range r.Models {
		m := &r.Models[i]
		if before, ok := known[m.ID]; ok {
			*m = before
			continue
		}
		if asked++; asked > shows {
			continue
		}
		wait.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			a.show(ctx, m)
		})
	}
	wait.Wait()
	if asked > shows {
		r.Notes = append(r.Notes, fmt.Sprintf("of %d models %d were looked at one by one", asked, shows))
	}
	r.Tag = ""
	return r, nil
}

// show asks about one model.
func (a *asker) show(ctx context.Context, m *provider.Listed) {
	body, err := json.Marshal(map[string]string{"model": m.ID})
	if err != nil {
		return
	}
	got, err := a.client.Fetch(ctx, exchange.Fetch{URL: a.root() + "/api/show", Body: body, Idle: idleTime, Most: maxPage})
	if err == nil {
		_ = listing.ReadShow(got.Body, m) // what cannot be read says nothing
	}
}
