package picture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

var vmeta vision.Meta // where a test has no metadata to show

func TestWhatIsNoPictureIsNamed(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	_, err := z.Write([]byte("<svg xmlns='x'/>"))
	must(t, err)
	must(t, z.Close())
	for _, c := range []struct {
		data string
		code Code
		says string
	}{
		{"", ZeroSize, "empty"},
		{"\x89", UnsupportedKind, "no picture"},
		{"\x89PNG\r\n\x1a", UnsupportedKind, "no picture"},
		{"\x89PNG\n\x1a\n\x00\x00", Corrupt, "text mode"},
		{"<svg/>", SVGIsSource, "screenshot"},
		{"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- x --><!DOCTYPE svg><svg width='1'>", SVGIsSource, "SVG"},
		{"\xff\xfe<\x00s\x00v\x00g\x00 \x00", SVGIsSource, "SVG"},
		{"<s:svg xmlns:s='x'>", SVGIsSource, "SVG"},
		{gz.String(), SVGIsSource, "SVG"},
		{"<!DOCTYPE svg PUBLIC '-' 'x' [ <!ENTITY a 'b'> ]><svg>", SVGIsSource, "SVG"},
		{"<", UnsupportedKind, "no picture"},
		{"< >", UnsupportedKind, "no picture"},
		{"<svgfoo>", UnsupportedKind, "no picture"},
		{"<!DOCTYPE html><html>", UnsupportedKind, "HTML"},
		{" <html lang=en>", UnsupportedKind, "HTML"},
		{"<!-- x --><HEAD>", UnsupportedKind, "HTML"},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", UnsupportedKind, "git lfs pull"},
		{"%PDF-1.7", UnsupportedKind, "PDF"},
		{"PK\x03\x04", UnsupportedKind, "ZIP"},
		{"\x1f\x8b\x08", UnsupportedKind, "gzip"},
		{"\x00\x00\x00\x18ftypheic", UnsupportedKind, "HEIC"},
		{"\x00\x00\x00\x18ftypavif", UnsupportedKind, "AVIF"},
		{"\x00\x00\x00\x18ftypisom", UnsupportedKind, "film"},
		{"II*\x00", UnsupportedKind, "TIFF"},
		{"MM\x00*", UnsupportedKind, "TIFF"},
		{"\xff\x0a", UnsupportedKind, "JPEG XL"},
		{"\x00\x00\x00\x0cJXL \r\n\x87\n", UnsupportedKind, "JPEG XL"},
		{"\x00\x00\x00\x0cjP  \r\n\x87\n", UnsupportedKind, "JPEG 2000"},
		{"\x00\x00\x01\x00", UnsupportedKind, "ICO"},
		{"\x00\x00\x02\x00", UnsupportedKind, "CUR"},
		{"8BPS", UnsupportedKind, "Photoshop"},
		{"DDS ", UnsupportedKind, "DDS"},
		{"qoif", UnsupportedKind, "QOI"},
		{"v/1\x01", UnsupportedKind, "EXR"},
		{strings.Repeat("\x00", 30) + "TRUEVISION-XFILE.\x00", UnsupportedKind, "TGA"},
		{"RIFF\x00\x00\x00\x00WAVE", UnsupportedKind, "RIFF"},
		{"BM, or so he said", UnsupportedKind, "text"},
		{"plain words", UnsupportedKind, "no picture"},
	} {
		if e := refused(t, c.code, []byte(c.data), Params{}); !strings.Contains(e.Message, c.says) {
			t.Errorf("%.20q: %s", c.data, e.Message)
		}
	}
}

