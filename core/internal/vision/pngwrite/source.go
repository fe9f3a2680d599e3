package pngwrite

import (
	"encoding/binary"
	"fmt"
	"image"
)

// form is how a pixel is kept in the file.
type form uint8

const (
	grey    form = iota // one byte of image.Gray
	greyed              // one byte, from an NRGBA whose red, green and blue are the same
	indexed             // one byte that names a colour of the palette
	rgb
	rgba
)

// depth is the bytes of one pixel.
func (f form) depth() int {
	switch f {
	case rgb:
		return 3
	case rgba:
		return 4
	default:
		return 1
	}
}

// colourType is IHDR's word for the form.
func (f form) colourType() byte {
	return [...]byte{grey: 0, greyed: 0, indexed: 3, rgb: 2, rgba: 6}[f]
}

// source is an image with the form that was chosen for it.
type source struct {
	pix     []byte
	stride  int
	w, h    int
	form    form
	palette []uint32 // of indexed: R, G, B, A from the lowest byte
	places  *colours // of indexed
}

// open looks at img and chooses its form.
func open(img image.Image) (*source, error) {
	b := image.Rectangle{}
	if img != nil {
		b = img.Bounds()
	}
	if b.Min != (image.Point{}) || b.Empty() {
		return nil, fmt.Errorf("bounds %v: %w", b, ErrKind)
	}
	s := &source{w: b.Dx(), h: b.Dy()}
	switch m := img.(type) {
	case *image.Gray:
		s.pix, s.stride, s.form = m.Pix, m.Stride, grey
	case *image.NRGBA:
		s.pix, s.stride = m.Pix, m.Stride
		s.form = s.colourForm()
	default:
		return nil, fmt.Errorf("%T: %w", img, ErrKind)
	}
	return s, nil
}

// line is the pixels of row y as they lie in the image.
func (s *source) line(y int) []byte {
	n := s.w
	if s.form != grey {
		n *= 4
	}
	return s.pix[y*s.stride:][:n:n]
}

// rowBytes is the length of a row in the file, without its filter's byte.
func (s *source) rowBytes() int { return s.w * s.form.depth() }

// colourForm finds the smallest form that holds all pixels of an NRGBA exactly. Greyness and a
// palette are mostly ruled out by the first rows; only opaqueness looks at everything.
func (s *source) colourForm() form {
	s.form = rgba
	opaque := s.opaque()
	if opaque && s.isGrey() {
		return greyed
	}
	direct := rgba
	if opaque {
		direct = rgb
	}
	if s.findPalette() && (direct.depth()-1)*s.w*s.h > palettePays*len(s.palette) {
		return indexed
	}
	s.palette, s.places = nil, nil
	return direct
}

func (s *source) opaque() bool {
	const alphas = 0xff000000_ff000000
	for y := range s.h {
		l := s.line(y)
		all := uint64(alphas)
		for len(l) >= 32 {
			all &= binary.LittleEndian.Uint64(l) & binary.LittleEndian.Uint64(l[8:]) &
				binary.LittleEndian.Uint64(l[16:]) & binary.LittleEndian.Uint64(l[24:])
			l = l[32:]
		}
		for ; len(l) >= 4; l = l[4:] {
			all &= uint64(l[3])<<24 | 0xff000000_00ffffff
		}
		if all&alphas != alphas {
			return false
		}
	}
	return true
}

// isGrey is asked of opaque pictures only.
func (s *source) isGrey() bool {
	for y := range s.h {
		for l := s.line(y); len(l) >= 4; l = l[4:] {
			c := binary.LittleEndian.Uint32(l)
			if (c^c>>8)&0xffff != 0 {
				return false
			}
		}
	}
	return true
}

// findPalette collects the colours in the order of their first pixel; false when there are too
// many. Some rows are tried first: they rule out nearly every picture that has too many.
func (s *source) findPalette() bool {
	if !s.collect(paletteProbe) {
		return false
	}
	return s.collect(1)
}

func (s *source) collect(step int) bool {
	s.places = &colours{}
	s.palette = s.palette[:0]
	for y := 0; y < s.h; y += step {
		l := s.line(y)
		last := ^binary.LittleEndian.Uint32(l)
		for ; len(l) >= 4; l = l[4:] {
			c := binary.LittleEndian.Uint32(l)
			if c == last {
				continue
			}
			last = c
			if slot := s.places.find(c); slot.used == 0 {
				if len(s.palette) == 256 {
					return false
				}
				*slot = place{colour: c, index: uint8(len(s.palette)), used: 1}
				s.palette = append(s.palette, c)
			}
		}
	}
	return true
}

// row writes row y in the source's form to dst, rowBytes long.
func (s *source) row(dst []byte, y int) {
	l := s.line(y)
	switch s.form {
	case grey, rgba:
		copy(dst, l)
	case rgb:
		packRGB(dst, l)
	case greyed:
		for x := range dst {
			dst[x] = l[4*x]
		}
	case indexed:
		last, index := uint32(0), s.places.find(0).index
		for x := range dst {
			if c := binary.LittleEndian.Uint32(l[4*x:]); c != last {
				last, index = c, s.places.find(c).index
			}
			dst[x] = index
		}
	}
}

// packRGB leaves out every fourth byte, eight pixels to three words at a time.
func packRGB(dst, l []byte) {
	const low, high = 0xffffff, 0xffffff000000
	for len(l) >= 32 && len(dst) >= 24 {
		from, to := (*[32]byte)(l), (*[24]byte)(dst)
		a, b := binary.LittleEndian.Uint64(from[0:]), binary.LittleEndian.Uint64(from[8:])
		c, d := binary.LittleEndian.Uint64(from[16:]), binary.LittleEndian.Uint64(from[24:])
		a, b = a&low|a>>8&high, b&low|b>>8&high
		c, d = c&low|c>>8&high, d&low|d>>8&high
		binary.LittleEndian.PutUint64(to[0:], a|b<<48)
		binary.LittleEndian.PutUint64(to[8:], b>>16|c<<32)
		binary.LittleEndian.PutUint64(to[16:], c>>32|d<<16)
		l, dst = l[32:], dst[24:]
	}
	for ; len(l) >= 4; l, dst = l[4:], dst[3:] {
		dst[0], dst[1], dst[2] = l[0], l[1], l[2]
	}
}

// colours is an open hash table of at most 256 colours.
type colours [1024]place

type place struct {
	colour      uint32
	index, used uint8
}

// find gives c's place, or the free one where it would go.
func (t *colours) find(c uint32) *place {
	for i := c * colourPrime >> 22; ; i = (i + 1) & 1023 {
		if p := &t[i]; p.used == 0 || p.colour == c {
			return p
		}
	}
}
