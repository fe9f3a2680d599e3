package chat

import (
	"net/url"
	"slices"
	"strings"
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
	// Reasoning sends reasoning back as reasoning_content, on every assistant message.
	Reasoning bool

	hosts  []string // suffixes of the base URL's host
	models []string // parts of the model's id, wherever it is served
}

// dialects are the rows; what is not here is the zero Dialect.
var dialects = []Dialect{
	// OpenAI's API reference: max_tokens is deprecated and not taken by the reasoning models.
	{Name: "openai", CompletionTokens: true, hosts: []string{"api.openai.com", ".openai.azure.com"}},
	// "Unexpected role 'user' after role 'tool'", code 3230: mistral-vibe#578,
	// hermes-agent#20154 (also when NVIDIA NIM or vLLM serves the model). Ids:
	// "must be a-z, A-Z, 0-9, with a length of 9", Mistral's own words.
	{
		Name: "mistral", Bridge: true, ShortIDs: true, hosts: []string{"api.mistral.ai"},
		models: []string{"mistral", "mixtral", "ministral", "codestral", "devstral", "pixtral", "magistral"},
	},
	// "The `reasoning_content` in the thinking mode must be passed back to the API":
	// DeepSeek's guide "Thinking mode", kimi-cli#2141.
	{Name: "deepseek", Reasoning: true, hosts: []string{"api.deepseek.com"}, models: []string{"deepseek"}},
	{
		Name: "kimi", Reasoning: true, hosts: []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"},
		models: []string{"kimi-k2", "kimi-for-coding"},
	},
}

// Names are the dialects that have a row.
func Names() []string {
	names := make([]string, len(dialects))
	for i, d := range dialects {
		names[i] = d.Name
	}
	return names
}

// Pick chooses the dialect: by its name when one is given, else by the host of the
// base URL, else by the model's id. A name without a row is the common ground.
func Pick(name, baseURL, model string) Dialect {
	host := ""
	if u, err := url.Parse(baseURL); err == nil {
		host = strings.ToLower(u.Hostname())
	}
	model = strings.ToLower(model)
	rules := []func(Dialect) bool{
		func(d Dialect) bool { return name != "" && d.Name == name },
		func(d Dialect) bool {
			return name == "" && slices.ContainsFunc(d.hosts, func(s string) bool { return strings.HasSuffix(host, s) })
		},
		func(d Dialect) bool {
			return name == "" && slices.ContainsFunc(d.models, func(s string) bool { return strings.Contains(model, s) })
		},
	}
	for _, rule := range rules {
		if i := slices.IndexFunc(dialects, rule); i >= 0 {
			return dialects[i]
		}
	}
	return Dialect{}
}
