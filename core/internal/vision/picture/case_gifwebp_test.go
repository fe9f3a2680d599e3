package picture

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gifSpec draws a GIF by hand: image/gif writes neither interlaced nor odd ones.
type gifSpec struct {
	version string
	w, h    int
	palette int // colours of the screen's table; 0: it has none
	frames  []gifFrame
}

type gifFrame struct {
	at         image.Rectangle
	local      int  // colours of its own table; 0: it has none
	clear      int  // the index that is transparent; -1: none
	dispose    byte // what becomes of it before the next
	interlaced bool
	data       []byte // instead of its indexes, coded
}

func (f gifFrame) index(x, y int) uint8 { return uint8((x*3 + y*5) % 4) }

func gifTable(n, offset int) (out []byte) {
	for i := range n {
		out = append(out, byte(40*i+offset), byte(255-20*i), byte(offset))
	}
	return out
}

// coded gives the indexes of a frame as LZW in blocks.
func (f gifFrame) coded() []byte {
	if f.data != nil {
		return f.data
	}
	var b bytes.Buffer
	z := lzw.NewWriter(&b, lzw.LSB, 2)
	var order []int
	if f.interlaced {
		for _, p := range [][2]int{{0, 8}, {4, 8}, {2, 4}, {1, 2}} { // GIF89a, appendix E
			for y := p[0]; y < f.at.Dy(); y += p[1] {
				order = append(order, y)
			}
		}
	} else {
		for y := range f.at.Dy() {
			order = append(order, y)
		}
	}
	for _, y := range order {
		row := make([]byte, f.at.Dx())
		for x := range row {
			row[x] = f.index(x, y)
		}
		if _, err := z.Write(row); err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return append([]byte{2}, blocksOf(b.Bytes())...)
}

// blocksOf parts bytes into blocks of at most 255, closed by an empty one.
func blocksOf(b []byte) (out []byte) {
	for part := range slices.Chunk(b, 255) {
		out = append(append(out, byte(len(part))), part...)
	}
	return append(out, 0)
}

func le(v int) []byte { return []byte{byte(v), byte(v >> 8)} }

func (s gifSpec) bytes() []byte {
	flags := byte(0)
	if s.palette > 0 {
		flags = 0x81 // four colours
	}
	out := slices.Concat([]byte(s.version), le(s.w), le(s.h), []byte{flags, 0, 0}, gifTable(s.palette, 0))
	for _, f := range s.frames {
		clear := byte(max(f.clear, 0))
		transparent := byte(0)
		if f.clear >= 0 {
			transparent = 1
		}
		if s.version == "GIF89a" {
			out = append(out, '!', 0xf9, 4, f.dispose<<2|transparent, 5, 0, clear, 0)
		}
		bits := byte(0)
		if f.local > 0 {
			bits |= 0x81
		}
		if f.interlaced {
			bits |= 0x40
		}
		out = slices.Concat(out, []byte{','}, le(f.at.Min.X), le(f.at.Min.Y), le(f.at.Dx()), le(f.at.Dy()), []byte{bits}, gifTable(f.local, 90), f.coded())
	}
	return append(out, ';')
}

// picture is the first frame on the screen.
func (s gifSpec) picture() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, s.w, s.h))
	f := s.frames[0]
	table := gifTable(s.palette, 0)
	if f.local > 0 {
		table = gifTable(f.local, 90)
	}
	for y := range f.at.Dy() {
		for x := range f.at.Dx() {
			if i := int(f.index(x, y)); i != f.clear {
				m.SetNRGBA(f.at.Min.X+x, f.at.Min.Y+y, color.NRGBA{table[3*i], table[3*i+1], table[3*i+2], 255})
			}
		}
	}
	return m
}

func (s gifSpec) file(why string, notes ...string) pictureFile {
	return shows(why, s.bytes(), "gif", s.w, s.h, notes...).like(s.picture(), 0)
}

