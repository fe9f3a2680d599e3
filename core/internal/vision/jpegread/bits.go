package jpegread

import "encoding/binary"

// bits reads the codes of a scan. The next count bits are the highest of acc; those below them may
// hold more of the file, the same that a later refill puts there. At the segment's end zeros follow, counted in virtual:
// who took more than count-virtual bits has read past the end.
type bits struct {
	data    []byte
	start   int // of the segment
	pos     int
	acc     uint64
	count   int
	virtual int
}

// hasFF tells whether one of the eight bytes of w is 0xff.
func hasFF(w uint64) bool {
	return (^w-0x0101010101010101)&w&0x8080808080808080 != 0
}

// refill makes count at least 57.
func (b *bits) refill() {
	if b.pos+8 <= len(b.data) {
		if w := binary.BigEndian.Uint64(b.data[b.pos:]); !hasFF(w) {
			b.acc |= w >> (b.count & 63)
			b.pos += (63 - b.count) >> 3
			b.count |= 56
			return
		}
	}
	for b.count <= 56 {
		b.acc |= uint64(b.next()) << (56 - b.count)
		b.count += 8
	}
}

// next gives the next byte of the segment without its stuffing, or 0 after its end.
func (b *bits) next() byte {
	if b.pos < len(b.data) {
		c := b.data[b.pos]
		if c != 0xff {
			b.pos++
			return c
		}
		if b.pos+1 < len(b.data) && b.data[b.pos+1] == 0 {
			b.pos += 2
			return c
		}
	}
	b.virtual += 8
	return 0
}

// overrun tells whether more bits were taken than the segment has.
func (b *bits) overrun() bool { return b.count < b.virtual }

// take gives the next n bits, at most 16.
func (b *bits) take(n int) int32 {
	if b.count < n {
		b.refill()
	}
	v := int32(b.acc >> 1 >> (63 - n))
	b.acc <<= n
	b.count -= n
	return v
}

// rest gives back whole bytes that were not needed and tells the place in the file after the codes.
func (b *bits) rest() int {
	for whole := (b.count - b.virtual) / 8; whole > 0; whole-- {
		b.pos--
		if b.data[b.pos] == 0 && b.pos > b.start && b.data[b.pos-1] == 0xff {
			b.pos--
		}
	}
	return b.pos
}

// extend makes a value of its size bits, T.81 F.2.2.1.
func extend(v int32, size int) int32 {
	if v < 1<<size>>1 {
		v += 1 - 1<<size
	}
	return v
}
