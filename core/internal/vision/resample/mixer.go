package resample

import "encoding/binary"

// filling is how many bytes a row has behind its pixels, for taps that fill up.
const filling = 64

// mixer makes one sent row of source rows, each of which holds just the part that is wanted.
type mixer struct {
	layout       Layout
	down, across *taps
	mid          []byte // mixed down, as wide as the source
	wide         []byte // mid with four bytes a pixel, where it has three
	rows         [][]byte
	pointers     []*byte
}

// newMixer mixes rows of n pixels.
func newMixer(l Layout, n int, down, across *taps) *mixer {
	m := &mixer{layout: l, down: down, across: across, mid: make([]byte, n*int(l)+filling)}
	if l == RGB {
		m.wide = make([]byte, 4*n+filling)
	}
	m.rows, m.pointers = make([][]byte, down.k), make([]*byte, down.k)
	return m
}

// row mixes sent row y; source gives the rows that it is mixed from.
func (m *mixer) row(dst []byte, y int, source func(y int) []byte) {
	t := m.down.list[y]
	mid := m.mid[:len(m.mid)-filling]
	if m.down.real == 1 {
		copy(mid, source(int(t.first)))
	} else {
		for k := range m.rows {
			m.rows[k] = m.rows[0] // for those that fill up
			if k < m.down.real {
				m.rows[k] = source(int(t.first) + k)
			}
		}
		mixRows(mid, m.rows, m.down.weights[t.weight:][:m.down.k], m.pointers)
	}
	switch m.layout {
	case Grey:
		mixAcross1(dst, m.mid, m.across)
	case RGB:
		widen(m.wide, mid)
		mixAcross4(dst, m.wide, m.across)
	case NRGBA:
		mixAcross4(dst, m.mid, m.across)
	}
}

// widen gives pixels of three bytes a fourth: opaque.
func widen(dst, src []byte) {
	n := len(src) / 3
	for i := range n - 1 { // four bytes at a time, of which the last is the next pixel's
		binary.LittleEndian.PutUint32(dst[4*i:], binary.LittleEndian.Uint32(src[3*i:])|0xff000000)
	}
	last := src[3*(n-1):][:3]
	copy(dst[4*(n-1):], last)
	dst[4*n-1] = 255
}

// opaque tells whether nothing shines through a row of pixels of four bytes.
func opaque(row []byte) bool {
	const alphas = 0xff000000ff000000
	for len(row) >= 8 {
		if binary.LittleEndian.Uint64(row)&alphas != alphas {
			return false
		}
		row = row[8:]
	}
	return len(row) == 0 || row[3] == 255
}

// multiply writes pixels with their alpha multiplied in.
func multiply(dst, src []byte) {
	for i := 0; i+4 <= len(src); i += 4 {
		p, o := src[i:i+4:i+4], dst[i:i+4:i+4]
		a := uint32(p[3])
		o[0], o[1], o[2], o[3] = times(p[0], a), times(p[1], a), times(p[2], a), p[3]
	}
}

func times(c byte, a uint32) byte { return byte((uint32(c)*a + 127) / 255) } //nolint:gosec // at most 255

// divide takes the alpha out again. What is wholly clear has no colour.
func divide(row []byte) {
	for i := 0; i+4 <= len(row); i += 4 {
		p := row[i : i+4 : i+4]
		switch a := uint32(p[3]); a {
		case 255:
		case 0:
			p[0], p[1], p[2] = 0, 0, 0
		default:
			for c := range 3 {
				p[c] = byte(min((uint32(p[c])*255+a/2)/a, 255)) //nolint:gosec // bounded here
			}
		}
	}
}
