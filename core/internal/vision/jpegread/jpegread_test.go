package jpegread

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// withGo is the folder of pictures that comes with Go.
func withGo(tb testing.TB) string {
	tb.Helper()
	root, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src", "image", "testdata")
}

// publicFiles are the JPEGs that come with Go.
func publicFiles(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(withGo(tb), "*.jpeg"))
	if err != nil || len(files) < 20 {
		tb.Fatalf("Go's own test pictures: %d, %v", len(files), err)
	}
	return files
}

func TestPublicFilesAsTheStandardDecoderHasThem(t *testing.T) {
	t.Parallel()
	ours := 0
	for _, f := range publicFiles(t) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if what, _ := differ(t.Context(), data, 1); what != "" {
			t.Errorf("%s: %s", filepath.Base(f), what)
		}
		if _, ok := Open(data); ok {
			ours++
		}
	}
	if ours < 10 {
		t.Errorf("only %d files are decoded here", ours)
	}
}

// samplings are all that image/jpeg gives as gray or YCbCr, also those it calls the same by larger numbers.
var samplings = map[string][][2]int{
	"gray": {{1, 1}}, "gray 2×2": {{2, 2}}, "4:4:4": {{1, 1}, {1, 1}, {1, 1}}, "4:2:2": {{2, 1}, {1, 1}, {1, 1}},
	"4:2:0": {{2, 2}, {1, 1}, {1, 1}}, "4:4:0": {{1, 2}, {1, 1}, {1, 1}}, "4:1:1": {{4, 1}, {1, 1}, {1, 1}},
	"4:1:0": {{4, 2}, {1, 1}, {1, 1}}, "4:4:0 as 2×2, 2×1": {{2, 2}, {2, 1}, {2, 1}}, "4:2:2 as 2×2, 1×2": {{2, 2}, {1, 2}, {1, 2}},
}

func TestEverySamplingAsTheStandardDecoderHasIt(t *testing.T) {
	t.Parallel()
	for name, samples := range samplings {
		for _, s := range []spec{
			{w: 97, h: 75, samples: samples, quant: 3},
			{w: 97, h: 75, samples: samples, quant: 2, longCode: true, restart: 1},
			{w: 61, h: 90, samples: samples, quant: 9, restart: 3, wide: true},
			{w: 61, h: 43, samples: samples, quant: 5, apart: true, restart: 2, longCode: true},
			{w: 40, h: 33, samples: samples, quant: 5, apart: true},
		} {
			data := s.bytes()
			if _, ok := Open(data); !ok {
				t.Errorf("%s %v: not taken", name, s)
			}
			if what, _ := differ(t.Context(), data, 1); what != "" {
				t.Errorf("%s %v: %s", name, s, what)
			}
		}
	}
}

func TestEverySmallSize(t *testing.T) {
	t.Parallel()
	names := []string{"gray", "4:4:4", "4:2:0", "4:1:1", "4:4:0", "4:2:2", "4:1:0"}
	for w := 1; w <= 40; w++ {
		for h := 1; h <= 40; h += 3 {
			s := spec{w: w, h: h, samples: samplings[names[(w+h)%len(names)]], quant: 6, restart: w % 3, apart: h%4 == 0}
			if what, _ := differ(t.Context(), s.bytes(), 1); what != "" {
				t.Errorf("%v: %s", s, what)
			}
		}
	}
}

func TestOneColourIsExactAtEverySize(t *testing.T) {
	t.Parallel()
	for name, samples := range samplings {
		data := spec{w: 45, h: 39, samples: samples, quant: 1, flat: true}.bytes()
		full, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		r, ok := Open(data)
		if !ok {
			t.Fatalf("%s is not taken", name)
		}
		for _, denom := range []int{1, 2, 4, 8} {
			m, err := r.Decode(t.Context(), denom)
			if err != nil {
				t.Fatal(err)
			}
			for y := range m.Bounds().Dy() {
				for x := range m.Bounds().Dx() {
					if got, want := m.At(x, y), full.At(x, y); got != want {
						t.Fatalf("%s at 1/%d: %d,%d is %v, want %v", name, denom, x, y, got, want)
					}
				}
			}
		}
	}
}

// Of the whole picture the mean of denom×denom samples is what a pixel at 1/denom is about.
func TestASmallerPictureIsNearTheMeanOfItsPixels(t *testing.T) {
	t.Parallel()
	photo, err := os.ReadFile(filepath.Join(withGo(t), "video-001.jpeg"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"photo": photo, "drawn": encoded(t, drawn(400, 300, 2), 90)} {
		full, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := Open(data)
		for _, denom := range []int{1, 2, 4, 8} {
			m, err := r.Decode(t.Context(), denom)
			if err != nil {
				t.Fatal(err)
			}
			off := fromMean(m.(*image.YCbCr), full.(*image.YCbCr), denom)
			t.Logf("%s at 1/%d: luma is off by %.3f on average", name, denom, off)
			if off > 3.5 {
				t.Errorf("%s at 1/%d: luma is off by %.3f", name, denom, off)
			}
		}
	}
}

func fromMean(small, full *image.YCbCr, denom int) float64 {
	w, h, off := full.Rect.Dx()/denom, full.Rect.Dy()/denom, 0.0
	for y := range h {
		for x := range w {
			sum := 0
			for i := range denom * denom {
				sum += int(full.Y[(y*denom+i/denom)*full.YStride+x*denom+i%denom])
			}
			d := float64(small.Y[y*small.YStride+x]) - float64(sum)/float64(denom*denom)
			off += max(d, -d)
		}
	}
	return off / float64(w*h)
}

func TestAHalfOf420HasChromaOfEveryPixel(t *testing.T) {
	t.Parallel()
	r, _ := Open(spec{w: 33, h: 35, samples: samplings["4:2:0"], quant: 2}.bytes())
	for denom, want := range map[int]image.YCbCrSubsampleRatio{
		1: image.YCbCrSubsampleRatio420, 2: image.YCbCrSubsampleRatio444, 4: image.YCbCrSubsampleRatio444, 8: image.YCbCrSubsampleRatio444,
	} {
		m, err := r.Decode(t.Context(), denom)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*image.YCbCr).SubsampleRatio; got != want {
			t.Errorf("at 1/%d: %v, want %v", denom, got, want)
		}
	}
}

