package pngwrite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// flat gives the pixels of m as R, G, B, A without its stride; of any image that this package's
// files decode to.
func flat(m image.Image) []byte {
	b := m.Bounds()
	out := make([]byte, 0, 4*b.Dx()*b.Dy())
	for y := range b.Dy() {
		for x := range b.Dx() {
			var c color.NRGBA
			switch m := m.(type) {
			case *image.NRGBA:
				c = m.NRGBAAt(x, y)
			case *image.RGBA: // what the decoder gives for RGB
				c = color.NRGBA(m.RGBAAt(x, y))
			case *image.Gray:
				v := m.GrayAt(x, y).Y
				c = color.NRGBA{v, v, v, 255}
			default:
				c = color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			}
			out = append(out, c.R, c.G, c.B, c.A)
		}
	}
	return out
}

// same fails unless the standard decoder gives img's pixels back.
func same(t rapid.TB, img image.Image, file []byte) {
	t.Helper()
	back, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	if back.Bounds() != img.Bounds() {
		t.Fatalf("bounds %v, want %v", back.Bounds(), img.Bounds())
	}
	if !bytes.Equal(flat(back), flat(img)) {
		t.Fatalf("pixels of the decoded %T differ", back)
	}
}

// chunks lists the names of a file's chunks; neighbours of one name are one.
func chunks(file []byte) []string {
	var names []string
	for at := 8; at+8 <= len(file); {
		names = append(names, string(file[at+4:at+8]))
		at += int(binary.BigEndian.Uint32(file[at:])) + chunkCost
	}
	return slices.Compact(names)
}

// drawn is a random image of any of the sorts that the writer tells apart.
func drawn(t *rapid.T) image.Image {
	w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 70).Draw(t, "h")
	spare := rapid.IntRange(0, 9).Draw(t, "spare")
	seed := rapid.Uint32().Draw(t, "seed")
	next := func() uint32 { // xorshift
		seed ^= seed<<13 ^ 0x1234567
		seed ^= seed >> 17
		seed ^= seed << 5
		return seed
	}
	sort := rapid.SampledFrom([]string{"gray", "noise", "alpha", "few", "few with alpha", "grey", "slope", "page"}).Draw(t, "sort")
	if sort == "gray" {
		m := &image.Gray{Pix: make([]byte, (w+spare)*h), Stride: w + spare, Rect: image.Rect(0, 0, w, h)}
		for i := range m.Pix {
			a, b := next(), next()
			m.Pix[i] = byte(a & b)
		}
		return m
	}
	m := &image.NRGBA{Pix: make([]byte, 4*(w+spare)*h), Stride: 4 * (w + spare), Rect: image.Rect(0, 0, w, h)}
	for i := 0; i < len(m.Pix); i += 4 {
		x, y := i/4%(w+spare), i/4/(w+spare)
		c := next()
		switch sort {
		case "noise":
			c |= 0xff000000
		case "few":
			c = 0xff000000 | c%5*0x102030
		case "few with alpha":
			c = c % 7 * 0x21438765
		case "grey":
			c = 0xff000000 | c&0xff*0x010101
		case "slope":
			c = 0xff000000 | uint32(x*3+y+int(c&3))&0xff | uint32(y*3)&0xff<<8 | uint32(x*y/9)&0xff<<16
		case "page":
			if c%9 != 0 {
				c = 0xfff8f8f8
			}
		}
		binary.LittleEndian.PutUint32(m.Pix[i:], c)
	}
	return m
}

func TestTheStandardDecoderGivesTheSamePixels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		img := drawn(t)
		file, err := Encode(context.Background(), img)
		if err != nil {
			t.Fatal(err)
		}
		same(t, img, file)
		for _, name := range chunks(file) {
			if !slices.Contains([]string{"IHDR", "PLTE", "tRNS", "IDAT", "IEND"}, name) {
				t.Fatalf("chunk %s", name)
			}
		}
	})
}

func TestEncodeMaxKeepsExactlyWhatFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		img := drawn(t)
		whole, err := Encode(context.Background(), img)
		if err != nil {
			t.Fatal(err)
		}
		most := len(whole) + rapid.SampledFrom([]int{-len(whole) - 1, -len(whole), -200, -2, -1, 0, 1, 2, 200}).Draw(t, "room")
		file, ok, err := EncodeMax(context.Background(), img, most)
		if err != nil {
			t.Fatal(err)
		}
		if ok != (len(whole) <= most) {
			t.Fatalf("ok = %v with %d of at most %d bytes", ok, len(whole), most)
		}
		if ok && !bytes.Equal(file, whole) {
			t.Fatal("another file than Encode's")
		}
	})
}

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	for name, img := range map[string]image.Image{
		"nothing":             nil,
		"empty":               image.NewNRGBA(image.Rect(0, 0, 0, 4)),
		"not from 0,0":        image.NewGray(image.Rect(1, 0, 3, 4)),
		"another kind":        image.NewRGBA(image.Rect(0, 0, 3, 4)),
		"premultiplied 16bit": image.NewRGBA64(image.Rect(0, 0, 3, 4)),
	} {
		if _, err := Encode(t.Context(), img); !errors.Is(err, ErrKind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACancelledContextEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Encode(ctx, image.NewGray(image.Rect(0, 0, 3, 4))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTheFormFollowsThePixels(t *testing.T) {
	t.Parallel()
	paint := func(at func(x, y int) color.NRGBA) image.Image {
		m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
		for i := range 64 * 64 {
			m.SetNRGBA(i%64, i/64, at(i%64, i/64))
		}
		return m
	}
	for _, c := range []struct {
		why  string
		img  image.Image
		want []byte // bit depth and colour type
	}{
		{"a Gray stays grey", image.NewGray(image.Rect(0, 0, 9, 9)), []byte{8, 0}},
		{"equal channels become grey", paint(func(x, _ int) color.NRGBA { b := byte(x * 4); return color.NRGBA{b, b, b, 255} }), []byte{8, 0}},
		{"few colours become a palette", paint(func(x, _ int) color.NRGBA { return color.NRGBA{byte(x / 32), 7, 9, 255} }), []byte{8, 3}},
		{"few with alpha too", paint(func(x, _ int) color.NRGBA { return color.NRGBA{byte(x / 32), 7, 9, byte(x / 16)} }), []byte{8, 3}},
		{"many colours are RGB", paint(func(x, y int) color.NRGBA { return color.NRGBA{byte(x), byte(y), 9, 255} }), []byte{8, 2}},
		{"one clear pixel makes RGBA", paint(func(x, y int) color.NRGBA { return color.NRGBA{byte(x), byte(y), 9, 255 - byte(x*y/3969)} }), []byte{8, 6}},
		{"a palette must pay", image.NewNRGBA(image.Rect(0, 0, 2, 2)), []byte{8, 6}},
	} {
		file, err := Encode(t.Context(), c.img)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, file[24:26]); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
		same(t, c.img, file)
	}
}