func gifCases() []pictureCase {
	whole := gifFrame{at: image.Rect(0, 0, 37, 29), clear: -1}
	with := func(f func(g *gifFrame)) gifFrame { g := whole; f(&g); return g }
	still := func(version string, palette int, f gifFrame) gifSpec {
		return gifSpec{version, 37, 29, palette, []gifFrame{f}}
	}
	return []pictureCase{
		{name: "P41 GIF87a and GIF89a, interlaced, with tables of their own", files: func(t *testing.T) (all []pictureFile) {
			interlaced, local := with(func(g *gifFrame) { g.interlaced = true }), with(func(g *gifFrame) { g.local = 4 })
			for _, version := range []string{"GIF87a", "GIF89a"} {
				all = append(all, still(version, 4, whole).file(version), still(version, 4, interlaced).file(version+" interlaced"),
					still(version, 4, local).file(version+" with two tables"), still(version, 0, local).file(version+" with a frame's table"))
			}
			for _, name := range []string{"triangle-001", "video-001.5bpp", "video-001", "video-001.interlaced", "video-005.gray"} {
				data := goFile(t, name+".gif")
				want, _, err := image.Decode(bytes.NewReader(data))
				must(t, err)
				all = append(all, shows(name, data, "gif", want.Bounds().Dx(), want.Bounds().Dy(), transparentNote(want)...).like(want, 0))
			}
			return all
		}},
		{name: "P42 GIF animated, a first frame that is small, transparent, disposed of", files: func(*testing.T) (all []pictureFile) {
			small := gifFrame{at: image.Rect(5, 7, 25, 19), clear: -1}
			second := gifFrame{at: image.Rect(0, 0, 37, 29), clear: -1, local: 4}
			for dispose := range byte(4) {
				for clear := -1; clear < 3; clear += 3 {
					first := small
					first.dispose, first.clear = dispose, clear
					all = append(all, gifSpec{"GIF89a", 37, 29, 4, []gifFrame{first, second}}.file(fmt.Sprintf("disposal %d, clear %d", dispose, clear), "animated-first-frame", "transparent"))
				}
			}
			return append(all, gifSpec{"GIF89a", 37, 29, 4, []gifFrame{whole, second, second}}.file("three frames", "animated-first-frame"),
				gifSpec{"GIF89a", 37, 29, 4, []gifFrame{small}}.file("a small still", "transparent"),
				gifSpec{"GIF89a", 37, 29, 4, []gifFrame{with(func(g *gifFrame) { g.clear = 1 })}}.file("a still with a clear colour", "transparent"))
		}},
		{name: "P45 GIF without colours, frames or end, or with bad LZW", files: func(*testing.T) (all []pictureFile) {
			good := still("GIF89a", 4, whole).bytes()
			bad := func(data string) []byte {
				return still("GIF89a", 4, with(func(g *gifFrame) { g.data = []byte(data) })).bytes()
			}
			all = []pictureFile{
				refuses("no table", still("GIF89a", 0, whole).bytes(), Corrupt), refuses("no end", good[:len(good)-1], Corrupt, "cut off"),
				refuses("no frames", gifSpec{"GIF89a", 37, 29, 4, nil}.bytes(), Corrupt, "no frame"), refuses("an unknown block", append(good[:len(good)-1:len(good)-1], 'x', ';'), Corrupt),
				refuses("a code from the future", bad("\x02\x02\xff\xff\x00"), Corrupt), refuses("too few pixels", bad("\x02\x02\x44\x01\x00"), Corrupt), refuses("no data", bad("\x02\x00"), Corrupt),
				refuses("a code size of 1", bad("\x01\x02\x44\x01\x00"), Corrupt), refuses("a code size of 200", bad("\xc8\x02\x44\x01\x00"), Corrupt),
				refuses("an index behind the table", still("GIF89a", 4, with(func(g *gifFrame) { g.data = append([]byte{3}, blocksOf(lzwOf(bytes.Repeat([]byte{7}, 37*29), 3))...) })).bytes(), Corrupt),
				refuses("a frame larger than the screen", gifSpec{"GIF89a", 20, 29, 4, []gifFrame{whole}}.bytes(), Corrupt),
			}
			for at := 6; at < len(good)-1; at += 1 + len(good)/30 {
				all = append(all, refuses(fmt.Sprint("cut at ", at), good[:at], Corrupt))
			}
			return all
		}},
		{name: "P46 GIF with a million frames, or 39 MiB before the first", files: func(*testing.T) []pictureFile {
			frame := "\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"
			head := "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
			return []pictureFile{
				shows("frames", []byte(head+strings.Repeat(frame, 1_000_000)+";"), "gif", 1, 1, "animated-first-frame"),
				shows("a long comment", []byte(head+"!\xfe"+strings.Repeat("\xff"+strings.Repeat("c", 255), 39<<12)+"\x00"+frame+";"), "gif", 1, 1),
				shows("many comments", []byte(head+strings.Repeat("!\xfe\x00", 10<<20)+frame+";"), "gif", 1, 1),
			}
		}},
		{name: "P47 GIF of a screen without pixels", files: func(*testing.T) []pictureFile {
			return []pictureFile{
				refuses("both", gifSpec{"GIF89a", 0, 0, 4, []gifFrame{whole}}.bytes(), ZeroSize), refuses("width", gifSpec{"GIF89a", 0, 9, 4, []gifFrame{whole}}.bytes(), ZeroSize),
				refuses("height", gifSpec{"GIF87a", 9, 0, 4, []gifFrame{whole}}.bytes(), ZeroSize), refuses("65535 × 65535", gifSpec{"GIF87a", 65535, 65535, 4, []gifFrame{whole}}.bytes(), TooLargePixels),
			}
		}},
	}
}

