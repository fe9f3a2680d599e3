package listing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	if chat := f.endpoints(); chat != nil {
		return chat
	}
	for _, row := range []struct{ path, word string }{
		{"supportedGenerationMethods", "generatecontent"}, // Gemini
		{"architecture.output_modalities", "text"},        // OpenRouter
		{"output_modalities", "text"},
		{"outputModalities", "text"}, // Bedrock
		{"supported_output_modalities", "text"},
		{"modalities.output", "text"},
	} {
		if list := f.words(row.path); len(list) > 0 {
			return new(slices.Contains(list, row.word))
		}
	}
	if _, out, ok := strings.Cut(strings.ToLower(f.text("architecture.modality")), "->"); ok {
		return new(strings.Contains(out, "text"))
	}
	if f.text("capabilities.type") == "completion" { // GitHub Copilot's completions in the editor
		return new(false)
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

// endpoints reads at which a model may be asked: Cohere's "chat", Novita's
// "chat/completions"; Cohere's others answer with no words.
func (f fields) endpoints() *bool {
	list := f.words("endpoints")
	if slices.ContainsFunc(list, func(w string) bool { return strings.Contains(w, "chat") }) {
		return new(true)
	}
	mute := func(w string) bool {
		return slices.Contains([]string{"embed", "embed_image", "embeddings", "rerank", "classify", "rate", "transcribe", "transcriptions"}, w)
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(w string) bool { return !mute(w) }) {
		return new(false)
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
	for _, path := range []string{"capabilities", "features", "tags", "metadata.tags"} {
		for _, word := range f.words(path) {
			if slices.Contains([]string{"tool_use", "tool-use", "tools", "tool-calling", "function-calling", "function_calling"}, word) {
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

// context is what is in use, where a server says it (LM Studio), else what the model
// has; of several providers behind a router the most.
func (f fields) context() int {
	for _, loaded := range f.objects("loaded_instances") {
		if n := loaded.tokens("config.context_length"); n > 0 {
			return n
		}
	}
	n := f.tokens("loaded_context_length", "context_length", "context_window", "max_model_len", "max_context_length", "max_input_tokens", "inputTokenLimit",
		"capabilities.limits.max_context_window_tokens", "contextWindow", "context_size", "metadata.context_length", "meta.n_ctx_train", "limits.max_input_tokens", "limits.context")
	for _, p := range f.objects("providers") {
		n = max(n, p.tokens("context_length"))
	}
	return n
}

func (f fields) maxOutput() int {
	return f.tokens("top_provider.max_completion_tokens", "max_completion_tokens", "max_output_tokens", "outputTokenLimit", "max_tokens",
		"metadata.max_tokens", "capabilities.limits.max_output_tokens", "limits.max_output_tokens", "maxTokens")
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
		if n > maxSize {
			continue
		}
		return n
	}
	return 0
}
