package jpegread

import (
	"bytes"
	"image/jpeg"
	"os"
	"testing"
)

// FuzzDifferential: whatever the bytes, no panic, nothing is taken that image/jpeg refuses, only two sorts of
// damage are refused that it takes, and pixels are the same within two levels.
func FuzzDifferential(f *testing.F) {
	for _, name := range publicFiles(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 5000 { // mutations of small files find more in the same time
			f.Add(data)
		}
	}
	for _, data := range damageable(f) {
		f.Add(data)
	}
	for _, samples := range samplings {
		f.Add(spec{w: 21, h: 18, samples: samples, quant: 15, restart: 1}.bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			if _, ok := Open(data); ok {
				t.Fatalf("taken, image/jpeg has no size: %v", err)
			}
			return
		}
		if c.Width*c.Height > 1<<16 || bytes.Count(data, []byte{0xff, markSOS}) > 8 {
			return
		}
		if what, stricter := differ(t.Context(), data, 2); what != "" && (!stricter || !strictly(what)) {
			t.Fatal(what)
		}
	})
}
