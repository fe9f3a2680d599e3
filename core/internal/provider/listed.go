package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Listed is a model in a provider's own list, with what the list says of it.
type Listed struct {
	ID        string       `json:"id"`
	Name      string       `json:"name,omitempty"`      // for people
	Sight     vision.Sight `json:"vision"`              // as reported; most lists say nothing
	Field     string       `json:"field,omitempty"`     // of the list, which said so: "architecture.input_modalities"
	Chat      *bool        `json:"chat,omitempty"`      // as reported: does it answer in words; nil: not said
	Tools     *bool        `json:"tools,omitempty"`     // as reported; nil: not said
	Context   int          `json:"context,omitempty"`   // tokens; 0: not said
	MaxOutput int          `json:"maxOutput,omitempty"` // tokens; 0: not said
	Price     ListedPrice  `json:"price,omitzero"`
	Size      float64      `json:"size,omitempty"`   // thousand millions of parameters; 0: not said
	Remote    string       `json:"remote,omitempty"` // host where it really runs, when a local server passes it on
}

// ListedPrice is USD for a million tokens, as a list says it; nil: not said.
type ListedPrice struct {
	Input  *float64 `json:"input"`
	Output *float64 `json:"output"`
	Cached *float64 `json:"cached,omitempty"`
}

// listEntry is one model in the shapes of the lists in use: OpenAI's, Anthropic's
// (display_name, max_input_tokens, capabilities.image_input.supported), OpenRouter's
// (architecture.input_modalities, supported_parameters), Mistral's
// (capabilities.vision, function_calling) and vLLM's (max_model_len).
type listEntry struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	DisplayName string   `json:"display_name"`
	Context     int      `json:"context_length"`
	Window      int      `json:"context_window"`
	MaxModel    int      `json:"max_model_len"`
	MaxContext  int      `json:"max_context_length"`
	MaxInput    int      `json:"max_input_tokens"`
	Modalities  []string `json:"input_modalities"`
	Vision      *bool    `json:"supports_vision"`
	ImageInput  *bool    `json:"supports_image_input"`
	Params      []string `json:"supported_parameters"`
	Arch        struct {
		Modalities []string `json:"input_modalities"`
		Modality   string   `json:"modality"`
	} `json:"architecture"`
	Capabilities json.RawMessage `json:"capabilities"`
}

// ReadModels reads the answer of GET /models, on any wire that has one. A model
// without an id is passed over.
func ReadModels(body []byte) ([]Listed, error) {
	var list struct {
		Data   []json.RawMessage `json:"data"`
		Models []json.RawMessage `json:"models"`
	}
	if trimmed := strings.TrimSpace(string(body)); strings.HasPrefix(trimmed, "[") { // Together answers with the bare list
		body = []byte(`{"data":` + trimmed + `}`)
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("the list of models cannot be read: %w", err)
	}
	if list.Data == nil {
		list.Data = list.Models
	}
	if list.Data == nil {
		return nil, fmt.Errorf("the list of models cannot be read: it has no field data")
	}
	var out []Listed
	for _, raw := range list.Data {
		var e listEntry
		if err := json.Unmarshal(raw, &e); err != nil || e.ID == "" || len(e.ID) > maxModelID {
			continue // one odd entry must not hide the others
		}
		out = append(out, e.listed())
	}
	return out, nil
}

// maxModelID in bytes: ids are shown and compared; the longest in use has some 100.
const maxModelID = 300

func (e listEntry) listed() Listed {
	l := Listed{ID: e.ID, Name: httpwire.Plain(e.DisplayName)}
	if l.Name == "" {
		l.Name = httpwire.Plain(e.Name)
	}
	for _, n := range []int{e.Context, e.Window, e.MaxModel, e.MaxContext, e.MaxInput} {
		if l.Context == 0 && n > 0 {
			l.Context = n
		}
	}
	l.Sight = e.sight()
	if len(e.Params) > 0 { // OpenRouter lists what a model takes
		l.Tools = new(slices.Contains(e.Params, "tools"))
	}
	var can struct {
		Calls *bool `json:"function_calling"`
	}
	if json.Unmarshal(e.Capabilities, &can) == nil && can.Calls != nil {
		l.Tools = can.Calls
	}
	return l
}

func (e listEntry) sight() vision.Sight {
	for _, modalities := range [][]string{e.Arch.Modalities, e.Modalities} {
		if len(modalities) > 0 {
			return vision.Of(slices.Contains(modalities, "image"))
		}
	}
	if in, _, ok := strings.Cut(e.Arch.Modality, "->"); ok {
		return vision.Of(strings.Contains(in, "image"))
	}
	for _, said := range []*bool{e.Vision, e.ImageInput} {
		if said != nil {
			return vision.Of(*said)
		}
	}
	var words []string
	if json.Unmarshal(e.Capabilities, &words) == nil && len(words) > 0 {
		return vision.Of(slices.Contains(words, "vision") || slices.Contains(words, "image_input"))
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Capabilities, &fields) != nil {
		return vision.Unknown
	}
	for _, name := range []string{"vision", "image_input"} {
		var plain bool
		var nested struct {
			Supported *bool `json:"supported"`
		}
		switch {
		case fields[name] == nil:
		case json.Unmarshal(fields[name], &plain) == nil:
			return vision.Of(plain)
		case json.Unmarshal(fields[name], &nested) == nil && nested.Supported != nil:
			return vision.Of(*nested.Supported)
		}
	}
	return vision.Unknown
}
