package listing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// The shapes of the services are stories of the package discovery, which asks for
// them; here is what holds for any text.

func TestAnAnswerWithoutAListIsAnError(t *testing.T) {
	for _, body := range []string{``, `{`, `null`, `7`, `{}`, `{"data":null}`, `{"data":{}}`, `{"error":"Unexpected endpoint"}`, `[1,`} {
		if p, err := Read([]byte(body)); err == nil {
			t.Errorf("Read(%q) = %+v", body, p)
		}
	}
	for _, body := range []string{`[]`, `{"data":[]}`, `{"models":[]}`, `[null, 7, "x"]`} {
		if p, err := Read([]byte(body)); err != nil || len(p.Models) != 0 {
			t.Errorf("Read(%q) = %+v, %v", body, p, err)
		}
	}
}

func TestSizesAreReadOffNames(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"7.6B", 7.6}, {"Qwen3-30B-A3B", 30}, {"mixtral-8x7b", 56}, {"270M", 0.27}, {"gemma3:4b", 4}, {"a3b", 0}, {"gpt-4o", 0}, {"", 0},
		{"qwen3-coder:30b", 30}, {"qwen3-30b-a3b", 30}, {"llama3.2:1b", 1}, {"qwen2.5-0.5b-instruct", .5}, {"30.5B", 30.5}, {"137M", .137}, {"gpt-oss:120b", 120}, {"gemma3n:e4b", 0}, {"claude", 0}, {"x-7bit", 0}, {"phi-4", 0},
	} {
		if got := FirstSize(c.text); got != c.want {
			t.Errorf("FirstSize(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}

func TestTooManyModelsAreLeftOutAndSaid(t *testing.T) {
	var b strings.Builder
	b.WriteString("[")
	for i := range maxModels + 10 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":"m` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + `"}`)
	}
	p, err := Read([]byte(b.String() + "]"))
	if err != nil || len(p.Notes) != 2 || !strings.Contains(strings.Join(p.Notes, " "), "20010") {
		t.Errorf("%q, %v", p.Notes, err)
	}
}

func FuzzRead(f *testing.F) {
	stories, err := filepath.Glob("../../discovery/testdata/*.txtar")
	if err != nil || len(stories) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range stories {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
				f.Add([]byte(line))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m := provider.Listed{ID: "x"}
		_, _ = ReadShow(body, &m), ReadProps(body, &m)
		p, err := Read(body)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, m := range append(p.Models, m) {
			if m.ID == "" || len(m.ID) > maxID || seen[m.ID] && m.ID != "x" || strings.ContainsFunc(m.ID, unicode.IsControl) {
				t.Errorf("id %q", m.ID)
			}
			seen[m.ID] = true
			if (m.Sight != vision.Unknown) != (m.Field != "") || m.Context < 0 || m.MaxOutput < 0 {
				t.Errorf("%+v", m)
			}
		}
	})
}
