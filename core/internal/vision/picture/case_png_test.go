package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
)

func pngCases() []pictureCase {
	return []pictureCase{
		{name: "P01 PNG of 8 bits RGB", files: func(t *testing.T) []pictureFile {
			s := pngSpec{w: 33, h: 21, depth: 8, colour: 2}
			extra := s
			extra.extra = slices.Concat(chunkOf("pHYs", make([]byte, 9)), chunkOf("tIME", make([]byte, 7)), chunkOf("bKGD", make([]byte, 6)))
			f := extra.file("with what holds no pixels").as(s.bytes())
			f.notes = []string{"metadata-removed"}
			parts := zlibOf(s.raw())
			split := s.around(chunkOf("IDAT", parts[:9]), chunkOf("IDAT", nil), chunkOf("IDAT", parts[9:]))
			return []pictureFile{s.file("plain"), f, shows("in three parts", split, "png", 33, 21).like(s.picture(), 0).asIs()}
		}},
		{name: "P02 PNG grey 1/2/4, palette 1/2/4/8", files: func(*testing.T) (all []pictureFile) {
			for _, s := range everyPNG(21, 13, false) {
				if s.colour == 0 || s.colour == 3 {
					all = append(all, s.file(fmt.Sprintf("colour %d, %d bits", s.colour, s.depth)))
				}
			}
			return all
		}},
		{name: "P03 PNG of 16 bits", files: func(*testing.T) (all []pictureFile) {
			for _, s := range everyPNG(40, 30, false) {
				if s.depth == 16 {
					all = append(all, s.file(fmt.Sprintf("colour %d", s.colour)))
				}
			}
			return all
		}},
		{name: "P04 PNG interlaced", files: func(*testing.T) (all []pictureFile) {
			for _, s := range everyPNG(37, 29, true) {
				all = append(all, s.file(fmt.Sprintf("colour %d, %d bits", s.colour, s.depth)))
			}
			return all
		}},
		{name: "P05 PNG transparent", files: transparentPNGs},
		{name: "P06 PNG of odd sizes", files: func(*testing.T) (all []pictureFile) {
			for n := 1; n <= 40; n++ {
				for _, s := range []pngSpec{{w: n, h: n, interlaced: n%2 == 0}, {w: n, h: 41 - n, interlaced: n%2 == 1}} {
					s.depth, s.colour = 8, 2
					all = append(all, s.file(fmt.Sprintf("%d × %d", s.w, s.h)))
				}
			}
			return all
		}},
		{name: "P07 PNG with a profile", files: profilePNGs},
		{name: "P08 PNG turned by eXIf", files: func(t *testing.T) (all []pictureFile) {
			for o := 1; o <= 8; o++ {
				want := corners(48, 32)
				data := withChunks(pngOf(t, storedFor(want, o)), chunkOf("eXIf", exif(uint16(o), binary.BigEndian)))
				notes := []string{"metadata-removed", "orientation-applied"}
				if o == 1 {
					notes = notes[:1]
				}
				all = append(all, shows(fmt.Sprint("orientation ", o), data, "png", 48, 32, notes...).like(want, 0),
					shows(fmt.Sprint("region, orientation ", o), data, "png", 48, 32, notes...).region(20, 3, 9, 20).sends(9, 20).like(plain(want, image.Rect(20, 3, 29, 23)), 0))
			}
			twice := withChunks(pngOf(t, corners(48, 32)), chunkOf("eXIf", exif(1, binary.BigEndian)), chunkOf("eXIf", exif(6, binary.BigEndian)))
			return append(all, shows("two chunks, the first counts", twice, "png", 48, 32, "metadata-removed").like(corners(48, 32), 0))
		}},
	}
}

// storedFor is the stored picture whose upright form is want.
func storedFor(want *image.NRGBA, o int) *image.NRGBA {
	w, h := want.Rect.Dx(), want.Rect.Dy()
	src := image.NewNRGBA(image.Rect(0, 0, w, h))
	if o >= 5 {
		src = image.NewNRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			p := stored(image.Rect(x, y, x+1, y+1), o, src.Rect.Dx(), src.Rect.Dy()).Min
			src.SetNRGBA(p.X, p.Y, want.NRGBAAt(x, y))
		}
	}
	return src
}

