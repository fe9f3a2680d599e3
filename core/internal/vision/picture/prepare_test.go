package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/draw"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/jpegread"
	"github.com/relo-dev/relo/core/internal/vision/resample"
)

func TestSmallPicturesAreSentAsTheyAre(t *testing.T) {
	for name, data := range map[string][]byte{"png": pngOf(t, page(300, 200)), "jpeg": jpegOf(t, photo(300, 200), 80)} {
		pic, meta, _ := shown(t, data, Params{})
		if !bytes.Equal(pic.Bytes, data) || meta.Notes != nil || meta.Crop != nil || meta.Scale != (vision.Scale{X: 1, Y: 1}) {
			t.Errorf("%s: changed on the way, or a note without reason: %+v", name, meta)
		}
	}
}

func TestWhatHoldsNoPixelsIsLeftOut(t *testing.T) {
	const secret = "SECRET-PLACE"
	plainPNG, plainJPEG := pngOf(t, page(60, 40)), jpegOf(t, photo(60, 40), 80)
	tables := 4 + int(be16(plainJPEG[4:])) // behind the first segment
	for _, c := range []struct {
		why, note  string
		data, want []byte
	}{
		{"text in a PNG", "metadata-removed", withChunks(plainPNG, chunkOf("tEXt", []byte("Comment\x00"+secret))), plainPNG},
		{"EXIF in a PNG", "metadata-removed", withChunks(plainPNG, chunkOf("eXIf", exif(1, binary.BigEndian))), plainPNG},
		{"a profile in a PNG", "profile-dropped", withChunks(plainPNG, chunkOf("iCCP", []byte(secret))), plainPNG},
		{"an unknown chunk", "metadata-removed", withChunks(plainPNG, chunkOf("heLo", []byte(secret))), plainPNG},
		{"bytes behind a PNG", "metadata-removed", append(bytes.Clone(plainPNG), secret...), plainPNG},
		{"EXIF in a JPEG", "metadata-removed", withSegments(plainJPEG, segmentOf(mAPP1, "Exif\x00\x00"+string(exif(1, binary.LittleEndian)))), plainJPEG},
		{"XMP in a JPEG", "metadata-removed", withSegments(plainJPEG, segmentOf(mAPP1, "http://ns.adobe.com/xap/1.0/\x00"+secret)), plainJPEG},
		{"a comment", "metadata-removed", withSegments(plainJPEG, segmentOf(0xfe, secret)), plainJPEG},
		{"a profile in a JPEG", "profile-dropped", withSegments(plainJPEG, segmentOf(mAPP2, "ICC_PROFILE\x00\x01\x01"+secret)), plainJPEG},
		{"junk between markers", "metadata-removed", slices.Concat(plainJPEG[:tables], []byte(secret), plainJPEG[tables:]), plainJPEG},
		{"bytes behind a JPEG", "metadata-removed", append(bytes.Clone(plainJPEG), secret...), plainJPEG},
	} {
		t.Run(c.why, func(t *testing.T) {
			pic, meta, _ := shown(t, c.data, Params{})
			if !bytes.Equal(pic.Bytes, c.want) || !slices.Contains(meta.Notes, c.note) {
				t.Errorf("sent %d bytes of %d wanted, notes %v", len(pic.Bytes), len(c.want), meta.Notes)
			}
		})
	}
	thumb := withSegments(plainJPEG, segmentOf(mAPP0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x01\x01"+secret))
	if pic, _, _ := shown(t, thumb, Params{}); bytes.Contains(pic.Bytes, []byte(secret)) || !bytes.Contains(pic.Bytes, []byte("JFIF")) {
		t.Error("JFIF must stay, without its thumbnail")
	}
}

func TestTurnedPicturesAreShownUpright(t *testing.T) {
	want := corners(90, 60)
	for o := 1; o <= 8; o++ {
		src := image.NewNRGBA(image.Rect(0, 0, 90, 60))
		if o >= 5 {
			src = image.NewNRGBA(image.Rect(0, 0, 60, 90))
		}
		for y := range 60 { // the stored picture whose upright form is want
			for x := range 90 {
				p := stored(image.Rect(x, y, x+1, y+1), o, src.Rect.Dx(), src.Rect.Dy()).Min
				src.SetNRGBA(p.X, p.Y, want.NRGBAAt(x, y))
			}
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			meta := exif(uint16(o), order)
			_, m, got := shown(t, withChunks(pngOf(t, src), chunkOf("eXIf", meta)), Params{})
			if !near(got, want, 0) || m.Source != (vision.Size{Width: 90, Height: 60}) || slices.Contains(m.Notes, "orientation-applied") != (o > 1) {
				t.Errorf("PNG, orientation %d: not upright, or %+v", o, m)
			}
			j := withSegments(jpegOf(t, src, 95), segmentOf(mAPP1, "Exif\x00\x00"+string(meta)))
			_, _, got = shown(t, j, Params{})
			for _, p := range []image.Point{{20, 15}, {70, 15}, {20, 45}, {70, 45}} { // inside the quarters, where no colour is smeared
				if px := image.Rect(p.X, p.Y, p.X+1, p.Y+1); got.Bounds() != want.Rect || !near(part(t, got, px), part(t, want, px), 8) {
					t.Errorf("JPEG, orientation %d: not upright at %v", o, p)
				}
			}
			r := &vision.Region{X: 46, Y: 2, Width: 40, Height: 20} // in the green quarter
			_, m, got = shown(t, withChunks(pngOf(t, src), chunkOf("eXIf", meta)), Params{Region: r})
			if green := (color.NRGBA{60, 250, 60, 255}); !cmp.Equal(m.Crop, r) || color.NRGBAModel.Convert(got.At(5, 5)) != green {
				t.Errorf("orientation %d: the region is not in the upright space: %v, %v", o, m.Crop, got.At(5, 5))
			}
		}
	}
	// A known picture turned by hand: orientation 6 is shown by turning it a quarter clockwise.
	src := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	src.SetNRGBA(0, 0, color.NRGBA{255, 0, 0, 255})
	src.SetNRGBA(1, 0, color.NRGBA{0, 0, 255, 255})
	_, _, got := shown(t, withChunks(pngOf(t, src), chunkOf("eXIf", exif(6, binary.BigEndian))), Params{})
	if got.Bounds().Dy() != 2 || color.NRGBAModel.Convert(got.At(0, 0)) != (color.NRGBA{255, 0, 0, 255}) {
		t.Errorf("orientation 6 of red, blue from the left is red, blue from the top, got %v", got)
	}
	src = image.NewNRGBA(image.Rect(0, 0, 1, 2))
	src.SetNRGBA(0, 0, color.NRGBA{255, 0, 0, 255})
	src.SetNRGBA(0, 1, color.NRGBA{0, 0, 255, 255})
	_, _, got = shown(t, withChunks(pngOf(t, src), chunkOf("eXIf", exif(6, binary.BigEndian))), Params{})
	if color.NRGBAModel.Convert(got.At(0, 0)) != (color.NRGBA{0, 0, 255, 255}) {
		t.Errorf("orientation 6 of red, blue from the top is blue, red from the left, got %v", got)
	}
}

func TestOddOrientationsAreUpright(t *testing.T) {
	src := corners(40, 20)
	wrongType := exif(6, binary.LittleEndian)
	wrongType[12] = 4
	huge := exif(6, binary.LittleEndian)
	huge[8], huge[9], huge[10] = 0xff, 0xff, 0
	behind := exif(6, binary.LittleEndian)
	behind[5] = 0xff
	for name, meta := range map[string][]byte{
		"0": exif(0, binary.BigEndian), "9": exif(9, binary.BigEndian), "65535": exif(65535, binary.BigEndian),
		"wrong type": wrongType, "a huge count": huge, "a directory behind the end": behind, "cut off": exif(6, binary.BigEndian)[:11], "empty": nil,
	} {
		if _, _, got := shown(t, withChunks(pngOf(t, src), chunkOf("eXIf", meta)), Params{}); !near(got, src, 0) {
			t.Errorf("orientation %s: turned", name)
		}
	}
}

func TestRegions(t *testing.T) {
	data := pngOf(t, page(400, 300))
	for _, c := range []struct {
		region vision.Region
		crop   *vision.Region
		note   string
		why    string
	}{
		{vision.Region{X: 10, Y: 20, Width: 30, Height: 40}, &vision.Region{X: 10, Y: 20, Width: 30, Height: 40}, "", "inside"},
		{vision.Region{X: 390, Y: 290, Width: 30, Height: 40}, &vision.Region{X: 390, Y: 290, Width: 10, Height: 10}, "region-clipped", "partly outside is clipped"},
		{vision.Region{Width: 400, Height: 300}, nil, "", "the whole picture is no crop"},
		{vision.Region{Width: 1 << 62, Height: 1 << 62}, nil, "region-clipped", "no sum overflows"},
		{vision.Region{X: 399, Y: 299, Width: 1, Height: 1}, &vision.Region{X: 399, Y: 299, Width: 1, Height: 1}, "", "one pixel"},
	} {
		_, meta, _ := shown(t, data, Params{Region: &c.region})
		if !cmp.Equal(meta.Crop, c.crop) || c.note != "" && !slices.Contains(meta.Notes, c.note) {
			t.Errorf("%s: crop %v, notes %v", c.why, meta.Crop, meta.Notes)
		}
	}
	for _, r := range []vision.Region{
		{X: -1, Width: 5, Height: 5},
		{Y: -1, Width: 5, Height: 5},
		{Height: 5},
		{Width: 5},
		{Width: -5, Height: 5},
		{X: 400, Width: 5, Height: 5},
		{Y: 300, Width: 5, Height: 5},
		{X: 1 << 62, Y: 1, Width: 1 << 62, Height: 1},
	} {
		if e := refused(t, BadRegion, data, Params{Region: &r}); !strings.Contains(e.Message, "400 × 300") {
			t.Errorf("region %v: the message does not give the true size: %s", r, e.Message)
		}
	}
}

func TestEdges(t *testing.T) {
	wide := pngOf(t, page(3000, 300))
	for _, c := range []struct {
		edge, w, h int
		why        string
	}{
		{0, 1568, 157, "the default"}, {256, 256, 26, "the smallest"}, {2576, 2576, 258, "the largest"},
	} {
		_, meta, _ := shown(t, wide, Params{MaxEdge: c.edge})
		if meta.Sent != (vision.Size{Width: c.w, Height: c.h}) {
			t.Errorf("%s: sent %v", c.why, meta.Sent)
		}
		if meta.Scale.X != 3000/float64(c.w) || meta.Scale.Y != 300/float64(c.h) {
			t.Errorf("%s: scale %v", c.why, meta.Scale)
		}
	}
	for _, edge := range []int{255, 2577, -1, 1e9} {
		refused(t, BadRegion, wide, Params{MaxEdge: edge})
	}
	if _, meta, _ := shown(t, pngOf(t, page(100, 50)), Params{MaxEdge: 2576}); meta.Sent.Width != 100 {
		t.Errorf("enlarged to %v", meta.Sent)
	}
	for _, m := range []image.Image{page(1, 30000), page(30000, 1)} {
		_, meta, _ := shown(t, pngOf(t, m), Params{})
		if min(meta.Sent.Width, meta.Sent.Height) != 1 || meta.Scale.X == meta.Scale.Y {
			t.Errorf("a line: sent %v, scale %v", meta.Sent, meta.Scale)
		}
	}
}

func TestTheScalerIsCatmullRom(t *testing.T) {
	for _, src := range []image.Image{page(700, 500), photo(640, 481), corners(333, 777)} {
		b := src.Bounds()
		w, h := b.Dx()*10/27, b.Dy()*10/27
		got, err := reduce(t.Context(), src, b, w, h)
		if err != nil {
			t.Fatal(err)
		}
		want := image.NewRGBA(image.Rect(0, 0, w, h))
		draw.CatmullRom.Scale(want, want.Rect, src, b, draw.Src, nil)
		if !near(got.img, want, 8) { // both passes cut what overshoots, which shows at hard corners only; resample measures the mean
			t.Error("differs from x/image's Catmull-Rom by more than 8 levels")
		}
	}
}

func TestEveryKindOfPictureReadsTheSame(t *testing.T) {
	base := corners(40, 30)
	models := map[string]draw.Image{
		"RGBA": image.NewRGBA(base.Rect), "NRGBA64": image.NewNRGBA64(base.Rect), "RGBA64": image.NewRGBA64(base.Rect), "CMYK": image.NewCMYK(base.Rect),
		"Paletted": image.NewPaletted(base.Rect, color.Palette{color.NRGBA{250, 60, 60, 255}, color.NRGBA{60, 250, 60, 255}, color.NRGBA{60, 60, 250, 255}, color.NRGBA{60, 60, 60, 255}}),
	}
	for name, m := range models {
		draw.Draw(m, m.Bounds(), base, image.Point{}, draw.Src)
		row, want := make([]float32, 4*40), make([]float32, 4*40)
		for y := range 30 {
			rowReader(m)(0, y, row)
			rowReader(base)(0, y, want)
			for i := range row {
				if d := row[i] - want[i]; d > 2 || d < -2 {
					t.Fatalf("%s: row %d, value %d is %v, want %v", name, y, i, row[i], want[i])
				}
			}
		}
		if copied, err := reduce(t.Context(), m, m.Bounds(), 40, 30); err != nil || !near(copied.img, base, 2) {
			t.Errorf("%s: the plain copy differs, %v", name, err)
		}
	}
}

func TestTooLargePNGsGoDownTheLadder(t *testing.T) {
	pic, meta, _ := shown(t, pngOf(t, static(1568, 1568)), Params{})
	if pic.MediaType != "image/jpeg" || len(pic.Bytes) > maxSent {
		t.Errorf("sent %s of %d bytes, %v", pic.MediaType, len(pic.Bytes), meta.Notes)
	}
	small := New(Options{MaxSent: 60 << 10})
	pic, meta, err := small.PrepareBytes(t.Context(), pngOf(t, static(600, 600)), "a.png", Params{})
	if err != nil || len(pic.Bytes) > 60<<10 || pic.Width >= 600 || meta.Sent.Width != pic.Width || !slices.Contains(meta.Notes, "shrunk-to-fit") {
		t.Errorf("%v: sent %d bytes, %+v", err, len(pic.Bytes), meta)
	}
	_, _, err = New(Options{MaxSent: 10}).PrepareBytes(t.Context(), pngOf(t, static(600, 600)), "a.png", Params{})
	wantCode(t, TooComplex, err, nil, meta)
}

func TestTransparencyIsSaid(t *testing.T) {
	glass := image.NewNRGBA(image.Rect(0, 0, 50, 50))
	if _, meta, _ := shown(t, pngOf(t, glass), Params{}); !slices.Contains(meta.Notes, "transparent") {
		t.Errorf("notes %v", meta.Notes)
	}
	noisy := static(300, 300)
	noisy.Pix[3] = 0
	pic, meta, err := New(Options{MaxSent: 200 << 10}).PrepareBytes(t.Context(), pngOf(t, noisy), "a.png", Params{})
	if err != nil || !slices.Contains(meta.Notes, "flattened-on-white") {
		t.Fatalf("%v, %+v", err, meta)
	}
	img, err := jpeg.Decode(bytes.NewReader(pic.Bytes))
	if err != nil || img.Bounds().Dx() != 300 {
		t.Fatalf("%v", err)
	}
}

func TestSixteenBitsBecomeEight(t *testing.T) {
	m := image.NewNRGBA64(image.Rect(0, 0, 20, 20))
	for i := range m.Pix {
		m.Pix[i] = 0xab
	}
	for i := 6; i < len(m.Pix); i += 8 {
		m.Pix[i], m.Pix[i+1] = 0xff, 0xff
	}
	pic, meta, img := shown(t, pngOf(t, m), Params{})
	if pic.Bytes[24] != 8 || !slices.Contains(meta.Notes, "reduced-to-8-bit") || color.NRGBAModel.Convert(img.At(3, 3)) != (color.NRGBA{0xab, 0xab, 0xab, 0xff}) {
		t.Errorf("depth %d, notes %v, %v", pic.Bytes[24], meta.Notes, img.At(3, 3))
	}
}

func TestTheSameBytesAreSentEveryTime(t *testing.T) {
	data := pngOf(t, photo(900, 700))
	p := New(Options{})
	first, _, err := p.PrepareBytes(t.Context(), data, "a.png", Params{MaxEdge: 400})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, _, err := p.PrepareBytes(t.Context(), data, "a.png", Params{MaxEdge: 400})
		if err != nil || again.SHA256 != first.SHA256 {
			t.Fatalf("%v: %s, then %s", err, first.SHA256, again.SHA256)
		}
	}
}

func TestMetadataPointsBackIntoTheSource(t *testing.T) {
	data := pngOf(t, page(1200, 900))
	rapid.Check(t, func(rt *rapid.T) {
		r := vision.Region{
			X: rapid.IntRange(0, 1199).Draw(rt, "x"), Y: rapid.IntRange(0, 899).Draw(rt, "y"),
			Width: rapid.IntRange(1, 1500).Draw(rt, "w"), Height: rapid.IntRange(1, 1500).Draw(rt, "h"),
		}
		edge := rapid.IntRange(MinMaxEdge, MaxMaxEdge).Draw(rt, "edge")
		upright := vision.Size{Width: 1200, Height: 900}
		var meta vision.Meta
		crop, _, err := cropOf(&r, upright, &meta)
		if err != nil {
			rt.Fatal(err)
		}
		w, h := fit(crop.Dx(), crop.Dy(), edge)
		sx, sy := float64(crop.Dx())/float64(w), float64(crop.Dy())/float64(h)
		if max(w, h) > edge && max(crop.Dx(), crop.Dy()) > edge || min(w, h) < 1 || sx < 1 || sy < 1 {
			rt.Fatalf("%v at %d: sent %d × %d", crop, edge, w, h)
		}
		endX, endY := float64(crop.Min.X)+float64(w)*sx, float64(crop.Min.Y)+float64(h)*sy
		if endX < float64(crop.Max.X)-1 || endX > float64(crop.Max.X)+1 || endY < float64(crop.Max.Y)-1 || endY > float64(crop.Max.Y)+1 {
			rt.Fatalf("the last sent point is source %v, %v of %v", endX, endY, crop)
		}
	})
	if _, meta, _ := shown(t, data, Params{Region: &vision.Region{X: 5, Y: 6, Width: 700, Height: 600}, MaxEdge: 350}); meta.Scale != (vision.Scale{X: 2, Y: 2}) {
		t.Errorf("scale %v", meta.Scale)
	}
}

func TestScalingAttacksAreNoted(t *testing.T) {
	clean := map[string]image.Image{"page": page(2400, 1800), "photo": photo(2400, 1800)}
	for _, name := range []string{"video-001.png", "yellow_rose.png", "gopher-doc.8bpp.png", "tux.png", "blue-purple-pink-large.png"} {
		m, _, err := image.Decode(bytes.NewReader(mustRead(t, filepath.Join(xImages(t), name))))
		if err != nil {
			t.Fatal(err)
		}
		clean[name] = m
	}
	for name, m := range clean {
		if d := difference(t, m, 4); d > noise*3/4 {
			t.Errorf("%s is clean, but differs by %.1f", name, d)
		} else {
			t.Logf("%s: %.1f", name, d)
		}
	}
	// A dark picture hides a bright one in the pixels that a scaler by four picks.
	for taps := 1; taps <= 2; taps++ {
		hidden := image.NewNRGBA(image.Rect(0, 0, 2400, 1800))
		for y := range 1800 {
			for x := range 2400 {
				v := uint8(40)
				if in := func(a int) bool { return a%4 == 1 || a%4 == 2 }; taps == 2 && in(x) && in(y) || taps == 1 && x%4 == 2 && y%4 == 2 {
					v = 250
				}
				hidden.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
			}
		}
		if d := difference(t, hidden, 4); d <= noise {
			t.Errorf("a picture hidden in %d taps differs by %.1f only", taps, d)
		} else {
			t.Logf("hidden in %d taps: %.1f", taps, d)
		}
	}
}

// difference scales by the factor as Prepare does, and measures the disagreement.
func difference(t *testing.T, m image.Image, factor int) float64 {
	t.Helper()
	b := m.Bounds()
	sent, err := resample.Image(t.Context(), m, b, b.Dx()/factor, b.Dy()/factor)
	if err != nil {
		t.Fatal(err)
	}
	watch := newSampler(b, b.Dx()/factor, b.Dy()/factor)
	watch.image(m)
	return watch.disagreement(sent)
}

func TestTheClockEndsThePreparation(t *testing.T) {
	data := pngOf(t, photo(1500, 1500))
	_, meta, err := New(Options{MaxTime: time.Nanosecond}).PrepareBytes(t.Context(), data, "a.png", Params{})
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != Timeout && e.Code != Busy || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %+v", err, meta)
	}
	var film bytes.Buffer // a kind that is decoded in one go
	must(t, gif.Encode(&film, page(60, 60), nil))
	data = film.Bytes()
	ctx, cancel := context.WithCancel(t.Context())
	p := New(Options{})
	p.decode = func(ctx context.Context, data []byte, s *sight, name string) (image.Image, error) {
		cancel() // in the midst of it
		return decodeHere(ctx, data, s, name)
	}
	_, meta, err = p.PrepareBytes(ctx, data, "a.png", Params{})
	wantCode(t, Timeout, err, nil, meta)
}

