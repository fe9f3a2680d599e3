package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// requestCases are about more than one picture. Their order is that of the list
// where it matters: P90 stands in fileCases, behind the other names.
func requestCases() []pictureCase {
	return []pictureCase{
		// Calls in a minute and the sum of bytes are held by TestThirtyCallsAMinuteAnAgent and its neighbours in package showing.
		{name: "P101 a third picture at once", run: thirdAtOnce},
		{name: "P102 a deadline in the midst of decoding", run: deadline},
		// Who may call, and with which key, is the hub's: see its tests. Here: a refusal never holds pixels, which every refused file of the table is held to.
		{name: "P103 a refusal holds no pixels", files: func(t *testing.T) []pictureFile {
			return []pictureFile{refuses("never", pngOf(t, page(9, 9)), NotAllowed, "pictures.never").under(Options{Never: []string{"**/*.png"}}).named("x/A.PNG")}
		}},
		{name: "P104 pictures that hide others from the eye", run: scalingAttacks},
		{name: "P105 words and codes in the picture", files: wordsInPictures},
		{name: "P106 the same bytes every time", run: sameEveryTime},
	}
}

func thirdAtOnce(t *testing.T) {
	data := pngOf(t, page(9, 9))
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		_, leave, err := p.enter(t.Context())
		must(t, err)
		_, leave2, err := p.enter(t.Context())
		must(t, err)
		begin := time.Now()
		pic, _, err := p.PrepareBytes(t.Context(), data, "a.bin", Params{})
		refuses("a third", nil, Busy, "ask again").judge(t, pic, vision.Meta{}, err)
		if waited := time.Since(begin); waited != maxTime {
			t.Errorf("gave up after %v", waited)
		}
		var all sync.WaitGroup
		all.Go(func() { // one waits, and has its turn as soon as a place is free
			if _, _, err := p.PrepareBytes(t.Context(), data, "a.bin", Params{}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		leave()
		all.Wait()
		leave2()
	})
}

// deadline ends a preparation here; that a child is killed and computes no more is TestAChildIsKilledAtTheDeadline.
func deadline(t *testing.T) {
	data := zerosPNG(t, pngSpec{w: 6000, h: 6000, depth: 8, colour: 6})
	for _, o := range []Options{{MaxTime: 20 * time.Millisecond}, {MaxTime: 100 * time.Millisecond, Children: hung(t)}} {
		begin := time.Now()
		pic, _, err := New(o).PrepareBytes(t.Context(), data, "a.bin", Params{})
		refuses("late", nil, Timeout, "too long").judge(t, pic, vision.Meta{}, err)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("ended after %v", took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := New(Options{}).PrepareBytes(ctx, data, "a.bin", Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits any more, but %v", err)
	}
}

// hung are children that never answer.
func hung(t *testing.T) *Children {
	t.Helper()
	c := NewChildren(func() (*exec.Cmd, error) { return exec.Command("sleep", "100"), nil }) //nolint:noctx // killed by its owner
	t.Cleanup(c.Close)
	return c
}

// turnedRegions asks for the same part of a picture in all eight orientations.
func turnedRegions(t *testing.T) {
	want := corners(1200, 800)
	var first image.Image
	for o := 1; o <= 8; o++ {
		data := withChunks(pngOf(t, storedFor(want, o)), chunkOf("eXIf", exif(uint16(o), binary.BigEndian)))
		for _, r := range []vision.Region{{X: 100, Y: 50, Width: 1000, Height: 700}, {X: 590, Y: 10, Width: 20, Height: 780}} {
			pic, meta, err := New(Options{}).PrepareBytes(t.Context(), data, "a.bin", Params{Region: &r, MaxEdge: 300})
			must(t, err)
			got, _, err := image.Decode(bytes.NewReader(pic.Bytes))
			must(t, err)
			if meta.Crop == nil || *meta.Crop != r {
				t.Errorf("orientation %d: crop %v, want %v", o, meta.Crop, r)
			}
			// Where the four quarters meet, a sent point leads back to the source.
			x, y := edgeOf(got, true), edgeOf(got, false)
			if at := float64(r.X) + x*meta.Scale.X; x > 0 && math.Abs(at-600) > 1+meta.Scale.X/2 {
				t.Errorf("orientation %d: the border at sent x %v is %v of the source, not 600", o, x, at)
			}
			if at := float64(r.Y) + y*meta.Scale.Y; y > 0 && math.Abs(at-400) > 1+meta.Scale.Y/2 {
				t.Errorf("orientation %d: the border at sent y %v is %v of the source, not 400", o, y, at)
			}
			if r.X != 100 {
				continue
			}
			if first == nil {
				first = got
			}
			if !alike(first, got, 1) {
				t.Errorf("orientation %d shows something else than 1", o)
			}
		}
	}
}

// edgeOf finds where red ends on the first row, or column, in sent pixels.
func edgeOf(m image.Image, across bool) float64 {
	b := m.Bounds()
	n := b.Dy()
	if across {
		n = b.Dx()
	}
	for i := range n {
		x, y := 0, i
		if across {
			x, y = i, 0
		}
		if r, _, _, _ := m.At(b.Min.X+x, b.Min.Y+y).RGBA(); r>>8 < 155 {
			return float64(i)
		}
	}
	return 0
}

// scalingAttacks are noted, and pictures that hide nothing are not.
func scalingAttacks(t *testing.T) {
	// Anamorpher's three ways put the hidden picture where a scaler by four looks: nearest neighbour
	// at one pixel of sixteen, bilinear at the four in the middle, bicubic mostly at those four too.
	at := func(a int) bool { return a%4 == 1 || a%4 == 2 }
	for why, m := range map[string]*image.NRGBA{
		"nearest": mixed(2400, 1800, func(x, y int) uint8 {
			if x%4 == 2 && y%4 == 2 {
				return 250
			}
			return 40
		}),
		"bilinear": mixed(2400, 1800, func(x, y int) uint8 {
			if at(x) && at(y) {
				return 250
			}
			return 40
		}),
		"bicubic": mixed(2400, 1800, func(x, y int) uint8 {
			switch {
			case at(x) && at(y):
				return 230
			case at(x) || at(y):
				return 60
			}
			return 20
		}),
	} {
		_, meta, err := New(Options{}).PrepareBytes(t.Context(), pngOf(t, m), "a.bin", Params{MaxEdge: 600})
		must(t, err)
		if !slices.Contains(meta.Notes, "changes-when-scaled") {
			t.Errorf("hidden for %s: %v", why, meta.Notes)
		}
	}
	// Half-tone beside the flat grey that looks the same to an eye, 188, is 128 to a program that scales without regard to gamma.
	gamma := mixed(1600, 1200, func(x, y int) uint8 {
		switch {
		case (x/100+y/100)%3 == 0:
			return 188
		case (x+y)%2 == 0:
			return 255
		}
		return 0
	})
	for _, edge := range []int{800, 600, 400} {
		_, meta, err := New(Options{}).PrepareBytes(t.Context(), pngOf(t, gamma), "a.bin", Params{MaxEdge: edge})
		must(t, err)
		if !slices.Contains(meta.Notes, "changes-when-scaled") {
			t.Errorf("hidden by gamma, at %d: %v", edge, meta.Notes)
		}
	}
	for why, m := range map[string]image.Image{"a page": page(2400, 1800), "a photo": photo(1800, 1200)} {
		_, meta, err := New(Options{}).PrepareBytes(t.Context(), pngOf(t, m), "a.bin", Params{MaxEdge: 600})
		must(t, err)
		if slices.Contains(meta.Notes, "changes-when-scaled") {
			t.Errorf("%s hides nothing: %v", why, meta.Notes)
		}
	}
}

// wordsInPictures are shown like any other: that they are data and no orders is told beside them, by package prompt.
func wordsInPictures(t *testing.T) (all []pictureFile) {
	white := mixed(400, 100, func(int, int) uint8 { return 255 })
	faint, small, code := image.NewNRGBA(white.Rect), image.NewNRGBA(white.Rect), image.NewNRGBA(white.Rect)
	for _, m := range []*image.NRGBA{faint, small, code} {
		copy(m.Pix, white.Pix)
	}
	letters := []uint8{0x1f, 0x04, 0x04, 0x04, 0x1f, 0x00} // bars of a letter, six pixels high
	for i := range 60 {
		for y, bits := range letters {
			for x := range 5 {
				if bits>>x&1 == 1 {
					faint.SetNRGBA(10+6*i+x, 10+y, color.NRGBA{254, 254, 254, 255})
					small.SetNRGBA(10+6*i+x, 30+y, color.NRGBA{0, 0, 0, 255})
				}
			}
		}
	}
	for y := range 84 {
		for x := range 84 {
			if (x/4*7+y/4*13+x/4*(y/4))%3 == 0 {
				code.SetNRGBA(x+8, y+8, color.NRGBA{0, 0, 0, 255})
			}
		}
	}
	for why, m := range map[string]*image.NRGBA{"white on white": faint, "letters of six pixels": small, "a code of squares": code} {
		all = append(all, shows(why, pngOf(t, m), "png", 400, 100).like(m, 0).asIs())
	}
	return all
}

// sameEveryTime prepares the same pictures again and again, alone and together.
func sameEveryTime(t *testing.T) {
	for name, data := range map[string][]byte{
		"page": pngOf(t, page(1700, 900)), "photo": jpegOf(t, photo(900, 700), 90), "gif": goFile(t, "video-001.gif"), "webp": xFile(t, "tux.lossless.webp"), "inks": goFile(t, "video-001.cmyk.jpeg"),
	} {
		r := &vision.Region{X: 3, Y: 2, Width: 690, Height: 610}
		for _, params := range []Params{{MaxEdge: 300}, {Region: r, MaxEdge: 500}} {
			first, meta, err := New(Options{}).PrepareBytes(t.Context(), data, "a.bin", params)
			must(t, err)
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					p, m, err := New(Options{}).PrepareBytes(t.Context(), data, "a.bin", params)
					if err != nil || !bytes.Equal(p.Bytes, first.Bytes) || fmt.Sprint(m) != fmt.Sprint(meta) && m.SHA256 != meta.SHA256 {
						t.Errorf("%s: run %d gives other bytes: %v", name, i, err)
					}
				})
			}
			all.Wait()
			if sum(first.Bytes) != meta.SHA256 {
				t.Errorf("%s: the hash is of other bytes", name)
			}
		}
	}
}
