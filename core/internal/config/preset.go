package config

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Preset is what a provider's `api` stands for: a wire, and what is known of the
// service behind it. Base URLs and variable names are those of the vendors' own
// documentation.
type Preset struct {
	Wire    string // anthropic, openai-chat, openai-responses, gemini, bedrock, ollama or rehearsal
	URL     string // base of the service; empty: the person must give one, or none is needed
	KeyEnv  string // the variable that usually holds the key; empty: no key needed, or no usual name
	Local   bool   // runs on the person's own machines: private by default on such an address
	TextAPI bool   // the service takes no pictures at all, so a model of unknown sight gets words
}

// presets are rows over the wires.
var presets = map[string]Preset{
	"anthropic":        {Wire: "anthropic", URL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
	"openai-chat":      {Wire: "openai-chat"},
	"openai-responses": {Wire: "openai-responses", URL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
	"gemini":           {Wire: "gemini", URL: "https://generativelanguage.googleapis.com/v1beta", KeyEnv: "GEMINI_API_KEY"},
	"bedrock":          {Wire: "bedrock"},
	"ollama":           {Wire: "ollama", URL: "http://127.0.0.1:11434", Local: true},
	"rehearsal":        {Wire: "rehearsal"},

	"openai":        {Wire: "openai-chat", URL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
	"openrouter":    {Wire: "openai-chat", URL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY"},
	"mistral":       {Wire: "openai-chat", URL: "https://api.mistral.ai/v1", KeyEnv: "MISTRAL_API_KEY"},
	"xai":           {Wire: "openai-chat", URL: "https://api.x.ai/v1", KeyEnv: "XAI_API_KEY"},
	"groq":          {Wire: "openai-chat", URL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY"},
	"deepseek":      {Wire: "openai-chat", URL: "https://api.deepseek.com/v1", KeyEnv: "DEEPSEEK_API_KEY", TextAPI: true},
	"zai":           {Wire: "openai-chat", URL: "https://api.z.ai/api/paas/v4", KeyEnv: "ZAI_API_KEY"},
	"moonshot":      {Wire: "openai-chat", URL: "https://api.moonshot.ai/v1", KeyEnv: "MOONSHOT_API_KEY"},
	"qwen":          {Wire: "openai-chat", URL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", KeyEnv: "DASHSCOPE_API_KEY"},
	"cerebras":      {Wire: "openai-chat", URL: "https://api.cerebras.ai/v1", KeyEnv: "CEREBRAS_API_KEY", TextAPI: true},
	"minimax":       {Wire: "openai-chat", URL: "https://api.minimax.io/v1", KeyEnv: "MINIMAX_API_KEY"},
	"lmstudio":      {Wire: "openai-chat", URL: "http://127.0.0.1:1234/v1", Local: true},
	"llamacpp":      {Wire: "openai-chat", URL: "http://127.0.0.1:8080/v1", Local: true},
	"vllm":          {Wire: "openai-chat", URL: "http://127.0.0.1:8000/v1", Local: true},
	"gemini-openai": {Wire: "openai-chat", URL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY"},
	"copilot":       {Wire: "openai-chat", URL: "https://api.githubcopilot.com"},
}

// APIs lists the values of a provider's `api`, sorted.
func APIs() []string { return slices.Sorted(maps.Keys(presets)) }

// PresetOf gives what an api stands for.
func PresetOf(api string) (Preset, bool) {
	p, ok := presets[api]
	return p, ok
}

// TakesPictures says whether a model of unknown sight is sent pictures.
func (p Preset) TakesPictures() bool { return !p.TextAPI }

// Near reports whether a URL leads to this machine or a private network by its literal
// address.
func Near(url string) bool { return nearAddress(url) }

// nearAddress reports whether a URL leads to this machine or a private network,
// by its literal address: a name in DNS may lead anywhere tomorrow.
func nearAddress(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()
}
