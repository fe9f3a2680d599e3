package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math"
	"slices"
	"testing"

	"golang.org/x/image/bmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/vision"
)

// fitted makes a picture fit, and holds what comes back against the limits and itself.
func fitted(t testing.TB, p *Preparer, data []byte, f vision.Fit) (vision.Picture, vision.Meta, image.Image) {
	t.Helper()
	pic, meta, err := p.Fit(t.Context(), data, "a.png", f)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	img, format, err := image.Decode(bytes.NewReader(pic.Bytes))
	if err != nil {
		t.Fatalf("what is sent does not decode: %v", err)
	}
	if b := img.Bounds(); b.Dx() != pic.Width || b.Dy() != pic.Height || pic.MediaType != "image/"+format {
		t.Fatalf("sent a %s of %v, it says %s of %d × %d", format, b, pic.MediaType, pic.Width, pic.Height)
	}
	if meta.Bytes != len(pic.Bytes) || meta.SHA256 != pic.SHA256 || meta.Sent != (vision.Size{Width: pic.Width, Height: pic.Height}) {
		t.Fatalf("the metadata is of another picture: %+v", meta)
	}
	if !f.Holds(pic.Width, pic.Height, len(pic.Bytes), pic.MediaType) {
		t.Fatalf("%s of %d × %d and %d bytes is not within %+v", pic.MediaType, pic.Width, pic.Height, len(pic.Bytes), f)
	}
	again, _, err := p.Fit(t.Context(), pic.Bytes, "a.png", f)
	if err != nil || !bytes.Equal(again.Bytes, pic.Bytes) {
		t.Fatalf("what fits was changed when it was asked for again: %v", err)
	}
	return pic, meta, img
}

func TestWhatFitsStaysByteForByte(t *testing.T) {
	var moving bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.White, color.Black})
	if err := gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{5, 5}}); err != nil {
		t.Fatal(err)
	}
	f := vision.Fit{MaxEdge: 400, MaxBytes: 1 << 20, MinEdge: 10, MaxAspect: 20}
	for why, data := range map[string][]byte{
		"png":                            pngOf(t, page(300, 200)),
		"a JPEG whose name ends in .png": jpegOf(t, photo(300, 200), 80),
		"a GIF that moves":               moving.Bytes(),
		"with metadata":                  withChunks(pngOf(t, page(60, 40)), chunkOf("tEXt", []byte("Comment\x00words"))),
	} {
		pic, meta, _ := fitted(t, New(Options{}), data, f)
		if !bytes.Equal(pic.Bytes, data) || meta.Notes != nil || meta.Scale != (vision.Scale{X: 1, Y: 1}) {
			t.Errorf("%s: changed on the way, or a note without reason: %+v", why, meta)
		}
	}
}

