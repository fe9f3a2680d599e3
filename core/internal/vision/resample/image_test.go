package resample

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/image/draw"
	"pgregory.net/rapid"
)

// page is a page with fine lines, edges and letters of sorts; photo is smooth with noise.
func page(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	rnd := rand.New(rand.NewPCG(1, 2))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	for range w * h / 400 {
		x, y := rnd.IntN(w), rnd.IntN(h)
		c := color.NRGBA{uint8(rnd.IntN(120)), uint8(rnd.IntN(120)), uint8(rnd.IntN(200)), 255}
		draw.Draw(m, image.Rect(x, y, x+1+rnd.IntN(14), y+1+rnd.IntN(3)), image.NewUniform(c), image.Point{}, draw.Src)
	}
	return m
}

func photo(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	rnd := rand.New(rand.NewPCG(3, 4))
	for y := range h {
		for x := range w {
			fx, fy := float64(x)/97, float64(y)/71
			n := rnd.NormFloat64() * 4
			v := func(a float64) uint8 { return uint8(min(max(127+100*a+n, 0), 255)) }
			m.SetNRGBA(x, y, color.NRGBA{v(math.Sin(fx)), v(math.Cos(fy)), v(math.Sin(fx * fy / 9)), 255})
		}
	}
	return m
}

func glass(w, h int) *image.NRGBA {
	m := photo(w, h)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = uint8(i / 7)
	}
	return m
}

// ycc is m in the colours of a JPEG.
func ycc(m image.Image, ratio image.YCbCrSubsampleRatio) *image.YCbCr {
	out := image.NewYCbCr(m.Bounds(), ratio)
	sums := map[int][3]int{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			r, g, b, _ := m.At(x, y).RGBA()
			l, cb, cr := color.RGBToYCbCr(uint8(r>>8), uint8(g>>8), uint8(b>>8))
			out.Y[out.YOffset(x, y)] = l
			at := out.COffset(x, y)
			s := sums[at]
			sums[at] = [3]int{s[0] + int(cb), s[1] + int(cr), s[2] + 1}
		}
	}
	for at, s := range sums {
		out.Cb[at], out.Cr[at] = uint8(s[0]/s[2]), uint8(s[1]/s[2])
	}
	return out
}

func must(t testing.TB, src image.Image, r image.Rectangle, w, h int) image.Image {
	t.Helper()
	m, err := Image(t.Context(), src, r, w, h)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func pix(m image.Image) []byte {
	if g, ok := m.(*image.Gray); ok {
		return g.Pix
	}
	return m.(*image.NRGBA).Pix
}

// psnr of two pictures on white, in dB.
func psnr(a, b image.Image) float64 {
	sum, n := 0.0, 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, bl, al := a.At(x, y).RGBA()
			r2, g2, b2, al2 := b.At(x, y).RGBA()
			for _, d := range [3]float64{float64(r) - float64(al) - float64(r2) + float64(al2), float64(g) - float64(al) - float64(g2) + float64(al2), float64(bl) - float64(al) - float64(b2) + float64(al2)} {
				sum += d * d / 257 / 257
				n++
			}
		}
	}
	return 10 * math.Log10(255*255/(sum/float64(n)))
}

