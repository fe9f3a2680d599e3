// Package catalog holds what is known of a model: its sight with the source of
// that answer, its limits, its price. One resolved answer a model is used by the
// router, the prompt, the gate and the gateway. Nothing here asks a network.
package catalog

import (
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Price is in USD for a million tokens; nil means unknown, which is never 0.
type Price struct {
	Input  *float64 `json:"input"`
	Output *float64 `json:"output"`
	Cached *float64 `json:"cached,omitempty"`
}

// Known reports whether both directions have a price.
func (p Price) Known() bool { return p.Input != nil && p.Output != nil }

// Ref names a model as provider/id; the id may hold slashes.
type Ref string

// Split gives the provider's name and the model's id.
func (r Ref) Split() (provider, id string) {
	provider, id, _ = strings.Cut(string(r), "/")
	return provider, id
}

// Model is what is known of one model at one provider.
type Model struct {
	Ref       Ref
	Provider  string
	ID        string
	Sight     vision.Answer
	Chat      bool
	Tools     bool // false only when known not to call tools
	Context   int  // tokens; 0: unknown
	MaxOutput int  // tokens; 0: unknown
	Price     Price
	Private   bool // on the person's own machines
	// TakesPictures says whether the provider takes pictures for a model of
	// unknown sight; when false such a model gets words.
	TakesPictures bool
	// Said is what each source says of its sight; Sight is the one of them that counts.
	Said vision.Said
	// Listed says that the endpoint's own list, when last read, names it.
	Listed bool
}
