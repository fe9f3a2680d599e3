package showing

import (
	"fmt"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Looked says who looked at a picture for somebody, at what, and what it cost in USD
// (nil: not known).
func Looked(by string, usd *float64, name string, m vision.Meta) string {
	cost := "not known"
	if usd != nil {
		cost = fmt.Sprintf("%.6g USD", *usd)
	}
	words := fmt.Sprintf("Answered by %s; cost: %s. It looked at %s (%d×%d), sent as %d×%d",
		by, cost, Escape(name), m.Source.Width, m.Source.Height, m.Sent.Width, m.Sent.Height)
	x, y := 0, 0
	if m.Crop != nil {
		x, y = m.Crop.X, m.Crop.Y
		words += fmt.Sprintf(" of the part %d×%d at %d,%d", m.Crop.Width, m.Crop.Height, x, y)
	}
	return words + fmt.Sprintf(". A place that it names is, in the source, %d + x × %.4g, %d + y × %.4g.", x, m.Scale.X, y, m.Scale.Y)
}
