// Package discovery asks endpoints which models they have and what those can do, in
// every shape of list that is in use. It asks politely: one request at a time to an
// endpoint's list, few at once for details, with a mark so that an unchanged list
// costs nothing. It keeps nothing, and decides nothing about what is said.
package discovery

import (
	"net/http"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
)

// Endpoint is whom to ask.
type Endpoint struct {
	Name   string       // the provider's, for words
	API    string       // the config's preset: ollama, lmstudio, openrouter …
	Wire   string       // the preset's wire
	URL    string       // base, as the config has it
	Key    string       // sent as the wire wants it; empty: none. Never in a word or an error
	KeyRef string       // where the key is kept, for words
	Header http.Header  // beside it
	HTTP   *http.Client // nil: the wire kit's own
}

// Report is what an endpoint said of its models, and when.
type Report struct {
	Endpoint catalog.Endpoint  `json:"endpoint"`
	At       time.Time         `json:"at"`
	Tag      string            `json:"tag,omitempty"`   // its mark of this list (ETag)
	Shape    string            `json:"shape,omitempty"` // whose shape the list has
	Models   []provider.Listed `json:"models"`
	Notes    []string          `json:"notes,omitempty"` // what was left out, and why
}
