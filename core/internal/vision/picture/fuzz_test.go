package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/vision"
)

// seeds are one small picture of each kind and some that are none.
func seeds(f *testing.F) {
	f.Add(pngOf(f, page(8, 8)))
	f.Add(withChunks(pngOf(f, page(8, 8)), chunkOf("eXIf", exif(6, binary.BigEndian)), chunkOf("iCCP", []byte("x"))))
	f.Add(headerPNG(1<<31-1, 1<<31-1, 16, 6))
	f.Add(jpegOf(f, photo(8, 8), 50))
	f.Add(withSegments(jpegOf(f, photo(8, 8), 50), segmentOf(mAPP1, "Exif\x00\x00"+string(exif(3, binary.LittleEndian))), segmentOf(0xfe, "c")))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00;"))
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Add([]byte("RIFF\x2c\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00ANMF\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x18\x00\x00\x00\x00\x00\x04\x00\x00\x00"))
	for _, s := range []string{"<svg/>", "<!DOCTYPE html>", "\x1f\x8b\x08\x00", "", "<", "<?xml <!-- "} {
		f.Add([]byte(s))
	}
}

func FuzzLook(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := look(data, "a")
		if (s == nil) == (err == nil) {
			t.Fatalf("%v and %v", s, err)
		}
		if s != nil && (s.width < 0 || s.height < 0 || s.orientation < 1 || s.orientation > 8 || s.width*s.height <= maxPixels && s.memory() < 0) {
			t.Fatalf("%+v", s)
		}
	})
}

func FuzzExif(f *testing.F) {
	for o := range uint16(10) {
		f.Add(exif(o, binary.BigEndian))
		f.Add(exif(o, binary.LittleEndian))
	}
	f.Add([]byte("II*\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := tiffOrientation(data)
		if o < 1 || o > 8 {
			t.Fatalf("orientation %d", o)
		}
		if again := tiffOrientation(append(bytes.Clone(data), "what stands behind"...)); o > 1 && again != o {
			t.Fatalf("orientation %d, and %d with bytes behind", o, again)
		}
	})
}

// FuzzStrip holds the promise of the stripper: what decodes before decodes
// after to the same pixels, is not longer, and needs no second stripping.
func FuzzStrip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := look(data, "a")
		if err != nil || s.width*s.height > 1<<16 || s.scans > maxScans || s.width == 0 || s.height == 0 {
			return
		}
		switch s.kind {
		case "png":
			same(t, data, stripPNG(data), func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) }, stripPNG)
		case "jpeg":
			same(t, data, stripJPEG(data), func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) }, stripJPEG)
		}
	})
}

func same(t *testing.T, data, stripped []byte, decode func([]byte) (image.Image, error), strip func([]byte) []byte) {
	t.Helper()
	if len(stripped) > len(data) || !bytes.Equal(strip(stripped), stripped) {
		t.Fatalf("%d bytes became %d, or stripping twice changes more", len(data), len(stripped))
	}
	want, err := decode(data)
	if err != nil {
		return
	}
	got, err := decode(stripped)
	if err != nil || !near(got, want, 0) {
		t.Fatalf("other pixels, %v", err)
	}
}

// FuzzPrepare holds what is true of every answer: a refusal has a code and words, and what is
// sent is what the metadata says, within the edge.
func FuzzPrepare(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := New(Options{MaxPixels: 1 << 16})
		pic, meta, err := p.PrepareBytes(t.Context(), data, "a", Params{MaxEdge: MinMaxEdge})
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Code == "" || e.Message == "" || len(pic.Bytes) > 0 { //nolint:errorlint // just this type is promised
				t.Fatalf("refused by %v", err)
			}
			return
		}
		img, _, err := image.Decode(bytes.NewReader(pic.Bytes))
		if err != nil || meta.Sent.Width > MinMaxEdge || meta.Sent.Height > MinMaxEdge {
			t.Fatalf("%v, %+v", err, meta)
		}
		if b := img.Bounds(); b.Dx() != meta.Sent.Width || b.Dy() != meta.Sent.Height || len(pic.Bytes) != meta.Bytes {
			t.Fatalf("sent %v, told %+v", b, meta)
		}
		if meta.Source.Width*meta.Source.Height > 1<<16 || meta.Source.Width < 1 || meta.Source.Height < 1 {
			t.Fatalf("source %v", meta.Source)
		}
	})
}

