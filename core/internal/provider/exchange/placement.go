package exchange

import "github.com/relo-dev/relo/core/internal/provider"

// Placements implements provider.Placer; a wire with one place gives none.
func (c *Client) Placements(model string) []provider.Placement {
	if c.wire.Placements == nil {
		return nil
	}
	return c.wire.Placements(model)
}

var _ provider.Placer = (*Client)(nil)
