package discovery

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/codec/listing"
)

func TestAnAnswerThatNobodyAskedForIsNoEmptyList(t *testing.T) {
	t.Parallel()
	_, err := Ask(t.Context(), at(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }), Report{}, time.Now())
	if !provider.Is(err, provider.KindMalformed) {
		t.Errorf("not modified, and nothing was there before: %v", err)
	}
}

func TestAListOfAnotherContentTypeIsReadAllTheSame(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text/html", "text/event-stream", "application/octet-stream", ""} {
		r, err := Ask(t.Context(), at(t, says(200, kind, ` {"data":[{"id":"a"}]}`)), Report{}, time.Now())
		if err != nil || len(r.Models) != 1 {
			t.Errorf("%q: %+v %v", kind, r, err)
		}
	}
}

func TestPagesEndWhenThereAreTooManyModels(t *testing.T) {
	t.Parallel()
	var pages atomic.Int32
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		n := pages.Add(1)
		var b strings.Builder
		for i := range 9_000 {
			_, _ = fmt.Fprintf(&b, `,{"id":"m%d-%d"}`, n, i)
		}
		says(200, "application/json", fmt.Sprintf(`{"models":[%s],"nextPageToken":"t%d"}`, b.String()[1:], n))(w, r)
	})
	e.Wire = "gemini"
	r, err := Ask(t.Context(), e, Report{}, time.Now())
	if err != nil || pages.Load() > 3 || len(r.Models) < listing.MaxModels || len(r.Notes) != 1 {
		t.Errorf("%d pages, %d models, %q, %v", pages.Load(), len(r.Models), r.Notes, err)
	}
}

func TestAServerOfManyModelsIsAskedAboutTheFirstFewAtATime(t *testing.T) {
	t.Parallel()
	var shown, now, most atomic.Int32
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			var b strings.Builder
			for i := range shows + 50 {
				_, _ = fmt.Fprintf(&b, `,{"name":"m%d","digest":"d%d"}`, i, i)
			}
			says(200, "application/json", `{"models":[`+b.String()[1:]+`]}`)(w, r)
			return
		}
		shown.Add(1)
		for n := now.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		defer now.Add(-1)
		says(200, "application/json", `{"capabilities":["completion"]}`)(w, r)
	})
	e.Wire, e.API, e.URL = "ollama", "ollama", strings.TrimSuffix(e.URL, "/v1")
	r, err := Ask(t.Context(), e, Report{}, time.Now())
	if err != nil || shown.Load() != shows || most.Load() > showsAtOnce || len(r.Models) != shows+50 || len(r.Notes) != 1 {
		t.Errorf("%d shown, %d at once, %d models, %q, %v", shown.Load(), most.Load(), len(r.Models), r.Notes, err)
	}
}

// counting is a transport that answers after a second and knows how many wait at once.
type counting struct {
	mu        *sync.Mutex
	now, most *int
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	*c.now++
	*c.most = max(*c.most, *c.now)
	c.mu.Unlock()
	<-time.After(time.Second)
	c.mu.Lock()
	*c.now--
	c.mu.Unlock()
	return canned(`{"data":[{"id":"a"}]}`).RoundTrip(r)
}

func TestAFewEndpointsAreAskedAtOnceAndToldOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := counting{mu: new(sync.Mutex), now: new(int), most: new(int)}
		var ask []Endpoint
		for i := range 3 * endpointsAtOnce {
			ask = append(ask, Endpoint{Name: "p", Wire: "openai-chat", URL: fmt.Sprintf("http://host-%d.example/v1", i), HTTP: &http.Client{Transport: c}})
		}
		began, telling, told := time.Now(), false, 0
		AskAll(t.Context(), ask, func(catalog.Endpoint) Report { return Report{} }, func(_ Endpoint, _ Report, err error) {
			if telling || err != nil {
				t.Errorf("two are told at once, or %v", err)
			}
			telling = true
			runtime.Gosched()
			telling = false
			told++
		})
		if took := time.Since(began); *c.most != endpointsAtOnce || told != len(ask) || took > 5*time.Second {
			t.Errorf("%d at once, %d told in %s", *c.most, told, took)
		}
	})
}
