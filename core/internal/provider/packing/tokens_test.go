package packing

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		why, api, model string
		w, h            int
		want            int64
	}{
		{"Anthropic's example", "anthropic", "claude-sonnet-4-5", 1000, 1000, 1296},
		{"Anthropic's 4K example, standard", "anthropic", "claude-sonnet-4-5", 3840, 2160, 1560},
		{"the same, high resolution", "anthropic", "claude-opus-4-8", 3840, 2160, 4784},
		{"a model of the high tier through Bedrock", "bedrock", "us.anthropic.claude-sonnet-5-v1:0", 1920, 1080, 69 * 39},
		{"OpenAI's patch example", "openai", "gpt-4.1-mini", 1024, 1024, 1659},
		{"OpenAI's second patch example, of 1,452 patches", "openai", "o4-mini", 1800, 2400, 2498},
		{"OpenAI's tile example", "openai", "gpt-4o", 1024, 1024, 765},
		{"OpenAI's second tile example", "openai", "gpt-4o", 2048, 4096, 1105},
		{"a small tile", "openai", "gpt-4o", 100, 100, 255},
		{"o3", "openai", "o3", 1024, 1024, 75 + 4*150},
		{"a newer family", "openai", "gpt-5.4", 1080, 1350, 1755},
		{"Gemini's example of six tiles", "gemini", "gemini-2.5-flash", 960, 540, 1548},
		{"Gemini, small", "gemini", "gemini-2.5-flash", 384, 384, 258},
		{"Gemini 3", "gemini", "gemini-3.1-pro", 384, 384, 1120},
		{"Qwen 2.5", "ollama", "qwen2.5vl:7b", 1204, 812, 43*29 + 2},
		{"nobody's rule is known", "", "foo", 751, 1, 2},
		{"no pixels", "", "gpt-4o", 0, 5, 0},
	} {
		if got := Tokens(c.api, c.model, c.w, c.h); got != c.want {
			t.Errorf("%s: %d, want %d", c.why, got, c.want)
		}
	}
}

func TestTokensAreBoundedAndPositive(t *testing.T) {
	models := []string{"claude-3-opus", "claude-opus-5", "gpt-4o", "gpt-5-mini", "gpt-5.4", "o3", "gemini-2.5-pro", "gemini-3-pro", "qwen3-vl", "foo"}
	rapid.Check(t, func(t *rapid.T) {
		model := rapid.SampledFrom(models).Draw(t, "model")
		w, h := rapid.IntRange(1, 10_000).Draw(t, "w"), rapid.IntRange(1, 10_000).Draw(t, "h")
		n := Tokens("", model, w, h)
		if n < 1 || n > 200_000 {
			t.Fatalf("%s, %d × %d: %d", model, w, h, n)
		}
	})
}