func TestBombsAreRefusedBeforeDecoding(t *testing.T) {
	p := New(Options{})
	p.decode = nil // decoding would panic
	bmpOf := func(w, h int32) []byte {
		b := append([]byte("BM"), make([]byte, 60)...)
		binary.LittleEndian.PutUint32(b[14:], 40)
		binary.LittleEndian.PutUint32(b[18:], uint32(w))
		binary.LittleEndian.PutUint32(b[22:], uint32(h))
		binary.LittleEndian.PutUint16(b[28:], 24)
		return b
	}
	scan := append(segmentOf(mSOS, "\x01\x01\x00\x00\x3f\x00"), 0)
	frame := func(marker byte, precision, h, w, n string) []byte {
		return withSegments([]byte{0xff, mSOI, 0xff, mEOI}, segmentOf(marker, precision+h+w+n+strings.Repeat("\x01\x11\x00", int(n[0]))))
	}
	many := withSegments([]byte{0xff, mSOI, 0xff, mEOI}, segmentOf(mSOF2, "\x08\x00\x10\x00\x10\x01\x01\x11\x00"), bytes.Repeat(scan, 1001))
	vp8x := func(w, h int) []byte {
		w, h = w-1, h-1
		out := appendChunk([]byte("RIFF\x00\x00\x00\x00WEBP"), riffChunk{"VP8X", []byte{2, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)}})
		putLE32(out[4:], len(out)-8)
		return out
	}
	for _, c := range []struct {
		why  string
		data []byte
		code Code
	}{
		{"PNG 65535²", headerPNG(65535, 65535, 8, 2), TooLargePixels},
		{"PNG 2³¹-1", headerPNG(1<<31-1, 1<<31-1, 8, 2), TooLargePixels},
		{"PNG 2³²-1", headerPNG(1<<32-1, 1<<32-1, 8, 2), Corrupt},
		{"PNG 0", headerPNG(0, 5, 8, 2), ZeroSize},
		{"PNG high 0", headerPNG(5, 0, 8, 2), ZeroSize},
		{"one more than 36 MP", headerPNG(36000001, 1, 8, 2), TooLargePixels},
		{"6000 × 6001", headerPNG(6000, 6001, 8, 2), TooLargePixels},
		{"PNG cut behind the header", headerPNG(6000, 6000, 8, 2), Corrupt},
		{"PNG of a signature", []byte(pngSignature), Corrupt},
		{"GIF 0", []byte("GIF89a\x00\x00\x05\x00\x00\x00\x00;"), ZeroSize},
		{"GIF 65535²", []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00;"), TooLargePixels},
		{"GIF without frames", []byte("GIF89a\x05\x00\x05\x00\x00\x00\x00;"), Corrupt},
		{"GIF cut", []byte("GIF89a\x05\x00\x05\x00\x00\x00\x00"), Corrupt},
		{"BMP 0", bmpOf(0, 0), ZeroSize},
		{"BMP 2³¹-1", bmpOf(1<<31-1, 1<<31-1), TooLargePixels},
		{"BMP -2³¹", bmpOf(1<<31-1, -1<<31), TooLargePixels},
		{"BMP of negative width", bmpOf(-4, 4), Corrupt},
		{"JPEG 65535²", slices.Concat(frame(mSOF0, "\x08", "\xff\xff", "\xff\xff", "\x03")), TooLargePixels},
		{"JPEG 0", frame(mSOF0, "\x08", "\x00\x00", "\x00\x09", "\x03"), ZeroSize},
		{"JPEG of 12 bits", frame(mSOF1, "\x0c", "\x00\x09", "\x00\x09", "\x03"), UnsupportedKind},
		{"JPEG lossless", frame(0xc3, "\x08", "\x00\x09", "\x00\x09", "\x03"), UnsupportedKind},
		{"JPEG arithmetic", frame(0xc9, "\x08", "\x00\x09", "\x00\x09", "\x03"), UnsupportedKind},
		{"JPEG hierarchical", frame(0xc5, "\x08", "\x00\x09", "\x00\x09", "\x03"), UnsupportedKind},
		{"JPEG-LS", frame(0xf7, "\x08", "\x00\x09", "\x00\x09", "\x03"), UnsupportedKind},
		{"JPEG without scans", frame(mSOF0, "\x08", "\x00\x09", "\x00\x09", "\x03"), Corrupt},
		{"JPEG without a frame", []byte{0xff, mSOI, 0xff, mEOI}, Corrupt},
		{"JPEG of 1001 scans", many, TooComplex},
		{"WebP 16 M²", vp8x(1<<24, 1<<24), TooLargePixels},
		{"WebP without chunks", []byte("RIFF\x04\x00\x00\x00WEBP"), Corrupt},
		{"WebP cut", []byte("RIFF\xff\x00\x00\x00WEBP"), Corrupt},
		{"36 MP interlaced of 16 bits", deep36(), TooComplex},
	} {
		t.Run(c.why, func(t *testing.T) {
			begin := time.Now()
			pic, meta, err := p.PrepareBytes(t.Context(), c.data, "a.bin", Params{})
			wantCode(t, c.code, err, pic.Bytes, meta)
			if took := time.Since(begin); took > 500*time.Millisecond {
				t.Errorf("took %v", took)
			}
		})
	}
}

