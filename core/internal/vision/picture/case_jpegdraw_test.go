package picture

import (
	"image"
	"image/color"
	"math/bits"
	"strings"
)

// jpegSpec is a baseline JPEG of flat blocks, 8 × 8 samples each: nothing is lost
// in it, so that colours and places can be held to the level.
type jpegSpec struct {
	w, h     int
	sampling []byte // of each component: how many blocks across and down a unit has, as in the frame's header
	adobe    int    // the transform that Adobe's marker tells; -1: there is no marker
	restart  int    // units between restart markers; 0: none
	value    func(c, x, y int) uint8
}

// bitWriter writes Huffman codes with the most significant bit first and stuffs zeros.
type bitWriter struct {
	out  []byte
	acc  uint32
	held int
}

func (w *bitWriter) put(code uint32, n int) {
	w.acc, w.held = w.acc<<n|code, w.held+n
	for w.held >= 8 {
		b := byte(w.acc >> (w.held - 8))
		if w.out = append(w.out, b); b == 0xff {
			w.out = append(w.out, 0)
		}
		w.held -= 8
	}
}

// flush fills the last byte with ones.
func (w *bitWriter) flush() {
	if w.held > 0 {
		w.put(1<<(8-w.held)-1, 8-w.held)
	}
}

// mean writes a block: the difference of its mean, and that nothing else is there.
func (w *bitWriter) mean(diff int) {
	size := bits.Len(uint(max(diff, -diff)))
	w.put(uint32(size), 4) // the code of a size is the size
	if diff < 0 {
		diff += 1<<size - 1
	}
	w.put(uint32(diff), size)
	w.put(0, 1)
}

// unit is how many blocks a unit has across and down.
func (s jpegSpec) unit() (across, down int) {
	for _, b := range s.sampling {
		across, down = max(across, int(b>>4)), max(down, int(b&15))
	}
	return across, down
}

// entropy gives the coded blocks.
func (s jpegSpec) entropy() []byte {
	across, down := s.unit()
	w, before, n := &bitWriter{}, make([]int, len(s.sampling)), 0
	unitsX, unitsY := (s.w+8*across-1)/(8*across), (s.h+8*down-1)/(8*down)
	for uy := range unitsY {
		for ux := range unitsX {
			if s.restart > 0 && n > 0 && n%s.restart == 0 {
				w.flush()
				w.out = append(w.out, 0xff, mRST0+byte(n/s.restart-1)&7)
				clear(before)
			}
			n++
			for c, b := range s.sampling {
				for by := range int(b & 15) {
					for bx := range int(b >> 4) {
						v := 8 * (int(s.value(c, ux*int(b>>4)+bx, uy*int(b&15)+by)) - 128)
						w.mean(v - before[c])
						before[c] = v
					}
				}
			}
		}
	}
	w.flush()
	return w.out
}

func (s jpegSpec) frame(marker byte) []byte {
	body := []byte{8, byte(s.h >> 8), byte(s.h), byte(s.w >> 8), byte(s.w), byte(len(s.sampling))}
	for c, b := range s.sampling {
		body = append(body, byte(c+1), b, 0)
	}
	return segmentOf(marker, string(body))
}

func (s jpegSpec) scan() []byte {
	body := []byte{byte(len(s.sampling))}
	for c := range s.sampling {
		body = append(body, byte(c+1), 0)
	}
	return segmentOf(mSOS, string(append(body, 0, 63, 0)))
}

// The tables of flat blocks: quantised by 1; sizes 0 to 11 in four bits each; the end of a block in one.
func flatTables() []byte {
	out := segmentOf(mDQT, "\x00"+strings.Repeat("\x01", 64))
	out = append(out, segmentOf(mDHT, "\x00\x00\x00\x00\x0c"+strings.Repeat("\x00", 12)+"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")...)
	return append(out, segmentOf(mDHT, "\x10\x01"+strings.Repeat("\x00", 15)+"\x00")...)
}

// head is everything before the frame.
func (s jpegSpec) head() []byte {
	out := []byte{0xff, mSOI}
	if s.adobe >= 0 {
		out = append(out, segmentOf(mAPP14, "Adobe\x00\x64\x00\x00\x00\x00"+string([]byte{byte(s.adobe)}))...)
	}
	out = append(out, flatTables()...)
	if s.restart > 0 {
		out = append(out, segmentOf(mDRI, string([]byte{byte(s.restart >> 8), byte(s.restart)}))...)
	}
	return out
}

func (s jpegSpec) bytes() []byte {
	out := append(append(s.head(), s.frame(mSOF0)...), s.scan()...)
	return append(append(out, s.entropy()...), 0xff, mEOI)
}

// components of the pixel at x, y, as they are stored.
func (s jpegSpec) components(x, y int) (v [4]uint8) {
	across, down := s.unit()
	for c, b := range s.sampling {
		v[c] = s.value(c, x*int(b>>4)/(8*across), y*int(b&15)/(8*down))
	}
	return v
}

// picture is what a viewer shows, by the formulas of JFIF and of Adobe ("Supporting the
// DCT Filters in PostScript Level 2", Adobe, technical note 5116).
func (s jpegSpec) picture() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, s.w, s.h))
	cut := func(f float64) uint8 { return uint8(min(max(f+0.5, 0), 255)) }
	times := func(a, b uint8) uint8 { return uint8((int(a)*int(b) + 127) / 255) }
	for y := range s.h {
		for x := range s.w {
			v := s.components(x, y)
			r, g, b := v[0], v[1], v[2]
			if n := len(s.sampling); n == 3 && s.adobe != 0 || n == 4 && s.adobe == 2 {
				lum, cb, cr := float64(v[0]), float64(v[1])-128, float64(v[2])-128
				r, g, b = cut(lum+1.402*cr), cut(lum-0.344136*cb-0.714136*cr), cut(lum+1.772*cb)
			}
			switch {
			case len(s.sampling) == 1:
				r, g, b = v[0], v[0], v[0]
			case len(s.sampling) == 4 && s.adobe < 0:
				r, g, b = times(255-r, 255-v[3]), times(255-g, 255-v[3]), times(255-b, 255-v[3])
			case len(s.sampling) == 4 && s.adobe == 2: // what looks like red is the ink cyan, turned about once more by the inversion
				r, g, b = times(255-r, v[3]), times(255-g, v[3]), times(255-b, v[3])
			case len(s.sampling) == 4: // Adobe writes inks inverted: 255 is none
				r, g, b = times(r, v[3]), times(g, v[3]), times(b, v[3])
			}
			m.SetNRGBA(x, y, color.NRGBA{r, g, b, 255})
		}
	}
	return m
}

// mosaic has blocks of many different values.
func mosaic(c, x, y int) uint8 { return uint8(40 + (x*53+y*31+c*71)%180) }

// ycc is a colour JPEG with luma sampled so.
func ycc(w, h int, luma byte) jpegSpec {
	return jpegSpec{w: w, h: h, sampling: []byte{luma, 0x11, 0x11}, adobe: -1, value: mosaic}
}
