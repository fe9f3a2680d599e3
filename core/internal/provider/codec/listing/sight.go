package listing

import (
	"slices"
	"strings"
)

// sight reads what an entry says of pictures as input. A field that speaks of exactly
// that comes before one that speaks of vision in general, and that before a list of
// abilities where only presence is a word. The names are those of the vendors' API
// references: Anthropic (capabilities.image_input.supported), OpenRouter and Hugging
// Face's router (architecture.input_modalities, architecture.modality), xAI and
// Novita (input_modalities), Bedrock (inputModalities), GitHub Models
// (supported_input_modalities), Fireworks
// (supports_image_input), LiteLLM (supports_vision), GitHub Copilot
// (capabilities.supports.vision), Mistral and LM Studio (capabilities.vision, type),
// Ollama and llama.cpp (capabilities as a list), Vercel's gateway (tags), DeepInfra
// (metadata.tags), Cohere and Novita (features).
func (f fields) sight() verdict {
	for _, path := range []string{"capabilities.image_input", "supports_image_input", "capabilities.supports_image_input", "image_input"} {
		if yes, said := f.yes(path); said {
			return says(yes, path)
		}
	}
	for _, path := range []string{"architecture.input_modalities", "input_modalities", "inputModalities", "modalities.input", "supported_input_modalities", "capabilities.input_modalities"} {
		if list := f.words(path); len(list) > 0 {
			return says(slices.Contains(list, "image") || slices.Contains(list, "images") || slices.Contains(list, "vision"), path)
		}
	}
	for _, path := range []string{"architecture.modality", "modality"} {
		if in, _, ok := strings.Cut(f.text(path), "->"); ok {
			return says(strings.Contains(strings.ToLower(in), "image"), path)
		}
	}
	for _, path := range []string{"supports_vision", "capabilities.supports.vision", "capabilities.vision", "capabilities.multimodal", "vision", "multimodal", "supportsVision", "supports_images"} {
		if yes, said := f.yes(path); said {
			return says(yes, path)
		}
	}
	switch kind := f.text("type"); {
	case kind == "vlm":
		return says(true, "type")
	case kind == "llm" && f.ofLMStudio(): // elsewhere the word may stand for every model of language
		return says(false, "type")
	}
	return f.listedSight()
}

// ofLMStudio reports whether an entry is of LM Studio's older list, where "llm" and
// "vlm" are told apart: it has at least one of the fields beside it that others
// with that word do not (its REST documentation, /api/v0/models).
func (f fields) ofLMStudio() bool {
	return f.text("compatibility_type") != "" || f.text("arch") != "" || f.text("state") != "" || f["max_context_length"] != nil
}

// listedSight reads lists of abilities. A list of capabilities that names what a model
// is asked for (Ollama, llama.cpp: completion) and not vision says no; any other, as
// one of features or tags, only says yes: a wrong no would never heal.
func (f fields) listedSight() verdict {
	if list := f.words("capabilities"); namesSight(list) || slices.Contains(list, "completion") || slices.Contains(list, "chat") || slices.Contains(list, "embedding") {
		return says(namesSight(list), "capabilities")
	}
	for _, path := range []string{"features", "tags", "metadata.tags"} {
		if list := f.words(path); namesSight(list) {
			return says(true, path)
		}
	}
	for _, family := range f.words("details.families") { // Ollama before it had capabilities: the projector's family
		if family == "clip" || family == "mllama" {
			return says(true, "details.families")
		}
	}
	return verdict{}
}

func namesSight(list []string) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		return w == "vision" || w == "image_input" || w == "image-input" || w == "multimodal" || w == "image"
	})
}
