package resample

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/draw"
	"pgregory.net/rapid"
)

func TestItIsNearADefinitionInFloatingPoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src  *image.NRGBA
		w, h int
		most int
	}{
		"page":        {page(240, 170), 98, 69, 1},
		"photo":       {photo(200, 160), 67, 53, 1},
		"board":       {board(150, 110), 61, 40, 1},
		"a little":    {page(160, 120), 158, 119, 1},
		"one axis":    {page(120, 80), 120, 35, 1},
		"much":        {page(300, 300), 2, 1, 1},
		"nothing":     {board(90, 60), 90, 60, 0},
		"one pixel":   {page(5, 7), 1, 1, 1},
		"transparent": {alphaRamp(120, 90), 50, 37, 2},
	} {
		got := reduce(t, c.src, c.src.Rect, c.w, c.h)
		if d := apartBy(got, exact(c.src, c.w, c.h)); d > c.most {
			t.Errorf("%s: %d levels apart, want %d", name, d, c.most)
		}
	}
}

// alphaRamp is a page under glass that is nowhere so clear that a level of alpha is many of colour.
func alphaRamp(w, h int) *image.NRGBA {
	m := page(w, h)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = uint8(128 + i/4%w*127/w)
	}
	return m
}

func TestItIsXImagesCatmullRom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src  image.Image
		w, h int
		most float64
	}{
		"page":             {page(1200, 700), 490, 286, 60},
		"photo":            {photo(1000, 800), 333, 267, 55},
		"a little":         {page(800, 600), 790, 592, 60},
		"transparent":      {glass(700, 500), 200, 143, 50},
		"grey":             {grey(photo(900, 700)), 400, 311, 55},
		"one axis":         {page(600, 400), 600, 177, 60},
		"apart, 444":       {apart(photo(900, 700), image.YCbCrSubsampleRatio444), 300, 233, 50},
		"apart, 420":       {apart(photo(900, 700), image.YCbCrSubsampleRatio420), 300, 233, 50},
		"apart, 422":       {apart(photo(900, 700), image.YCbCrSubsampleRatio422), 300, 233, 50},
		"apart, 440":       {apart(photo(900, 700), image.YCbCrSubsampleRatio440), 300, 233, 50},
		"apart, 411":       {apart(photo(900, 700), image.YCbCrSubsampleRatio411), 300, 233, 50},
		"apart, 410":       {apart(photo(900, 700), image.YCbCrSubsampleRatio410), 300, 233, 50},
		"apart, 420, less": {apart(photo(900, 700), image.YCbCrSubsampleRatio420), 700, 544, 50},
	} {
		want := image.NewRGBA64(image.Rect(0, 0, c.w, c.h))
		draw.CatmullRom.Scale(want, want.Rect, c.src, c.src.Bounds(), draw.Src, nil)
		p := psnr(reduce(t, c.src, c.src.Bounds(), c.w, c.h), want)
		t.Logf("%s: %.1f dB", name, p)
		if p < c.most {
			t.Errorf("%s: %.1f dB, want %.0f", name, p, c.most)
		}
	}
}

func TestOneColourStaysThatColour(t *testing.T) {
	t.Parallel()
	sizes := []image.Point{{11, 13}, {37, 13}, {37, 41}, {1, 1}}
	for v := range 256 {
		for _, c := range []color.NRGBA{{uint8(v), uint8(255 - v), 7, 255}, {200, 100, 51, uint8(v)}, {uint8(v), 255, 3, 1}} {
			m := image.NewNRGBA(image.Rect(0, 0, 37, 41))
			for i := range m.Pix {
				m.Pix[i] = [4]uint8{c.R, c.G, c.B, c.A}[i%4]
			}
			for _, size := range sizes {
				want := c
				if c.A == 0 && size != m.Rect.Size() { // where nothing is mixed, nothing is lost
					want = color.NRGBA{}
				}
				got := reduce(t, m, m.Rect, size.X, size.Y)
				for i, v := range pix(got) {
					if v != [4]uint8{want.R, want.G, want.B, want.A}[i%4] {
						t.Fatalf("%v at %v became %v", c, size, pix(got)[i/4*4:i/4*4+4])
					}
				}
			}
		}
		g := &image.Gray{Pix: bytes.Repeat([]byte{byte(v)}, 37*41), Stride: 37, Rect: image.Rect(0, 0, 37, 41)}
		if got := pix(reduce(t, g, g.Rect, 10, 9)); !bytes.Equal(got, bytes.Repeat([]byte{byte(v)}, 90)) {
			t.Fatalf("grey %d became %v", v, got)
		}
	}
}