// deep36 is a PNG of 36 megapixels that would need more memory than is promised.
func deep36() []byte {
	body := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 6000), 6000), 16, 6, 0, 0, 1)
	return slices.Concat([]byte(pngSignature), chunkOf("IHDR", body), chunkOf("IDAT", nil), chunkOf("IEND", nil))
}

func TestSizeThatTheDataDoesNotFill(t *testing.T) {
	small := pngOf(t, page(16, 16))
	big := slices.Concat(headerPNG(6000, 6000, 8, 6), small[8+25:])
	begin := time.Now()
	refused(t, Corrupt, big, Params{})
	j := jpegOf(t, photo(16, 16), 80)
	at := bytes.Index(j, []byte{0xff, mSOF0})
	binary.BigEndian.PutUint16(j[at+5:], 6000)
	binary.BigEndian.PutUint16(j[at+7:], 6000)
	refused(t, Corrupt, j, Params{})
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestNoHalfPictures(t *testing.T) {
	dir := goImages(t)
	for name, data := range map[string][]byte{
		"png": pngOf(t, page(200, 150)), "jpeg": jpegOf(t, photo(200, 150), 85),
		"progressive": mustRead(t, filepath.Join(dir, "testdata/video-001.progressive.jpeg")), "gif": mustRead(t, filepath.Join(dir, "testdata/video-001.gif")),
		"webp": mustRead(t, filepath.Join(xImages(t), "blue-purple-pink.lossy.webp")), "lossless webp": mustRead(t, filepath.Join(xImages(t), "blue-purple-pink.lossless.webp")),
		"bmp": mustRead(t, filepath.Join(xImages(t), "video-001.bmp")),
	} {
		for percent := 2; percent < 100; percent++ {
			cut := data[:len(data)*percent/100]
			if _, _, err := New(Options{}).PrepareBytes(t.Context(), cut, "a", Params{}); err == nil {
				t.Errorf("%s cut at %d %% was shown", name, percent)
			}
			if name == "jpeg" || name == "progressive" { // with an end put behind
				if _, _, err := New(Options{}).PrepareBytes(t.Context(), append(bytes.Clone(cut), 0xff, mEOI), "a", Params{}); err == nil {
					t.Errorf("%s cut at %d %% and closed was shown", name, percent)
				}
			}
		}
	}
	bad := pngOf(t, page(50, 50))
	bad[len(bad)-30] ^= 1
	refused(t, Corrupt, bad, Params{})
	ancillary := chunkOf("tEXt", []byte("a\x00b"))
	ancillary[len(ancillary)-1] ^= 1
	refused(t, Corrupt, withChunks(pngOf(t, page(50, 50)), ancillary), Params{})
}

func TestAnimationsShowTheirFirstFrame(t *testing.T) {
	pal := color.Palette{color.NRGBA{}, color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 255}}
	frame := func(r image.Rectangle, index uint8) *image.Paletted {
		m := image.NewPaletted(r, pal)
		for i := range m.Pix {
			m.Pix[i] = index
		}
		return m
	}
	var b bytes.Buffer
	must(t, gif.EncodeAll(&b, &gif.GIF{
		Image: []*image.Paletted{frame(image.Rect(10, 5, 20, 15), 1), frame(image.Rect(0, 0, 40, 30), 2)},
		Delay: []int{1, 1}, Config: image.Config{ColorModel: pal, Width: 40, Height: 30},
	}))
	_, meta, got := shown(t, b.Bytes(), Params{})
	if meta.Source != (vision.Size{Width: 40, Height: 30}) || !slices.Contains(meta.Notes, "animated-first-frame") ||
		color.NRGBAModel.Convert(got.At(12, 8)) != pal[1] || color.NRGBAModel.Convert(got.At(1, 1)) != pal[0] {
		t.Errorf("%+v, %v, %v", meta, got.At(12, 8), got.At(1, 1))
	}
	// An animated WebP made of two stills of x/image's set.
	still := mustRead(t, filepath.Join(xImages(t), "tux.lossless.webp"))
	var complete bool
	chunks := slices.Collect(riffChunks(still[12:], &complete))
	w, h := vp8Size(chunks[0])
	anmf := func(x, y int) riffChunk {
		body := []byte{byte(x / 2), 0, 0, byte(y / 2), 0, 0, byte(w - 1), byte((w - 1) >> 8), 0, byte(h - 1), byte((h - 1) >> 8), 0, 0, 0, 0, 0}
		return riffChunk{"ANMF", appendChunk(body, chunks[0])}
	}
	animated := func(cw, ch int64, frames ...riffChunk) []byte {
		out := appendChunk([]byte("RIFF\x00\x00\x00\x00WEBP"), riffChunk{"VP8X", []byte{
			2, 0, 0, 0, byte(cw - 1), byte((cw - 1) >> 8), 0, byte(ch - 1), byte((ch - 1) >> 8), 0,
		}})
		out = appendChunk(out, riffChunk{"ANIM", make([]byte, 6)})
		for _, f := range frames {
			out = appendChunk(out, f)
		}
		putLE32(out[4:], len(out)-8)
		return out
	}
	_, want, first := shown(t, still, Params{})
	_, meta, got = shown(t, animated(w, h, anmf(0, 0), anmf(0, 0)), Params{})
	if !near(got, first, 0) || !slices.Contains(meta.Notes, "animated-first-frame") || want.Format != "webp" {
		t.Errorf("%+v", meta)
	}
	_, meta, got = shown(t, animated(w+20, h+10, anmf(20, 10)), Params{})
	if meta.Source.Width != int(w)+20 || !near(part(t, got, image.Rect(20, 10, int(w)+20, int(h)+10)), first, 0) {
		t.Errorf("%+v", meta)
	}
	refused(t, Corrupt, animated(w, h, anmf(2, 0)), Params{})
	refused(t, Corrupt, animated(w, h), Params{})
	_, meta, _ = shown(t, withChunks(pngOf(t, page(20, 20)), chunkOf("acTL", []byte("\x00\x00\x00\x07\x00\x00\x00\x00"))), Params{})
	if !slices.Contains(meta.Notes, "animated-first-frame") {
		t.Errorf("APNG: %v", meta.Notes)
	}
}