func transparentPNGs(t *testing.T) []pictureFile {
	grey := pngSpec{w: 30, h: 20, depth: 8, colour: 0}
	grey.trns = grey.key([4]uint16{grey.sample(3, 4, 0)})
	rgb := pngSpec{w: 30, h: 20, depth: 8, colour: 2}
	rgb.trns = rgb.key([4]uint16{rgb.sample(3, 4, 0), rgb.sample(3, 4, 1), rgb.sample(3, 4, 2)})
	index := pngSpec{w: 30, h: 20, depth: 8, colour: 3, palette: paletteOf(50), trns: []byte{0, 128, 255, 3}}
	clear8 := image.NewNRGBA(image.Rect(0, 0, 30, 20))
	deep := pngSpec{w: 30, h: 20, depth: 16, colour: 6}
	// Too large for a PNG of 2000 bytes: flattened on white in a JPEG.
	flat := image.NewNRGBA(image.Rect(0, 0, 80, 80))
	half := image.NewNRGBA(flat.Rect)
	noise := static(80, 80)
	for y := range 80 {
		for x := range 80 {
			c := noise.NRGBAAt(x, y)
			flat.SetNRGBA(x, y, color.NRGBA{255, 255, 255, 255})
			c.A = 0
			half.SetNRGBA(x, y, c)
		}
	}
	return []pictureFile{
		grey.file("a grey that is clear"), rgb.file("a colour that is clear"), index.file("a palette with alpha"), deep.file("16 bits with alpha"),
		pngSpec{w: 30, h: 20, depth: 8, colour: 6}.file("RGBA"), pngSpec{w: 30, h: 20, depth: 8, colour: 4, interlaced: true}.file("grey with alpha"),
		shows("nothing to see", pngOf(t, clear8), "png", 30, 20, "transparent").like(clear8, 0).asIs(),
		shows("flattened on white", pngOf(t, half), "png", 80, 80, "transparent", "flattened-on-white", "jpeg-quality-90").like(flat, 1).under(Options{MaxSent: 2000}),
	}
}

func profilePNGs(t *testing.T) (all []pictureFile) {
	base := pngOf(t, corners(48, 32))
	gama := func(v uint32) []byte { return chunkOf("gAMA", binary.BigEndian.AppendUint32(nil, v)) }
	var chrm []byte
	for _, v := range []uint32{31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000} {
		chrm = binary.BigEndian.AppendUint32(chrm, v)
	}
	wide := bytes.Clone(chrm)
	wide[9] ^= 0x40
	for why, c := range map[string]struct {
		chunks []byte
		note   string
	}{
		"sRGB":                {chunkOf("sRGB", []byte{0}), "metadata-removed"},
		"the gamma of sRGB":   {gama(45455), "metadata-removed"},
		"the colours of sRGB": {chunkOf("cHRM", chrm), "metadata-removed"},
		"cICP of sRGB":        {chunkOf("cICP", []byte{1, 13, 0, 1}), "metadata-removed"},
		"linear light":        {gama(100000), "profile-dropped"},
		"a wide gamut":        {chunkOf("cHRM", wide), "profile-dropped"},
		"iCCP":                {chunkOf("iCCP", []byte("Display P3\x00\x00x")), "profile-dropped"},
		"a broken iCCP":       {chunkOf("iCCP", nil), "profile-dropped"},
		"cICP of Rec. 2100":   {chunkOf("cICP", []byte{9, 16, 0, 1}), "profile-dropped"},
	} {
		all = append(all, shows(why, withChunks(base, c.chunks), "png", 48, 32, c.note).like(corners(48, 32), 0).as(base))
	}
	return all
}

