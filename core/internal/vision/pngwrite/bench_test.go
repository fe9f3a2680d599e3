package pngwrite

import (
	"bytes"
	"image/png"
	"testing"
)

// BenchmarkEncode shows each drawn picture here and through image/png at two levels.
func BenchmarkEncode(b *testing.B) {
	all := pictures()
	for _, name := range []string{"page", "photo", "mixed", "veiled", "grey page", "grey photo"} {
		img := all[name]
		b.Run(name+"/here", func(b *testing.B) {
			size := 0
			for b.Loop() {
				file, err := Encode(b.Context(), img)
				if err != nil {
					b.Fatal(err)
				}
				size = len(file)
			}
			b.ReportMetric(float64(size), "bytes")
		})
		for level, c := range map[string]png.CompressionLevel{"default": png.DefaultCompression, "fastest": png.BestSpeed} {
			b.Run(name+"/standard "+level, func(b *testing.B) {
				var out bytes.Buffer
				for b.Loop() {
					out.Reset()
					if err := (&png.Encoder{CompressionLevel: c}).Encode(&out, img); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(out.Len()), "bytes")
			})
		}
	}
}