func TestManyFramesCostNothing(t *testing.T) {
	frame := "\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"
	data := []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff" + strings.Repeat(frame, 1_000_000) + ";")
	begin := time.Now()
	if _, meta, _ := shown(t, data, Params{}); !slices.Contains(meta.Notes, "animated-first-frame") {
		t.Errorf("notes %v", meta.Notes)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestBitmapsOfOtherSorts(t *testing.T) {
	data := mustRead(t, filepath.Join(xImages(t), "video-001.bmp"))
	for compression, says := range map[byte]string{1: "RLE8", 2: "RLE4", 4: "JPEG", 5: "PNG"} {
		b := bytes.Clone(data)
		b[30] = compression
		if e := refused(t, UnsupportedKind, b, Params{}); !strings.Contains(e.Message, says) {
			t.Errorf("compression %d: %s", compression, e.Message)
		}
	}
	os2 := bytes.Clone(data)
	os2[14] = 12
	refused(t, UnsupportedKind, os2, Params{})
	paletted := mustRead(t, filepath.Join(xImages(t), "colormap-251.bmp"))
	paletted[len(paletted)-4] = 255
	refused(t, Corrupt, paletted, Params{})
}

func TestInksWithoutAMarkerAreNotInverted(t *testing.T) {
	data := mustRead(t, filepath.Join(goImages(t), "testdata/video-001.cmyk.jpeg"))
	at := bytes.Index(data, []byte("\xff\xeeAdobe"[:2]))
	if at < 0 {
		t.Fatal("the picture has no marker of Adobe")
	}
	bare := append(bytes.Clone(data[:at]), data[at+2+int(be16(data[at+2:])):]...)
	_, _, marked := shown(t, data, Params{})
	_, _, got := shown(t, bare, Params{})
	// Inks 255 - i: where the marked picture is dark, the bare one is light.
	var sum, sumMarked int
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			r, _, _, _ := got.At(x, y).RGBA()
			m, _, _, _ := marked.At(x, y).RGBA()
			sum, sumMarked = sum+int(r>>8), sumMarked+int(m>>8)
		}
	}
	if near(got, marked, 8) || sum == 0 && sumMarked == 0 {
		t.Error("the marker made no difference")
	}
}