// other is a kind of picture that nobody knows.
type other struct{ draw.Image }

func TestEveryKindIsReadAsTheStandardLibraryConvertsIt(t *testing.T) {
	t.Parallel()
	place := image.Rect(-5, 9, 85, 79)
	pal := make(color.Palette, 256)
	for i := range pal {
		pal[i] = color.NRGBA{uint8(i / 32 * 36), uint8(i / 4 % 8 * 36), uint8(i % 4 * 85), 255 - uint8(i%7)}
	}
	kinds := map[string]draw.Image{
		"RGBA": image.NewRGBA(place), "NRGBA": image.NewNRGBA(place), "NRGBA64": image.NewNRGBA64(place), "RGBA64": image.NewRGBA64(place),
		"CMYK": image.NewCMYK(place), "Paletted": image.NewPaletted(place, pal), "Gray": image.NewGray(place), "Gray16": image.NewGray16(place),
		"other": other{image.NewNRGBA(place)},
	}
	for name, m := range kinds {
		for _, base := range []*image.NRGBA{photo(90, 70), glass(90, 70)} {
			draw.Draw(m, place, base, image.Point{}, draw.Src)
			checkKind(t, name, m, name == "Gray" || name == "Gray16")
		}
	}
	base := photo(90, 70)
	base.Rect = base.Rect.Add(image.Pt(7, 9))
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		checkKind(t, ratio.String(), apart(base, ratio), false)
	}
	a := image.NewNYCbCrA(base.Rect, image.YCbCrSubsampleRatio420)
	a.YCbCr = *apart(base, image.YCbCrSubsampleRatio420)
	for i := range a.A {
		a.A[i] = 255 - byte(i%90)
	}
	checkKind(t, "NYCbCrA", a, false)
}

// checkKind compares a part of m, as it is and reduced, with the same of m converted before.
func checkKind(t *testing.T, name string, m image.Image, isGrey bool) {
	t.Helper()
	at := m.Bounds().Min
	part := image.Rect(3, 5, 80, 60).Add(at)
	before := plain(m)
	// Planes are rounded before they become colours: two levels. Sixteen bits are cut to eight
	// before alpha is divided out or after, which differs by a level more.
	for size, most := range map[image.Point]int{{77, 55}: 1, {33, 20}: 4} {
		got := reduce(t, m, part, size.X, size.Y)
		want := reduce(t, before, part, size.X, size.Y)
		if _, ok := got.(*image.Gray); ok != isGrey {
			t.Fatalf("%s became %T", name, got)
		}
		if isGrey {
			want = grey(want)
		}
		if d := apartBy(got, want); d > most {
			t.Errorf("%s at %v: %d levels apart, want %d", name, size, d, most)
		}
	}
}

func TestWhereNothingIsReducedPlanesGiveTheStandardColours(t *testing.T) {
	t.Parallel()
	for _, ratio := range []image.YCbCrSubsampleRatio{image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio411} {
		m := apart(page(60, 50), ratio)
		part := image.Rect(3, 5, 58, 49)
		got := reduce(t, m, part, part.Dx(), part.Dy())
		want := reduce(t, plain(m), part, part.Dx(), part.Dy())
		if !bytes.Equal(pix(got), pix(want)) {
			t.Errorf("%v: other bytes", ratio)
		}
	}
}

func TestAPartIsWhatWasCutOutBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		r := image.Rect(x, y, rapid.IntRange(x+1, w).Draw(t, "x2"), rapid.IntRange(y+1, h).Draw(t, "y2"))
		sw, sh := rapid.IntRange(1, r.Dx()).Draw(t, "w of the result"), rapid.IntRange(1, r.Dy()).Draw(t, "h of the result")
		src := glass(w, h)
		cut := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
		for y := range r.Dy() {
			copy(cut.Pix[y*cut.Stride:][:4*r.Dx()], src.Pix[src.PixOffset(r.Min.X, r.Min.Y+y):])
		}
		got, err := Image(context.Background(), src, r, sw, sh)
		want, err2 := Image(context.Background(), cut, cut.Rect, sw, sh)
		if err != nil || err2 != nil || !bytes.Equal(pix(got), pix(want)) {
			t.Fatalf("%v %v: other bytes", err, err2)
		}
		for _, l := range []Layout{Grey, RGB, NRGBA} {
			checkStream(t, l, src, r, sw, sh)
		}
	})
}

