package packing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLimitsOfAService(t *testing.T) {
	both := []string{pngType, jpegType}
	for _, c := range []struct {
		why, api, wire, model string
		want                  Limits
	}{
		{"Anthropic", "anthropic", "anthropic", "claude-opus-5", Limits{Edge: 8000, ManyEdge: 2000, Many: 20, Pictures: 100, PictureBytes: 3_932_160, RequestBytes: 32_000_000}},
		{"another service on the wire of Anthropic", "", "anthropic", "x", Limits{Edge: 8000, ManyEdge: 2000, Many: 20, Pictures: 100, PictureBytes: 3_932_160, RequestBytes: 32_000_000}},
		{"Claude on Bedrock keeps both", "bedrock", "bedrock", "eu.anthropic.claude-sonnet-4-5-v1:0", Limits{Edge: 8000, ManyEdge: 2000, Many: 20, Pictures: 20, PictureBytes: 3_750_000, RequestBytes: 20_000_000}},
		{"Nova on Bedrock", "bedrock", "bedrock", "amazon.nova-pro-v1:0", Limits{Edge: 8000, Pictures: 20, PictureBytes: 3_750_000, RequestBytes: 20_000_000}},
		{"Grok through OpenRouter", "openrouter", "openai-chat", "x-ai/grok-4.6", Limits{
			Edge: 2000, Pictures: 20, PictureBytes: ampleBytes, RequestBytes: 20_000_000, MinEdge: 32, MaxAspect: 200, MinPixels: 512, Kinds: both,
		}},
		{"nobody knows it", "", "openai-chat", "foo", Limits{Edge: 2000, Pictures: 20, PictureBytes: ampleBytes, RequestBytes: 20_000_000, MinEdge: 32, MaxAspect: 200}},
		{"Groq", "groq", "openai-chat", "llama-4-scout", Limits{Pictures: 5, PictureBytes: 3_000_000, RequestBytes: 4_000_000, MaxPixels: 33_177_600}},
		{"Qwen on Ollama", "ollama", "ollama", "qwen3-vl:8b", Limits{MinEdge: 32, MaxAspect: 200, Kinds: both}},
	} {
		if diff := cmp.Diff(c.want, LimitsOf(c.api, c.wire, c.model)); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
	}
}

func TestLimitsAreACopy(t *testing.T) {
	l := LimitsOf("xai", "", "grok-4")
	l.Kinds[0] = "changed"
	if again := LimitsOf("xai", "", "grok-4"); again.Kinds[0] != pngType {
		t.Error("a caller changed the table")
	}
}

func TestARowNamesItsSourceAndNoServiceTwice(t *testing.T) {
	seen := map[string]string{}
	for _, r := range slices.Concat(services, families, []row{unknown}) {
		if r.name == "" || r.source == "" {
			t.Errorf("%+v has no name or source", r)
		}
		for _, api := range r.apis {
			if seen[api] != "" {
				t.Errorf("%s is in %s and %s", api, seen[api], r.name)
			}
			seen[api] = r.name
		}
		if l := r.Limits; l.Edge > 0 && l.MinEdge > l.Edge || l.PictureBytes > 0 && l.RequestBytes > 0 && l.PictureBytes > l.RequestBytes {
			t.Errorf("%s contradicts itself", r.name)
		}
	}
	for wire, api := range byWire {
		if seen[api] == "" {
			t.Errorf("the wire %s leads to %s, which has no row", wire, api)
		}
	}
}

// drawn is a row as docs/pictures.md shows it.
func drawn(r row) string {
	number := func(n int) string {
		s := fmt.Sprint(n)
		for at := len(s) - 3; at > 0; at -= 3 {
			s = s[:at] + "," + s[at:]
		}
		return s
	}
	if1 := func(n int, format string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(format, number(n))
	}
	edge := if1(r.Edge, "%s")
	if r.ManyEdge > 0 {
		edge += fmt.Sprintf("; %s with more than %d", number(r.ManyEdge), r.Many)
	}
	var small []string
	for _, s := range []string{if1(r.MinEdge, "%s px a side"), if1(r.MinPixels, "%s px in all"), if1(r.MaxAspect, "%s:1 at most")} {
		if s != "" {
			small = append(small, s)
		}
	}
	var kinds []string
	for _, k := range r.Kinds {
		kinds = append(kinds, strings.TrimPrefix(k, "image/"))
	}
	cells := []string{
		r.name, edge, if1(r.MaxPixels, "%s"), if1(r.Pictures, "%s"), if1(r.PictureBytes, "%s"), if1(r.RequestBytes, "%s"),
		strings.Join(small, ", "), strings.Join(kinds, ", "), r.source,
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func TestTheDocumentShowsTheRows(t *testing.T) {
	name := filepath.Join("..", "..", "..", "..", "docs", "pictures.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range slices.Concat(services, []row{unknown}, families) {
		rows = append(rows, drawn(r))
	}
	if want := strings.Join(rows, "\n"); !strings.Contains(string(text), want) {
		t.Errorf("docs/pictures.md has not the rows of the code; put these there:\n%s", want)
	}
}
