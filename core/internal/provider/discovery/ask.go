package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/codec/listing"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
)

// ask chooses how an endpoint is asked. The paths are those of the vendors' API
// references: Ollama /api/tags and /api/show, LM Studio /api/v1/models and before it
// /api/v0/models, llama.cpp /props beside its list, Anthropic and Gemini in pages, xAI
// /language-models; everybody else /models, as OpenAI has it.
func (a *asker) ask(ctx context.Context) (Report, error) {
	base := a.base()
	plain := base + "/models"
	switch {
	case a.e.Wire == "bedrock":
		return Report{}, a.fails(provider.KindRefused, "this version asks Bedrock for no list of models; name them in the config")
	case a.e.Wire == "ollama":
		return a.ollama(ctx)
	case a.e.Wire == "anthropic":
		return a.first(ctx, a.anthropic())
	case a.e.Wire == "gemini":
		return a.first(ctx, withQuery(plain, "pageSize", strconv.Itoa(perPage)))
	case a.e.API == "gemini-openai" && strings.HasSuffix(base, "/v1beta/openai"): // else a proxy in front of it
		return a.google(ctx, plain)
	case a.e.API == "lmstudio":
		return a.first(ctx, a.root()+"/api/v1/models", a.root()+"/api/v0/models", plain)
	case a.e.API == "llamacpp":
		return a.llama(ctx, plain)
	case a.e.API == "xai":
		return a.first(ctx, base+"/language-models", plain)
	}
	return a.first(ctx, plain)
}

func (a *asker) anthropic() string {
	base := a.base()
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	return withQuery(base+"/models", "limit", strconv.Itoa(perPage))
}

// google asks Gemini's own list beside its OpenAI-shaped paths: it alone has the
// limits. Its key goes there in a header of its own only: as a bearer token it would
// be taken for one of OAuth, and refused.
func (a *asker) google(ctx context.Context, plain string) (Report, error) {
	own := a.e
	own.Wire, own.URL = "gemini", a.root()+"/v1beta?"+a.query
	r, err := newAsker(own, a.last).ask(ctx)
	if err != nil && notHere(err) {
		return a.first(ctx, plain)
	}
	return r, err
}

// first gives the list of the first address that has one.
func (a *asker) first(ctx context.Context, urls ...string) (r Report, err error) {
	for _, url := range urls {
		if r, err = a.list(ctx, url); err == nil || !notHere(err) {
			return r, err
		}
	}
	return r, err
}

// list reads the pages of one list. What was read stays when a later page fails.
func (a *asker) list(ctx context.Context, url string) (Report, error) {
	header := map[string]string{}
	if a.last.Tag != "" && a.last.Shape == pathOf(url) {
		header["If-None-Match"] = a.last.Tag
	}
	got, page, err := a.page(ctx, url, header)
	if err != nil {
		return Report{}, err
	}
	if got.Status == http.StatusNotModified {
		return a.last, nil
	}
	r := Report{Shape: pathOf(url), Tag: tagOf(got.Header), Models: page.Models, Marks: page.Marks, Owners: page.Owners, Notes: page.Notes}
	if page.Next != "" {
		r.Tag = "" // of the first page alone
		a.more(ctx, url, page, &r)
	}
	return r, nil
}

// more reads the pages behind the first.
func (a *asker) more(ctx context.Context, url string, page listing.Page, r *Report) {
	ids := map[string]bool{}
	for _, m := range r.Models {
		ids[m.ID] = true
	}
	been := map[string]bool{}
	for n := 2; page.Next != ""; n++ {
		if n > maxPages || been[page.Next] || len(r.Models) >= listing.MaxModels {
			r.Notes = append(r.Notes, fmt.Sprintf("the list goes on behind page %d and was left there", n-1))
			return
		}
		been[page.Next] = true
		var err error
		if _, page, err = a.page(ctx, withQuery(url, page.Param, page.Next), nil); err != nil {
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
	}
}

// fetch asks under the limits, with the query that the address has.
func (a *asker) fetch(ctx context.Context, f exchange.Fetch) (exchange.Fetched, error) {
	if a.query != "" {
		sign := "?"
		if strings.Contains(f.URL, "?") {
			sign = "&"
		}
		f.URL += sign + a.query
	}
	f.Idle, f.Most = idleTime, maxPage
	return a.client.Fetch(ctx, f)
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
	got, err := a.fetch(ctx, exchange.Fetch{URL: url, Header: header})
	if err != nil {
		return got, listing.Page{}, err
	}
	if got.Status == http.StatusNotModified {
		if header["If-None-Match"] == "" {
			err = a.fails(provider.KindMalformed, "it says that its list is as before, and was not asked that")
		}
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
func (a *asker) llama(ctx context.Context, list string) (Report, error) {
	r, err := a.first(ctx, list)
	if err != nil || len(r.Models) != 1 { // a router of many models speaks for none
		return r, err
	}
	got, err := a.fetch(ctx, exchange.Fetch{URL: a.root() + "/props"})
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
// is as before is not asked about again. One of which nothing is said stays as the
// list has it.
func (a *asker) ollama(ctx context.Context) (Report, error) {
	r, err := a.list(ctx, a.root()+"/api/tags")
	if err != nil {
		return r, err
	}
	r.Tag = "" // of the list, not of what is said of each
	known := map[string]provider.Listed{}
	for _, m := range a.last.Models {
		if mark := a.last.Marks[m.ID]; mark != "" && mark == r.Marks[m.ID] && m.Chat != nil {
			known[m.ID] = m
		}
	}
	gate := make(chan struct{}, showsAtOnce)
	var wait sync.WaitGroup
	asked, mute := 0, new(atomic.Int32)
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
			if a.show(ctx, m) != nil {
				mute.Add(1)
			}
		})
	}
	wait.Wait()
	if asked > shows {
		r.Notes = append(r.Notes, fmt.Sprintf("of %d models %d were looked at one by one", asked, shows))
	}
	if n := mute.Load(); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d models could not be looked at one by one: of them only what the list says is known", n, len(r.Models)))
	}
	return r, nil
}

// show asks about one model. With an error it stays as it is.
func (a *asker) show(ctx context.Context, m *provider.Listed) error {
	body, err := json.Marshal(map[string]string{"model": m.ID})
	if err != nil {
		return fmt.Errorf("ask about %s: %w", m.ID, err)
	}
	got, err := a.fetch(ctx, exchange.Fetch{URL: a.root() + "/api/show", Body: body})
	if err != nil {
		return err
	}
	return listing.ReadShow(got.Body, m)
}
