package picture

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func sizeCases() []pictureCase {
	grey := func(w, h int) pngSpec { return pngSpec{w: w, h: h, depth: 8, colour: 0} }
	return []pictureCase{
		{name: "P58 exactly 36 megapixels", files: func(t *testing.T) []pictureFile {
			return []pictureFile{
				shows("6000 × 6000", zerosPNG(t, grey(6000, 6000)), "png", 6000, 6000, "small-text-may-be-unreadable").sends(1568, 1568),
				shows("36000000 × 1", zerosPNG(t, grey(36_000_000, 1)), "png", 36_000_000, 1, "small-text-may-be-unreadable").sends(1568, 1),
			}
		}},
		{name: "P59 one pixel more than 36 megapixels", files: func(*testing.T) []pictureFile {
			return []pictureFile{
				refuses("36000001 × 1", headerPNG(36_000_001, 1, 8, 0), TooLargePixels, "36000000", "smaller copy"), refuses("6000 × 6001", headerPNG(6000, 6001, 8, 0), TooLargePixels),
				refuses("JPEG", ycc(6000, 6001, 0x22).bytes()[:700], TooLargePixels), refuses("BMP", bmpSpec{w: 6001, h: 6000, bits: 1, header: 40, colours: 2}.bytes(), TooLargePixels),
			}
		}},
		{name: "P60 exactly 40 MiB", files: func(t *testing.T) []pictureFile {
			base := pngOf(t, page(300, 200))
			return []pictureFile{shows("40 MiB", append(slices.Clip(base), make([]byte, maxBytes-len(base))...), "png", 300, 200, "metadata-removed").as(base)}
		}},
		{name: "P61 40 MiB and a byte", run: largerByOne, files: func(t *testing.T) []pictureFile {
			base := pngOf(t, page(300, 200))
			return []pictureFile{refuses("in memory", append(slices.Clip(base), make([]byte, maxBytes-len(base)+1)...), TooLargeBytes, "40 MiB")}
		}},
		{name: "P62 a file that grows while it is read", run: growing},
		{name: "P63 a sparse file of 1 TiB", run: sparse},
		{name: "P64 1 × 30000 and 30000 × 1", files: func(t *testing.T) []pictureFile {
			thin, wide := grey(1, 30000), grey(30000, 1)
			return []pictureFile{
				shows("thin", thin.bytes(), "png", 1, 30000, "small-text-may-be-unreadable", "changes-when-scaled").sends(1, 1568),
				shows("wide", wide.bytes(), "png", 30000, 1, "small-text-may-be-unreadable", "changes-when-scaled").sends(1568, 1),
				shows("a piece of it", wide.bytes(), "png", 30000, 1).region(29000, 0, 500, 1).sends(500, 1).like(plain(wide.picture(), image.Rect(29000, 0, 29500, 1)), 0),
			}
		}},
		{name: "P66 1 × 1", files: func(t *testing.T) []pictureFile {
			s := pngSpec{w: 1, h: 1, depth: 8, colour: 2}
			j := ycc(1, 1, 0x22)
			return []pictureFile{
				s.file("PNG"), shows("JPEG", j.bytes(), "jpeg", 1, 1).like(j.picture(), 1).asIs(), gifSpec{"GIF89a", 1, 1, 4, []gifFrame{{at: image.Rect(0, 0, 1, 1), clear: -1}}}.file("GIF"),
				shows("BMP", bmpSpec{w: 1, h: 1, bits: 24, header: 40}.bytes(), "bmp", 1, 1), shows("WebP", []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"), "webp", 1, 1, "transparent"),
			}
		}},
		{name: "P67 an empty file", files: func(*testing.T) []pictureFile { return []pictureFile{refuses("empty", nil, ZeroSize, "empty")} }},
		{name: "P68 one byte, seven bytes of a signature", files: func(*testing.T) (all []pictureFile) {
			for n := 1; n <= 7; n++ {
				all = append(all, refuses(fmt.Sprint(n, " of PNG"), []byte(pngSignature[:n]), UnsupportedKind, "no picture"))
			}
			for _, s := range []string{"\xff", "\xff\xd8", "GIF89", "RIFF", "RIFF\x10\x00\x00\x00WEB", "B", "BM", "\x00"} {
				all = append(all, refuses(fmt.Sprintf("%q", s), []byte(s), UnsupportedKind))
			}
			return all
		}},
		{name: "P69 one colour, noise", files: func(t *testing.T) []pictureFile {
			one := image.NewNRGBA(image.Rect(0, 0, 1200, 900))
			for i := range one.Pix {
				one.Pix[i] = 200 | uint8(i%4/3*255)
			}
			noise, little := pngOf(t, static(1300, 1000)), pngOf(t, static(200, 160))
			return []pictureFile{
				shows("one colour", pngOf(t, one), "png", 1200, 900).like(one, 0).asIs(),
				shows("noise that fits", pngOf(t, static(1000, 900)), "png", 1000, 900).asIs(),
				shows("noise over 3.5 MiB", noise, "png", 1300, 1000, "jpeg-quality-90"),
				shows("quality 75", little, "png", 200, 160, "jpeg-quality-75").under(Options{MaxSent: 25_000}),
				shows("a fifth smaller", little, "png", 200, 160, "jpeg-quality-75", "shrunk-to-fit").under(Options{MaxSent: 14_000}).sends(160, 128),
				refuses("that no ladder is long enough for", little, TooComplex, "region").under(Options{MaxSent: 300}),
			}
		}},
	}
}

// wide16 is text as UTF-16 with a byte order mark.
func wide16(s string, big bool) []byte {
	out := []byte{0xff, 0xfe}
	if big {
		out = []byte{0xfe, 0xff}
	}
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func zipped(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(s))
	must(t, err)
	must(t, z.Close())
	return b.Bytes()
}

func kindCases() []pictureCase {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`
	return []pictureCase{
		{name: "P70 SVG", files: func(t *testing.T) (all []pictureFile) {
			for why, data := range map[string][]byte{
				"plain": []byte(svg), "declared": []byte(`<?xml version="1.0"?>` + "\n" + svg), "with a mark": []byte("\xef\xbb\xbf" + svg), "UTF-16": wide16(svg, false), "UTF-16, big": wide16(svg, true),
				"svgz": zipped(t, svg), "behind a licence": []byte("<!--" + strings.Repeat("licence ", 5000) + "-->" + svg), "svgz behind a licence": zipped(t, "<!--"+strings.Repeat("licence ", 1500)+"-->"+svg), "with a prefix": []byte(`<s:svg xmlns:s="x"/>`),
				"with a type":   []byte(`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd" [<!ENTITY a "]>"><!ENTITY b '<svg>'>]>` + svg),
				"with entities": []byte("<!DOCTYPE svg [" + strings.Repeat(`<!ENTITY ns "http://example.com/ns">`, 3000) + "]>" + svg), "with instructions": []byte("<?xml-stylesheet href='a.css'?>\n\n<!-- a -- b -->\n" + svg),
			} {
				for _, name := range []string{"a.svg", "a.png"} {
					all = append(all, refuses(why, data, SVGIsSource, "SVG", "screenshot").named(name))
				}
			}
			return all
		}},
		{name: "P71 HTML", files: func(*testing.T) (all []pictureFile) {
			for _, s := range []string{
				"<!DOCTYPE html><html><body>404", "<!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>\n<HTML>", "<html lang=en>", "\n\n <HEAD><title>", "<!-- saved from url=(0014)about:internet -->\n<html>", "<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x' 'y'><html>",
				"<h1>Not found</h1>", "<script>location='/login'</script>", "\xef\xbb\xbf<!DOCTYPE html>", "<center><h1>502 Bad Gateway</h1></center>", "<!DOCTYPE html><html><body>" + svg + "</body></html>",
			} {
				all = append(all, refuses(s[:min(30, len(s))], []byte(s), UnsupportedKind, "HTML", "screenshot").named("a.png"))
			}
			return append(all, refuses("UTF-16", wide16("<!DOCTYPE html><html>", false), UnsupportedKind, "HTML"), refuses("JSON", []byte(`{"error":"not found","status":404}`), UnsupportedKind, "text"))
		}},
		{name: "P72 HEIC, AVIF, JXL, JP2, TIFF, ICO and others", files: otherPictures},
		{name: "P73 PDF, MP4, ZIP under a picture's name", files: func(*testing.T) (all []pictureFile) {
			for says, data := range map[string]string{
				"PDF": "%PDF-1.7\n%\xe2\xe3", "MP4": "\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2", "ZIP": "PK\x03\x04\x14\x00", "gzip": "\x1f\x8b\x08\x00", "WebM": "\x1aE\xdf\xa3\x9fB\x86\x81", "QuickTime": "\x00\x00\x00\x08moov", "empty ZIP": "PK\x05\x06\x00\x00",
				"RIFF": "RIFF\x24\x00\x00\x00WAVEfmt ", "program": "\x7fELF\x02\x01\x01", "7z": "7z\xbc\xaf\x27\x1c\x00", "PostScript": "%!PS-Adobe-3.0", "data URL": "data:image/png;base64,iVBORw0KGgo=", "MP3": "ID3\x04\x00", "Ogg": "OggS\x00",
			} {
				all = append(all, refuses(says, []byte(data), UnsupportedKind, says).named("a.jpg"))
			}
			return all
		}},
		{name: "P74 polyglots", files: func(t *testing.T) (all []pictureFile) {
			base, j := pngOf(t, page(40, 30)), ycc(48, 32, 0x22)
			g := gifSpec{"GIF89a", 37, 29, 4, []gifFrame{{at: image.Rect(0, 0, 37, 29), clear: -1}}}
			js := slices.Concat([]byte("GIF89a/*"), g.bytes()[8:], []byte("*/=1;alert(1)//"))
			return []pictureFile{
				shows("GIF and JavaScript", js, "gif", 10799, 29, "transparent", "small-text-may-be-unreadable").sends(1568, 4), refuses("a GIF's head and HTML", []byte("GIF89a<html><script>alert(1)</script></html>"), TooLargePixels),
				g.file("a GIF"), shows("GIF and what is behind", append(g.bytes(), "<?php evil() ?>"...), "gif", 37, 29).like(g.picture(), 0),
				shows("PNG and ZIP", append(slices.Clip(base), "PK\x03\x04secret"...), "png", 40, 30, "metadata-removed").as(base),
				shows("JPEG and PHP", withSegments(j.bytes(), segmentOf(0xfe, "<?php evil() ?>")), "jpeg", 48, 32, "metadata-removed").as(j.bytes()),
				refuses("PDF and JPEG", append([]byte("%PDF-1.7\n"), j.bytes()...), UnsupportedKind, "PDF"), refuses("HTML and PNG", append([]byte("<html>"), base...), UnsupportedKind, "HTML"),
				refuses("ZIP and PNG", append([]byte("PK\x03\x04"), base...), UnsupportedKind, "ZIP"), refuses("BMP and JavaScript", bmpSpec{w: 9, h: 9, bits: 24, header: 40, gap: "/*alert(1)*/"}.bytes(), UnsupportedKind, "gap"),
			}
		}},
		{name: "P75 a right picture under a wrong name", files: func(t *testing.T) (all []pictureFile) {
			j, s := ycc(48, 32, 0x22), pngSpec{w: 33, h: 21, depth: 8, colour: 2}
			for _, name := range []string{"a.png", "a.gif", "a", "a.txt", "a.svg", "a.html"} {
				all = append(all, shows(name, j.bytes(), "jpeg", 48, 32).like(j.picture(), 2).asIs().named(name), s.file(name).named(name))
			}
			return all
		}},
		{name: "P76 a Git LFS pointer", run: lfsPointers, files: func(*testing.T) (all []pictureFile) {
			oid := strings.Repeat("0123456789abcdef", 4)
			for why, s := range map[string]string{
				"whole": "oid sha256:" + oid + "\nsize 12345\n", "extended": "ext-0-foo sha256:" + oid + "\noid sha256:" + oid + "\nsize 12345\n", "cut": "oid sha", "odd": "oid md5:" + oid + "\nsize x\n",
			} {
				all = append(all, refuses(why, []byte(lfsVersion+s), UnsupportedKind, "LFS", "git lfs pull"))
			}
			return all
		}},
	}
}