// checkStream compares a stream of rows with the whole picture.
func checkStream(t *rapid.T, l Layout, src *image.NRGBA, r image.Rectangle, w, h int) {
	var whole image.Image = src
	solid, dim := image.NewNRGBA(src.Rect), image.NewGray(src.Rect)
	for i := 0; i < len(src.Pix); i += 4 {
		copy(solid.Pix[i:], src.Pix[i:i+3])
		solid.Pix[i+3], dim.Pix[i/4] = 255, src.Pix[i]
	}
	s := NewStream(l, r, w, h)
	for y := range src.Rect.Dy() {
		row := bytes.Clone(src.Pix[y*src.Stride:][:src.Stride])
		switch l {
		case NRGBA:
		case Grey:
			whole, row = dim, bytes.Clone(dim.Pix[y*dim.Stride:][:dim.Stride])
		case RGB:
			whole = solid
			for x := range src.Rect.Dx() {
				copy(row[3*x:], src.Pix[y*src.Stride+4*x:][:3])
			}
			row = row[:3*src.Rect.Dx()]
		}
		s.Put(y, row)
		clear(row) // it is the caller's
	}
	want, err := Image(context.Background(), whole, r, w, h)
	if err != nil || !bytes.Equal(pix(s.Image()), pix(want)) {
		t.Fatalf("layout %d, %v to %d × %d: a stream gives other bytes, %v", l, r, w, h, err)
	}
}

// Not parallel: GOMAXPROCS is the whole program's.
func TestTheNumberOfCoresDoesNotMatter(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, src := range []image.Image{page(500, 400), glass(400, 500), apart(photo(400, 300), image.YCbCrSubsampleRatio420)} {
		var first []byte
		for _, n := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(n)
			got := pix(reduce(t, src, src.Bounds(), 301, 222))
			if first == nil {
				first = got
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%T with %d: other bytes", src, n)
			}
		}
	}
}

func TestALongSideGivesTheMeanEverywhere(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{30000, 1}, {1, 30000}, {30000, 3}, {3, 30000}, {400_000, 1}, {1, 400_000}} {
		for _, side := range []int{1568, 100, 1} {
			src := image.NewNRGBA(image.Rectangle{Max: size})
			for i := range src.Pix {
				src.Pix[i] = 255
				if i%4 != 3 && (i/4%size.X+i/4/size.X)%2 == 0 {
					src.Pix[i] = 155
				}
			}
			w, h := min(size.X, side), min(size.Y, side)
			if size.X == 3 || size.Y == 3 {
				w, h = min(w, 1), min(h, side) // the short side is mixed too
				if size.Y == 3 {
					w, h = min(size.X, side), 1
				}
			}
			got := reduce(t, src, src.Rect, w, h).(*image.NRGBA)
			for i := 0; i < len(got.Pix); i += 4 {
				if d := int(got.Pix[i]) - 205; d > 2 || d < -2 || got.Pix[i+3] != 255 {
					t.Fatalf("%v to %d × %d, byte %d: %v, want 205", size, w, h, i, got.Pix[i:i+4])
				}
			}
		}
	}
}

func TestTheContextEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, src := range []image.Image{page(100, 100), apart(page(100, 100), image.YCbCrSubsampleRatio420)} {
		if m, err := Image(ctx, src, src.Bounds(), 50, 50); m != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context gave %v, %v", m, err)
		}
	}
}

func TestWhatCannotBeReducedIsTheCallersFault(t *testing.T) {
	t.Parallel()
	r := image.Rect(0, 0, 10, 10)
	early := NewStream(Grey, r, 5, 5)
	for want, call := range map[string]func(){
		"10 × 10 pixels cannot be reduced to 11 × 5": func() { reduce(t, page(10, 10), r, 11, 5) },
		"10 × 10 pixels cannot be reduced to 5 × 11": func() { NewStream(RGB, r, 5, 11) },
		"cannot be reduced to 0 × 5":                 func() { reduce(t, page(10, 10), r, 0, 5) },
		"is not in the picture":                      func() { reduce(t, page(10, 9), r, 5, 5) },
		"begins before the picture":                  func() { NewStream(RGB, r.Sub(image.Pt(1, 0)), 5, 5) },
		"row 0 has not come":                         func() { early.Image() },
		"row 3 came, row 0 is next":                  func() { early.Put(3, make([]byte, 10)) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}()
			call()
		}()
	}
}
