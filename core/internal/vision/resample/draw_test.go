package resample

import (
	"context"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/draw"
)

// page has fine lines, edges and letters of sorts, as a screenshot.
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

// photo is smooth, with noise.
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

// board is nothing but 0 and 255, pixel by pixel.
func board(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		if x, y := i/4%w, i/4/w; i%4 == 3 || (x+y+i%4)%2 == 0 {
			m.Pix[i] = 255
		}
	}
	return m
}

// glass is a photo of which much is seen through, its lower third not.
func glass(w, h int) *image.NRGBA {
	m := photo(w, h)
	for i := 3; i < len(m.Pix)*2/3; i += 4 {
		m.Pix[i] = uint8(i / 7)
	}
	return m
}

func grey(m image.Image) *image.Gray {
	g := image.NewGray(m.Bounds())
	draw.Draw(g, g.Rect, m, m.Bounds().Min, draw.Src)
	return g
}

// apart is m in the colours of a JPEG.
func apart(m image.Image, ratio image.YCbCrSubsampleRatio) *image.YCbCr {
	out := image.NewYCbCr(m.Bounds(), ratio)
	b := m.Bounds()
	for y := b.Max.Y - 1; y >= b.Min.Y; y-- {
		for x := b.Max.X - 1; x >= b.Min.X; x-- {
			r, g, b, _ := m.At(x, y).RGBA()
			i := out.COffset(x, y)
			out.Y[out.YOffset(x, y)], out.Cb[i], out.Cr[i] = color.RGBToYCbCr(uint8(r>>8), uint8(g>>8), uint8(b>>8))
		}
	}
	return out
}

// plain is m pixel by pixel, as the standard library converts it.
func plain(m image.Image) *image.NRGBA {
	out := image.NewNRGBA(m.Bounds())
	for y := out.Rect.Min.Y; y < out.Rect.Max.Y; y++ {
		for x := out.Rect.Min.X; x < out.Rect.Max.X; x++ {
			out.Set(x, y, m.At(x, y))
		}
	}
	return out
}

func reduce(t testing.TB, src image.Image, r image.Rectangle, w, h int) image.Image {
	t.Helper()
	m, err := Image(context.Background(), src, r, w, h)
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

// apartBy gives the largest difference of two pictures' bytes.
func apartBy(a, b image.Image) int {
	most := 0
	for i, v := range pix(a) {
		d := int(v) - int(pix(b)[i])
		most = max(most, d, -d)
	}
	return most
}

// psnr of the colours of two pictures on black, in dB.
func psnr(a, b image.Image) float64 {
	sum, n := 0.0, 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, bl, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			for _, d := range [3]float64{float64(r) - float64(r2), float64(g) - float64(g2), float64(bl) - float64(b2)} {
				sum += d * d / 257 / 257
				n++
			}
		}
	}
	return 10 * math.Log10(255*255/(sum/float64(n)))
}

// exact reduces in float64, of colours times alpha, straight from the definition.
func exact(src *image.NRGBA, w, h int) *image.NRGBA {
	b := src.Bounds()
	across, down := exactTaps(b.Dx(), w), exactTaps(b.Dy(), h)
	mid := make([][4]float64, w*b.Dy())
	for y := range b.Dy() {
		for x := range w {
			for k, weight := range across[x] {
				c := src.NRGBAAt(b.Min.X+k, b.Min.Y+y)
				a := float64(c.A) / 255 * weight
				m := &mid[y*w+x]
				m[0], m[1], m[2], m[3] = m[0]+float64(c.R)*a, m[1]+float64(c.G)*a, m[2]+float64(c.B)*a, m[3]+255*a
			}
		}
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			var sum [4]float64
			for k, weight := range down[y] {
				for c := range sum {
					sum[c] += weight * mid[k*w+x][c]
				}
			}
			a := min(max(sum[3], 0), 255)
			if a < 0.5 {
				continue
			}
			v := func(c float64) uint8 { return uint8(min(max(c*255/a, 0), 255) + 0.5) }
			out.SetNRGBA(x, y, color.NRGBA{v(sum[0]), v(sum[1]), v(sum[2]), uint8(a + 0.5)})
		}
	}
	return out
}

func exactTaps(size, n int) []map[int]float64 {
	all, scale := make([]map[int]float64, n), float64(size)/float64(n)
	for i := range all {
		all[i] = map[int]float64{}
		centre, total := (float64(i)+0.5)*scale, 0.0
		for k := range size {
			d := math.Abs(float64(k)+0.5-centre) / scale
			w := 0.0
			switch {
			case d < 1:
				w = 1.5*d*d*d - 2.5*d*d + 1
			case d < 2:
				w = -0.5*d*d*d + 2.5*d*d - 4*d + 2
			}
			if w != 0 {
				all[i][k] = w
				total += w
			}
		}
		for k := range all[i] {
			all[i][k] /= total
		}
	}
	return all
}
