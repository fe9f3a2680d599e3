package picture

import (
	"context"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Fit stub.
func (p *Preparer) Fit(ctx context.Context, data []byte, name string, f vision.Fit) (vision.Picture, vision.Meta, error) {
	return p.PrepareBytes(ctx, data, name, Params{MaxEdge: f.MaxEdge})
}
