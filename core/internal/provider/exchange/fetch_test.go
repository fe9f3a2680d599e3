package exchange

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/secret"
)

func TestAQuestionThatIsNoModelCallHasTheKeyAndItsBounds(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-Key") != "sk-the-key-0001" || r.Header.Get("X-More") != "yes" || r.Header.Get("Accept") != "application/json" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch {
		case r.URL.Path == "/large":
			_, _ = io.WriteString(w, strings.Repeat(" ", 2000))
		case r.URL.Path == "/page":
			_, _ = io.WriteString(w, "<html>Sign in with sk-the-key-0001</html>")
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		default:
			_, _ = io.WriteString(w, r.Method+" "+string(body))
		}
	}))
	defer srv.Close()
	c := New(Options{Provider: "p", BaseURL: srv.URL, Key: secret.New("sk-the-key-0001"), Headers: map[string]string{"X-More": "yes"}}, Wire{URL: srv.URL, KeyHeader: "X-Key"})
	for _, row := range []struct {
		why  string
		f    Fetch
		want string
		kind provider.Kind
	}{
		{"a question", Fetch{URL: srv.URL, Most: 1000}, "GET ", ""},
		{"with a body", Fetch{URL: srv.URL, Body: []byte(`{}`), Most: 1000}, "POST {}", ""},
		{"as before", Fetch{URL: srv.URL, Header: map[string]string{"If-None-Match": "x"}, Most: 1000}, "", ""},
		{"over the limit", Fetch{URL: srv.URL + "/large", Most: 1000}, "", provider.KindLarge},
		{"a web page", Fetch{URL: srv.URL + "/page", Most: 1000}, "", provider.KindMalformed},
	} {
		got, err := c.Fetch(t.Context(), row.f)
		if row.kind == "" && (err != nil || string(got.Body) != row.want) || row.kind != "" && !provider.Is(err, row.kind) {
			t.Errorf("%s: %q, %v", row.why, got.Body, err)
		}
		if e, ok := errors.AsType[*provider.Error](err); ok && strings.Contains(fmt.Sprintf("%+v", *e), "sk-the-key-0001") {
			t.Errorf("%s: the key is in the error: %v", row.why, err)
		}
	}
}