func reference(src image.Image, r image.Rectangle, w, h int) image.Image {
	want := image.NewRGBA64(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(want, want.Rect, src, r, draw.Src, nil)
	return want
}

func TestItIsCatmullRom(t *testing.T) {
	for name, c := range map[string]struct {
		src  image.Image
		w, h int
		most float64
	}{
		"page":               {page(1200, 700), 490, 286, 55},
		"photo":              {photo(1000, 800), 333, 267, 55},
		"a little":           {page(800, 600), 790, 592, 55},
		"transparent":        {glass(700, 500), 200, 143, 48},
		"grey":               {grey(photo(900, 700)), 400, 311, 55},
		"one axis":           {page(600, 400), 600, 177, 55},
		"colours apart, 444": {ycc(photo(900, 700), image.YCbCrSubsampleRatio444), 300, 233, 50},
		"colours apart, 420": {ycc(photo(900, 700), image.YCbCrSubsampleRatio420), 300, 233, 47},
		"colours apart, 422": {ycc(photo(900, 700), image.YCbCrSubsampleRatio422), 300, 233, 47},
		"colours apart, 440": {ycc(photo(900, 700), image.YCbCrSubsampleRatio440), 300, 233, 47},
		"colours apart, 411": {ycc(photo(900, 700), image.YCbCrSubsampleRatio411), 300, 233, 45},
		"page as a JPEG":     {ycc(page(900, 700), image.YCbCrSubsampleRatio420), 400, 311, 38},
	} {
		got := must(t, c.src, c.src.Bounds(), c.w, c.h)
		p := psnr(got, reference(c.src, c.src.Bounds(), c.w, c.h))
		t.Logf("%s: %.1f dB", name, p)
		if p < c.most {
			t.Errorf("%s: %.1f dB to x/image's Catmull-Rom, want %.0f", name, p, c.most)
		}
	}
}

func grey(m image.Image) *image.Gray {
	g := image.NewGray(m.Bounds())
	draw.Draw(g, g.Rect, m, image.Point{}, draw.Src)
	return g
}

func TestOneColourStaysThatColour(t *testing.T) {
	for v := range 256 {
		for _, c := range []color.NRGBA{{uint8(v), uint8(255 - v), 7, 255}, {200, 100, 50, uint8(v)}} {
			m := image.NewNRGBA(image.Rect(0, 0, 37, 41))
			draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
			for i := range m.Pix {
				m.Pix[i] = [4]uint8{c.R, c.G, c.B, c.A}[i%4]
			}
			got := must(t, m, m.Rect, 11, 13).(*image.NRGBA).NRGBAAt(5, 6)
			near := func(a, b uint8) bool {
				return int(a)-int(b) <= 255/max(1, int(c.A)) && int(b)-int(a) <= 255/max(1, int(c.A))
			}
			if c.A == 255 && got != c || got.A != c.A || c.A > 0 && (!near(got.R, c.R) || !near(got.G, c.G) || !near(got.B, c.B)) || c.A == 0 && got != (color.NRGBA{}) {
				t.Errorf("%v became %v", c, got)
			}
		}
	}
}

func TestEveryKindOfPictureIsReadTheSame(t *testing.T) {
	base := photo(90, 70)
	pal := color.Palette{}
	for i := range 256 {
		pal = append(pal, color.NRGBA{uint8(i / 32 * 36), uint8(i / 4 % 8 * 36), uint8(i % 4 * 85), 255})
	}
	for name, m := range map[string]draw.Image{
		"RGBA": image.NewRGBA(base.Rect), "NRGBA64": image.NewNRGBA64(base.Rect), "RGBA64": image.NewRGBA64(base.Rect), "CMYK": image.NewCMYK(base.Rect),
		"Paletted": image.NewPaletted(base.Rect, pal), "Gray": image.NewGray(base.Rect), "Gray16": image.NewGray16(base.Rect), "other": other{image.NewRGBA(base.Rect)},
		"moved": image.NewRGBA(base.Rect.Add(image.Pt(-5, 9))),
	} {
		draw.Draw(m, m.Bounds(), base, image.Point{}, draw.Src)
		plain := image.NewNRGBA(base.Rect)
		draw.Draw(plain, plain.Rect, m, m.Bounds().Min, draw.Src)
		r := image.Rect(3, 5, 80, 60)
		want := must(t, plain, r, 33, 20)
		got := must(t, m, r.Add(m.Bounds().Min), 33, 20)
		if _, isGrey := got.(*image.Gray); isGrey != (name == "Gray" || name == "Gray16") {
			t.Errorf("%s became %T", name, got)
		}
		if p := psnr(got, want); p < 50 {
			t.Errorf("%s: %.1f dB", name, p)
		}
	}
}

// other is a kind of picture that nobody knows.
type other struct{ draw.Image }

func TestAPartIsWhatWasCutOutBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		r := image.Rect(x, y, rapid.IntRange(x+1, w).Draw(t, "x2"), rapid.IntRange(y+1, h).Draw(t, "y2"))
		sw, sh := rapid.IntRange(1, r.Dx()).Draw(t, "sent w"), rapid.IntRange(1, r.Dy()).Draw(t, "sent h")
		src := glass(w, h)
		cutOut := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
		for y := range r.Dy() {
			copy(cutOut.Pix[y*cutOut.Stride:][:4*r.Dx()], src.Pix[src.PixOffset(r.Min.X, r.Min.Y+y):])
		}
		got, err := Image(context.Background(), src, r, sw, sh)
		want, err2 := Image(context.Background(), cutOut, cutOut.Rect, sw, sh)
		if err != nil || err2 != nil || !bytes.Equal(pix(got), pix(want)) {
			t.Fatalf("%v %v: other bytes", err, err2)
		}
		for _, l := range []Layout{Grey, RGB, NRGBA} {
			streamed(t, l, src, r, sw, sh)
		}
	})
}