func lzwOf(indexes []byte, width int) []byte {
	var b bytes.Buffer
	z := lzw.NewWriter(&b, lzw.LSB, width)
	if _, err := z.Write(indexes); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// transparentNote is the note that a picture must have for what shows through.
func transparentNote(m image.Image) []string {
	if o, ok := m.(interface{ Opaque() bool }); ok && !o.Opaque() {
		return []string{"transparent"}
	}
	return nil
}

func xFile(t *testing.T, name string) []byte {
	t.Helper()
	return mustRead(t, filepath.Join(xDir(t), name))
}

// riff is a WebP of these chunks.
func riff(chunks ...riffChunk) []byte {
	out := []byte("RIFF\x00\x00\x00\x00WEBP")
	for _, c := range chunks {
		out = appendChunk(out, c)
	}
	putLE32(out[4:], len(out)-8)
	return out
}

func vp8x(flags byte, w, h int64) riffChunk {
	w, h = w-1, h-1
	return riffChunk{"VP8X", []byte{flags, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)}}
}

// frameOf puts a still's chunk at a place of an animation.
func frameOf(x, y int, pixels riffChunk) riffChunk {
	w, h := vp8Size(pixels)
	w, h = w-1, h-1
	body := []byte{byte(x / 2), 0, 0, byte(y / 2), 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16), 50, 0, 0, 0}
	return riffChunk{"ANMF", appendChunk(body, pixels)}
}

// pixelsOf is the chunk with the pixels of a simple still.
func pixelsOf(t *testing.T, name string) (riffChunk, image.Image, int64, int64) {
	t.Helper()
	data := xFile(t, name)
	want, _, err := image.Decode(bytes.NewReader(data))
	must(t, err)
	complete := false
	for c := range riffChunks(data[12:], &complete) {
		if c.kind == "VP8 " || c.kind == "VP8L" {
			w, h := vp8Size(c)
			return c, want, w, h
		}
	}
	t.Fatalf("%s holds no pixels", name)
	return riffChunk{}, nil, 0, 0
}

