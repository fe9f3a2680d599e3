package provider

import "github.com/relo-dev/relo/core/internal/vision"

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
