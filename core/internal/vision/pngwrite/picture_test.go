package pngwrite

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/png"
	"runtime"
	"testing"
)

func TestPicturesOfSeveralStrips(t *testing.T) {
	t.Parallel()
	for name, img := range pictures() {
		file, err := Encode(t.Context(), img)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, img, file)
		for _, most := range []int{len(file) - 1, len(file) / 2, len(file)} {
			got, ok, err := EncodeMax(t.Context(), img, most)
			if err != nil || ok != (most == len(file)) || ok && !bytes.Equal(got, file) {
				t.Errorf("%s: %d bytes in %d: ok %v, error %v", name, len(file), most, ok, err)
			}
		}
	}
}

// The pictures must take every way, or the tests of the others prove less than they say.
func TestEveryWayIsTaken(t *testing.T) {
	t.Parallel()
	var ways [coding + 1]bool
	var warm bool
	for name, img := range pictures() {
		src, err := open(img)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, s := range cut(src) {
			ways[s.plan.way] = true
			warm = warm || s.warm > 0
		}
	}
	if ways != [...]bool{matching: true, general: true, quick: true, coding: true} || !warm {
		t.Errorf("ways taken: %v, warm: %v", ways, warm)
	}
}

// Not parallel: the number of cores is the process's.
func TestTheSameBytesWithAnyNumberOfCores(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	for name, img := range pictures() {
		var files [3][]byte
		for i, n := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(n)
			var err error
			if files[i], err = Encode(t.Context(), img); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !bytes.Equal(files[0], files[1]) || !bytes.Equal(files[0], files[2]) {
			t.Errorf("%s: bytes differ with the number of cores", name)
		}
	}
}

// What was packed before must not show: writers and scratch are used again.
func TestTheSameBytesAfterOtherPictures(t *testing.T) {
	t.Parallel()
	all := pictures()
	first := map[string][]byte{}
	for range 3 {
		for name, img := range all { // each time in another order
			file, err := Encode(t.Context(), img)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if was, ok := first[name]; ok && !bytes.Equal(was, file) {
				t.Errorf("%s: other bytes than before", name)
			}
			first[name] = file
		}
	}
}

func TestNeverMuchLargerThanTheStandardLibrarysFastest(t *testing.T) {
	t.Parallel()
	for name, img := range pictures() {
		if img.Bounds().Dx() == 1 {
			continue // a few hundred bytes, of which codes are most
		}
		var std bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&std, img); err != nil {
			t.Fatal(err)
		}
		file, err := Encode(t.Context(), img)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(file)*100 > std.Len()*105 {
			t.Errorf("%s: %d bytes, image/png's BestSpeed %d", name, len(file), std.Len())
		}
		t.Logf("%-10s %8d bytes, %.2f of image/png's BestSpeed", name, len(file), float64(len(file))/float64(std.Len()))
	}
}

func TestACancelWhilePackingIsTold(t *testing.T) {
	t.Parallel()
	src, err := open(photo(800, 600))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	strips := cut(src)
	defer release(strips)
	if _, err := pack(ctx, src, strips, 1<<30); err == nil {
		t.Error("packed for nobody")
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(uint8(3), uint8(0), false, []byte("some pixels"))
	f.Add(uint8(61), uint8(2), false, bytes.Repeat([]byte{1, 2, 3, 255, 1, 2, 3, 255, 9, 9, 9, 255}, 500))
	f.Add(uint8(200), uint8(1), true, bytes.Repeat([]byte{0, 0, 0, 7}, 3000))
	f.Fuzz(func(t *testing.T, width, spare uint8, gray bool, pix []byte) {
		w := 1 + int(width)
		var img image.Image
		stride := w + int(spare)
		if gray {
			h := len(pix) / stride
			img = &image.Gray{Pix: pix, Stride: stride, Rect: image.Rect(0, 0, w, h)}
		} else {
			stride *= 4
			h := len(pix) / stride
			img = &image.NRGBA{Pix: pix, Stride: stride, Rect: image.Rect(0, 0, w, h)}
		}
		if img.Bounds().Empty() {
			return
		}
		file, err := Encode(t.Context(), img)
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.BigEndian.Uint32(file[16:]); int(got) != w {
			t.Fatalf("width %d", got)
		}
		same(t, img, file)
	})
}
