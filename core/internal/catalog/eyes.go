package catalog

import "github.com/relo-dev/relo/core/internal/vision"

// Eyes is what sending pictures to the model comes to, for whoever asks: router,
// prompt, gate and gateway. Sees: they are seen. Unknown: they are sent, and a refusal
// is healed. Blind: it gets words instead, because it cannot see or because nobody
// knows and its provider takes no pictures at all.
func (m Model) Eyes() vision.Sight {
	if m.Sight.Sight == vision.Unknown && !m.TakesPictures {
		return vision.Blind
	}
	return m.Sight.Sight
}

// MayShow reports whether pictures are sent to the model.
func (m Model) MayShow() bool { return m.Eyes() != vision.Blind }
