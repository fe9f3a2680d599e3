package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"testing"
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
	f.Add([]byte("RIFF\x2c\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00ANMF\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
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
		if o := tiffOrientation(data); o < 1 || o > 8 {
			t.Fatalf("orientation %d", o)
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

func FuzzPrepare(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := New(Options{MaxPixels: 1 << 16})
		pic, meta, err := p.PrepareBytes(t.Context(), data, "a", Params{MaxEdge: MinMaxEdge})
		if err != nil {
			return
		}
		if _, _, err := image.Decode(bytes.NewReader(pic.Bytes)); err != nil || meta.Sent.Width > MinMaxEdge || meta.Sent.Height > MinMaxEdge {
			t.Fatalf("%v, %+v", err, meta)
		}
	})
}
