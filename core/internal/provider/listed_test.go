package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

func TestReadModels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, body string
		want      []Listed
	}{
		{"OpenAI says only ids", `{"object":"list","data":[{"id":"gpt-x","object":"model"}]}`, []Listed{{ID: "gpt-x"}}},
		{
			"Anthropic", `{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","max_input_tokens":200000,"capabilities":{"image_input":{"supported":true}}}],"has_more":false}`,
			[]Listed{{ID: "claude-x", Name: "Claude X", Sight: vision.Sees, Context: 200000}},
		},
		{
			"OpenRouter", `{"data":[{"id":"a/b","name":"B","context_length":9000,"architecture":{"input_modalities":["text"]},"supported_parameters":["temperature"]},
				{"id":"a/c","architecture":{"modality":"text+image->text"},"supported_parameters":["tools"]}]}`,
			[]Listed{{ID: "a/b", Name: "B", Context: 9000, Sight: vision.Blind, Tools: new(false)}, {ID: "a/c", Sight: vision.Sees, Tools: new(true)}},
		},
		{
			"Mistral", `{"data":[{"id":"m","capabilities":{"vision":false,"function_calling":true}}]}`,
			[]Listed{{ID: "m", Sight: vision.Blind, Tools: new(true)}},
		},
		{"vLLM", `{"data":[{"id":"m","max_model_len":32768}]}`, []Listed{{ID: "m", Context: 32768}}},
		{"a list of words", `{"data":[{"id":"m","capabilities":["completion","vision"]}]}`, []Listed{{ID: "m", Sight: vision.Sees}}},
		{"a plain field", `{"data":[{"id":"m","supports_vision":false}]}`, []Listed{{ID: "m", Sight: vision.Blind}}},
		{"a bare list", `[{"id":"m"}]`, []Listed{{ID: "m"}}},
		{"one odd entry hides no other", `{"data":[7,{"id":""},{"id":"m"}]}`, []Listed{{ID: "m"}}},
		{"an empty list is a list", `{"data":[]}`, nil},
	}
	for _, c := range tests {
		got, err := ReadModels([]byte(c.body))
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.why, err, d)
		}
	}
	for _, bad := range []string{"", "<html>", "{}", `{"data":"x"}`} {
		if got, err := ReadModels([]byte(bad)); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
}

func FuzzReadModels(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"m","capabilities":{"vision":{"supported":true}}}]}`))
	f.Add([]byte(`[{"id":"m","architecture":{"modality":"text->text"}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := ReadModels(body)
		if err != nil && list != nil {
			t.Error("both a list and an error")
		}
		for _, l := range list {
			if l.ID == "" {
				t.Error("a model without an id")
			}
		}
	})
}