// FuzzRegion holds the arithmetic of crop, orientation and scale against each other.
func FuzzRegion(f *testing.F) {
	f.Add(400, 300, 10, 20, 30, 40, 256, 6)
	f.Add(1, 30000, 0, 0, 1, 1<<62, 2576, 8)
	f.Add(6000, 6000, 5999, 5999, 1<<62, 1<<62, 1568, 1)
	f.Add(5, 5, -1, 1<<62, -1<<63, 0, 300, 3)
	f.Fuzz(func(t *testing.T, w, h, x, y, rw, rh, edge, turn int) {
		if w < 1 || h < 1 || w > maxPixels || h > maxPixels || w*h > maxPixels || edge < MinMaxEdge || edge > MaxMaxEdge || turn < 1 || turn > 8 {
			return
		}
		size := vision.Size{Width: w, Height: h}
		all := image.Rect(0, 0, w, h)
		var meta vision.Meta
		crop, whole, err := cropOf(&vision.Region{X: x, Y: y, Width: rw, Height: rh}, size, &meta)
		inside := x >= 0 && y >= 0 && rw > 0 && rh > 0 && x < w && y < h
		if (err == nil) != inside {
			t.Fatalf("region %d,%d %d×%d of %v: %v", x, y, rw, rh, size, err)
		}
		if err != nil {
			return
		}
		if crop.Empty() || !crop.In(all) || crop.Min != image.Pt(x, y) || crop.Dx() > rw || crop.Dy() > rh || whole != (crop == all) || whole != (meta.Crop == nil) {
			t.Fatalf("crop %v, whole %v, %+v", crop, whole, meta.Crop)
		}
		sw, sh := fit(crop.Dx(), crop.Dy(), edge)
		if sw < 1 || sh < 1 || sw > crop.Dx() || sh > crop.Dy() || max(sw, sh) != min(max(crop.Dx(), crop.Dy()), edge) {
			t.Fatalf("%v at %d: sent %d × %d", crop, edge, sw, sh)
		}
		if off := float64(sw)*float64(crop.Dy())/float64(crop.Dx()) - float64(sh); (off > 1 || off < -1) && sw > 1 && sh > 1 && crop.Dx() >= crop.Dy() {
			t.Fatalf("%v at %d became %d × %d, another shape", crop, edge, sw, sh)
		}
		turned(t, crop, turn, w, h)
	})
}

// turned holds stored against its opposite turn: there and back is where one was.
func turned(t *testing.T, crop image.Rectangle, turn, w, h int) {
	t.Helper()
	back := [...]int{0, 1, 2, 3, 4, 5, 8, 7, 6}[turn]
	storedW, storedH := w, h
	if turn >= 5 {
		storedW, storedH = h, w
	}
	r := stored(crop, turn, storedW, storedH)
	if !r.In(image.Rect(0, 0, storedW, storedH)) || r.Dx()*r.Dy() != crop.Dx()*crop.Dy() {
		t.Fatalf("%v turned by %d lies at %v of %d × %d", crop, turn, r, storedW, storedH)
	}
	if again := stored(r, back, w, h); again != crop {
		t.Fatalf("%v turned by %d and back is %v", crop, turn, again)
	}
}

// FuzzKinds holds that naming a file takes no longer than reading it, and finds what stands behind any head.
func FuzzKinds(f *testing.F) {
	seeds(f)
	f.Add([]byte("<?xml version='1.0'?><!-- a --><!DOCTYPE svg PUBLIC '>' \"]\" [ <!ENTITY a 'b'> ]><s:svg>"))
	f.Add([]byte(strings.Repeat("<!-- ", 50)))
	f.Add([]byte(strings.Repeat("<?", 50) + strings.Repeat("<!DOCTYPE [", 50)))
	f.Fuzz(func(t *testing.T, data []byte) {
		doctype, element := firstNames(data)
		if strings.ContainsAny(doctype+element, " \n\t<>/'\"[") {
			t.Fatalf("names %q and %q", doctype, element)
		}
		refusal := refuseKind(data, "a")
		if refusal.Message == "" || refusal.Code != SVGIsSource && refusal.Code != UnsupportedKind && refusal.Code != Corrupt {
			t.Fatalf("%v", refusal)
		}
		if isSVG(data) && refusal.Code != SVGIsSource {
			t.Fatalf("an SVG is refused as %v", refusal)
		}
		if text(data) == string(data) && bytes.HasPrefix(data, []byte("<")) {
			if d, e := firstNames(append([]byte(" <!-- x --> "), data...)); d != doctype || e != element {
				t.Fatalf("%q, %q behind a comment are %q, %q", doctype, element, d, e)
			}
		}
	})
}

// FuzzPointer holds that a pointer names just one object.
func FuzzPointer(f *testing.F) {
	oid := strings.Repeat("0123456789abcdef", 4)
	f.Add([]byte(lfsVersion + "oid sha256:" + oid + "\nsize 12345\n"))
	f.Add([]byte(lfsVersion + "ext-0-foo sha256:" + oid + "\noid sha256:" + oid + "\nsize 12345\n"))
	f.Add([]byte(lfsVersion + "oid sha256:../../../../etc/passwd\nsize -1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, ok := parsePointer(data)
		if !ok {
			if p != (lfsPointer{}) {
				t.Fatalf("no pointer, but %v", p)
			}
			return
		}
		if len(p.oid) != 64 || strings.Trim(p.oid, "0123456789abcdef") != "" || p.size < 0 || len(data) >= maxPointer {
			t.Fatalf("%+v", p)
		}
		if _, err := look(data, "a"); err == nil {
			t.Fatal("a pointer that is a picture")
		}
	})
}

// FuzzWebPFrame holds what is taken out of an animation: a still of the size that was told, inside of the file.
func FuzzWebPFrame(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := look(data, "a")
		if err != nil || s.kind != "webp" {
			return
		}
		frame, ok := firstFrame(data)
		if !ok {
			return
		}
		still, err := look(frame.still, "a")
		if err != nil || still.kind != "webp" || still.frames != 0 || still.width != int64(frame.width) || still.height != int64(frame.height) || s.frames < 1 {
			t.Fatalf("%v: %+v of %d × %d", err, still, frame.width, frame.height)
		}
		if frame.x < 0 || frame.y < 0 || len(frame.still) > len(data)+40 {
			t.Fatalf("%d bytes at %d, %d", len(frame.still), frame.x, frame.y)
		}
	})
}
