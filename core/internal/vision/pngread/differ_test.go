package pngread

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// all reads every row into one slice.
func all(tb testing.TB, r *Reader) ([]byte, error) {
	tb.Helper()
	return allIn(tb, r, sizes{block: blockBytes, serial: serialBytes})
}

// small has a block for every few rows, each handed from goroutine to goroutine.
var small = sizes{block: 600}

func allIn(tb testing.TB, r *Reader, s sizes) ([]byte, error) {
	tb.Helper()
	h, next := r.Header(), 0
	var pix []byte
	err := r.read(tb.Context(), func(y int, row []byte) error {
		if y != next || len(row) != h.Width*int(h.Layout) {
			tb.Errorf("row %d of %d bytes, want row %d of %d", y, len(row), next, h.Width*int(h.Layout))
		}
		next++
		pix = append(pix, row...)
		return nil
	}, s)
	if err == nil && next != h.Height {
		tb.Errorf("%d rows, want %d", next, h.Height)
	}
	return pix, err
}

// reference gives what the standard decoder's picture shows as NRGBA. Samples of 16 bits give their high byte.
func reference(img image.Image) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(b)
	for y := range b.Dy() {
		for x := range b.Dx() {
			out.SetNRGBA(x, y, referenceAt(img, x, y))
		}
	}
	return out
}

func referenceAt(img image.Image, x, y int) color.NRGBA {
	if m, ok := img.(*image.NRGBA64); ok {
		c := m.NRGBA64At(x, y)
		return color.NRGBA{R: byte(c.R >> 8), G: byte(c.G >> 8), B: byte(c.B >> 8), A: byte(c.A >> 8)}
	}
	return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
}

// widened brings pixels of any layout to NRGBA.
func widened(pix []byte, l Layout) []byte {
	if l == NRGBA {
		return pix
	}
	var out []byte
	for c := range slices.Chunk(pix, int(l)) {
		out = append(out, c[0], c[len(c)/2], c[len(c)-1], 255)
	}
	return out
}

// differ compares with the standard decoder and tells whether the picture was taken. Where Open leaves
// it to that one there is nothing to compare.
func differ(tb testing.TB, data []byte) (opened, sound bool) {
	tb.Helper()
	r, ok := Open(data)
	if !ok {
		return false, false
	}
	img, wantErr := png.Decode(bytes.NewReader(data))
	pix, err := all(tb, r)
	if (err == nil) != (wantErr == nil) {
		tb.Fatalf("error %v, the standard decoder's %v", err, wantErr)
	}
	if err != nil {
		return true, false
	}
	want := reference(img)
	h := r.Header()
	if h.Width != want.Rect.Dx() || h.Height != want.Rect.Dy() || h.Opaque == (h.Layout == NRGBA) {
		tb.Fatalf("header %+v for %v", h, want.Rect)
	}
	if got := widened(pix, h.Layout); !bytes.Equal(got, want.Pix) {
		tb.Fatalf("pixels differ (-standard +ours):\n%.2000s", cmp.Diff(want.Pix, got))
	}
	return true, true
}

// differTwice is differ and reads in small blocks too.
func differTwice(tb testing.TB, data []byte) (opened, sound bool) {
	tb.Helper()
	opened, sound = differ(tb, data)
	if !opened {
		return opened, sound
	}
	r, _ := Open(data)
	again, err := allIn(tb, r, small)
	if (err == nil) != sound {
		tb.Fatalf("sound is %v, but in small blocks the error is %v", sound, err)
	}
	if !sound {
		return opened, sound
	}
	if pix, err := all(tb, r); err != nil || !bytes.Equal(again, pix) {
		tb.Fatalf("other pixels in small blocks, or %v", err)
	}
	return opened, sound
}

func TestEverySortIsReadAsTheStandardDecoderDoes(t *testing.T) {
	t.Parallel()
	for _, s := range sorts {
		for _, filter := range []int{0, 1, 2, 3, 4, anyFilter} {
			t.Run(fmt.Sprintf("%s filter %d", s.name, filter), func(t *testing.T) {
				t.Parallel()
				for _, w := range []int{1, 2, 3, 7, 9, 33, 250} {
					for _, h := range []int{1, 12} {
						data := s.draw(w, h, filter)
						if opened, sound := differTwice(t, data); !opened || !sound {
							t.Errorf("%d×%d: opened %v, sound %v", w, h, opened, sound)
						}
					}
				}
			})
		}
	}
}