func TestThirtySixMegapixelsKeepTheMemoryPromise(t *testing.T) {
	if testing.Short() {
		t.Skip("not run: pictures of 36 megapixels, left out by -short; go test without it runs them")
	}
	for name, make36 := range map[string]func() []byte{
		"rgb":  func() []byte { return pngOf(t, image.NewRGBA(image.Rect(0, 0, 6000, 6000))) },
		"grey": func() []byte { return pngOf(t, image.NewGray(image.Rect(0, 0, 6000, 6000))) },
		"jpeg": func() []byte { return jpegOf(t, image.NewRGBA(image.Rect(0, 0, 6000, 6000)), 80) },
	} {
		data := make36()
		runtime.GC()
		peak := watch(func() {
			_, meta, err := New(Options{}).PrepareBytes(t.Context(), data, name, Params{})
			if err != nil || meta.Sent.Width != 1568 {
				t.Errorf("%s: %v, %+v", name, err, meta)
			}
		})
		t.Logf("%s: %d MiB above the start", name, peak>>20)
		if peak > maxMemory {
			t.Errorf("%s: %d MiB", name, peak>>20)
		}
	}
}

// watch gives how far the heap rose while f ran.
func watch(f func()) uint64 {
	var start, now runtime.MemStats
	runtime.ReadMemStats(&start)
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			select {
			case <-done:
				result <- peak
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, start.HeapAlloc))
			}
		}
	}()
	f()
	close(done)
	return <-result
}

func TestProgressiveJPEGsAreMeasuredByTheirSamples(t *testing.T) {
	frame := func(luma string) []byte {
		return withSegments([]byte{0xff, mSOI, 0xff, mEOI},
			segmentOf(mSOF2, "\x08\x17\x70\x17\x70\x03\x01"+luma+"\x00\x02\x11\x01\x03\x11\x01"),
			append(segmentOf(mSOS, "\x03\x01\x00\x02\x00\x03\x00\x00\x3f\x00"), 0))
	}
	for luma, want := range map[string]bool{"\x22": true, "\x11": false} { // 4:2:0 and 4:4:4
		s, err := look(frame(luma), "a.jpg")
		must(t, err)
		if fits := s.memory() <= maxMemory; fits != want {
			t.Errorf("36 MP with luma %q: %d MiB, fits %v", luma, s.memory()>>20, fits)
		}
	}
}

func TestMetadataIsTheToolsShape(t *testing.T) {
	_, meta, _ := shown(t, pngOf(t, page(100, 50)), Params{Region: &vision.Region{X: 1, Y: 2, Width: 30, Height: 20}})
	b, err := json.Marshal(meta)
	must(t, err)
	want := fmt.Sprintf(`{"index":0,"path":"a.bin","format":"png","source":{"width":100,"height":50},"sent":{"width":30,"height":20},`+
		`"crop":{"x":1,"y":2,"width":30,"height":20},"scale":{"x":1,"y":1},"mediaType":"image/png","bytes":%d,"sha256":"%s","approxTokens":1}`, meta.Bytes, meta.SHA256)
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}
