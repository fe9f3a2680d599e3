package pngwrite

import "encoding/binary"

// filter is a PNG row filter, by its number in the file.
type filter uint8

const (
	none filter = iota
	sub
	up
	avg
	paeth
	filters // how many there are
)

// apply writes row, filtered, to dst. before is the row above, all zero for the first; depth is
// the bytes of a pixel. All three are of the same length.
func (f filter) apply(dst, row, before []byte, depth int) {
	switch f {
	case none:
		copy(dst, row)
	case sub:
		copy(dst[:depth], row)
		minus(dst[depth:], row[depth:], row)
	case up:
		minus(dst, row, before)
	case avg:
		for i := range depth {
			dst[i] = row[i] - before[i]/2
		}
		average(dst[depth:], row[depth:], row, before[depth:])
	default: // paeth
		minus(dst[:depth], row[:depth], before)
		paethRow(dst[depth:], row[depth:], row, before[depth:], before)
	}
}

// High and low bits of eight bytes, for arithmetic on all of them at once.
const (
	highs = 0x8080808080808080
	lows  = 0x0101010101010101
)

// minus is a-b byte by byte, eight at a time: each byte's high bit is kept apart so that no
// borrow reaches its neighbour.
func minus(dst, a, b []byte) {
	b = b[:len(dst)]
	a = a[:len(dst)]
	for len(dst) >= 8 {
		x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		binary.LittleEndian.PutUint64(dst, ((x|highs)-(y&^highs))^((x^^y)&highs))
		dst, a, b = dst[8:], a[8:], b[8:]
	}
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// average is a minus the mean of left and above.
func average(dst, a, left, above []byte) {
	a, left, above = a[:len(dst)], left[:len(dst)], above[:len(dst)]
	for len(dst) >= 8 {
		x, l, u := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(left), binary.LittleEndian.Uint64(above)
		y := l&u + (l^u)>>1&^highs // the mean, rounded down, without a ninth bit
		binary.LittleEndian.PutUint64(dst, ((x|highs)-(y&^highs))^((x^^y)&highs))
		dst, a, left, above = dst[8:], a[8:], left[8:], above[8:]
	}
	for i := range dst {
		dst[i] = a[i] - byte((int(left[i])+int(above[i]))/2)
	}
}

// paethScalar is row minus, of left, above and corner, the one nearest to left+above-corner.
func paethScalar(dst, row, left, above, corner []byte) {
	row, left, above, corner = row[:len(dst)], left[:len(dst)], above[:len(dst)], corner[:len(dst)]
	for i := range dst {
		a, b, c := int32(left[i]), int32(above[i]), int32(corner[i])
		pa, pb := b-c, a-c
		pc := pa + pb
		pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
		near := c
		if pb <= pc {
			near = b
		}
		if pa <= pb && pa <= pc {
			near = a
		}
		dst[i] = row[i] - byte(near)
	}
}

// weightScalar is the sum of the bytes of a filtered row as distances from zero, the usual measure
// of how well a filter did.
func weightScalar(row []byte) int {
	total := 0
	for _, b := range row {
		d := int(int8(b))
		total += max(d, -d)
	}
	return total
}
