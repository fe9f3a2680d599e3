// Package responses sends requests to a provider that speaks OpenAI's Responses API: the
// address and headers. The JSON is codec/responses's, the connection exchange's.
package responses

import (
	"net/url"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/responses"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
)

// Options make a client. BaseURL is such as https://host/v1; the key is sent as a
// bearer token.
type Options = exchange.Options

// New makes a client. It opens no connection.
func New(o Options) *exchange.Client {
	return exchange.New(o, exchange.Wire{
		Name: "responses", URL: endpoint(o.BaseURL), KeyHeader: "Authorization", KeyPrefix: "Bearer ", IDHeader: "X-Request-Id",
		Encode:     func(r provider.Request) ([]byte, []provider.Receipt, error) { return codec.Encode(r) },
		Decoder:    func(r provider.Request) exchange.Decoder { return codec.NewDecoder(r) },
		Placements: codec.Placements,
	})
}

// endpoint is the URL of the responses below a base URL that may name it already.
func endpoint(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return base // the request says what is wrong with it
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/responses") {
		u = u.JoinPath("responses")
	}
	return u.String()
}
