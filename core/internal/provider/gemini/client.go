// Package gemini sends requests to the Gemini API: the address and headers. The JSON is
// codec/gemini's, the connection exchange's.
package gemini

import (
	"net/url"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/gemini"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
)

// defaultBase is the API's address (its reference, "All methods").
const defaultBase = "https://generativelanguage.googleapis.com/v1beta"

// Options make a client. BaseURL is such as https://host/v1beta and may be empty for
// Google's own; the key is sent as x-goog-api-key.
type Options = exchange.Options

// New makes a client. It opens no connection.
func New(o Options) *exchange.Client {
	return exchange.New(o, exchange.Wire{
		URL: base(o.BaseURL), URLOf: func(model string) string { return endpoint(o.BaseURL, model) },
		KeyHeader:  "X-Goog-Api-Key",
		Encode:     func(r provider.Request) ([]byte, []provider.Receipt, error) { return codec.Encode(r) },
		Decoder:    func(r provider.Request) exchange.Decoder { return codec.NewDecoder(r) },
		Placements: codec.Placements,
	})
}

func base(at string) string {
	if at = strings.TrimSpace(at); at == "" {
		return defaultBase
	}
	return at
}

// endpoint is the URL of a model's stream of server-sent events.
func endpoint(at, model string) string {
	u, err := url.Parse(base(at))
	if err != nil {
		return at // the request says what is wrong with it
	}
	q := u.Query()
	q.Set("alt", "sse")
	u.RawQuery = q.Encode()
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	u = u.JoinPath(strings.Split(model+":streamGenerateContent", "/")...)
	return u.String()
}