func TestOnlySoManyAtOnce(t *testing.T) {
	data := pngOf(t, page(9, 9))
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{AtOnce: 1})
		p.places <- struct{}{}
		begin := time.Now()
		_, meta, err := p.PrepareBytes(t.Context(), data, "a.png", Params{})
		wantCode(t, Busy, err, nil, meta)
		if waited := time.Since(begin); waited != maxTime {
			t.Errorf("gave up after %v", waited)
		}
		<-p.places
		if _, _, err = p.PrepareBytes(t.Context(), data, "a.png", Params{}); err != nil {
			t.Errorf("the place is free again, but %v", err)
		}
	})
}

func TestNeverHoldsForBytesToo(t *testing.T) {
	p := New(Options{Never: []string{"**/secrets/**"}})
	_, meta, err := p.PrepareBytes(t.Context(), pngOf(t, page(9, 9)), "x/Secrets/a.png", Params{})
	wantCode(t, NotAllowed, err, nil, meta)
	_, meta, err = New(Options{Never: []string{"[a"}}).PrepareBytes(t.Context(), pngOf(t, page(9, 9)), "x.png", Params{})
	wantCode(t, NotAllowed, err, nil, meta)
}

func TestThePicturesThatComeWithGo(t *testing.T) {
	dir := goImages(t)
	for _, glob := range []string{"testdata/*.png", "testdata/*.jpeg", "testdata/*.gif", "png/testdata/pngsuite/*.png", "png/testdata/bench*.png"} {
		files, err := filepath.Glob(filepath.Join(dir, glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", glob, len(files), err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				data := mustRead(t, file)
				if strings.Contains(file, "truncated.jpeg") {
					refused(t, Corrupt, data, Params{})
					return
				}
				_, meta, got := shown(t, data, Params{})
				want, format, err := image.Decode(bytes.NewReader(data))
				if err != nil || format != meta.Format || !near(got, want, 1) {
					t.Errorf("%v: %s is not what was sent: %+v", err, format, meta)
				}
			})
		}
	}
	for _, name := range []string{"invalid-crc32", "invalid-noend", "invalid-trunc", "invalid-zlib"} {
		refused(t, Corrupt, mustRead(t, filepath.Join(dir, "png/testdata", name+".png")), Params{})
	}
	inks, rgb := mustRead(t, filepath.Join(dir, "testdata/video-001.cmyk.jpeg")), mustRead(t, filepath.Join(dir, "testdata/video-001.cmyk.png"))
	_, meta, got := shown(t, inks, Params{})
	want, err := png.Decode(bytes.NewReader(rgb))
	if err != nil || !near(got, want, 8) || !slices.Contains(meta.Notes, "cmyk-converted") {
		t.Errorf("%v: CMYK in wrong colours, %v", err, meta.Notes)
	}
}

