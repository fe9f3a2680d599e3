package exchange

import (
	"net/http"

	"github.com/relo-dev/relo/core/internal/provider"
)

// headerOf is the header of one request.
func (c *Client) headerOf(r provider.Request) http.Header {
	if c.wire.HeaderOf == nil {
		return c.header
	}
	more := c.wire.HeaderOf(r)
	if len(more) == 0 {
		return c.header
	}
	header := c.header.Clone()
	for name, value := range more {
		if header.Get(name) == "" {
			header.Set(name, value)
		}
	}
	return header
}
