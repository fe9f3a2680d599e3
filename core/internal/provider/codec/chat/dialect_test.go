package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
)

func TestDialects(t *testing.T) {
	mistral, _ := encode(t, looked(), Pick("mistral", "", ""))
	if got := roles(mistral); got != "system user assistant tool assistant user user" || mistral.Messages[4].Content != " " {
		t.Errorf("Mistral's bridge: %s, %q", got, mistral.Messages[4].Content)
	}
	call, result := mistral.Messages[2].ToolCalls[0].ID, mistral.Messages[3].ToolCallID
	if len(call) != shortID || call != result || strings.ContainsFunc(call, notAlphanumeric) {
		t.Errorf("Mistral's ids: %q, %q", call, result)
	}
	deepseek, _ := encode(t, looked(), Pick("", "https://api.deepseek.com/v1", "x"))
	if got := deepseek.Messages[2].ReasoningContent; got != "hm" {
		t.Errorf("DeepSeek's reasoning is %q", got)
	}
	openai, _ := encode(t, looked(), Pick("", "https://api.openai.com/v1", "gpt"))
	if openai.MaxTokens != 0 || openai.MaxCompletionTokens != 9 {
		t.Errorf("OpenAI's limit: %+v", openai)
	}
}

func TestPick(t *testing.T) {
	for _, row := range []struct{ why, name, base, model, want string }{
		{"nothing is known", "", "https://host/v1", "qwen3", ""},
		{"by the host", "", "https://api.mistral.ai/v1", "x", "mistral"},
		{"by the model, wherever it is served", "", "https://integrate.api.nvidia.com/v1", "mistralai/Devstral-Small", "mistral"},
		{"the host comes before the model", "", "https://api.openai.com/v1", "mistral-like", "openai"},
		{"the name comes first", "deepseek", "https://api.openai.com/v1", "mistral", "deepseek"},
		{"a name without a row is passed over", "plain", "https://api.openai.com/v1", "mistral", "openai"},
		{"a host that only looks like one", "", "https://api.openai.com.example/v1", "x", ""},
		{"Azure", "", "https://me.openai.azure.com/openai", "x", "openai"},
		{"a company's Copilot", "", "https://api.business.githubcopilot.com", "gpt", "copilot"},
		{"a server at home", "vllm", "http://127.0.0.1:8000/v1", "qwen3", "vllm"},
	} {
		if got := Pick(row.name, row.base, row.model).Name; got != row.want {
			t.Errorf("%s: %q", row.why, got)
		}
	}
	names := Names()
	for i, name := range names {
		if slices.Index(names, name) != i {
			t.Errorf("two rows are named %s", name)
		}
	}
}

// What a family needs, it needs wherever it is served; how reasoning goes back is the
// server's to say first.
func TestAFamilyKeepsItsNeedsElsewhere(t *testing.T) {
	for _, row := range []struct {
		base, model string
		bridge      bool
		thoughts    Thoughts
	}{
		{"https://openrouter.ai/api/v1", "mistralai/mistral-medium-3.1", true, ThoughtsDetails},
		{"https://openrouter.ai/api/v1", "deepseek/deepseek-v3.2", false, ThoughtsDetails},
		{"https://api.groq.com/openai/v1", "moonshotai/kimi-k2-instruct", false, ThoughtsNever},
		{"https://integrate.api.nvidia.com/v1", "deepseek-ai/deepseek-v3.1", false, ThoughtsAlways},
		{"https://api.githubcopilot.com", "gpt-5", false, ThoughtsUnsaid},
	} {
		d := Pick("", row.base, row.model)
		usual := provider.PlaceAfter
		if row.bridge {
			usual = provider.PlaceBridged
		}
		if d.Bridge != row.bridge || d.ShortIDs != row.bridge || d.Thoughts != row.thoughts || d.Placements()[0] != usual || len(d.Placements()) != 2 {
			t.Errorf("%s at %s: %+v", row.model, row.base, d)
		}
	}
}

func TestPlacement(t *testing.T) {
	for _, row := range []struct {
		model string
		place provider.Placement
		want  string
	}{
		{"qwen", "", "system user assistant tool user user"},
		{"qwen", provider.PlaceInside, "system user assistant tool user user"}, // it has no inside
		{"qwen", provider.PlaceBridged, "system user assistant tool assistant user user"},
		{"mistral", "", "system user assistant tool assistant user user"},
		{"mistral", provider.PlaceInside, "system user assistant tool assistant user user"},
		{"mistral", provider.PlaceAfter, "system user assistant tool user user"},
	} {
		r := looked()
		r.Placement = row.place
		s, receipts := encode(t, r, Pick("", "", row.model))
		if got := roles(s); got != row.want || len(receipts) != 1 {
			t.Errorf("%s, %q: %s, %d receipts", row.model, row.place, got, len(receipts))
		}
	}
}

// body is the whole body, for the fields that one dialect has.
func body(t *testing.T, r provider.Request, d Dialect) map[string]any {
	t.Helper()
	raw, _, err := Encode(r, d)
	var m map[string]any
	if err != nil || json.Unmarshal(raw, &m) != nil {
		t.Fatalf("%s, %v", raw, err)
	}
	return m
}

func TestCache(t *testing.T) {
	r := looked()
	r.CacheKey = "attempt-1"
	for _, row := range []struct {
		base, model string
		key         any
		control     any
		headers     map[string]string
	}{
		{"https://api.openai.com/v1", "gpt", "attempt-1", nil, nil},
		{"https://api.x.ai/v1", "grok", nil, nil, map[string]string{"X-Grok-Conv-Id": "attempt-1"}},
		{"https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5", nil, map[string]any{"type": "ephemeral"}, nil},
		{"https://openrouter.ai/api/v1", "openai/gpt", nil, nil, nil},
		{"https://api.githubcopilot.com", "gpt", nil, nil, map[string]string{"Copilot-Vision-Request": "true"}},
		{"http://127.0.0.1:8000/v1", "qwen", nil, nil, nil},
	} {
		r.Model = row.model
		d := Pick("", row.base, row.model)
		m := body(t, r, d)
		if diff := cmp.Diff([]any{row.key, row.control, row.headers}, []any{m["prompt_cache_key"], m["cache_control"], Headers(r, d)}); diff != "" {
			t.Errorf("%s at %s:\n%s", row.model, row.base, diff)
		}
	}
	r.CacheKey, r.Messages = "", r.Messages[:1]
	for _, name := range Names() {
		if h := Headers(r, Pick(name, "", "")); h != nil {
			t.Errorf("%s: without a key and a picture: %v", name, h)
		}
	}
	for _, odd := range []string{"a b", "a\r\nX-Other: 1", strings.Repeat("x", 65), "é"} {
		if got := cacheKey(odd); len(got) != 64 || strings.ContainsFunc(got, notAlphanumeric) || got == cacheKey(odd+"x") {
			t.Errorf("%q goes out as %q", odd, got)
		}
	}
}
