package discovery

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
)

// recorded remembers what was asked, in order.
type recorded struct {
	mu    sync.Mutex
	asked []string
}

func (r *recorded) handler(answer func(uri string) http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, req.URL.RequestURI())
		say := answer(req.URL.RequestURI())
		r.mu.Unlock()
		say(w, req)
	}
}

func TestTheQueryOfTheAddressGoesWithEveryQuestion(t *testing.T) {
	t.Parallel()
	list := says(200, "application/json", `{"data":[{"id":"a"}]}`)
	for name, c := range map[string]struct {
		api, wire, tail string
		answers         map[string]http.HandlerFunc
		want            string
	}{
		"plain":             {"openai-chat", "openai-chat", "/v1?api-version=2", nil, "/v1/models?api-version=2"},
		"a whole endpoint":  {"openai-chat", "openai-chat", "/v1/chat/completions?api-version=2", nil, "/v1/models?api-version=2"},
		"a slash before it": {"openai-chat", "openai-chat", "/v1/?api-version=2", nil, "/v1/models?api-version=2"},
		"an escaped path":   {"openai-chat", "openai-chat", "/a%2Fb/v1", nil, "/a%2Fb/v1/models"},
		"pages": {"anthropic", "anthropic", "?team=x", map[string]http.HandlerFunc{
			"/v1/models?limit=1000&team=x": says(200, "application/json", `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`),
		}, "/v1/models?limit=1000&team=x /v1/models?after_id=a&limit=1000&team=x"},
		"the server's own path": {"lmstudio", "openai-chat", "/v1?team=x", nil, "/api/v1/models?team=x"},
		"Gemini's own path":     {"gemini-openai", "openai-chat", "/v1beta/openai?team=x", nil, "/v1beta/models?pageSize=1000&team=x"},
		"Ollama, one by one": {"ollama", "ollama", "?team=x", map[string]http.HandlerFunc{
			"/api/show?team=x": says(200, "application/json", `{"capabilities":["completion"]}`),
		}, "/api/tags?team=x /api/show?team=x"},
	} {
		var r recorded
		e := at(t, r.handler(func(uri string) http.HandlerFunc {
			if f := c.answers[uri]; f != nil {
				return f
			}
			return list
		}))
		e.API, e.Wire, e.URL = c.api, c.wire, strings.TrimSuffix(e.URL, "/v1")+c.tail
		if _, err := Ask(t.Context(), e, Report{}, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(r.asked, " "); got != c.want {
			t.Errorf("%s: asked %s, not %s", name, got, c.want)
		}
	}
}

func TestAnotherPathIsTriedOnlyWhereNothingIs(t *testing.T) {
	t.Parallel()
	json := func(status int, body string) http.HandlerFunc { return says(status, "application/json", body) }
	list, gone := json(200, `{"data":[{"id":"a"}]}`), json(404, `{"error":"not found"}`)
	page := says(200, "text/html", "<html><title>App</title></html>")
	for name, c := range map[string]struct {
		api, tail string
		answers   []http.HandlerFunc // one a question, in their order
		want      string
		kind      provider.Kind // empty: a list came
	}{
		"Gemini behind a proxy without its own list": {
			"gemini-openai", "/v1beta/openai", []http.HandlerFunc{gone, list}, "/v1beta/models?pageSize=1000 /v1beta/openai/models", "",
		},
		"another proxy of Gemini":       {"gemini-openai", "/v1", []http.HandlerFunc{list}, "/v1/models", ""},
		"Gemini says to wait":           {"gemini-openai", "/v1beta/openai", []http.HandlerFunc{json(429, `{}`)}, "/v1beta/models?pageSize=1000", provider.KindBusy},
		"xAI without its longer list":   {"xai", "/v1", []http.HandlerFunc{gone, list}, "/v1/language-models /v1/models", ""},
		"xAI refuses the key":           {"xai", "/v1", []http.HandlerFunc{json(401, `{}`)}, "/v1/language-models", provider.KindKey},
		"a page of an app for any path": {"lmstudio", "/v1", []http.HandlerFunc{page, page, list}, "/api/v1/models /api/v0/models /v1/models", ""},
		"a page at each path":           {"xai", "/v1", []http.HandlerFunc{page, page}, "/v1/language-models /v1/models", provider.KindMalformed},
		"LM Studio says it in a 200": {
			"lmstudio", "/v1", []http.HandlerFunc{json(200, `{"error":"Unexpected endpoint"}`), json(405, `{}`), list}, "/api/v1/models /api/v0/models /v1/models", "",
		},
		"out of order is not away": {"lmstudio", "/v1", []http.HandlerFunc{json(503, `{}`)}, "/api/v1/models", provider.KindBusy},
	} {
		var r recorded
		left := c.answers
		e := at(t, r.handler(func(string) http.HandlerFunc {
			if len(left) == 0 {
				return json(418, `{}`)
			}
			next := left[0]
			left = left[1:]
			return next
		}))
		e.API, e.URL = c.api, strings.TrimSuffix(e.URL, "/v1")+c.tail
		got, err := Ask(t.Context(), e, Report{}, time.Now())
		if asked := strings.Join(r.asked, " "); asked != c.want {
			t.Errorf("%s: asked %s, not %s", name, asked, c.want)
		}
		if c.kind == "" && (err != nil || len(got.Models) != 1) || c.kind != "" && !provider.Is(err, c.kind) {
			t.Errorf("%s: %d models, %v", name, len(got.Models), err)
		}
	}
}

func TestBedrockIsNotAsked(t *testing.T) {
	t.Parallel()
	e := at(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	e.API, e.Wire = "bedrock", "bedrock"
	_, err := Ask(t.Context(), e, Report{}, time.Now())
	if !provider.Is(err, provider.KindRefused) || !strings.Contains(err.Error(), "asks Bedrock for no list") {
		t.Errorf("%v", err)
	}
}

func TestPropertiesThatCannotBeReadAreANote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		props http.HandlerFunc
		notes int
	}{
		"broken":  {says(500, "application/json", `{"error":"boom"}`), 1},
		"cut":     {says(200, "application/json", `{"modalities":`), 1},
		"not had": {says(404, "application/json", `{}`), 0},
	} {
		e := at(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/props" {
				c.props(w, r)
				return
			}
			says(200, "application/json", `{"data":[{"id":"a","owned_by":"llamacpp"}]}`)(w, r)
		})
		e.API = "llamacpp"
		r, err := Ask(t.Context(), e, Report{}, time.Now())
		if err != nil || len(r.Models) != 1 || len(r.Notes) != c.notes {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

func TestAMarkThatIsTooLongIsNotKept(t *testing.T) {
	t.Parallel()
	r, err := Ask(t.Context(), at(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("ETag", `"`+strings.Repeat("x", maxTag)+`"`)
		says(200, "application/json", `{"data":[{"id":"a"}]}`)(w, req)
	}), Report{}, time.Now())
	if err != nil || r.Tag != "" {
		t.Errorf("%d bytes, %v", len(r.Tag), err)
	}
}
