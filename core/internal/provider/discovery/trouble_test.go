package discovery

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/secret"
)

const theKey = "s3cret-key-of-a-person"

// at is an endpoint on a handler.
func at(t *testing.T, f http.HandlerFunc) Endpoint {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return Endpoint{Name: "p", API: "openai-chat", Wire: "openai-chat", URL: srv.URL + "/v1", Key: secret.New(theKey), KeyRef: "env:KEY"}
}

// says answers with a status and a body.
func says(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
}

func TestABrokenEndpointIsAnErrorThatSaysHow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kind   provider.Kind
		fault  provider.Fault
	}{
		"a web page":               {says(200, "text/html", "<html><title>Sign in</title></html>"), provider.KindMalformed, provider.FaultPage},
		"cut JSON":                 {says(200, "application/json", `{"data":[{"id":"a"},`), provider.KindMalformed, ""},
		"no list":                  {says(200, "application/json", `{"ok":true}`), provider.KindMalformed, ""},
		"nothing":                  {says(200, "application/json", ""), provider.KindMalformed, ""},
		"a list that is no list":   {says(200, "application/json", `{"data":"none"}`), provider.KindMalformed, ""},
		"out of order":             {says(500, "application/json", `{"error":{"message":"boom"}}`), provider.KindBusy, ""},
		"the key is refused":       {says(401, "application/json", `{"error":{"message":"bad key"}}`), provider.KindKey, provider.FaultKey},
		"nothing at this address":  {says(404, "text/plain", "404 page not found"), provider.KindRefused, provider.FaultPath},
		"a connection that is cut": {cutOff, provider.KindCut, ""},
	} {
		r, err := Ask(t.Context(), at(t, c.answer), Report{}, time.Now())
		e, ok := err.(*provider.Error) //nolint:errorlint // the promise is this very type
		if !ok || e.Kind != c.kind || e.Fault != c.fault || len(r.Models) != 0 {
			t.Errorf("%s: %v, kind %q fault %q", name, err, e.Kind, e.Fault)
		}
		if ok && strings.Contains(fmt.Sprintf("%+v", *e), theKey) {
			t.Errorf("%s: the key is in the error: %+v", name, *e)
		}
	}
}

func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = fmt.Fprint(w, `{"data":[`)
	panic(http.ErrAbortHandler)
}

func TestWhoIsToldToWaitIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	_, err := Ask(t.Context(), at(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "30")
		says(429, "application/json", `{"error":{"message":"slow down"}}`)(w, r)
	}), Report{}, time.Now())
	if e, ok := err.(*provider.Error); !ok || e.RetryAfter != 30*time.Second || asked.Load() != 1 { //nolint:errorlint // as above
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestNobodyThereIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Endpoint{{Name: "p", Wire: "openai-chat", URL: url}, {Name: "p", Wire: "ollama", URL: url}, {Name: "p", Wire: "openai-chat", URL: "http://no-such-host.invalid/v1"}} {
		_, err := Ask(t.Context(), e, Report{}, time.Now())
		if e, ok := err.(*provider.Error); !ok || e.Fault == "" { //nolint:errorlint // as above
			t.Errorf("%v", err)
		}
	}
}

func TestAListOfFiveThousandIsReadAndAHugeOneBounded(t *testing.T) {
	t.Parallel()
	list := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"data":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			_, _ = fmt.Fprintf(&b, `{"id":"vendor/model-%d","object":"model","context_length":8192,"architecture":{"input_modalities":["text","image"]},"description":%q}`, i, strings.Repeat("words ", 100))
		}
		return b.String() + "]}"
	}
	r, err := Ask(t.Context(), at(t, says(200, "application/json", list(5000))), Report{}, time.Now())
	if err != nil || len(r.Models) != 5000 || r.Models[4999].ID != "vendor/model-4999" {
		t.Errorf("%d models, %v", len(r.Models), err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(bytes.Repeat([]byte(" "), 40<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Ask(t.Context(), at(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}), Report{}, time.Now())
	if !provider.Is(err, provider.KindLarge) {
		t.Errorf("40 MiB in a small packet: %v", err)
	}
}

func TestAListThatNeverEndsIsLeft(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	for name, cursor := range map[string]func() string{
		"another cursor each time": func() string { return fmt.Sprint(n.Load()) },
		"the same cursor":          func() string { return "again" },
	} {
		n.Store(0)
		e := at(t, func(w http.ResponseWriter, r *http.Request) {
			i := n.Add(1)
			says(200, "application/json", fmt.Sprintf(`{"data":[{"id":"m%d"},{"id":"same"}],"has_more":true,"last_id":%q}`, i, cursor()))(w, r)
		})
		e.Wire, e.API = "anthropic", "anthropic"
		r, err := Ask(t.Context(), e, Report{}, time.Now())
		if err != nil || n.Load() > maxPages || len(r.Notes) != 1 || len(r.Models) != int(n.Load())+1 {
			t.Errorf("%s: %d requests, %d models, notes %q, %v", name, n.Load(), len(r.Models), r.Notes, err)
		}
	}
}

func TestALaterPageThatFailsKeepsTheFirst(t *testing.T) {
	t.Parallel()
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("after_id") {
			says(500, "application/json", `{"error":{"message":"boom"}}`)(w, r)
			return
		}
		says(200, "application/json", `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`)(w, r)
	})
	e.Wire = "anthropic"
	r, err := Ask(t.Context(), e, Report{}, time.Now())
	if err != nil || len(r.Models) != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "page 2") {
		t.Errorf("%+v %v", r, err)
	}
}