func pngDamage() []pictureCase {
	s := pngSpec{w: 33, h: 21, depth: 8, colour: 2}
	packed := func() []byte { return zlibOf(s.raw()) }
	return []pictureCase{
		{name: "P09 PNG with a wrong checksum", files: func(*testing.T) (all []pictureFile) {
			index := pngSpec{w: 9, h: 9, depth: 8, colour: 3, palette: paletteOf(9), trns: []byte{1}, extra: chunkOf("tEXt", []byte("a\x00b"))}
			for c := range pngChunks(index.bytes()) {
				data := index.bytes()
				data[c.end-1] ^= 1
				all = append(all, refuses(c.kind, data, Corrupt, "checksum", "anew"))
				data = index.bytes()
				if data[c.end-5] ^= 1; c.kind != "IEND" && c.kind != "IHDR" {
					all = append(all, refuses("a bit of "+c.kind, data, Corrupt, "checksum"))
				}
			}
			return all
		}},
		{name: "P10 PNG with broken zlib", files: func(*testing.T) []pictureFile {
			flip := func(at int) []byte {
				z := packed()
				z[(at+len(z))%len(z)] ^= 0x55
				return s.around(chunkOf("IDAT", z))
			}
			raw := s.raw()
			return []pictureFile{
				refuses("Adler", flip(-1), Corrupt), refuses("head", flip(0), Corrupt), refuses("a block", flip(2), Corrupt),
				refuses("a dictionary", s.around(chunkOf("IDAT", append([]byte{0x78, 0x20}, packed()[2:]...))), Corrupt),
				refuses("a row too few", s.around(chunkOf("IDAT", zlibOf(raw[:len(raw)-40]))), Corrupt),
				refuses("a row too many", s.around(chunkOf("IDAT", zlibOf(append(bytes.Clone(raw), raw[:100]...)))), Corrupt),
				refuses("an unknown filter", s.around(chunkOf("IDAT", zlibOf(append([]byte{5}, raw[1:]...)))), Corrupt),
				refuses("no data", s.around(), Corrupt), refuses("empty data", s.around(chunkOf("IDAT", nil)), Corrupt),
			}
		}},
		{name: "P11 PNG cut off", files: func(*testing.T) (all []pictureFile) {
			whole := s.bytes()
			for at := 9; at < len(whole); at += max(1, len(whole)/60) {
				all = append(all, refuses(fmt.Sprintf("at %d of %d", at, len(whole)), whole[:at], Corrupt, "anew"))
			}
			return append(all, refuses("without its end", whole[:len(whole)-12], Corrupt), refuses("in its end", whole[:len(whole)-1], Corrupt))
		}},
		{name: "P12 PNG with a changed signature", files: func(*testing.T) (all []pictureFile) {
			rest := string(s.bytes()[8:])
			for why, front := range map[string]string{
				"CR LF became LF": "\x89PNG\n\x1a\n", "LF became CR LF": "\x89PNG\r\r\n\x1a\r\n", "LF became CR": "\x89PNG\r\r\x1a\r", "seven bits": "\x09PNG\r\n\x1a\n",
				"another first byte": "?PNG\r\n\x1a\n", "small letters": "\x89png\r\n\x1a\n", "UTF-8": "\xef\xbf\xbdPNG\r\n\x1a\n", "cut at ^Z": "\x89PNG\r\n\n",
			} {
				all = append(all, refuses(why, []byte(front+rest), Corrupt, "signature"))
			}
			for _, c := range []struct{ depth, colour byte }{{8, 1}, {8, 9}, {0, 2}, {3, 2}, {99, 2}, {16, 3}, {1, 6}} {
				all = append(all, refuses(fmt.Sprintf("%d bits of colour %d", c.depth, c.colour), pngSpec{w: 32, h: 32, depth: c.depth, colour: c.colour}.around(chunkOf("IDAT", packed())), UnsupportedKind, "PNG"))
			}
			return append(all, refuses("no header first", slices.Concat([]byte(pngSignature), chunkOf("gAMA", []byte{0, 0, 0, 1}), s.bytes()[8:]), Corrupt, "header"))
		}},
	}
}