func otherPictures(t *testing.T) (all []pictureFile) {
	box := func(brand string) string {
		return "\x00\x00\x00\x1cftyp" + brand + "\x00\x00\x00\x00mif1" + brand + "meta"
	}
	tga := "\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x04\x00\x18\x20" + strings.Repeat("abc", 16)
	for _, c := range [][2]string{
		{"HEIC", box("heic")},
		{"HEIC", box("heix")},
		{"HEIC", box("hevc")},
		{"HEIF", box("mif1")},
		{"HEIF", box("msf1")},
		{"AVIF", box("avif")},
		{"AVIF", box("avis")},
		{"CR3", box("crx ")},
		{"JPEG XL", "\xff\x0a\xfa\x7f\x01\x90"},
		{"JPEG XL", "\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a\x00\x00\x00\x14ftypjxl "},
		{"JPEG 2000", "\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a\x00\x00\x00\x14ftypjp2 "},
		{"JPEG 2000", "\xff\x4f\xff\x51\x00\x2f"},
		{"TIFF", "II*\x00\x08\x00\x00\x00"},
		{"TIFF", "MM\x00*\x00\x00\x00\x08"},
		{"BigTIFF", "II+\x00\x08\x00\x00\x00"},
		{"ICO", "\x00\x00\x01\x00\x01\x00\x10\x10"},
		{"CUR", "\x00\x00\x02\x00\x01\x00\x20\x20"},
		{"Photoshop", "8BPS\x00\x01\x00\x00"},
		{"DDS", "DDS \x7c\x00\x00\x00"},
		{"QOI", "qoif\x00\x00\x00\x10"},
		{"TGA", tga + "\x00\x00\x00\x00\x00\x00\x00\x00TRUEVISION-XFILE.\x00"},
		{"TGA", tga},
		{"EXR", "v/1\x01\x02\x00\x00\x00"},
		{"HDR", "#?RADIANCE\nFORMAT="},
		{"Netpbm", "P6\n9 9\n255\n"},
		{"Netpbm", "P1\n9 9\n"},
		{"GIMP", "gimp xcf v011"},
		{"ICNS", "icns\x00\x00\x10\x00"},
		{"XPM", "/* XPM */\nstatic char"},
		{"MNG", "\x8aMNG\r\n\x1a\n"},
		{"DjVu", "AT&TFORM\x00\x00"},
		{"WMF", "\xd7\xcd\xc6\x9a\x00\x00"},
		{"FLIF", "FLIF31\x00"},
		{"BPG", "BPG\xfb\x20"},
		{"SGI", "\x01\xda\x01\x01"},
	} {
		for _, name := range []string{"a.png", "a." + strings.ToLower(c[0])} {
			f := refuses(c[0], []byte(c[1]), UnsupportedKind, c[0])
			if f.says = append(f.says, "PNG"); c[0] == "CR3" {
				f.says = []string{"CR3", "JPEG"}
			}
			all = append(all, f.named(name))
		}
	}
	for _, name := range []string{"video-001.tiff", "bw-packbits.tiff", "blue-purple-pink.lzwcompressed.tiff", "video-001-16bit.tiff"} {
		all = append(all, refuses(name, xFile(t, name), UnsupportedKind, "TIFF", "PNG"))
	}
	return all
}

