package picture

import (
	"bytes"
	"image"
	"image/jpeg"
	"slices"
	"testing"
)

func TestAJPEGOfTwoHalvesIsTheJPEGOfTheWhole(t *testing.T) {
	t.Parallel()
	for _, h := range []int{1, 255, 256, 257, 271, 272, 273, 287, 288, 300, 511, 1176} {
		for _, w := range []int{1, 15, 16, 17, 333} {
			col := onWhite(photo(w, h))
			grey := image.NewGray(image.Rect(0, 0, w, h))
			for i := range grey.Pix {
				grey.Pix[i] = uint8(i * 7 / w)
			}
			for _, img := range []image.Image{col, grey} {
				got, err := encodeJPEG(img, 90)
				must(t, err)
				plain, err := encodeHalf(img, 90)
				must(t, err)
				a, err := jpeg.Decode(bytes.NewReader(got))
				must(t, err)
				b, err := jpeg.Decode(bytes.NewReader(plain))
				must(t, err)
				if !near(a, b, 0) || a.Bounds() != b.Bounds() {
					t.Fatalf("%T %dx%d: other pixels", img, w, h)
				}
				if split := bytes.Contains(got, []byte{0xff, mRST0}); split != (h >= leastHalves) {
					t.Errorf("%dx%d: in halves: %v", w, h, split)
				}
				if s, err := look(got, "a"); err != nil || s.hidden != (hidden{}) {
					t.Errorf("%dx%d: it would not be sent as it is: %+v, %v", w, h, s, err)
				}
			}
		}
	}
}

func TestHalvesThatDoNotFitAreAnError(t *testing.T) {
	t.Parallel()
	whole, err := encodeHalf(onWhite(photo(40, 40)), 90)
	must(t, err)
	for name, halves := range map[string][2][]byte{
		"nothing": {nil, nil}, "no scan": {whole[:30], whole}, "a cut half": {whole, whole[:40]}, "other tables": {whole, slices.Repeat([]byte{7}, len(whole))},
	} {
		if _, err := joinHalves(halves[0], halves[1], 80, 9); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
