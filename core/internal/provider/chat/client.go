// Package chat sends requests to a provider that speaks OpenAI's chat completions,
// in any of its dialects: their address and headers. The JSON is codec/chat's, the
// connection exchange's.
package chat

import (
	"net/url"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/chat"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
)

// Options make a client. BaseURL is such as https://host/v1; the key is sent as a
// bearer token.
type Options = exchange.Options

// New makes a client; the dialect is told by the host, and by the model's id what its
// family needs. It opens no connection.
func New(o Options) *exchange.Client { return NewAs(o, "") }

// NewAs is New for a provider whose kind (its `api` in the config) is known: a server
// on the person's own machine cannot be told by its host.
func NewAs(o Options, kind string) *exchange.Client {
	dialect := func(model string) codec.Dialect { return codec.Pick(kind, o.BaseURL, model) }
	return exchange.New(o, exchange.Wire{
		Name: "chat",
		URL:  endpoint(o.BaseURL), KeyHeader: "Authorization", KeyPrefix: "Bearer ", IDHeader: "X-Request-Id",
		Encode:   func(r provider.Request) ([]byte, []provider.Receipt, error) { return codec.Encode(r, dialect(r.Model)) },
		Decoder:  func(r provider.Request) exchange.Decoder { return codec.NewDecoder(r) },
		HeaderOf: func(r provider.Request) map[string]string { return codec.Headers(r, dialect(r.Model)) },
		Placements: func(model string) []provider.Placement {
			return dialect(model).Placements()
		},
	})
}

// endpoint is the URL of the completions below a base URL that may name it already.
func endpoint(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return base // the request says what is wrong with it
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions") {
		u = u.JoinPath("chat", "completions")
	}
	return u.String()
}
