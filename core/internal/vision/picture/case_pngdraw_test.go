package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"slices"
	"testing"
)

// pngSpec is a PNG of any sort, drawn by a rule.
type pngSpec struct {
	w, h          int
	depth, colour byte
	interlaced    bool
	palette       []color.NRGBA // of colour 3
	trns          []byte
	extra         []byte // chunks behind the header
}

// channels of each colour type (PNG, third edition, table 9).
func (s pngSpec) channels() int { return map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[s.colour] }

// sample is channel c of a pixel, as it is stored.
func (s pngSpec) sample(x, y, c int) uint16 {
	v := x*(c+3)*5 + y*11*(c+1) + c*40
	switch {
	case s.colour == 3:
		return uint16(v % len(s.palette))
	case s.depth == 16:
		return uint16(v&0xff)<<8 | uint16((x+y)&0xff)
	}
	return uint16(v & (1<<s.depth - 1))
}

// adam7 are the passes of an interlaced PNG: where each begins and how it steps (PNG, third edition, 8.2).
var adam7 = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// raw gives the rows before they are compressed.
func (s pngSpec) raw() []byte {
	passes := [][4]int{{0, 0, 1, 1}}
	if s.interlaced {
		passes = adam7
	}
	var out []byte
	for _, p := range passes {
		if p[0] >= s.w {
			continue
		}
		for y := p[1]; y < s.h; y += p[3] {
			out = append(out, 0) // no filter
			var acc uint16
			bits := byte(0)
			for x := p[0]; x < s.w; x += p[2] {
				for c := range s.channels() {
					v := s.sample(x, y, c)
					switch s.depth {
					case 16:
						out = binary.BigEndian.AppendUint16(out, v)
					case 8:
						out = append(out, byte(v))
					default:
						acc, bits = acc<<s.depth|v, bits+s.depth
						if bits == 8 {
							out, acc, bits = append(out, byte(acc)), 0, 0
						}
					}
				}
			}
			if bits > 0 {
				out = append(out, byte(acc<<(8-bits)))
			}
		}
	}
	return out
}

func (s pngSpec) header() []byte {
	body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(s.w)), uint32(s.h))
	last := byte(0)
	if s.interlaced {
		last = 1
	}
	return append([]byte(pngSignature), chunkOf("IHDR", append(body, s.depth, s.colour, 0, 0, last))...)
}

func zlibOf(raw []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// around puts the other chunks around data chunks.
func (s pngSpec) around(data ...[]byte) []byte {
	out := append(s.header(), s.extra...)
	if s.palette != nil {
		var plte []byte
		for _, c := range s.palette {
			plte = append(plte, c.R, c.G, c.B)
		}
		out = append(out, chunkOf("PLTE", plte)...)
	}
	if s.trns != nil {
		out = append(out, chunkOf("tRNS", s.trns)...)
	}
	return append(append(out, bytes.Join(data, nil)...), chunkOf("IEND", nil)...)
}

func (s pngSpec) bytes() []byte { return s.around(chunkOf("IDAT", zlibOf(s.raw()))) }

// picture is what a viewer shows.
func (s pngSpec) picture() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, s.w, s.h))
	for y := range s.h {
		for x := range s.w {
			var v [4]uint16
			var eight [4]uint8
			for c := range s.channels() {
				v[c] = s.sample(x, y, c)
				switch s.depth {
				case 16:
					eight[c] = uint8(v[c] >> 8)
				default:
					eight[c] = uint8(int(v[c]) * 255 / (1<<s.depth - 1))
				}
			}
			var px color.NRGBA
			switch s.colour {
			case 0:
				px = color.NRGBA{eight[0], eight[0], eight[0], 255}
			case 2:
				px = color.NRGBA{eight[0], eight[1], eight[2], 255}
			case 3:
				px = s.palette[v[0]]
				px.A = 255
				if int(v[0]) < len(s.trns) {
					px.A = s.trns[v[0]]
				}
			case 4:
				px = color.NRGBA{eight[0], eight[0], eight[0], eight[1]}
			case 6:
				px = color.NRGBA(struct{ R, G, B, A uint8 }{eight[0], eight[1], eight[2], eight[3]})
			}
			if s.colour != 3 && s.trns != nil && slices.Equal(s.trns, s.key(v)) {
				px.A = 0
			}
			m.SetNRGBA(x, y, px)
		}
	}
	return m
}

// key is how tRNS would name the colour.
func (s pngSpec) key(v [4]uint16) []byte {
	var out []byte
	for c := range s.channels() {
		out = binary.BigEndian.AppendUint16(out, v[c])
	}
	return out
}

// paletteOf has n different colours.
func paletteOf(n int) []color.NRGBA {
	p := make([]color.NRGBA, n)
	for i := range p {
		p[i] = color.NRGBA{uint8(i * 37), uint8(255 - i*11), uint8(i*5 + 3), 255}
	}
	return p
}

// everyPNG is one of each colour type and depth that the standard allows.
func everyPNG(w, h int, interlaced bool) []pngSpec {
	var all []pngSpec
	for _, s := range []pngSpec{
		{colour: 0, depth: 1},
		{colour: 0, depth: 2},
		{colour: 0, depth: 4},
		{colour: 0, depth: 8},
		{colour: 0, depth: 16},
		{colour: 2, depth: 8},
		{colour: 2, depth: 16},
		{colour: 3, depth: 1, palette: paletteOf(2)},
		{colour: 3, depth: 2, palette: paletteOf(4)},
		{colour: 3, depth: 4, palette: paletteOf(11)},
		{colour: 3, depth: 8, palette: paletteOf(200)},
		{colour: 4, depth: 8},
		{colour: 4, depth: 16},
		{colour: 6, depth: 8},
		{colour: 6, depth: 16},
	} {
		s.w, s.h, s.interlaced = w, h, interlaced
		all = append(all, s)
	}
	return all
}

// file is what must become of the drawn PNG.
func (s pngSpec) file(why string) pictureFile {
	var notes []string
	if s.depth == 16 {
		notes = append(notes, "reduced-to-8-bit")
	}
	want := s.picture()
	if !want.Opaque() {
		notes = append(notes, "transparent")
	}
	f := shows(why, s.bytes(), "png", s.w, s.h, notes...).like(want, 1)
	if s.depth != 16 && s.extra == nil {
		f = f.asIs()
	}
	return f
}

// zerosPNG is a PNG of zeros that is much smaller than its pixels: rows are
// compressed once and told again and again.
func zerosPNG(t *testing.T, s pngSpec) []byte {
	t.Helper()
	row := 1 + (s.w*s.channels()*int(s.depth)+7)/8
	total := row * s.h
	var unit bytes.Buffer
	z, err := zlib.NewWriterLevel(&unit, zlib.BestCompression)
	must(t, err)
	more := func(n int) []byte {
		unit.Reset()
		_, err := z.Write(make([]byte, n))
		must(t, err)
		must(t, z.Flush())
		return bytes.Clone(unit.Bytes())
	}
	const piece = 1 << 20
	out := more(total % piece) // with the head of the stream
	if n := total / piece; n > 0 {
		out = append(out, more(piece)...)
		out = append(out, bytes.Repeat(more(piece), n-1)...) // it leans on zeros before it, as all that follow do
	}
	out = append(out, 1, 0, 0, 0xff, 0xff) // the last block, stored and empty
	check := uint32(total%65521)<<16 | 1
	return s.around(chunkOf("IDAT", binary.BigEndian.AppendUint32(out, check)))
}
