package listing

import (
	"encoding/json"
	"fmt"
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
		{"7.6B", 7.6},
		{"Qwen3-30B-A3B", 30},
		{"mixtral-8x7b", 56},
		{"270M", 0.27},
		{"gemma3:4b", 4},
		{"a3b", 0},
		{"gpt-4o", 0},
		{"", 0},
		{"qwen3-coder:30b", 30},
		{"qwen3-30b-a3b", 30},
		{"llama3.2:1b", 1},
		{"qwen2.5-0.5b-instruct", .5},
		{"30.5B", 30.5},
		{"137M", .137},
		{"gpt-oss:120b", 120},
		{"gemma3n:e4b", 0},
		{"claude", 0},
		{"x-7bit", 0},
		{"phi-4", 0},
	} {
		if got := FirstSize(c.text); got != c.want {
			t.Errorf("FirstSize(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}

func TestTooManyModelsAreLeftOutAndSaid(t *testing.T) {
	var b strings.Builder
	b.WriteString("[")
	for i := range MaxModels + 10 {
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

// deceives is written apart from what the package goes by.
func deceives(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

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
		for _, m := range p.Models {
			if m.ID == "" || len(m.ID) > maxID || seen[m.ID] || strings.ContainsFunc(m.ID, deceives) || strings.ContainsFunc(m.Name+m.Remote, deceives) {
				t.Errorf("id %q, name %q, remote %q", m.ID, m.Name, m.Remote)
			}
			seen[m.ID] = true
		}
		for _, m := range append(p.Models, m) {
			if _, err := json.Marshal(m); err != nil {
				t.Errorf("%+v cannot be kept: %v", m, err)
			}
			if (m.Sight != vision.Unknown) != (m.Field != "") || m.Context < 0 || m.MaxOutput < 0 {
				t.Errorf("%+v", m)
			}
		}
	})
}

func TestPricesAreUSDForAMillionTokensWhateverTheUnit(t *testing.T) {
	for _, c := range []struct {
		why, entry    string
		input, output float64 // below zero: not known
	}{
		{"OpenRouter: texts, a token", `"pricing":{"prompt":"0.000003","completion":"0.000015"}`, 3, 15},
		{"OpenRouter: it depends", `"pricing":{"prompt":"-1","completion":"-1"}`, -1, -1},
		{"OpenRouter: free", `"pricing":{"prompt":"0","completion":"0"}`, 0, 0},
		{"Vercel: texts, a token", `"pricing":{"input":"0.000002","output":"0.000012"}`, 2, 12},
		{"Together: numbers, a million", `"pricing":{"hourly":0,"input":0.06,"output":0.88,"base":0}`, .06, .88},
		{"DeepInfra: numbers, a million", `"metadata":{"pricing":{"input_tokens":0.38,"output_tokens":0.89}}`, .38, .89},
		{"Novita: ten-thousandths, a million", `"input_token_price_per_m":3900,"output_token_price_per_m":3900`, .39, .39},
		{"xAI: cents, a hundred million", `"prompt_text_token_price":30000,"completion_text_token_price":150000`, 3, 15},
		{"half of it", `"pricing":{"prompt":"0.000003"}`, -1, -1},
		{"no number", `"pricing":{"prompt":"NaN","completion":"Inf"}`, -1, -1},
		{"a unit that nobody has", `"pricing":{"prompt":"3","completion":"15"}`, -1, -1},
	} {
		p, err := Read([]byte(`[{"id":"m",` + c.entry + `}]`))
		if err != nil {
			t.Fatal(err)
		}
		shown := func(f *float64) string {
			if f == nil {
				return "-1"
			}
			return fmt.Sprintf("%.6g", *f)
		}
		price := p.Models[0].Price
		if shown(price.Input) != fmt.Sprint(c.input) || shown(price.Output) != fmt.Sprint(c.output) {
			t.Errorf("%s: %s and %s", c.why, shown(price.Input), shown(price.Output))
		}
	}
}

func TestTwoListsInOneAnswerAreReadInTimeOfTheirLength(t *testing.T) {
	var b strings.Builder
	for i := range MaxModels {
		_, _ = fmt.Fprintf(&b, `,{"id":"m%d","owned_by":"o%d","capabilities":["completion","multimodal"]}`, i, i)
	}
	list := "[" + b.String()[1:] + "]"
	data := strings.ReplaceAll(list, `"capabilities":["completion","multimodal"]`, `"x":1`)
	p, err := Read([]byte(`{"data":` + data + `,"models":` + list + `}`))
	if err != nil || len(p.Models) != MaxModels || len(p.Owners) != maxOwners {
		t.Fatalf("%d models, %d owners, %v", len(p.Models), len(p.Owners), err)
	}
	for _, m := range p.Models { // a comparison of each with each would take minutes
		if m.Sight != vision.Sees || m.Field != "models.capabilities" {
			t.Fatalf("%+v", m)
		}
	}
}
