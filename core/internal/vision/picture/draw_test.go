package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/vision"
)

// page draws something like a screenshot: white, with bars, boxes and rows of small marks.
func page(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	fill := func(r image.Rectangle, c color.NRGBA) {
		r = r.Intersect(m.Rect)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				m.SetNRGBA(x, y, c)
			}
		}
	}
	fill(image.Rect(0, 0, w, h/12), color.NRGBA{30, 60, 120, 255})
	for y := h / 8; y < h-12; y += 18 {
		for x := 10; x < w-10; x += 3 + rnd.IntN(6) {
			fill(image.Rect(x, y, x+2, y+4+rnd.IntN(8)), color.NRGBA{20, 20, 20, 255})
		}
	}
	return m
}

// photo draws soft colours with the noise of a camera.
func photo(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	rnd := rand.New(rand.NewPCG(3, 4))
	for y := range h {
		for x := range w {
			n := rnd.NormFloat64() * 5
			v := func(f float64) uint8 { return uint8(min(max(128+100*f+n, 0), 255)) }
			fx, fy := float64(x)/float64(w), float64(y)/float64(h)
			m.SetNRGBA(x, y, color.NRGBA{v(math.Sin(7 * fx)), v(math.Cos(5 * fy)), v(math.Sin(6 * (fx + fy))), 255})
		}
	}
	return m
}

// static draws noise that nothing can compress.
func static(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	rnd := rand.New(rand.NewPCG(5, 6))
	for i := range m.Pix {
		m.Pix[i] = uint8(rnd.UintN(256)) | uint8(i%4/3*255)
	}
	return m
}

// corners has a colour of its own in each corner, so that turning shows.
func corners(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{60, 60, 60, 255}
			switch {
			case x < w/2 && y < h/2:
				c.R = 250
			case y < h/2:
				c.G = 250
			case x < w/2:
				c.B = 250
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t testing.TB, m image.Image, quality int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// chunkOf builds a PNG chunk.
func chunkOf(kind string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// withChunks puts chunks behind the header of a PNG.
func withChunks(data []byte, chunks ...[]byte) []byte {
	const header = 8 + 25
	out := append([]byte(nil), data[:header]...)
	out = append(out, bytes.Join(chunks, nil)...)
	return append(out, data[header:]...)
}

// headerPNG is a PNG of a header alone, as large as it says.
func headerPNG(w, h uint32, depth, colour byte) []byte {
	body := binary.BigEndian.AppendUint32(nil, w)
	body = binary.BigEndian.AppendUint32(body, h)
	return append([]byte(pngSignature), chunkOf("IHDR", append(body, depth, colour, 0, 0, 0))...)
}

// segmentOf builds a JPEG segment.
func segmentOf(marker byte, body string) []byte {
	return append([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}

// withSegments puts segments behind the first marker of a JPEG.
func withSegments(data []byte, segments ...[]byte) []byte {
	return append(append([]byte{0xff, mSOI}, bytes.Join(segments, nil)...), data[2:]...)
}

// exif is metadata with an orientation and a place name.
func exif(orientation uint16, order binary.AppendByteOrder) []byte {
	head := "II*\x00"
	if order.String() == "BigEndian" {
		head = "MM\x00*"
	}
	b := order.AppendUint32([]byte(head), 8)
	b = order.AppendUint16(b, 1)
	b = order.AppendUint16(b, 274)
	b = order.AppendUint16(b, 3)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(b, orientation)
	return append(b, "\x00\x00\x00\x00\x00\x00SECRET-PLACE"...)
}

// goImages is the folder of pictures that comes with Go, elsewhere those of x/image.
func goImages(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src", "image")
}

func xImages(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/image").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "testdata")
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// shown prepares bytes that must be shown, and checks what is true of every picture.
func shown(t *testing.T, data []byte, params Params) (vision.Picture, vision.Meta, image.Image) {
	t.Helper()
	pic, meta, err := New(Options{}).PrepareBytes(t.Context(), data, "a.bin", params)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	img, format, err := image.Decode(bytes.NewReader(pic.Bytes))
	if err != nil {
		t.Fatalf("what is sent does not decode: %v", err)
	}
	if b := img.Bounds(); b.Dx() != meta.Sent.Width || b.Dy() != meta.Sent.Height || b.Dx() != pic.Width || b.Dy() != pic.Height {
		t.Fatalf("sent %v, metadata says %v", b, meta.Sent)
	}
	if pic.MediaType != "image/"+format || meta.MediaType != pic.MediaType || meta.Bytes != len(pic.Bytes) || meta.SHA256 != pic.SHA256 {
		t.Fatalf("sent %s of %d bytes, metadata says %+v", format, len(pic.Bytes), meta)
	}
	if meta.ApproxTokens != max(1, pic.Width*pic.Height/750) {
		t.Fatalf("%d tokens for %v", meta.ApproxTokens, meta.Sent)
	}
	return pic, meta, img
}

// refused prepares bytes that must be refused with the code.
func refused(t *testing.T, code Code, data []byte, params Params) *Error {
	t.Helper()
	pic, meta, err := New(Options{}).PrepareBytes(t.Context(), data, "a.bin", params)
	return wantCode(t, code, err, pic.Bytes, meta)
}

func wantCode(t *testing.T, code Code, err error, sent []byte, meta vision.Meta) *Error {
	t.Helper()
	if err == nil {
		t.Fatalf("shown as %+v, want %s", meta, code)
	}
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Code != code {
		t.Fatalf("refused with %v (%v), want %s", err, errors.Unwrap(err), code)
	}
	if len(sent) > 0 || refusal.Message == "" {
		t.Fatalf("a refusal without words, or with pixels: %v", err)
	}
	return refusal
}

// near tells whether two pictures of one size differ by at most tolerance a channel, over white.
func near(a, b image.Image, tolerance int) bool {
	if a.Bounds().Size() != b.Bounds().Size() {
		return false
	}
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			p, _ := color.NRGBAModel.Convert(a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y)).(color.NRGBA)
			q, _ := color.NRGBAModel.Convert(b.At(b.Bounds().Min.X+x, b.Bounds().Min.Y+y)).(color.NRGBA)
			if p.A == 0 && q.A == 0 {
				continue
			}
			for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B), int(p.A) - int(q.A)} {
				if d > tolerance || -d > tolerance {
					return false
				}
			}
		}
	}
	return true
}

// part is the part r of a picture, at 0, 0.
func part(t testing.TB, m image.Image, r image.Rectangle) image.Image {
	t.Helper()
	out := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	draw.Draw(out, out.Rect, m, r.Min, draw.Src)
	return out
}