func TestTheKeyGoesToNoOtherHost(t *testing.T) {
	t.Parallel()
	var stolen atomic.Bool
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen.Store(true)
	}))
	defer thief.Close()
	_, err := Ask(t.Context(), at(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL, http.StatusFound) }), Report{}, time.Now())
	if err == nil || stolen.Load() || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("followed: %v, %v", stolen.Load(), err)
	}
}

func TestAnUnchangedListIsNotSentAgain(t *testing.T) {
	t.Parallel()
	var whole atomic.Int32
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		whole.Add(1)
		w.Header().Set("ETag", `"v1"`)
		says(200, "application/json", `{"data":[{"id":"a","supports_vision":true}]}`)(w, r)
	})
	first, err := Ask(t.Context(), e, Report{}, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Ask(t.Context(), e, first, time.Unix(2, 0))
	if err != nil || whole.Load() != 1 || len(second.Models) != 1 || !second.At.Equal(time.Unix(2, 0)) || second.Tag != first.Tag {
		t.Errorf("%+v, %d whole lists, %v", second, whole.Load(), err)
	}
}

func TestOllamaIsAskedOnlyAboutWhatChanged(t *testing.T) {
	t.Parallel()
	var shown atomic.Int32
	digest := "one"
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			says(200, "application/json", fmt.Sprintf(`{"models":[{"name":"a","digest":%q},{"name":"b","digest":"same"}]}`, digest))(w, r)
			return
		}
		shown.Add(1)
		says(200, "application/json", `{"capabilities":["completion","vision"]}`)(w, r)
	})
	e.Wire, e.API, e.URL = "ollama", "ollama", strings.TrimSuffix(e.URL, "/v1")
	first, err := Ask(t.Context(), e, Report{}, time.Now())
	if err != nil || shown.Load() != 2 {
		t.Fatalf("%d, %v", shown.Load(), err)
	}
	digest = "two"
	second, err := Ask(t.Context(), e, first, time.Now())
	if err != nil || shown.Load() != 3 || len(second.Models) != 2 || second.Models[1].Sight != first.Models[1].Sight {
		t.Errorf("asked about %d models in all, %+v %v", shown.Load(), second.Models, err)
	}
}

// trickle is a transport whose answer comes a byte a second, for ever.
type trickle struct{}

func (trickle) RoundTrip(r *http.Request) (*http.Response, error) {
	body := trickled{r.Context()}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}, nil
}

type trickled struct{ ctx context.Context }

func (t trickled) Read(p []byte) (int, error) {
	select {
	case <-t.ctx.Done():
		return 0, t.ctx.Err()
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	}
}
func (trickled) Close() error { return nil }

func TestASlowEndpointHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := Endpoint{Name: "slow", Wire: "openai-chat", URL: "http://slow.example/v1", HTTP: &http.Client{Transport: trickle{}}}
		quick := Endpoint{Name: "quick", Wire: "openai-chat", URL: "http://quick.example/v1", HTTP: &http.Client{Transport: canned(`{"data":[{"id":"a"}]}`)}}
		began := time.Now()
		ended := map[string]time.Duration{}
		AskAll(t.Context(), []Endpoint{slow, quick}, func(catalog.Endpoint) Report { return Report{} }, func(e Endpoint, _ Report, err error) {
			ended[e.Name] = time.Since(began)
			if (err != nil) != (e.Name == "slow") {
				t.Errorf("%s: %v", e.Name, err)
			}
			if e.Name == "slow" && !provider.Is(err, provider.KindStalled) {
				t.Errorf("%v", err)
			}
		})
		if ended["quick"] > time.Second || ended["slow"] < askTime || ended["slow"] > askTime+time.Second {
			t.Errorf("%v", ended)
		}
	})
}

// canned is a transport that always gives one answer.
type canned string

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "application/json")
	_, _ = rec.WriteString(string(c))
	res := rec.Result()
	res.Request = r
	return res, nil
}

func TestOneHostIsAskedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	e := at(t, func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		says(200, "application/json", `{"data":[{"id":"a"}]}`)(w, r)
	})
	told := 0
	AskAll(t.Context(), []Endpoint{e, e, e, e}, func(catalog.Endpoint) Report { return Report{} }, func(Endpoint, Report, error) { told++ })
	if most.Load() != 1 || told != 4 {
		t.Errorf("%d at once, %d told", most.Load(), told)
	}
}

func TestWhoStopsAskingIsNotKept(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	began := time.Now()
	_, err := Ask(ctx, Endpoint{Name: "p", Wire: "openai-chat", URL: "http://slow.example/v1", HTTP: &http.Client{Transport: trickle{}}}, Report{}, time.Now())
	if err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// mute is a transport whose answer never comes.
type mute struct{}

func (mute) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestASilentEndpointIsSaidToBeSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := Ask(t.Context(), Endpoint{Name: "p", Wire: "openai-chat", URL: "http://mute.example/v1", HTTP: &http.Client{Transport: mute{}}}, Report{}, time.Now())
		if !provider.Is(err, provider.KindStalled) || !strings.Contains(err.Error(), "it said nothing for 10 seconds") {
			t.Errorf("%v", err)
		}
	})
}
