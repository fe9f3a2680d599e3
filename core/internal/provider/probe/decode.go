package probe

import (
	"bytes"
	"image"
	"image/png"
	"strconv"
)

// Decode gives the one word that is right for a picture that a probe has drawn: the
// name of its colour, or its digit. ok is false for any other picture. It is for
// doubles of providers that play a model which sees.
func Decode(picture []byte) (word string, ok bool) {
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil || img.Bounds().Dx() != edge || img.Bounds().Dy() != edge {
		return "", false
	}
	differs := func(x, y int) bool {
		r, g, b, _ := img.At(x, y).RGBA()
		r0, g0, b0, _ := img.At(0, 0).RGBA()
		return r != r0 || g != g0 || b != b0
	}
	var mask [edge][edge]bool
	plain := true
	for y := range edge {
		for x := range edge {
			mask[y][x] = differs(x, y)
			plain = plain && !mask[y][x]
		}
	}
	if plain {
		return colourOf(img)
	}
	for n := range glyphs {
		if same(mask, n) {
			return strconv.Itoa(n), true
		}
	}
	return "", false
}

func colourOf(img image.Image) (string, bool) {
	r, g, b, _ := img.At(0, 0).RGBA()
	for _, c := range colours {
		if cr, cg, cb, _ := c.is.RGBA(); r == cr && g == cg && b == cb {
			return c.name, true
		}
	}
	return "", false
}

// same reports whether a picture's marks are those of a digit.
func same(mask [edge][edge]bool, n int) bool {
	drawn := digit(n, inks[0], papers[0])
	for y := range edge {
		for x := range edge {
			if mask[y][x] != (drawn.RGBAAt(x, y) == inks[0]) {
				return false
			}
		}
	}
	return true
}
