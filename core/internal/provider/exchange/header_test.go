package exchange

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
)

// answers is a codec that takes whatever comes.
type answers struct{ got []string }

func (a *answers) Event(_ string, data []byte) (provider.Delta, error) {
	a.got = append(a.got, string(data))
	return provider.Delta{Text: string(data)}, nil
}

func (a *answers) Whole(body []byte) (provider.Delta, error) { return a.Event("", body) }
func (a *answers) Finish() (provider.Response, error)        { return provider.Response{}, nil }

func TestHeadersOfOneRequest(t *testing.T) {
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = io.WriteString(w, "{}\n")
	}))
	defer s.Close()
	client := New(Options{Headers: map[string]string{"X-Mine": "the person's"}}, Wire{
		URL:     s.URL,
		Encode:  func(provider.Request) ([]byte, []provider.Receipt, error) { return []byte("{}"), nil, nil },
		Decoder: func(provider.Request) Decoder { return &answers{} },
		HeaderOf: func(r provider.Request) map[string]string {
			if r.CacheKey == "" {
				return nil
			}
			return map[string]string{"X-Key": r.CacheKey, "X-Mine": "the wire's"}
		},
	})
	for _, key := range []string{"a", "", "b"} { // one request leaves nothing to the next
		if _, err := client.Stream(t.Context(), provider.Request{CacheKey: key}, nil); err != nil {
			t.Fatal(err)
		}
		if got.Get("X-Key") != key || got.Get("X-Mine") != "the person's" {
			t.Errorf("%q: %v", key, got)
		}
	}
	if client.Placements("m") != nil {
		t.Error("a wire that tells no places has some")
	}
}

func TestJSONLines(t *testing.T) {
	for _, row := range []struct{ why, body, want string }{
		{"lines", "{\"a\":1}\n\n{\"b\":2}\r\n", `{"a":1} {"b":2}`},
		{"the last without its end", "{\"a\":1}\n{\"b\":2}", `{"a":1} {"b":2}`},
		{"nothing", "", ""},
		{"no JSON at all is the decoder's to refuse", "hello\n", "hello"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, row.body) }))
		dec := &answers{}
		client := New(Options{}, Wire{
			URL: s.URL, Lines: true, Decoder: func(provider.Request) Decoder { return dec },
			Encode: func(provider.Request) ([]byte, []provider.Receipt, error) { return []byte("{}"), nil, nil },
		})
		var said strings.Builder
		_, err := client.Stream(t.Context(), provider.Request{}, func(d provider.Delta) { said.WriteString(d.Text) })
		if got := strings.Join(dec.got, " "); got != row.want || err != nil || said.String() != strings.ReplaceAll(row.want, " ", "") {
			t.Errorf("%s: %q, %q, %v", row.why, got, said.String(), err)
		}
		s.Close()
	}
}
