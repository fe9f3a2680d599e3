package catalog

import (
	"cmp"
	"slices"
)

// Tier is how strong a model is among those of its day. The zero value means
// that nobody knows.
type Tier int

// The tiers, weakest first.
const (
	TierUnknown Tier = iota
	TierEasy
	TierNormal
	TierHard
	TierTop
)

// ranked is a model that is proposed, with what is our judgement of it.
type ranked struct {
	id   string
	tier Tier
	old  bool // a newer one does the same for less: known, but not proposed
}

// tiers are the models that a configuration is proposed from, by api. All else that is
// known of them is in the table; a test holds that each is there.
var tiers = map[string][]ranked{
	"anthropic": {
		{"claude-haiku-4-5", TierEasy, false},
		{"claude-sonnet-5", TierNormal, false},
		{"claude-opus-5", TierHard, true},
		{"claude-opus-5-5", TierHard, false},
	},
	"openai": {
		{"gpt-6-luna", TierEasy, false},
		{"gpt-5.4-mini", TierNormal, false},
		{"gpt-6-sol", TierHard, false},
		{"gpt-6-astra", TierTop, false},
	},
	"openrouter": {
		{"z-ai/glm-5.3-flash", TierEasy, false},
		{"anthropic/claude-haiku-4.5", TierNormal, false},
		{"google/gemini-3.8-flash", TierNormal, false},
		{"anthropic/claude-sonnet-5", TierHard, false},
		{"moonshotai/kimi-k3", TierHard, false},
		{"openai/gpt-6-sol", TierHard, false},
		{"anthropic/claude-opus-5.5", TierTop, false},
	},
	"gemini-openai": {
		{"gemini-3.5-flash-lite", TierEasy, false},
		{"gemini-3.8-flash", TierNormal, false},
		{"gemini-3.1-pro-preview", TierHard, false},
	},
	"mistral": {
		{"mistral-small-latest", TierEasy, false},
		{"devstral-latest", TierNormal, false},
		{"mistral-large-latest", TierNormal, false},
		{"mistral-medium-latest", TierHard, false},
	},
	"xai": {
		{"grok-4-1-fast", TierEasy, false},
		{"grok-4.3", TierNormal, false},
		{"grok-4.7", TierHard, false},
	},
	"groq": {
		{"meta-llama/llama-4-scout-17b-16e-instruct", TierEasy, false},
		{"openai/gpt-oss-20b", TierEasy, false},
		{"openai/gpt-oss-120b", TierNormal, false},
		{"qwen/qwen3.8-27b", TierNormal, false},
	},
	"deepseek": {
		{"deepseek-v4-flash", TierEasy, false},
		{"deepseek-v4-pro", TierHard, false},
	},
	"zai": {
		{"glm-5.3-flash", TierEasy, false},
		{"glm-5v-turbo", TierNormal, false},
		{"glm-5.3", TierHard, false},
	},
	"moonshot": {
		{"kimi-k2.5", TierEasy, false},
		{"kimi-k2.7-code", TierNormal, false},
		{"kimi-k3", TierHard, false},
	},
	"qwen": {
		{"qwen3.8-flash", TierEasy, false},
		{"qwen3.7-plus", TierNormal, false},
		{"qwen3.8-max", TierHard, false},
	},
	"cerebras": {
		{"llama3.1-8b", TierEasy, false},
		{"gpt-oss-120b", TierNormal, false},
		{"zai-glm-4.7", TierHard, false},
	},
	"minimax": {
		{"MiniMax-M2.7", TierNormal, false},
		{"MiniMax-M3", TierHard, false},
	},
}

// Vendor gives what the built-in catalogue knows of the models of one api that are
// worth proposing, weakest first.
func Vendor(api string) []Known { return BuiltIn().Vendor(api) }

// Vendor gives the models of one api that are worth proposing and that the table has,
// weakest first.
func (t *Table) Vendor(api string) []Known {
	var list []Known
	for _, m := range tiers[api] {
		if k, ok := t.Find(api, "", m.id); ok && k.Route != "" {
			k.Tier, k.Old, k.Name = m.tier, m.old, k.Words()
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b Known) int { return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.ID, b.ID)) })
	return list
}