// streamed compares a stream with a whole picture.
func streamed(t *rapid.T, l Layout, src *image.NRGBA, r image.Rectangle, w, h int) {
	s := NewStream(l, r, w, h)
	var whole image.Image = src
	solid, dim := image.NewNRGBA(src.Rect), image.NewGray(src.Rect)
	for i := 0; i < len(src.Pix); i += 4 {
		copy(solid.Pix[i:], src.Pix[i:i+3])
		solid.Pix[i+3], dim.Pix[i/4] = 255, src.Pix[i]
	}
	for y := range src.Rect.Dy() {
		row := bytes.Clone(src.Pix[y*src.Stride:][:src.Stride])
		switch l {
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
		t.Fatalf("layout %d, %v to %dx%d: a stream gives other bytes, %v", l, r, w, h, err)
	}
}

func TestTheNumberOfCoresDoesNotMatter(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, src := range []image.Image{page(500, 400), glass(400, 500), ycc(photo(400, 300), image.YCbCrSubsampleRatio420)} {
		var first []byte
		for _, n := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(n)
			got := pix(must(t, src, src.Bounds(), 301, 222))
			if first == nil {
				first = got
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%T with %d: other bytes", src, n)
			}
		}
	}
}

func TestLongAndThin(t *testing.T) {
	for _, size := range []image.Point{{30000, 1}, {1, 30000}, {30000, 3}, {3, 30000}, {400_000, 1}, {1, 400_000}} {
		src := image.NewNRGBA(image.Rectangle{Max: size})
		for i := range src.Pix {
			src.Pix[i] = 255
			if i%4 != 3 && i/4%2 == 0 && size.X != 3 {
				src.Pix[i] = 155
			}
		}
		w, h := min(size.X, 1568), min(size.Y, 1568)
		got := must(t, src, src.Rect, w, h).(*image.NRGBA)
		want := 205
		if size.X == 3 {
			want = 255
		}
		for x := 5; x < max(w, h)-5; x += 97 { // the mean, wherever one looks
			c := got.NRGBAAt(min(x, w-1), min(x, h-1))
			if d := int(c.R) - want; d > 6 || d < -6 || c.A != 255 {
				t.Fatalf("%v at %d: %v, want %d", size, x, c, want)
			}
		}
	}
}

func TestNothingIsEnlargedAndTheContextEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Image(ctx, page(100, 100), image.Rect(0, 0, 100, 100), 50, 50); err == nil {
		t.Error("an ended context gave a picture")
	}
	for _, size := range []image.Point{{0, 5}, {11, 5}, {5, 11}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic", size)
				}
			}()
			_, _ = Image(t.Context(), page(10, 10), image.Rect(0, 0, 10, 10), size.X, size.Y)
		}()
	}
}

func BenchmarkImage(b *testing.B) {
	rgba := image.NewRGBA(image.Rect(0, 0, 3840, 2160))
	draw.Draw(rgba, rgba.Rect, page(3840, 2160), image.Point{}, draw.Src)
	big := ycc(photo(2000, 1500), image.YCbCrSubsampleRatio420)
	wide := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	for i := range wide.Y {
		wide.Y[i] = big.Y[i%len(big.Y)]
	}
	for _, c := range []struct {
		name string
		src  image.Image
		w, h int
	}{{"4K", rgba, 1568, 882}, {"12MP", wide, 1568, 1176}, {"half of 12MP", big, 1568, 1176}} {
		for _, quick := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/kernels=%v", c.name, quick), func(b *testing.B) {
				defer func(was bool) { fast = was }(fast)
				fast = fast && quick
				for b.Loop() {
					must(b, c.src, c.src.Bounds(), c.w, c.h)
				}
			})
		}
		b.Run(c.name+"/x-image", func(b *testing.B) {
			dst := image.NewRGBA(image.Rect(0, 0, c.w, c.h))
			for b.Loop() {
				draw.CatmullRom.Scale(dst, dst.Rect, c.src, c.src.Bounds(), draw.Src, nil)
			}
		})
	}
	b.Run("4K stream of RGB", func(b *testing.B) {
		row := make([]byte, 3*3840)
		for b.Loop() {
			s := NewStream(RGB, image.Rect(0, 0, 3840, 2160), 1568, 882)
			for y := range 2160 {
				s.Put(y, row)
			}
		}
	})
}