func webpCases() []pictureCase {
	return []pictureCase{
		{name: "P48 WebP lossy, lossless, lossy with alpha", files: func(t *testing.T) (all []pictureFile) {
			for name, twin := range map[string]string{
				"gopher-doc.1bpp.lossless": "gopher-doc.1bpp", "gopher-doc.2bpp.lossless": "gopher-doc.2bpp", "gopher-doc.4bpp.lossless": "gopher-doc.4bpp", "gopher-doc.8bpp.lossless": "gopher-doc.8bpp",
				"tux.lossless": "tux", "blue-purple-pink.lossless": "blue-purple-pink", "gopher-doc.with-alpha.lossless": "gopher-doc.with-alpha",
				"video-001.lossy": "", "yellow_rose.lossy": "", "yellow_rose.lossy-with-alpha": "", "blue-purple-pink.lossy": "",
			} {
				data := xFile(t, name+".webp")
				want, _, err := image.Decode(bytes.NewReader(data))
				must(t, err)
				if twin != "" {
					want, err = png.Decode(bytes.NewReader(xFile(t, twin+".png")))
					must(t, err)
				}
				f := shows(name, data, "webp", want.Bounds().Dx(), want.Bounds().Dy(), transparentNote(want)...).like(want, 1)
				if name == "gopher-doc.with-alpha.lossless" {
					f.notes = append(f.notes, "profile-dropped")
				}
				all = append(all, f)
			}
			return all
		}},
		{name: "P49 WebP animated", files: animatedWebPs},
		{name: "P50 WebP of two sizes or two headers", files: func(t *testing.T) []pictureFile {
			px, _, w, h := pixelsOf(t, "blue-purple-pink.lossy.webp")
			ll, _, lw, lh := pixelsOf(t, "blue-purple-pink.lossless.webp")
			return []pictureFile{
				refuses("a canvas that is wider", riff(vp8x(0, w+1, h), px), Corrupt, "two sizes"), refuses("a canvas that is less high", riff(vp8x(0, w, h-1), px), Corrupt),
				refuses("a canvas of 16M × 16M", riff(vp8x(0, 1<<24, 1<<24), px), Corrupt), refuses("two headers", riff(vp8x(0, w, h), vp8x(0, w, h), px), Corrupt, "two headers"),
				refuses("a header behind the pixels", riff(px, vp8x(0, w, h)), Corrupt), refuses("lossless in another canvas", riff(vp8x(16, lw+7, lh), ll), Corrupt),
				refuses("no pixels on 16M × 16M", riff(vp8x(2, 1<<24, 1<<24)), TooLargePixels), refuses("no pixels", riff(vp8x(0, w, h)), Corrupt), refuses("no canvas", riff(riffChunk{"EXIF", []byte("x")}), ZeroSize),
			}
		}},
		{name: "P52 WebP of wrong length, with other chunks", files: func(t *testing.T) []pictureFile {
			px, want, w, h := pixelsOf(t, "blue-purple-pink.lossy.webp")
			good := riff(px)
			long, short, zero := bytes.Clone(good), bytes.Clone(good), bytes.Clone(good)
			putLE32(long[4:], len(good))
			putLE32(short[4:], len(good)-8-40)
			putLE32(zero[4:], 0)
			meta := riff(vp8x(0x2c, w, h), riffChunk{"ICCP", []byte("profile")}, px, riffChunk{"EXIF", exif(1, binary.LittleEndian)}, riffChunk{"XMP ", []byte("<x/>")}, riffChunk{"ABCD", []byte("odd")})
			odd := riff(px, riffChunk{"ABCD", []byte("odd")})
			return []pictureFile{
				refuses("too long", long, Corrupt, "cut off"), refuses("too short", short, Corrupt), refuses("none", zero, Corrupt),
				shows("bytes behind", append(bytes.Clone(good), "tail"...), "webp", int(w), int(h)).like(want, 1),
				shows("other chunks", meta, "webp", int(w), int(h), "profile-dropped", "metadata-removed").like(want, 1),
				shows("an odd chunk", odd, "webp", int(w), int(h)).like(want, 1), refuses("an odd chunk without its filling", shorter(odd), Corrupt),
				refuses("half a chunk", append(slices.Clip(good), "ABC"...)[:len(good)-30], Corrupt),
			}
		}},
	}
}

// shorter leaves the last byte out, and tells so in the length.
func shorter(data []byte) []byte {
	out := bytes.Clone(data[:len(data)-2])
	putLE32(out[4:], len(out)-8)
	return out
}

func animatedWebPs(t *testing.T) (all []pictureFile) {
	anim := riffChunk{"ANIM", make([]byte, 6)}
	for _, name := range []string{"tux.lossless.webp", "blue-purple-pink.lossy.webp"} {
		px, want, w, h := pixelsOf(t, name)
		notes := append([]string{"animated-first-frame"}, transparentNote(want)...)
		all = append(all, shows(name, riff(vp8x(2, w, h), anim, frameOf(0, 0, px), frameOf(0, 0, px)), "webp", int(w), int(h), notes...).like(want, 1))
		placed := image.NewNRGBA(image.Rect(0, 0, int(w)+30, int(h)+10))
		draw.Draw(placed, image.Rect(20, 8, 20+int(w), 8+int(h)), want, want.Bounds().Min, draw.Src)
		all = append(all, shows(name+" on a larger canvas", riff(vp8x(2, w+30, h+10), anim, frameOf(20, 8, px), frameOf(0, 0, px)), "webp", int(w)+30, int(h)+10, "animated-first-frame", "transparent").like(placed, 1))
		broken := frameOf(0, 0, px)
		broken.body = broken.body[:20]
		all = append(all, refuses(name+" beside the canvas", riff(vp8x(2, w, h), anim, frameOf(2, 0, px), frameOf(0, 0, px)), Corrupt, "frame"),
			refuses(name+" without frames", riff(vp8x(2, w, h), anim), Corrupt), refuses(name+" in a frame that is cut", riff(vp8x(2, w, h), anim, broken), Corrupt))
	}
	return all
}
