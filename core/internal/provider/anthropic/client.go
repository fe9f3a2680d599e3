// Package anthropic sends requests to Anthropic, or to a provider that speaks its
// Messages API: the address and headers. The JSON is codec/anthropic's, the
// connection exchange's.
package anthropic

import (
	"net/url"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
)

// The API's address, and the version whose shapes codec/anthropic knows
// (Anthropic's documentation, "Versions").
const (
	defaultBase = "https://api.anthropic.com"
	apiVersion  = "2023-06-01"
)

// Options make a client. BaseURL stands with or without /v1 and may be empty for
// Anthropic's own; the key is sent as x-api-key.
type Options = exchange.Options

// New makes a client. It opens no connection.
func New(o Options) *exchange.Client {
	return exchange.New(o, exchange.Wire{
		Name: "anthropic",
		URL:  endpoint(o.BaseURL), KeyHeader: "X-Api-Key", Header: map[string]string{"Anthropic-Version": apiVersion}, IDHeader: "Request-Id",
		Idles:   func(event string) bool { return event == "ping" },
		Encode:  func(r provider.Request) ([]byte, []provider.Receipt, error) { return codec.Encode(r) },
		Decoder: func(r provider.Request) exchange.Decoder { return codec.NewDecoder(r) },
		Placements: func(string) []provider.Placement {
			return []provider.Placement{provider.PlaceInside, provider.PlaceAfter}
		},
	})
}

// endpoint is the URL of the messages below a base URL that may name it already.
func endpoint(base string) string {
	base = strings.TrimSpace(base)
	if base == "" {
		base = defaultBase
	}
	u, err := url.Parse(base)
	if err != nil {
		return base // the request says what is wrong with it
	}
	switch path := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(path, "/v1/messages"):
	case strings.HasSuffix(path, "/v1"):
		u = u.JoinPath("messages")
	default:
		u = u.JoinPath("v1", "messages")
	}
	return u.String()
}
