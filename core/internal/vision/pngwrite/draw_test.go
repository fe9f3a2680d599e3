package pngwrite

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
)

// page draws what a downscaled screenshot is like: flat areas, a shaded band, and words of smoothed
// glyphs in several colours that come again and again.
func page(w, h int) *image.NRGBA {
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(m, m.Rect, image.NewUniform(color.NRGBA{0xfb, 0xfb, 0xfd, 0xff}), image.Point{}, draw.Src)
	for y := range min(h, 60) {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{byte(40 + y), byte(70 + x*80/w), 120, 255})
		}
	}
	const gw, gh = 7, 12
	var glyphs [60][gw * gh]byte
	for i := range glyphs {
		for j := range glyphs[i] {
			if r.IntN(3) == 0 {
				glyphs[i][j] = byte(r.IntN(256))
			}
		}
	}
	for y := 80; y+gh < h; y += 18 {
		ink := color.NRGBA{byte(r.IntN(80)), byte(r.IntN(80)), byte(r.IntN(160)), 255}
		for x := 30; x+gw < w*3/4; x += gw {
			if r.IntN(6) == 0 {
				continue
			}
			for i, a := range glyphs[r.IntN(len(glyphs))] {
				was := m.NRGBAAt(x+i%gw, y+i/gw)
				mix := func(p, q byte) byte { return byte((int(p)*(255-int(a)) + int(q)*int(a)) / 255) }
				m.SetNRGBA(x+i%gw, y+i/gw, color.NRGBA{mix(was.R, ink.R), mix(was.G, ink.G), mix(was.B, ink.B), 255})
			}
		}
	}
	return m
}

// photo draws soft shapes with a camera's noise.
func photo(w, h int) *image.NRGBA {
	r := rand.New(rand.NewPCG(3, 4))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	shade := func(x, y int, k float64) byte {
		fx, fy := float64(x)/k, float64(y)/k
		v := 128 + 60*math.Sin(fx/31+math.Cos(fy/17)) + 40*math.Sin(fy/9+fx/23) + 4*r.NormFloat64()
		return byte(min(255, max(0, v)))
	}
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{shade(x, y, 1), shade(x, y, 1.3), shade(x, y, 1.7), 255})
		}
	}
	return m
}

// mixed is a page with a photo in it.
func mixed(w, h int) *image.NRGBA {
	m := page(w, h)
	draw.Draw(m, image.Rect(w/3, h/3, w, h*2/3), photo(w, h), image.Point{}, draw.Src)
	return m
}

// veiled is a page whose top fades in, as a shadow does.
func veiled(w, h int) *image.NRGBA {
	m := page(w, h)
	for y := range min(h, 40) {
		for x := range w {
			m.Pix[m.PixOffset(x, y)+3] = byte(6 * y)
		}
	}
	return m
}

// greyOf keeps the red channel.
func greyOf(m *image.NRGBA) *image.Gray {
	g := image.NewGray(m.Rect)
	for i := range g.Pix {
		g.Pix[i] = m.Pix[4*i]
	}
	return g
}

// pictures are large enough for several strips.
func pictures() map[string]image.Image {
	return map[string]image.Image{
		"page":       page(900, 700),
		"photo":      photo(800, 600),
		"mixed":      mixed(900, 800),
		"veiled":     veiled(800, 500),
		"grey page":  greyOf(page(1200, 900)),
		"grey photo": greyOf(photo(1200, 900)),
		"blank":      image.NewNRGBA(image.Rect(0, 0, 2576, 2000)),
		"one column": page(1, 2576),
		"one row":    photo(2576, 1),
	}
}
