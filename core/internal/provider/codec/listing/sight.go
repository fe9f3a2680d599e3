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
// DeepInfra (input_modalities), Bedrock (inputModalities), Fireworks
// (supports_image_input), LiteLLM (supports_vision), GitHub Copilot
// (capabilities.supports.vision), Mistral and LM Studio (capabilities.vision, type),
// Ollama and llama.cpp (capabilities as a list), Vercel's gateway (tags), Cohere and
// Novita (features).
func (f fields) sight() verdict {
	for _, path := range []string{"capabilities.image_input", "supports_image_input", "capabilities.supports_image_input", "image_input"} {
		if yes, said := f.yes(path); said {
			return says(yes, path)
		}
	}
	for _, path := range []string{"architecture.input_modalities", "input_modalities", "inputModalities", "modalities.input", "capabilities.input_modalities"} {
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
	switch f.text("type") { // LM Studio's older list
	case "vlm":
		return says(true, "type")
	case "llm":
		return says(false, "type")
	}
	return f.listedSight()
}

// listedSight reads lists of abilities. A list of capabilities without a word of
// vision says no, since its vendors name it there for the models that have it; one
// of features or tags, which is for people, only says yes.
func (f fields) listedSight() verdict {
	if list := f.words("capabilities"); len(list) > 0 {
		return says(namesSight(list), "capabilities")
	}
	for _, path := range []string{"features", "tags"} {
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
