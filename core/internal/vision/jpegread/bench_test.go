package jpegread

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"
)

// drawn is a picture with soft light, edges, texture and grain, as much in its codes as in a photo's.
func drawn(w, h int, grain float64) *image.YCbCr {
	rng := rand.New(rand.NewPCG(1, 2))
	m := image.NewYCbCr(image.Rect(0, 0, w, h), image.YCbCrSubsampleRatio420)
	clip := func(v float64) byte { return byte(min(max(v, 0), 255)) }
	for y := range h {
		for x := range w {
			fx, fy := float64(x), float64(y)
			v := 120 + 60*math.Sin(fx/311+math.Sin(fy/173)) + 25*math.Sin(fx*fy/90000)
			if math.Hypot(math.Mod(fx, 257)-128, math.Mod(fy, 263)-130) < 70 {
				v += 40 * math.Sin(fx/3) * math.Sin(fy/5)
			}
			m.Y[y*m.YStride+x] = clip(v + grain*rng.NormFloat64())
		}
	}
	for y := range (h + 1) / 2 {
		for x := range (w + 1) / 2 {
			fx, fy := float64(x), float64(y)
			m.Cb[y*m.CStride+x] = clip(128 + 40*math.Sin(fx/150) + 20*math.Sin(fy/9) + grain/3*rng.NormFloat64())
			m.Cr[y*m.CStride+x] = clip(128 + 40*math.Cos(fy/190) + grain/3*rng.NormFloat64())
		}
	}
	return m
}

func encoded(tb testing.TB, m image.Image, quality int) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	data := encoded(b, drawn(4000, 3000, 6), 88)
	b.Logf("%d bytes", len(data))
	b.Run("image/jpeg", func(b *testing.B) {
		for b.Loop() {
			if _, err := jpeg.Decode(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
	})
	r, ok := Open(data)
	if !ok {
		b.Fatal("not ours")
	}
	for _, denom := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("1-%d", denom), func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Decode(b.Context(), denom); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
