package resample

import (
	"image"
	"testing"

	"golang.org/x/image/draw"
)

// beside measures the kernels, their plain twins and x/image's scaler; bytes are the source's.
func beside(b *testing.B, src image.Image, w, h, size int) {
	b.Helper()
	for name, kernels := range map[string]bool{"kernels": true, "plain": false} {
		b.Run(name, func(b *testing.B) {
			defer func(was bool) { vector = was }(vector)
			vector = vector && kernels
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				reduce(b, src, src.Bounds(), w, h)
			}
		})
	}
	b.Run("x-image", func(b *testing.B) {
		dst := image.NewRGBA(image.Rect(0, 0, w, h))
		b.SetBytes(int64(size))
		for b.Loop() {
			draw.CatmullRom.Scale(dst, dst.Rect, src, src.Bounds(), draw.Src, nil)
		}
	})
}

func BenchmarkImage4K(b *testing.B) {
	src := page(3840, 2160)
	beside(b, src, 1568, 882, len(src.Pix))
}

func BenchmarkAlpha4K(b *testing.B) {
	src := alphaRamp(3840, 2160)
	beside(b, src, 1568, 882, len(src.Pix))
}

func BenchmarkYCbCr12MP(b *testing.B) {
	src := apart(photo(4000, 3000), image.YCbCrSubsampleRatio420)
	beside(b, src, 1568, 1176, len(src.Y)*3/2)
}

func BenchmarkPaletted4K(b *testing.B) {
	src := image.NewPaletted(image.Rect(0, 0, 3840, 2160), nil)
	for i := range 256 {
		src.Palette = append(src.Palette, image.Black.C)
		src.Pix[i] = byte(i)
	}
	beside(b, src, 1568, 882, len(src.Pix))
}

func BenchmarkStream4K(b *testing.B) {
	for name, l := range map[string]Layout{"grey": Grey, "RGB": RGB, "NRGBA": NRGBA} {
		for kind, kernels := range map[string]bool{"kernels": true, "plain": false} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				defer func(was bool) { vector = was }(vector)
				vector = vector && kernels
				row := page(3840, 1).Pix[:3840*int(l)]
				b.SetBytes(int64(2160 * len(row)))
				b.ReportAllocs()
				for b.Loop() {
					s := NewStream(l, image.Rect(0, 0, 3840, 2160), 1568, 882)
					for y := range 2160 {
						s.Put(y, row)
					}
					s.Image()
				}
			})
		}
	}
}
