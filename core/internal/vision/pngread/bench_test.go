package pngread

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"
)

// screenshot draws windows with lines of letters, at 4K, as a browser shows a page.
func screenshot(see byte) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, 3840, 2160))
	glyphs := noise(64 * 160)
	for y := range 2160 {
		for x := range 3840 {
			c := color.NRGBA{R: 250, G: 250, B: 252, A: see}
			switch {
			case y < 120:
				c = color.NRGBA{R: byte(40 + y/4), G: byte(44 + y/4), B: 52, A: 255}
			case x < 500:
				c = color.NRGBA{R: 33, G: 37, B: 43, A: 255}
			}
			if y%36 < 20 && x%1100 < 900 && x > 520 {
				letter := (x/10*7 + y/36*13) % 61
				if g := glyphs[letter*160+y%20*8+x%8]; x%10 < 8 && g > 0 && g < 255 {
					c = color.NRGBA{R: 30 + g/2, G: 30 + g/3, B: 90, A: 255}
				}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

// photo draws soft gradients with grain.
func photo() image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, 2000, 1500))
	grain := noise(1 << 16)
	for y := range 1500 {
		for x := range 2000 {
			g := grain[(x*31+y*977)&0xffff] & 7
			m.SetNRGBA(x, y, color.NRGBA{R: byte(x/8) + g, G: byte(y/6) + g, B: byte((x+y)/14) + g, A: 255})
		}
	}
	return m
}

func encoded(tb testing.TB, m image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// BenchmarkRead reads beside image/png: pictures drawn here and, when PNGREAD_FILES names some, those.
func BenchmarkRead(b *testing.B) {
	files := map[string][]byte{
		"screenshot RGB": encoded(b, screenshot(255)), "screenshot RGBA": encoded(b, screenshot(254)), "photo RGB": encoded(b, photo()),
	}
	for name := range strings.FieldsSeq(os.Getenv("PNGREAD_FILES")) {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		files[name] = data
	}
	for name, data := range files {
		b.Run(name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, ok := Open(data)
				if !ok {
					b.Fatal("left to the standard decoder")
				}
				if err := r.Rows(b.Context(), func(int, []byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/standard", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := png.Decode(bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUnfilter is a row of 3840 pixels, kernel beside scalar twin.
func BenchmarkUnfilter(b *testing.B) {
	row, above := noise(4*3840), noise(4*3840+1)
	for _, size := range []int{3, 4} {
		row, above := row[:size*3840], above[:size*3840]
		for name, undo := range map[string]func(){
			"paeth":          func() { unPaeth(row, above, size) },
			"paeth scalar":   func() { unPaethScalar(row, above, size, 0) },
			"average":        func() { unAverage(row, above, size) },
			"average scalar": func() { unAverageScalar(row, above, size, 0) },
			"sub":            func() { unSub(row, size) },
			"sub scalar":     func() { unSubScalar(row, size, 0) },
			"up":             func() { unUp(row, above) },
			"up scalar":      func() { unUpScalar(row, above, 0) },
			"adler":          func() { adler(1, row) },
			"adler scalar":   func() { adlerScalar(1, row) },
		} {
			b.Run(fmt.Sprintf("%d/%s", size, name), func(b *testing.B) {
				b.SetBytes(int64(len(row)))
				for b.Loop() {
					undo()
				}
			})
		}
	}
}