func TestThePicturesThatComeWithXImage(t *testing.T) {
	files, err := os.ReadDir(xImages(t))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, f := range files {
		ext := filepath.Ext(f.Name())
		data := mustRead(t, filepath.Join(xImages(t), f.Name()))
		switch ext {
		case ".webp", ".bmp", ".png":
			_, meta, got := shown(t, data, Params{})
			want, format, err := image.Decode(bytes.NewReader(data))
			if err != nil || format != meta.Format || !near(got, want, 1) {
				t.Errorf("%s: %v, %+v", f.Name(), err, meta)
			}
			count[ext]++
		case ".tiff":
			refused(t, UnsupportedKind, data, Params{})
			count[ext]++
		}
	}
	for _, ext := range []string{".webp", ".bmp", ".png", ".tiff"} {
		if count[ext] < 5 {
			t.Errorf("only %d of %s", count[ext], ext)
		}
	}
}

func ExampleError() {
	_, _, err := New(Options{}).PrepareBytes(context.Background(), []byte("<svg/>"), "logo.png", Params{})
	fmt.Println(err.Error()[:40])
	// Output: svg_is_source: "logo.png" is an SVG: dra
}

func TestHalfTonesAreNoted(t *testing.T) {
	// Letters of black and white dots in turns, on the grey that they look like: nobody
	// sees them before they are scaled.
	hidden := image.NewNRGBA(image.Rect(0, 0, 2000, 1500))
	for y := range 1500 {
		for x := range 2000 {
			v := uint8(186)
			if x/100%2 == 0 || y/100%3 == 0 {
				v = uint8(255 * ((x + y) % 2))
			}
			hidden.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	for kind, data := range map[string][]byte{"png": pngOf(t, hidden)} {
		if _, meta, _ := shown(t, data, Params{MaxEdge: 700}); !slices.Contains(meta.Notes, "changes-when-scaled") {
			t.Errorf("%s: %v", kind, meta.Notes)
		}
	}
	if _, meta, _ := shown(t, pngOf(t, page(2000, 1500)), Params{MaxEdge: 700}); slices.Contains(meta.Notes, "changes-when-scaled") {
		t.Errorf("a clean page: %v", meta.Notes)
	}
}

func TestHiddenPicturesInJPEGsAreNoted(t *testing.T) {
	dots := image.NewNRGBA(image.Rect(0, 0, 1600, 1200))
	for y := range 1200 {
		for x := range 1600 {
			v := uint8(60)
			if x%4/2 == 1 && y%4/2 == 1 {
				v = 250
			}
			dots.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	for name, c := range map[string]struct {
		img    image.Image
		hidden bool
	}{"dots": {dots, true}, "page": {page(1600, 1200), false}, "photo": {photo(1600, 1200), false}} {
		data := jpegOf(t, c.img, 92)
		file, ok := jpegread.Open(data)
		if !ok {
			t.Fatal("it is left to the standard decoder")
		}
		_, lost, err := file.Reduce(t.Context(), 4)
		if err != nil || name != "page" && lost > maxLost != c.hidden { // fine lines cost a whole decoding, and are found clean then
			t.Errorf("%s: %.0f lost, %v", name, lost, err)
		}
		if _, meta, _ := shown(t, data, Params{MaxEdge: 400}); slices.Contains(meta.Notes, "changes-when-scaled") != c.hidden {
			t.Errorf("%s: %.0f lost, %v", name, lost, meta.Notes)
		}
		t.Logf("%s: %.0f lost", name, lost)
	}
}