// damageable are small files of all sorts.
func damageable(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{
		"baseline":    spec{w: 37, h: 29, samples: samplings["4:2:0"], quant: 12, restart: 2}.bytes(),
		"scans apart": spec{w: 24, h: 19, samples: samplings["4:4:4"], quant: 20, apart: true, longCode: true}.bytes(),
		"extended":    spec{w: 24, h: 30, samples: samplings["gray"], quant: 12, wide: true}.bytes(),
	}
	for _, name := range []string{"small-420-progressive.jpeg", "small-444-progressive.jpeg"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			tb.Fatal(err)
		}
		if r, ok := Open(data); !ok {
			tb.Fatalf("%s is not taken", name)
		} else if _, err := r.Decode(tb.Context(), 1); err != nil {
			tb.Fatal(err)
		}
		files[name] = data
	}
	return files
}

func TestACutFileIsRefusedWhereverItIsCut(t *testing.T) {
	t.Parallel()
	for s, data := range damageable(t) {
		for n := range data {
			r, ok := Open(data[:n])
			if !ok {
				continue
			}
			for _, denom := range []int{1, 2, 4, 8} {
				if _, err := r.Decode(t.Context(), denom); !errors.Is(err, ErrDamaged) {
					t.Fatalf("%s cut at %d of %d, 1/%d: %v", s, n, len(data), denom, err)
				}
			}
		}
	}
}

// Only these two sorts of damage are refused here and not by image/jpeg.
var strictlyRefused = []string{"Huffman table with too many codes", "a coefficient too large"}

func strictly(what string) bool {
	for _, s := range strictlyRefused {
		if strings.Contains(what, s) {
			return true
		}
	}
	return false
}

func TestAChangedByteIsTakenOrRefusedAsByTheStandardDecoder(t *testing.T) {
	t.Parallel()
	more := map[string]int{}
	for s, data := range damageable(t) {
		for i := range data {
			mask := []byte{0x01, 0x10, 0x80, 0xff}[i%4]
			data[i] ^= mask
			what, stricter := differ(t.Context(), data, 2)
			if stricter && strictly(what) {
				more[what]++
			} else if what != "" {
				t.Errorf("%s byte %d ^ %#x: %s", s, i, mask, what)
			}
			data[i] ^= mask
		}
	}
	t.Log("refused here alone:", more)
}

func TestWhatIsNotOursIsSaidSo(t *testing.T) {
	t.Parallel()
	yes := spec{w: 9, h: 9, samples: samplings["4:4:4"], quant: 9}
	rgb := yes
	rgb.rgb = true
	flat := yes
	flat.h = 0
	adobe := append([]byte{0xff, markSOI, 0xff, markAPP14, 0, 14}, "Adobe\x00\x00\x00\x00\x00\x00\x00"...)
	progressive, err := os.ReadFile(filepath.Join(withGo(t), "video-001.cmyk.jpeg"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"named RGB": rgb.bytes(), "no height": flat.bytes(), "Adobe RGB": append(adobe, yes.bytes()[2:]...), "CMYK": progressive, "nothing": nil,
	} {
		if _, ok := Open(data); ok {
			t.Errorf("%s is taken", name)
		}
	}
	// RGB by a marker after the scan is known only at the end.
	late := yes.bytes()
	late = append(append(late[:len(late)-2:len(late)-2], adobe[2:]...), 0xff, markEOI)
	r, ok := Open(late)
	if !ok {
		t.Fatal("not taken")
	}
	if _, err := r.Decode(t.Context(), 2); !errors.Is(err, ErrOther) {
		t.Errorf("a late Adobe marker: %v", err)
	}
	if _, err := r.Decode(t.Context(), 3); err == nil {
		t.Error("a third is taken")
	}
}

// countedContext ends after it was asked n times.
type countedContext struct {
	context.Context
	n int
}

func (c *countedContext) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestNothingRunsOnAfterAnEndBeforeTheEnd(t *testing.T) {
	t.Parallel()
	whole := spec{w: 300, h: 200, samples: samplings["4:2:0"], quant: 9}.bytes()
	for n := range 14 {
		synctest.Test(t, func(t *testing.T) {
			r, _ := Open(whole)
			if m, err := r.Decode(&countedContext{t.Context(), n}, 1); (err == nil) != (n >= 13) || err != nil && (!errors.Is(err, context.Canceled) || m != nil) {
				t.Errorf("ended after %d rows: %v", n, err)
			}
			cut, _ := Open(whole[:len(whole)*(n+3)/17])
			if _, err := cut.Decode(t.Context(), 2); n < 13 && !errors.Is(err, ErrDamaged) {
				t.Errorf("cut: %v", err)
			}
		})
	}
}

func TestTheSameBytesGiveTheSamePixels(t *testing.T) {
	t.Parallel()
	r, _ := Open(encoded(t, drawn(640, 480, 6), 88))
	var first image.Image
	for range 8 {
		m, err := r.Decode(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = m
		}
		if what := samePixels(m, first, 0); what != "" {
			t.Fatal(what)
		}
	}
}
