package resample

import "image"

// Layout says how the pixels of a row lie, in bytes a pixel.
type Layout int

// The layouts. NRGBA's alpha is not multiplied in.
const (
	Grey  Layout = 1
	RGB   Layout = 3
	NRGBA Layout = 4
)

// Stream reduces a picture while it is decoded, row by row from the top. It keeps no
// more rows than the kernel covers.
type Stream struct {
	mix   *mixer
	part  image.Rectangle
	ring  [][]byte
	h     int
	next  int // sent row
	clear bool
	out   image.Image
	pix   []byte
	size  int // bytes of a sent row
}

// NewStream reduces the part r of a picture, in source pixels, to w × h. It panics when that
// would enlarge it.
func NewStream(l Layout, r image.Rectangle, w, h int) *Stream {
	demand(r, w, h)
	down := span{0, float64(r.Dy()), 0, r.Dy(), h}.taps(2)
	across := span{0, float64(r.Dx()), 0, r.Dx(), w}.taps(l.step())
	s := &Stream{mix: newMixer(l, r.Dx(), &down, &across), part: r, ring: make([][]byte, down.real), h: h}
	for i := range s.ring {
		s.ring[i] = make([]byte, r.Dx()*int(l))
	}
	s.out, s.pix = canvas(l, w, h)
	s.size = len(s.pix) / h
	return s
}

// Put takes source row y, whole; rows come in order. The row is the caller's again afterwards.
func (s *Stream) Put(y int, row []byte) {
	y -= s.part.Min.Y
	if y < 0 || y >= s.part.Dy() {
		return
	}
	l := int(s.mix.layout)
	row = row[s.part.Min.X*l : s.part.Max.X*l]
	keep := s.ring[y%len(s.ring)]
	if s.mix.layout == NRGBA && !s.copies() && !opaque(row) {
		s.clear = true
		multiply(keep, row)
	} else {
		copy(keep, row)
	}
	for s.next < s.h && int(s.mix.down.list[s.next].first)+s.mix.down.real-1 <= y {
		dst := s.pix[s.next*s.size:][:s.size]
		s.mix.row(dst, s.next, func(y int) []byte { return s.ring[y%len(s.ring)] })
		if s.clear {
			divide(dst)
		}
		s.next++
	}
}

// copies tells whether nothing is mixed; then nothing of clear pixels is lost either.
func (s *Stream) copies() bool { return s.mix.down.real == 1 && s.mix.across.real == 1 }

// Image is the reduced picture, after the last row: *image.Gray or *image.NRGBA.
func (s *Stream) Image() image.Image { return s.out }

// step is what the number of taps across is a multiple of.
func (l Layout) step() int {
	if l == Grey {
		return 8
	}
	return 4
}

// canvas is what is written to, and its pixels without gaps.
func canvas(l Layout, w, h int) (image.Image, []byte) {
	if l == Grey {
		m := image.NewGray(image.Rect(0, 0, w, h))
		return m, m.Pix
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	return m, m.Pix
}

// demand panics when something would be enlarged: that is the caller's fault.
func demand(r image.Rectangle, w, h int) {
	if w < 1 || h < 1 || w > r.Dx() || h > r.Dy() {
		panic("resample: a picture can only be made smaller, and has at least one pixel")
	}
}
