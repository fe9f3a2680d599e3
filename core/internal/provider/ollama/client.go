// Package ollama sends requests to an Ollama server: the address and headers. The JSON is
// codec/ollama's, the connection exchange's.
package ollama

import (
	"net/url"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/ollama"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
)

// Where Ollama listens when nobody says otherwise, and the host of its cloud (Ollama's
// documentation, "API": base URLs).
const (
	defaultBase = "http://127.0.0.1:11434"
	cloudHost   = "ollama.com"
)

// New makes a client. BaseURL stands with or without /api or /v1 and may be empty for
// this machine's; the key, which only the cloud asks for, is sent as a bearer token.
// It opens no connection.
func New(o exchange.Options) *exchange.Client {
	return NewSized(o, func(string) int { return 0 })
}

// NewSized is New where the context of a model may be known, in tokens: no request asks
// for more; 0: it is not known.
func NewSized(o exchange.Options, most func(model string) int) *exchange.Client {
	noThinking := cloud(o.BaseURL)
	return exchange.New(o, exchange.Wire{
		URL: endpoint(o.BaseURL), KeyHeader: "Authorization", KeyPrefix: "Bearer ", Lines: true,
		Header: map[string]string{"Accept": "application/x-ndjson"},
		Encode: func(r provider.Request) ([]byte, []provider.Receipt, error) {
			return codec.Encode(r, codec.Dialect{NoThinking: noThinking, Most: most(r.Model)})
		},
		Decoder:    func(r provider.Request) exchange.Decoder { return codec.NewDecoder(r) },
		Placements: func(string) []provider.Placement { return []provider.Placement{provider.PlaceAfter} },
	})
}

func cloud(base string) bool {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == cloudHost || strings.HasSuffix(host, "."+cloudHost)
}

// endpoint is the URL of the chat below a base URL that may name it already, or the
// address of the same server's OpenAI wire.
func endpoint(base string) string {
	base = strings.TrimSpace(base)
	if base == "" {
		base = defaultBase
	}
	u, err := url.Parse(base)
	if err != nil {
		return base // the request says what is wrong with it
	}
	for _, tail := range []string{"/api/chat", "/api", "/v1"} {
		if path, ok := strings.CutSuffix(strings.TrimRight(u.Path, "/"), tail); ok {
			u.Path, u.RawPath = path, strings.TrimSuffix(strings.TrimRight(u.RawPath, "/"), tail)
			break
		}
	}
	return u.JoinPath("api", "chat").String()
}