func pngBombs() []pictureCase {
	return []pictureCase{
		{name: "P13 PNG of 65535 × 65535 in 45 bytes", files: func(*testing.T) []pictureFile {
			return []pictureFile{
				refuses("45 bytes", append(headerPNG(65535, 65535, 8, 2), chunkOf("IEND", nil)...), TooLargePixels, "65535 × 65535"),
				refuses("33 bytes", headerPNG(65535, 65535, 1, 0), TooLargePixels, "smaller"),
			}
		}},
		{name: "P14 PNG of 2³¹−1", files: func(*testing.T) []pictureFile {
			return []pictureFile{
				refuses("both", headerPNG(1<<31-1, 1<<31-1, 16, 6), TooLargePixels), refuses("wide", headerPNG(1<<31-1, 1, 8, 2), TooLargePixels),
				refuses("2³¹", headerPNG(1<<31, 1, 8, 2), Corrupt), refuses("2³²−1", headerPNG(1<<32-1, 1<<32-1, 8, 2), Corrupt),
				refuses("a product of 2³²", headerPNG(1<<16, 1<<16, 8, 2), TooLargePixels), refuses("a product that is 1 in 32 bits", headerPNG(641, 6700417, 8, 2), TooLargePixels),
			}
		}},
		{name: "P15 PNG without width or height", files: func(*testing.T) []pictureFile {
			return []pictureFile{
				refuses("width", headerPNG(0, 7, 8, 2), ZeroSize, "no pixels"), refuses("height", headerPNG(7, 0, 8, 2), ZeroSize), refuses("both", headerPNG(0, 0, 8, 2), ZeroSize),
			}
		}},
		{name: "P16 PNG of 36 megapixels with data for a few", files: func(*testing.T) []pictureFile {
			few := pngSpec{w: 16, h: 16, depth: 8, colour: 6}
			big := pngSpec{w: 6000, h: 6000, depth: 8, colour: 6}
			return []pictureFile{refuses("RGBA", big.around(chunkOf("IDAT", zlibOf(few.raw()))), Corrupt)}
		}},
		{name: "P17 PNG of zeros, 288 MB from little", files: func(t *testing.T) []pictureFile {
			s := pngSpec{w: 6000, h: 6000, depth: 16, colour: 6}
			data := zerosPNG(t, s)
			if len(data) > 500<<10 {
				t.Errorf("no bomb: %d bytes", len(data))
			}
			return []pictureFile{
				shows("16 bits", data, "png", 6000, 6000, "reduced-to-8-bit", "transparent", "small-text-may-be-unreadable").sends(1568, 1568),
				refuses("with less memory", data, TooComplex, "decode").under(Options{MaxMemory: 100 << 20}),
			}
		}},
		{name: "P19 PNG with huge chunks", files: hugeChunks},
		{name: "P20 PNG with bombs in text", files: func(t *testing.T) (all []pictureFile) {
			base := pngOf(t, page(40, 30))
			bomb := string(zlibOf(make([]byte, 64<<20)))
			for kind, body := range map[string]string{"zTXt": "a\x00\x00" + bomb, "iTXt": "a\x00\x01\x00\x00\x00" + bomb} {
				all = append(all, shows(kind, withChunks(base, chunkOf(kind, []byte(body))), "png", 40, 30, "metadata-removed").as(base))
			}
			return append(all, shows("iCCP", withChunks(base, chunkOf("iCCP", []byte("a\x00\x00"+bomb))), "png", 40, 30, "profile-dropped").as(base))
		}},
		{name: "P22 APNG", files: func(t *testing.T) []pictureFile {
			base := pngOf(t, page(40, 30))
			data := withChunks(base, chunkOf("acTL", []byte("\x00\x00\x00\x02\x00\x00\x00\x00")), chunkOf("fcTL", make([]byte, 26)))
			end := len(data) - 12
			data = slices.Concat(data[:end], chunkOf("fcTL", make([]byte, 26)), chunkOf("fdAT", []byte("\x00\x00\x00\x01x")), data[end:])
			return []pictureFile{
				shows("two frames", data, "png", 40, 30, "animated-first-frame", "metadata-removed").like(page(40, 30), 0).as(base),
				shows("one frame", withChunks(base, chunkOf("acTL", []byte("\x00\x00\x00\x01\x00\x00\x00\x00"))), "png", 40, 30, "metadata-removed").as(base),
			}
		}},
		{name: "P23 PNG with bytes behind its end", files: func(t *testing.T) (all []pictureFile) {
			base := pngOf(t, page(40, 30))
			for why, tail := range map[string]string{"a ZIP": "PK\x03\x04secret", "HTML": "<html><script>alert(1)</script>", "a second PNG": string(base), "a zero": "\x00"} {
				all = append(all, shows(why, append(bytes.Clone(base), tail...), "png", 40, 30, "metadata-removed").as(base))
			}
			return all
		}},
	}
}

// hugeChunks are like the files by which libpng was once brought down (its folder contrib/testpngs/crashers).
func hugeChunks(t *testing.T) (all []pictureFile) {
	base := pngOf(t, page(40, 30))
	body := bytes.Repeat([]byte("marker"), 1<<18)
	for kind := range strings.FieldsSeq("bKGD cHRM cICP eXIf fRAc gAMA gIFg gIFx hIST iCCP iTXt juNK oFFs pCAL pHYs sBIT sCAL sPLT sRGB sTER tEXt tIME zTXt") {
		note := "metadata-removed"
		if pngProfiles[kind] {
			note = "profile-dropped"
		}
		cut := append(base[:33:33], "\x7f\xff\xff\xff"+kind+"junk junk junk"...)
		all = append(all, shows(kind, withChunks(base, chunkOf(kind, body)), "png", 40, 30, note).as(base), refuses(kind+" that is not there", cut, Corrupt, "cut off"))
	}
	return append(all,
		refuses("a palette", withChunks(base, chunkOf("PLTE", body)), Corrupt), refuses("transparency", withChunks(base, chunkOf("tRNS", body)), Corrupt),
		refuses("an end with a body that is not there", append(base[:len(base)-12:len(base)-12], "\x7f\xff\xff\xffIEND\x00\x00\x00\x00"...), Corrupt))
}
