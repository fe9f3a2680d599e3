package probe

import "testing"

// bright is how bright a colour is to an eye, 0 to 255 (ITU-R BT.601).
func bright(r, g, b uint8) int { return (299*int(r) + 587*int(g) + 114*int(b)) / 1000 }

func TestColoursAndInksAreFarApart(t *testing.T) {
	t.Parallel()
	for i, a := range colours {
		for _, b := range colours[:i] {
			apart := 0
			for _, d := range []int{int(a.is.R) - int(b.is.R), int(a.is.G) - int(b.is.G), int(a.is.B) - int(b.is.B)} {
				apart += d * d
			}
			if apart < 80*80 {
				t.Errorf("%s and %s are near: %d", a.name, b.name, apart)
			}
		}
	}
	for _, ink := range inks {
		for _, paper := range papers {
			if bright(paper.R, paper.G, paper.B)-bright(ink.R, ink.G, ink.B) < 150 {
				t.Errorf("%v on %v is hard to read", ink, paper)
			}
		}
	}
}
