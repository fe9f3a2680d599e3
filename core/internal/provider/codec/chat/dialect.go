package chat

import (
	"net/url"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Dialect is how one provider's chat completions differ from the common ground.
type Dialect struct {
	Name string
	// CompletionTokens names the limit max_completion_tokens instead of max_tokens:
	// OpenAI's newer models refuse the old name, most others know only it.
	CompletionTokens bool
	// NoUsageOption leaves stream_options out, for servers that refuse it.
	NoUsageOption bool
	// Bridge puts a blank assistant message between a tool's and a user's.
	Bridge bool
	// ShortIDs: ids of calls are nine letters or digits.
	ShortIDs bool
	// Thoughts is how reasoning goes back.
	Thoughts Thoughts
	// CacheKey sends Request.CacheKey as prompt_cache_key.
	CacheKey bool
	// CacheHeader is the header that Request.CacheKey goes into; empty: none.
	CacheHeader string
	// SightHeader is the header that a request with pictures needs, set to "true"; empty: none.
	SightHeader string
	// CachedMakers are the beginnings of ids of models that cache nothing unless the
	// request has a cache_control.
	CachedMakers []string
	// CallProofs gives back what came beside a call as extra_content.
	CallProofs bool

	hosts  []string // suffixes of the base URL's host
	models []string // parts of the model's id, wherever it is served
}

// Thoughts is how earlier reasoning is sent back.
type Thoughts int

// The ways of reasoning.
const (
	ThoughtsUnsaid  Thoughts = iota // not at all, unless the model's family wants it
	ThoughtsNever                   // not at all, whatever the family wants
	ThoughtsSome                    // as reasoning_content where there is some
	ThoughtsAlways                  // as reasoning_content on every assistant message
	ThoughtsDetails                 // as reasoning_details, as they came
)

// dialects are the rows; what is not here is the zero Dialect. Names are those of a
// provider's `api` in the config.
var dialects = []Dialect{
	// OpenAI's API reference: max_tokens is deprecated and not taken by the reasoning models;
	// prompt_cache_key there too.
	{Name: "openai", CompletionTokens: true, CacheKey: true, hosts: []string{"api.openai.com", ".openai.azure.com"}},
	// "Unexpected role 'user' after role 'tool'", code 3230: mistral-vibe#578,
	// hermes-agent#20154 (also when NVIDIA NIM or vLLM serves the model). Ids:
	// "must be a-z, A-Z, 0-9, with a length of 9", Mistral's own words.
	{
		Name: "mistral", Bridge: true, ShortIDs: true, hosts: []string{"api.mistral.ai"},
		models: []string{"mistral", "mixtral", "ministral", "codestral", "devstral", "pixtral", "magistral"},
	},
	// "The `reasoning_content` in the thinking mode must be passed back to the API":
	// DeepSeek's guide "Thinking mode", kimi-cli#2141.
	{Name: "deepseek", Thoughts: ThoughtsAlways, hosts: []string{"api.deepseek.com"}, models: []string{"deepseek"}},
	// max_tokens is deprecated: promptfoo#10132. Its usage is in the choice: pi#2017.
	{
		Name: "moonshot", Thoughts: ThoughtsAlways, CompletionTokens: true, hosts: []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"},
		models: []string{"kimi-k2", "kimi-for-coding"},
	},
	// OpenRouter's documentation: "Reasoning tokens" (preserving reasoning blocks: as they
	// came, in their order; agno#5802, req_llm#300), "Prompt caching" (Anthropic's models
	// need a cache_control, which may stand at the root: vscode#312939), "Usage accounting"
	// (always there; stream_options does nothing).
	{Name: "openrouter", Thoughts: ThoughtsDetails, CachedMakers: []string{"anthropic/"}, hosts: []string{"openrouter.ai"}},
	// max_completion_tokens: groq-python#175. A property that it does not know is refused
	// ("property 'store' is unsupported": chatbot#21), so none is sent that its reference lacks.
	{Name: "groq", CompletionTokens: true, Thoughts: ThoughtsNever, hosts: []string{"api.groq.com"}},
	// xAI's documentation, "Maximizing cache hits": the header on this wire. Its reasoning
	// is encrypted, and this wire has no field for it ("Best practices guide").
	{Name: "xai", CacheHeader: "X-Grok-Conv-Id", Thoughts: ThoughtsNever, hosts: []string{"api.x.ai"}},
	// Z.ai's documentation, "Thinking mode": reasoning is preserved and returned together
	// with the tools' results.
	{Name: "zai", Thoughts: ThoughtsSome, hosts: []string{"api.z.ai", "open.bigmodel.cn"}},
	// max_tokens is deprecated (AgentScope's documentation, "MiniMax"). Thinking stays in the
	// content, between <think> tags, and goes back with it (MiniMax's documentation, "Compatible
	// OpenAI API", important note).
	{Name: "minimax", CompletionTokens: true, Thoughts: ThoughtsNever, hosts: []string{"api.minimax.io", "api.minimaxi.com"}},
	// "missing required Copilot-Vision-Request header for vision requests": vscode#292901, litellm#14496.
	{Name: "copilot", SightHeader: "Copilot-Vision-Request", hosts: []string{"githubcopilot.com"}},
	// "Function call is missing a thought_signature in functionCall parts": it comes and goes
	// back as extra_content of the call (ruby_llm#588, dayu-agent#45; Google's documentation,
	// "Thought signatures", OpenAI compatibility).
	{Name: "gemini-openai", CallProofs: true, hosts: []string{"generativelanguage.googleapis.com"}},
	// Servers on a person's own machine, known by their name only. They render the history
	// with the model's own template, which reads reasoning_content; vLLM takes it for its
	// newer name (Hugging Face, froggeric/Qwen-Fixed-Chat-Templates, discussion 88).
	{Name: "vllm", Thoughts: ThoughtsSome},
	{Name: "llamacpp", Thoughts: ThoughtsSome},
	{Name: "lmstudio", Thoughts: ThoughtsSome},
}

// Names are the dialects that have a row.
func Names() []string {
	names := make([]string, len(dialects))
	for i, d := range dialects {
		names[i] = d.Name
	}
	return names
}

// Pick chooses the dialect: the provider's, by its name when that has a row, else by
// the host of the base URL; and what the model's family needs wherever it is served,
// by the model's id. Without either it is the common ground.
func Pick(name, baseURL, model string) Dialect {
	host := ""
	if u, err := url.Parse(baseURL); err == nil {
		host = strings.ToLower(u.Hostname())
	}
	model = strings.ToLower(model)
	family := first(func(d Dialect) bool {
		return slices.ContainsFunc(d.models, func(s string) bool { return strings.Contains(model, s) })
	})
	server := first(func(d Dialect) bool { return name != "" && d.Name == name })
	if server.Name == "" {
		server = first(func(d Dialect) bool {
			return slices.ContainsFunc(d.hosts, func(s string) bool { return strings.HasSuffix(host, s) })
		})
	}
	if server.Name == "" {
		server.Name = family.Name
	}
	server.Bridge = server.Bridge || family.Bridge
	server.ShortIDs = server.ShortIDs || family.ShortIDs
	if server.Thoughts == ThoughtsUnsaid {
		server.Thoughts = family.Thoughts
	}
	return server
}

func first(rule func(Dialect) bool) Dialect {
	if i := slices.IndexFunc(dialects, rule); i >= 0 {
		return dialects[i]
	}
	return Dialect{}
}

// Placements gives the places for a tool's pictures, the usual one first.
func (d Dialect) Placements() []provider.Placement {
	if d.Bridge {
		return []provider.Placement{provider.PlaceBridged, provider.PlaceAfter}
	}
	return []provider.Placement{provider.PlaceAfter, provider.PlaceBridged}
}
