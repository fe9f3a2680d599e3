package listing

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// The answers are in the shape of Ollama's API documentation (POST /api/show).
func TestWhatOllamaShowsCompletesAnEntry(t *testing.T) {
	t.Parallel()
	before := provider.Listed{ID: "m", Context: 7}
	for _, c := range []struct {
		why, body string
		want      provider.Listed
	}{
		{
			"capabilities say all three", `{"capabilities":["completion","tools","vision"]}`,
			provider.Listed{ID: "m", Context: 7, Sight: vision.Sees, Field: "capabilities", Chat: new(true), Tools: new(true)},
		},
		{
			"a model that embeds", `{"capabilities":["embedding"]}`,
			provider.Listed{ID: "m", Context: 7, Sight: vision.Blind, Field: "capabilities", Chat: new(false), Tools: new(false)},
		},
		{
			"capabilities come before a projector", `{"capabilities":["completion"],"projector_info":{"clip.has_vision_encoder":true}}`,
			provider.Listed{ID: "m", Context: 7, Sight: vision.Blind, Field: "capabilities", Chat: new(true), Tools: new(false)},
		},
		{
			"before there were capabilities: a projector", `{"projector_info":{"clip.has_vision_encoder":true}}`,
			provider.Listed{ID: "m", Context: 7, Sight: vision.Sees, Field: "projector_info"},
		},
		{
			"and a part for pictures in the model itself", `{"model_info":{"gemma3.vision.block_count":27}}`,
			provider.Listed{ID: "m", Context: 7, Sight: vision.Sees, Field: "model_info"},
		},
		{
			"an empty projector is none", `{"projector_info":{},"model_info":null}`,
			before,
		},
		{
			"the context of its own architecture",
			`{"model_info":{"general.architecture":"llama","llama.context_length":8192,"draft.context_length":131072}}`,
			provider.Listed{ID: "m", Context: 8192},
		},
		{
			"without an architecture the longest that is not of pictures or sound",
			`{"model_info":{"a.context_length":4096,"b.context_length":8192,"b.audio.context_length":90000}}`,
			provider.Listed{ID: "m", Context: 8192},
		},
		{
			"a Modelfile sets what is in use", `{"model_info":{"general.architecture":"llama","llama.context_length":8192},"parameters":"stop  \"x\"\nnum_ctx    2048\n"}`,
			provider.Listed{ID: "m", Context: 2048},
		},
		{
			"odd types say nothing", `{"capabilities":"vision","model_info":[],"projector_info":7,"parameters":{},"remote_host":[]}`,
			before,
		},
		{
			"another host really runs it, and its name is made plain", `{"remote_host":"https://ollama.com:443\u001b[31m"}`,
			provider.Listed{ID: "m", Context: 7, Remote: "https://ollama.com:443 [31m"},
		},
	} {
		for range 20 { // an order of names that changes would show
			m := before
			if err := ReadShow([]byte(c.body), &m); err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			if d := cmp.Diff(c.want, m); d != "" {
				t.Fatalf("%s: %s", c.why, d)
			}
		}
	}
}

// The answers are in the shape of the README of llama.cpp's server (GET /props).
func TestPropertiesOfLlamaCppCompleteAnEntry(t *testing.T) {
	t.Parallel()
	before := provider.Listed{ID: "m", Context: 131072, Sight: vision.Sees, Field: "models.capabilities"}
	for _, c := range []struct {
		why, body string
		want      provider.Listed
	}{
		{
			"a projector for sound alone is no sight", `{"modalities":{"vision":false,"audio":true},"default_generation_settings":{"n_ctx":4096}}`,
			provider.Listed{ID: "m", Context: 4096, Sight: vision.Blind, Field: "modalities.vision"},
		},
		{
			"sight, and a template with tools", `{"modalities":{"vision":true},"chat_template_caps":{"supports_tools":true}}`,
			provider.Listed{ID: "m", Context: 131072, Sight: vision.Sees, Field: "modalities.vision", Tools: new(true)},
		},
		{"nothing said changes nothing", `{"modalities":{"vision":"yes"},"default_generation_settings":{"n_ctx":0}}`, before},
	} {
		m := before
		if err := ReadProps([]byte(c.body), &m); err != nil {
			t.Fatalf("%s: %v", c.why, err)
		}
		if d := cmp.Diff(c.want, m); d != "" {
			t.Errorf("%s: %s", c.why, d)
		}
	}
}

func TestWhatCannotBeReadLeavesTheEntry(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `[]`, `7`, `"x"`} {
		m := provider.Listed{ID: "m", Context: 7}
		if ReadShow([]byte(body), &m) == nil || ReadProps([]byte(body), &m) == nil {
			t.Errorf("%q is no error", body)
		}
		if d := cmp.Diff(provider.Listed{ID: "m", Context: 7}, m); d != "" {
			t.Errorf("%q: %s", body, d)
		}
	}
}
