package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// bmpSpec is a BMP of any sort.
type bmpSpec struct {
	w, h    int
	bits    uint16
	header  int // bytes of its header
	topDown bool
	colours int // of its palette
	mode    uint32
	masks   []uint32
	gap     string // between palette and pixels
}

func (s bmpSpec) colour(i int) color.NRGBA {
	return color.NRGBA{uint8(i * 40), uint8(200 - i*9), uint8(i*13 + 5), 255}
}

// at is the value of a pixel: an index, or blue, green and red from the lowest byte.
func (s bmpSpec) at(x, y int) uint32 {
	if s.bits <= 8 {
		return uint32((x*3 + y*7) % s.colours)
	}
	return uint32(x*7&0xff) | uint32(y*9&0xff)<<8 | uint32((x+y)*5&0xff)<<16
}

func (s bmpSpec) bytes() []byte {
	row := (s.w*int(s.bits) + 31) / 32 * 4
	start := 14 + s.header + 4*s.colours + len(s.gap)
	if s.mode == 3 && s.header == 40 {
		start += 12
	}
	out := binary.LittleEndian.AppendUint32([]byte("BM"), uint32(start+row*s.h))
	out = binary.LittleEndian.AppendUint32(append(out, 0, 0, 0, 0), uint32(start))
	head := binary.LittleEndian.AppendUint32(nil, uint32(s.header))
	h := int32(s.h)
	if s.topDown {
		h = -h
	}
	head = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(head, uint32(s.w)), uint32(h))
	head = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(head, 1), s.bits)
	head = binary.LittleEndian.AppendUint32(head, s.mode)
	head = append(head, make([]byte, 12)...)
	head = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(head, uint32(s.colours)), 0)
	for _, m := range s.masks {
		head = binary.LittleEndian.AppendUint32(head, m)
	}
	if len(head) < s.header {
		head = append(head, make([]byte, s.header-len(head))...)
	}
	out = append(out, head...)
	for i := range s.colours {
		c := s.colour(i)
		out = append(out, c.B, c.G, c.R, 0)
	}
	out = append(out, s.gap...)
	for y := range s.h {
		if !s.topDown {
			y = s.h - 1 - y
		}
		line := make([]byte, row)
		for x := range s.w {
			v := s.at(x, y)
			switch s.bits {
			case 24, 32:
				line[x*int(s.bits/8)], line[x*int(s.bits/8)+1], line[x*int(s.bits/8)+2] = byte(v), byte(v>>8), byte(v>>16)
				if s.bits == 32 && s.header > 40 {
					line[4*x+3] = 255
				}
			default:
				bit := x * int(s.bits)
				line[bit/8] |= byte(v << (8 - int(s.bits) - bit%8))
			}
		}
		out = append(out, line...)
	}
	return out
}

func (s bmpSpec) picture() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, s.w, s.h))
	for y := range s.h {
		for x := range s.w {
			v := s.at(x, y)
			if s.bits <= 8 {
				m.SetNRGBA(x, y, s.colour(int(v)))
			} else {
				m.SetNRGBA(x, y, color.NRGBA{byte(v >> 16), byte(v >> 8), byte(v), 255})
			}
		}
	}
	return m
}

func bmpCases() []pictureCase {
	return []pictureCase{
		{name: "P53 BMP of 1/4/8/24/32 bits, both ways up, of all headers", files: func(t *testing.T) (all []pictureFile) {
			for _, bits := range []uint16{1, 2, 4, 8, 24, 32} {
				for _, header := range []int{40, 108, 124} {
					for _, topDown := range []bool{false, true} {
						s := bmpSpec{w: 37, h: 23, bits: bits, header: header, topDown: topDown}
						if bits <= 8 {
							s.colours = min(1<<bits, 100)
						}
						all = append(all, shows(fmt.Sprintf("%d bits, header %d, top down %v", bits, header, topDown), s.bytes(), "bmp", 37, 23).like(s.picture(), 0))
					}
				}
			}
			for name, twin := range map[string]string{"bmp_1bpp": "bmp_1bpp", "bmp_4bpp": "bmp_4bpp", "bmp_8bpp": "bmp_8bpp", "colormap": "colormap", "video-001": "video-001", "yellow_rose-small-v5": "yellow_rose-small-v5"} {
				want, err := png.Decode(bytes.NewReader(xFile(t, twin+".png")))
				must(t, err)
				all = append(all, shows(name, xFile(t, name+".bmp"), "bmp", want.Bounds().Dx(), want.Bounds().Dy(), transparentNote(want)...).like(want, 0))
			}
			masks := bmpSpec{w: 9, h: 9, bits: 32, header: 124, mode: 3, masks: []uint32{0xff0000, 0xff00, 0xff, 0xff000000}}
			gap := bmpSpec{w: 9, h: 9, bits: 24, header: 40}
			return append(all, shows("the usual masks", masks.bytes(), "bmp", 9, 9).like(masks.picture(), 0), shows("24 bits", gap.bytes(), "bmp", 9, 9).like(gap.picture(), 0))
		}},
		{name: "P54 BMP run-length coded, of 16 bits, of OS/2, with a picture inside", files: func(*testing.T) (all []pictureFile) {
			for _, c := range []struct {
				bits   uint16
				mode   uint32
				header int
				says   string
			}{
				{8, 1, 40, "RLE8"},
				{4, 2, 40, "RLE4"},
				{16, 0, 40, "16 bits"},
				{16, 3, 56, "16 bits"},
				{16, 3, 124, "16 bits"},
				{24, 4, 40, "JPEG inside"},
				{0, 4, 124, "JPEG inside"},
				{24, 5, 40, "PNG inside"},
				{0, 5, 124, "PNG inside"},
				{24, 0, 12, "OS/2"},
				{24, 0, 64, "OS/2"},
				{24, 0, 16, "OS/2"},
				{32, 3, 124, "masks"},
				{32, 3, 40, "masks"},
				{3, 0, 40, "3 bits"},
				{64, 0, 40, "64 bits"},
				{24, 0, 52, "header"},
				{24, 0, 56, "header"},
				{32, 6, 40, "compression"},
				{8, 11, 40, "compression"},
			} {
				s := bmpSpec{w: 9, h: 9, bits: 8, header: c.header, colours: 4}
				data := s.bytes()
				binary.LittleEndian.PutUint16(data[28:], c.bits)
				binary.LittleEndian.PutUint32(data[30:], c.mode)
				all = append(all, refuses(fmt.Sprintf("%d bits, mode %d, header %d", c.bits, c.mode, c.header), data, UnsupportedKind, c.says, "PNG"))
			}
			return all
		}},
		{name: "P55 BMP with an index behind its palette", files: func(*testing.T) (all []pictureFile) {
			for _, bits := range []uint16{1, 4, 8} {
				s := bmpSpec{w: 16, h: 9, bits: bits, header: 40, colours: 1}
				data := s.bytes()
				data[len(data)-4] = 0xff
				all = append(all, refuses(fmt.Sprint(bits, " bits"), data, Corrupt))
			}
			s := bmpSpec{w: 16, h: 9, bits: 24, header: 40}
			data := s.bytes()
			return append(all, refuses("cut", data[:len(data)-1], Corrupt), refuses("no pixels", data[:54], Corrupt), refuses("half a header", data[:40], Corrupt),
				refuses("of no size", bmpSpec{bits: 24, header: 40}.bytes(), ZeroSize))
		}},
	}
}
