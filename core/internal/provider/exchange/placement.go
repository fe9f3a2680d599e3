package exchange

import "github.com/relo-dev/relo/core/internal/provider"

var _ provider.Placer = (*Client)(nil)

// Placements implements provider.Placer; nil: the wire does not tell.
func (c *Client) Placements(model string) []provider.Placement {
	if c.wire.Placements == nil {
		return nil
	}
	return c.wire.Placements(model)
}