func TestEachLimitIsKept(t *testing.T) {
	all := vision.Fit{MaxEdge: 2000, MaxBytes: 3_932_160}
	for _, c := range []struct {
		why   string
		data  func(testing.TB) []byte
		fit   vision.Fit
		size  vision.Size // wanted; zero: not asked
		kind  string
		note  string
		scale vision.Scale // zero: not asked
	}{
		{"100 pixels over", func(t testing.TB) []byte { return pngOf(t, page(2100, 1400)) }, all, vision.Size{Width: 2000, Height: 1333}, "image/png", "", vision.Scale{}},
		{"one over the greatest edge", func(t testing.TB) []byte { return pngOf(t, page(8001, 400)) }, vision.Fit{MaxEdge: 8000}, vision.Size{Width: 8000, Height: 400}, "image/png", "", vision.Scale{}},
		{"noise of 6.7 MB", func(t testing.TB) []byte { return pngOf(t, static(1490, 1490)) }, all, vision.Size{Width: 1490, Height: 1490}, "image/jpeg", "jpeg-quality-90", vision.Scale{X: 1, Y: 1}},
		{"noise in little room", func(t testing.TB) []byte { return pngOf(t, static(600, 600)) }, vision.Fit{MaxBytes: 40_000}, vision.Size{}, "image/jpeg", "shrunk-to-fit", vision.Scale{}},
		{"one pixel", func(t testing.TB) []byte { return pngOf(t, page(1, 1)) }, vision.Fit{MinEdge: 32}, vision.Size{Width: 32, Height: 32}, "image/png", "padded", vision.Scale{X: 1, Y: 1}},
		{"one pixel for xAI", func(t testing.TB) []byte { return pngOf(t, page(1, 1)) }, vision.Fit{MinPixels: 512}, vision.Size{Width: 23, Height: 23}, "image/png", "padded", vision.Scale{X: 1, Y: 1}},
		{"a line", func(t testing.TB) []byte { return pngOf(t, page(5, 2000)) }, vision.Fit{MinEdge: 11, MaxAspect: 200}, vision.Size{Width: 11, Height: 2000}, "image/png", "padded", vision.Scale{X: 1, Y: 1}},
		{"a line that is too long as well", func(t testing.TB) []byte { return pngOf(t, page(5, 6000)) }, vision.Fit{MaxEdge: 3000, MaxAspect: 100}, vision.Size{Width: 30, Height: 3000}, "image/png", "padded", vision.Scale{X: 5.0 / 3, Y: 2}},
		{"too many pixels", func(t testing.TB) []byte { return pngOf(t, page(1000, 500)) }, vision.Fit{MaxPixels: 125_000}, vision.Size{Width: 500, Height: 250}, "image/png", "", vision.Scale{X: 2, Y: 2}},
		{"PNG is not taken", func(t testing.TB) []byte { return pngOf(t, page(90, 60)) }, vision.Fit{Kinds: []string{"image/jpeg"}}, vision.Size{Width: 90, Height: 60}, "image/jpeg", "jpeg-quality-90", vision.Scale{X: 1, Y: 1}},
		{"a BMP", func(t testing.TB) []byte { return bmpOf(t, page(90, 60)) }, vision.Fit{}, vision.Size{Width: 90, Height: 60}, "image/png", "", vision.Scale{X: 1, Y: 1}},
	} {
		t.Run(c.why, func(t *testing.T) {
			pic, meta, _ := fitted(t, New(Options{}), c.data(t), c.fit)
			if c.size != (vision.Size{}) && meta.Sent != c.size || pic.MediaType != c.kind {
				t.Errorf("%s of %v, want %s of %v", pic.MediaType, meta.Sent, c.kind, c.size)
			}
			if c.note != "" && !slices.Contains(meta.Notes, c.note) {
				t.Errorf("no note %q in %v", c.note, meta.Notes)
			}
			if c.scale != (vision.Scale{}) && (math.Abs(meta.Scale.X-c.scale.X) > 0.01 || math.Abs(meta.Scale.Y-c.scale.Y) > 0.01) {
				t.Errorf("scale %v, want %v", meta.Scale, c.scale)
			}
		})
	}
}

func TestAPaddedPictureKeepsItsPixelsAndPlaces(t *testing.T) {
	src := corners(8, 6)
	_, _, got := fitted(t, New(Options{}), pngOf(t, src), vision.Fit{MinEdge: 20})
	for y := range 20 {
		for x := range 20 {
			want := color.NRGBA{255, 255, 255, 255}
			if x < 8 && y < 6 {
				want = src.NRGBAAt(x, y)
			}
			if c := color.NRGBAModel.Convert(got.At(x, y)); c != want {
				t.Fatalf("at %d, %d: %v, want %v", x, y, c, want)
			}
		}
	}
}

func TestGIFBecomesPNGWhereItIsNotTaken(t *testing.T) {
	var b bytes.Buffer
	if err := gif.Encode(&b, corners(60, 40), nil); err != nil {
		t.Fatal(err)
	}
	pic, meta, _ := fitted(t, New(Options{}), b.Bytes(), vision.Fit{Kinds: []string{"image/png", "image/jpeg"}})
	if pic.MediaType != "image/png" || meta.Format != "gif" {
		t.Errorf("%s from %s", pic.MediaType, meta.Format)
	}
}

