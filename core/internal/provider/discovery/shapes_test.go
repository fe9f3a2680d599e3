package discovery

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/secret"
)

// host plays one endpoint from a story: files are named "METHOD /path?query" and hold
// the answer; the key has to be in the header that the story names.
type host struct {
	t      *testing.T
	files  map[string]string
	header string // the header that has to hold the key, and how
	mu     sync.Mutex
	asked  []string
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	name := r.Method + " " + r.URL.RequestURI()
	h.asked = append(h.asked, name)
	h.mu.Unlock()
	if name, value, ok := strings.Cut(h.header, ": "); ok && r.Header.Get(name) != value {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"no key in %s"}}`, name)
		return
	}
	if r.Header.Get("X-Goog-Api-Key") != "" && r.Header.Get("Authorization") != "" {
		h.t.Error("Gemini's own list refuses a key that comes as a bearer token too")
	}
	body, ok := h.files[name]
	if r.Method == http.MethodPost {
		raw := make([]byte, 1<<10)
		n, _ := r.Body.Read(raw)
		body, ok = h.files[name+" "+string(raw[:n])]
	}
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"error":"not found"}`)
		return
	}
	_, _ = fmt.Fprint(w, body)
}

// TestEveryShapeOfListIsRead plays the list of each service as its API reference shows
// it. The first line of a story is its sentence; the next say api, wire, path and the
// header of the key.
func TestEveryShapeOfListIsRead(t *testing.T) {
	t.Parallel()
	stories, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(stories) < 20 {
		t.Fatalf("%d stories: %v", len(stories), err)
	}
	for _, file := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			set, files := readStory(t, file)
			want := files["want"]
			h := &host{t: t, files: files, header: set["key"]}
			srv := httptest.NewServer(h)
			defer srv.Close()
			e := Endpoint{Name: "p", API: set["api"], Wire: set["wire"], URL: srv.URL + set["path"], KeyRef: "env:KEY"}
			if set["key"] != "" {
				e.Key = secret.New("s3cret")
			}
			r, err := Ask(t.Context(), e, Report{}, time.Now())
			if err != nil {
				t.Fatalf("%v\nasked %q", err, h.asked)
			}
			if got := table(r); strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("got\n%s\nwant\n%s\nasked %q", got, want, h.asked)
			}
		})
	}
}

// readStory reads a story: lines of name=value, then files between lines "-- name --".
func readStory(t *testing.T, file string) (set, files map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set, files = map[string]string{}, map[string]string{}
	at := ""
	for line := range strings.Lines(string(text)) {
		name, value, pair := strings.Cut(strings.TrimSpace(line), "=")
		switch {
		case strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --\n"):
			at = strings.TrimSuffix(strings.TrimPrefix(line, "-- "), " --\n")
		case at != "":
			files[at] += line
		case pair:
			set[name] = value
		}
	}
	return set, files
}

// table writes a report as stories do: id, sight, chat, tools, context, most output,
// prices, size, and the field that told the sight.
func table(r Report) string {
	said := func(b *bool) string {
		if b == nil {
			return "?"
		}
		return map[bool]string{true: "yes", false: "no"}[*b]
	}
	var b strings.Builder
	for _, m := range r.Models {
		price := "-"
		if m.Price != (provider.ListedPrice{}) {
			price = fmt.Sprintf("%.4g/%.4g", *m.Price.Input, *m.Price.Output)
		}
		field := m.Field
		if field == "" {
			field = "-"
		}
		_, _ = fmt.Fprintln(&b, strings.Join([]string{
			m.ID, m.Sight.String(), said(m.Chat), said(m.Tools), strconv.Itoa(m.Context), strconv.Itoa(m.MaxOutput), price,
			strconv.FormatFloat(m.Size, 'f', -1, 64), field,
		}, " "))
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + n + "\n")
	}
	return b.String()
}
