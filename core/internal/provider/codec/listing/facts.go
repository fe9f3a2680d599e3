package listing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// talks are the kinds of model that answer in words; others that a list names do not.
var talks = []string{"chat", "language", "llm", "vlm", "text", "text-generation", "completion", "conversational", "code", "vision", "multimodal", "image-text-to-text", "model"}

// silent are the kinds that do not.
var silent = []string{
	"embedding", "embeddings", "text-embedding", "rerank", "reranker", "moderation", "image", "video", "audio", "speech", "transcribe", "transcription",
	"tts", "stt", "text-to-image", "text-to-video", "text-to-speech", "automatic-speech-recognition",
}

// chat reads whether a model answers in words; nil: not said.
func (f fields) chat() *bool {
	for _, path := range []string{"capabilities.completion_chat", "supports_chat"} {
		if yes, said := f.yes(path); said {
			return &yes
		}
	}
	for _, row := range []struct {
		path string
		word []string
	}{
		{"supportedGenerationMethods", []string{"generatecontent"}}, // Gemini
		{"endpoints", []string{"chat"}},                             // Cohere
		{"architecture.output_modalities", []string{"text"}},        // OpenRouter
		{"output_modalities", []string{"text"}},
		{"outputModalities", []string{"text"}},
		{"modalities.output", []string{"text"}},
	} {
		if list := f.words(row.path); len(list) > 0 {
			return new(slices.ContainsFunc(list, func(w string) bool { return slices.Contains(row.word, w) }))
		}
	}
	if list := f.words("capabilities"); slices.Contains(list, "completion") || slices.Contains(list, "embedding") { // Ollama, llama.cpp
		return new(slices.Contains(list, "completion"))
	}
	for _, path := range []string{"type", "model_type", "capabilities.type", "pipeline_tag"} {
		switch kind := strings.ToLower(f.text(path)); {
		case slices.Contains(talks, kind):
			return new(true)
		case slices.Contains(silent, kind):
			return new(false)
		}
	}
	return nil
}

// tools reads whether a model calls tools; nil: not said.
func (f fields) tools() *bool {
	for _, path := range []string{"capabilities.function_calling", "supports_tools", "capabilities.supports.tool_calls", "supports_function_calling", "supports_tool_calling", "supportsTools"} {
		if yes, said := f.yes(path); said {
			return &yes
		}
	}
	if list := f.words("supported_parameters"); len(list) > 0 { // OpenRouter lists what a model takes
		return new(slices.Contains(list, "tools"))
	}
	if list := f.words("capabilities"); slices.Contains(list, "completion") && !slices.Contains(list, "multimodal") { // Ollama says it of each; llama.cpp does not
		return new(slices.Contains(list, "tools"))
	}
	for _, path := range []string{"capabilities", "features", "tags"} {
		for _, word := range f.words(path) {
			if word == "tool_use" || word == "tool-use" || word == "tools" || word == "function-calling" || word == "function_calling" {
				return new(true) // without the word it may still
			}
		}
	}
	// LM Studio says what a model was trained for; it has a way for every model, so only yes counts.
	if yes, _ := f.yes("capabilities.trained_for_tool_use"); yes {
		return &yes
	}
	return f.routedTools()
}

// routedTools reads Hugging Face's router: a model calls tools when one of its
// providers does.
func (f fields) routedTools() *bool {
	var said *bool
	for _, p := range f.objects("providers") {
		if yes, ok := p.yes("supports_tools"); ok {
			said = new(yes || said != nil && *said)
		}
	}
	return said
}

func (f fields) context() int {
	n := f.tokens("loaded_context_length", "context_length", "context_window", "max_model_len", "max_context_length", "max_input_tokens", "inputTokenLimit",
		"capabilities.limits.max_context_window_tokens", "contextWindow", "context_size", "meta.n_ctx_train", "limits.context")
	for _, p := range f.objects("providers") {
		n = max(n, p.tokens("context_length"))
	}
	return n
}

func (f fields) maxOutput() int {
	return f.tokens("top_provider.max_completion_tokens", "max_completion_tokens", "max_output_tokens", "outputTokenLimit", "max_tokens",
		"capabilities.limits.max_output_tokens", "maxTokens")
}

// perMillion is what prices for one token are multiplied with.
const perMillion = 1e6

// price reads USD a token (OpenRouter, Vercel's gateway, in texts). Below zero is
// OpenRouter's "it depends".
func (f fields) price() provider.ListedPrice {
	one := func(paths ...string) *float64 {
		for _, p := range paths {
			if n, ok := f.number(p); ok && n >= 0 && n < 1 { // a dollar a token is no price
				v := n * perMillion
				return &v
			}
		}
		return nil
	}
	p := provider.ListedPrice{
		Input: one("pricing.prompt", "pricing.input"), Output: one("pricing.completion", "pricing.output"), Cached: one("pricing.input_cache_read", "pricing.cached_input"),
	}
	if p.Input == nil || p.Output == nil {
		return provider.ListedPrice{}
	}
	return p
}

// sizeWord is a number with b or m, alone between other characters; a letter right
// before it makes it something else, as a3b, the active part of a mixture.
var sizeWord = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?:$|[^a-z0-9])`)

// FirstSize reads thousand millions of parameters from the first text that has them:
// "7.6B", "Qwen3-30B-A3B" (30), "8x7b" (56), "270M" (0.27); 0 when none has.
func FirstSize(texts ...string) float64 {
	for _, t := range texts {
		m := sizeWord.FindStringSubmatch(t)
		if m == nil {
			continue
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			continue
		}
		if times, err := strconv.Atoi(m[1]); err == nil {
			n *= float64(times)
		}
		if strings.EqualFold(m[3], "m") {
			n /= 1000
		}
		return n
	}
	return 0
}