func TestWhatCannotFitIsRefused(t *testing.T) {
	whole := pngOf(t, page(300, 200))
	for _, c := range []struct {
		why  string
		data []byte
		fit  vision.Fit
		code Code
	}{
		{"cut off, though it would fit", whole[:len(whole)/2], vision.Fit{}, Corrupt},
		{"cut off, and too large", whole[:len(whole)/2], vision.Fit{MaxEdge: 100}, Corrupt},
		{"no picture", []byte("words"), vision.Fit{}, UnsupportedKind},
		{"nothing", nil, vision.Fit{}, ZeroSize},
		{"smaller than any file", whole, vision.Fit{MaxBytes: 20}, TooComplex},
		{"limits that no picture keeps", whole, vision.Fit{MaxEdge: 10, MinEdge: 20}, TooComplex},
		{"a canvas beyond all measure", whole, vision.Fit{MinEdge: 1 << 20}, TooComplex},
		{"no kind that is made here", whole, vision.Fit{Kinds: []string{"image/webp"}}, UnsupportedKind},
	} {
		pic, _, err := New(Options{}).Fit(t.Context(), c.data, "a.png", c.fit)
		if e, ok := err.(*Error); !ok || e.Code != c.code || pic.Bytes != nil { //nolint:errorlint // the code is what is asked
			t.Errorf("%s: %v, want %s", c.why, err, c.code)
		}
	}
	if _, _, err := New(Options{Never: []string{"a.png"}}).Fit(t.Context(), whole, "a.png", vision.Fit{}); err == nil {
		t.Error("what no model is shown was made to fit")
	}
}

func TestAChildFitsAsThisProcessDoes(t *testing.T) {
	with := New(Options{Children: children(t, "serve")})
	for _, data := range [][]byte{pngOf(t, page(2100, 1400)), jpegOf(t, photo(1800, 1200), 90), pngOf(t, page(4, 4))} {
		f := vision.Fit{MaxEdge: 900, MaxBytes: 200 << 10, MinEdge: 16}
		there, metaThere, _ := fitted(t, with, data, f)
		here, metaHere, _ := fitted(t, New(Options{}), data, f)
		if !bytes.Equal(there.Bytes, here.Bytes) || metaThere.Sent != metaHere.Sent || !slices.Equal(metaThere.Notes, metaHere.Notes) {
			t.Errorf("another picture: %+v, %+v", metaThere, metaHere)
		}
	}
}

func TestAnyPictureFitsAnyPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 300).Draw(t, "width"), rapid.IntRange(1, 300).Draw(t, "height")
		f := vision.Fit{
			MaxEdge: rapid.IntRange(64, 400).Draw(t, "edge"), MaxBytes: rapid.IntRange(20_000, 100_000).Draw(t, "bytes"),
			MinEdge: rapid.IntRange(0, 40).Draw(t, "least"), MinPixels: rapid.IntRange(0, 600).Draw(t, "pixels"),
			MaxPixels: rapid.SampledFrom([]int{0, 20_000, 50_000}).Draw(t, "most"), MaxAspect: rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "aspect"),
			Kinds: rapid.SampledFrom([][]string{nil, {"image/png", "image/jpeg"}, {"image/jpeg"}}).Draw(t, "kinds"),
		}
		var data bytes.Buffer
		src := page(w, h)
		if rapid.Bool().Draw(t, "noise") {
			src = static(w, h)
		}
		if rapid.Bool().Draw(t, "gif") {
			if err := gif.Encode(&data, src, nil); err != nil {
				t.Fatal(err)
			}
		} else if err := png.Encode(&data, src); err != nil {
			t.Fatal(err)
		}
		pic, _, err := New(Options{}).Fit(t.Context(), data.Bytes(), "a.png", f)
		if err != nil {
			t.Fatalf("%d × %d into %+v: %v", w, h, f, err)
		}
		if !f.Holds(pic.Width, pic.Height, len(pic.Bytes), pic.MediaType) {
			t.Fatalf("%s of %d × %d and %d bytes is not within %+v", pic.MediaType, pic.Width, pic.Height, len(pic.Bytes), f)
		}
	})
}

func bmpOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bmp.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
