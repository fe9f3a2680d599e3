// Package discovery asks endpoints which models they have and what those can do, in
// every shape of list that is in use. It asks politely: one request at a time to an
// endpoint's list, few at once for details, with a mark so that an unchanged list
// costs nothing. It keeps nothing, and decides nothing about what is said.
package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Endpoint is whom to ask.
type Endpoint struct {
	Name    string // the provider's in the config, for words
	API     string // the config's preset: ollama, lmstudio, openrouter …
	Wire    string // the preset's wire
	URL     string // base, as the config has it
	Key     secret.Value
	KeyRef  string            // where the key is kept, for words; never the key
	Headers map[string]string // beside it
	HTTP    *http.Client      // nil: one of its own
}

// At names the endpoint as what it says is kept under.
func (e Endpoint) At() catalog.Endpoint { return catalog.EndpointOf(e.Wire, e.URL) }

// Report is what an endpoint said of its models, and when.
type Report struct {
	Endpoint catalog.Endpoint  `json:"endpoint"`
	At       time.Time         `json:"at"`
	Tag      string            `json:"tag,omitempty"`   // its mark of this list (ETag)
	Shape    string            `json:"shape,omitempty"` // the path of the list that answered
	Models   []provider.Listed `json:"models"`
	Marks    map[string]string `json:"marks,omitempty"` // by id: what changes with a model (Ollama's digest)
	Owners   []string          `json:"owners,omitempty"`
	Notes    []string          `json:"notes,omitempty"` // what was left out, and why
}

// Ask asks one endpoint for its models. last is what it said before, the zero Report
// when nothing; a list that did not change since is not sent again. now is put into
// the report. The error is a *provider.Error.
func Ask(ctx context.Context, e Endpoint, last Report, now time.Time) (Report, error) {
	all, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if e.HTTP == nil {
		e.HTTP = httpwire.NewClient()
		defer e.HTTP.CloseIdleConnections() // a day passes before it is asked again
	}
	a := newAsker(e, last)
	r, err := a.ask(all)
	if err != nil {
		if all.Err() != nil && ctx.Err() == nil {
			err = &provider.Error{
				Kind: provider.KindStalled, Provider: e.Name, Words: fmt.Sprintf("it gave no whole list of models within %d seconds", int(askTime.Seconds())), Cause: err,
			}
		}
		if e, ok := errors.AsType[*provider.Error](err); ok && errors.Is(err, httpwire.ErrIdle) {
			e.Words = fmt.Sprintf("it said nothing for %d seconds", int(idleTime.Seconds()))
		}
		return Report{}, err
	}
	r.Endpoint, r.At = e.At(), now
	return r, nil
}

// AskAll asks endpoints side by side, those of one host one after the other, each with
// a time of its own, so that a slow one holds up nobody. tell is called as each ends,
// one call at a time.
func AskAll(ctx context.Context, ask []Endpoint, last func(catalog.Endpoint) Report, tell func(Endpoint, Report, error)) {
	hosts := map[string][]Endpoint{}
	var order []string
	for _, e := range ask {
		host := hostOf(e.URL)
		if hosts[host] == nil {
			order = append(order, host)
		}
		hosts[host] = append(hosts[host], e)
	}
	gate := make(chan struct{}, endpointsAtOnce)
	var telling sync.Mutex
	var work sync.WaitGroup
	for _, host := range order {
		work.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			for _, e := range hosts[host] {
				r, err := Ask(ctx, e, last(e.At()), time.Now().UTC())
				telling.Lock()
				tell(e, r, err)
				telling.Unlock()
			}
		})
	}
	work.Wait()
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return strings.ToLower(u.Host)
}

// asker asks one endpoint.
type asker struct {
	e       Endpoint
	last    Report
	client  *exchange.Client
	address string // of the config, without its query
	query   string // that of the address: it goes with every question, as with model calls
}

// newAsker sends the key as the wire wants it. Gemini takes it in a header of its own,
// beside the bearer token of its OpenAI-shaped paths.
func newAsker(e Endpoint, last Report) *asker {
	w := exchange.Wire{URL: e.URL, KeyHeader: "Authorization", KeyPrefix: "Bearer "}
	switch e.Wire {
	case "anthropic":
		w.KeyHeader, w.KeyPrefix, w.Header = "X-Api-Key", "", map[string]string{"Anthropic-Version": "2023-06-01"}
	case "gemini":
		w.KeyHeader, w.KeyPrefix = googleKey, ""
	}
	a := &asker{e: e, last: last, client: exchange.New(exchange.Options{
		Provider: e.Name, BaseURL: e.URL, Key: e.Key, KeyRef: e.KeyRef, Headers: e.Headers, HTTP: e.HTTP,
	}, w)}
	a.address, _, _ = strings.Cut(strings.TrimSpace(e.URL), "#")
	a.address, a.query, _ = strings.Cut(a.address, "?")
	return a
}

// googleKey is the header in which Gemini's own API takes its key.
const googleKey = "X-Goog-Api-Key"

// fails makes an error of our own.
func (a *asker) fails(kind provider.Kind, format string, args ...any) *provider.Error {
	return &provider.Error{Kind: kind, Provider: a.e.Name, Words: fmt.Sprintf(format, args...)}
}

// notHere reports whether an endpoint has nothing at a path, so that another may be
// tried: it says so, or answers with something that is no list.
func notHere(err error) bool {
	if errors.Is(err, errNoList) {
		return true
	}
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return false
	}
	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusOK:
		return e.Fault == provider.FaultPage // an app in the browser answers so at any path that is not its own
	}
	return false
}

// errNoList is of an answer that holds no list of models.
var errNoList = errors.New("no list of models")

// base is the address below which the paths are, without an ending that names one of
// the wire's own endpoints.
func (a *asker) base() string {
	base := strings.TrimRight(a.address, "/")
	for _, end := range []string{"/chat/completions", "/messages", "/responses"} {
		base = strings.TrimSuffix(base, end)
	}
	return strings.TrimRight(base, "/")
}

// root is the address that a server's own paths are below, for those whose list is
// beside the OpenAI-shaped path of the config.
func (a *asker) root() string {
	base := a.base()
	for _, end := range []string{"/v1beta/openai", "/v1"} {
		base = strings.TrimSuffix(base, end)
	}
	return base
}

// withQuery sets parameters of a URL.
func withQuery(raw string, pairs ...string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	q := u.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// pathOf is the path of a URL, for the report.
func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return cmp.Or(u.Path, "/")
}