func regionCases() []pictureCase {
	img := corners(400, 300)
	cut := func(x, y, w, h int) image.Image { return plain(img, image.Rect(x, y, x+w, y+h)) }
	data := func(t *testing.T) []byte { t.Helper(); return pngOf(t, img) }
	return []pictureCase{
		{name: "P91 a region that begins before the picture, or without size", files: func(t *testing.T) (all []pictureFile) {
			for _, r := range [][4]int{{-1, 0, 5, 5}, {0, -1, 5, 5}, {0, 0, 0, 5}, {0, 0, 5, 0}, {0, 0, -5, 5}, {0, 0, 5, -5}, {-1 << 63, -1 << 63, -1 << 63, -1 << 63}, {0, 0, 0, 0}} {
				all = append(all, refuses(fmt.Sprint(r), data(t), BadRegion, "400 × 300", "at least").region(r[0], r[1], r[2], r[3]))
			}
			return all
		}},
		{name: "P92 a region partly outside", files: func(t *testing.T) []pictureFile {
			f := func(x, y, w, h, gotW, gotH int) pictureFile {
				return shows(fmt.Sprint(x, y, w, h), data(t), "png", 400, 300, "region-clipped").region(x, y, w, h).sends(gotW, gotH).like(cut(x, y, gotW, gotH), 0)
			}
			return []pictureFile{f(390, 290, 30, 40, 10, 10), f(100, 250, 50, 51, 50, 50), f(399, 0, 2, 300, 1, 300), f(0, 0, 401, 301, 400, 300), f(5, 5, 1<<62, 1<<62, 395, 295), f(350, 10, 1<<63-1, 7, 50, 7)}
		}},
		{name: "P93 a region wholly outside", files: func(t *testing.T) (all []pictureFile) {
			for _, r := range [][4]int{{400, 0, 5, 5}, {0, 300, 5, 5}, {1 << 62, 1 << 62, 1 << 62, 1 << 62}, {400, 300, 1, 1}} {
				all = append(all, refuses(fmt.Sprint(r), data(t), BadRegion, "400 × 300", "outside").region(r[0], r[1], r[2], r[3]))
			}
			return all
		}},
		// What is no whole number, missing or written as text is refused by the tool's schema before anything here is called:
		// TestWhatIsNoArgument of package showing. What can arrive as numbers that are too large is held here.
		{name: "P94 a region of numbers that are none", files: func(t *testing.T) []pictureFile {
			const most = 1<<63 - 1
			return []pictureFile{refuses("the largest", data(t), BadRegion).region(most, most, most, most), refuses("the smallest", data(t), BadRegion).region(-most-1, 0, most, most)}
		}},
		{name: "P96 a region of one pixel, and of the whole picture", files: func(t *testing.T) []pictureFile {
			return []pictureFile{
				shows("one", data(t), "png", 400, 300).region(399, 299, 1, 1).sends(1, 1).like(cut(399, 299, 1, 1), 0), shows("one at the front", data(t), "png", 400, 300).region(0, 0, 1, 1).sends(1, 1).like(cut(0, 0, 1, 1), 0),
				shows("whole", data(t), "png", 400, 300).region(0, 0, 400, 300).like(img, 0).asIs(),
			}
		}},
		{name: "P97 a region of a turned picture", run: turnedRegions},
		{name: "P99 edges at and beyond the limits", files: func(t *testing.T) (all []pictureFile) {
			wide := pngSpec{w: 3000, h: 40, depth: 8, colour: 0}.bytes()
			for edge, sent := range map[int][2]int{0: {1568, 21}, 256: {256, 3}, 2576: {2576, 34}, 300: {300, 4}} {
				f := shows(fmt.Sprint(edge), wide, "png", 3000, 40).with(Params{MaxEdge: edge}).sends(sent[0], sent[1])
				f.notes = nil
				if edge != 2576 && edge != 0 {
					f.notes = append(f.notes, "small-text-may-be-unreadable", "changes-when-scaled")
				}
				all = append(all, f)
			}
			for _, edge := range []int{255, 2577, -1, 1e9, 1, -1 << 63} {
				all = append(all, refuses(fmt.Sprint(edge), wide, BadRegion, "256", "2576").with(Params{MaxEdge: edge}))
			}
			return all
		}},
		{name: "P100 an edge longer than the picture", files: func(t *testing.T) []pictureFile {
			return []pictureFile{
				shows("larger", data(t), "png", 400, 300).with(Params{MaxEdge: 2576}).asIs(), shows("just as long", data(t), "png", 400, 300).with(Params{MaxEdge: 400}).asIs(),
				shows("a region", data(t), "png", 400, 300).with(Params{MaxEdge: 2576}).region(3, 3, 300, 50).sends(300, 50).like(cut(3, 3, 300, 50), 0),
			}
		}},
	}
}

// sum is a SHA-256 in hex.
func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// mixed is a picture that scaling changes: what one scaler sees differs from the rest.
func mixed(w, h int, at func(x, y int) uint8) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			v := at(x, y)
			m.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	return m
}
