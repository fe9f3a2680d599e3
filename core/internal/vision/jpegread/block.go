package jpegread

import "encoding/binary"

// zigzag are the places of a block's coefficients, row by row, in the order of the file: T.81 figure 5.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// spans is how many coefficients are between the beginnings of two blocks in a row's memory, by the side of their
// pixels. Where not all are kept, the first after those kept takes what is thrown away.
var spans = [9]int{8: 64, 4: 32, 2: 8, 1: 2}

// lostBit of a slot's place says that the coefficient is thrown away and counts.
const lostBit = 8

// slot is where a coefficient goes and what it is multiplied with.
type slot struct {
	quant int32
	at    uint32
}

// slotsOf gives each coefficient's slot, in the order of the file, in a block of side×side.
// Of the brightness it counts what is thrown away.
func slotsOf(side int, quant *[64]int32, brightness bool) (s [64]slot) {
	for k, z := range zigzag {
		x, y := int(z)&7, int(z)>>3
		s[k] = slot{quant[k], uint32(side * side)}
		if x < side && y < side {
			s[k].at = uint32(y*side + x)
		} else if brightness {
			s[k].at |= 1 << lostBit
		}
	}
	return s
}

// readDC reads the difference of a block's mean, T.81 F.2.2.1.
func (s *scan) readDC(p *scanPart) error {
	b := &s.bits
	if b.count < 32 {
		b.refill()
	}
	if p.dc == nil {
		return damaged("no Huffman table")
	}
	e := p.dc.lut[b.acc>>(64-lutBits)]
	size, n := int(e>>8), int(e&0xff)
	if n == 0 {
		var symbol byte
		if symbol, n = p.dc.symbol(b.acc); n == 0 {
			return damaged("no such Huffman code")
		}
		size = int(symbol)
	}
	if size > 16 {
		return damaged("a DC value too large")
	}
	t := b.acc << (n & 63)
	p.pred += extend(int32(t>>1>>(63-size)), size)
	b.acc = t << (size & 63)
	b.count -= n + size
	return nil
}

// readBlock reads one block of p into out, its coefficients times their quantisers. last is the place, in
// the order of the file, of the last one that may differ from 0.
func (s *scan) readBlock(p *scanPart, out *[64]int16) (last int, err error) {
	if err := s.readDC(p); err != nil {
		return 0, err
	}
	mean := int64(p.pred) * int64(p.fast.slots[0].quant)
	s.wild |= mean ^ int64(int16(mean))
	out[0] = int16(mean)
	if s.eobRun > 0 {
		s.eobRun--
		return 0, nil
	}
	if p.ac == nil {
		return 0, damaged("no Huffman table")
	}
	return s.readAC(p, out)
}

// readAC reads a block's other coefficients, T.81 F.2.2.2. What image/jpeg lets pass is let pass: a run beyond the
// block's end ends it, and a run of blocks without coefficients, which is for progressive files.
func (s *scan) readAC(p *scanPart, out *[64]int16) (last int, err error) {
	t := &p.fast
	data, pos, acc, count := s.data, s.pos, s.acc, s.count
	var sizes uint64    // all squares together, for one that is too large
	var power [2]uint64 // the squares of what is kept and of what is thrown away and counts
	k := 1
	for k < 64 {
		if count < 32 {
			if w := ahead(data, pos); !hasFF(w) {
				acc |= w >> (count & 63)
				pos += (63 - count) >> 3
				count |= 56
			} else {
				s.pos, s.acc, s.count = pos, acc, count
				s.refill()
				pos, acc, count = s.pos, s.acc, s.count
			}
		}
		e := t.lut[acc>>(64-lutBits)]
		if e == 0 {
			if e = p.ac.longEntry(acc); e == 0 {
				return 0, damaged("no such Huffman code")
			}
		}
		k += int(e >> 24)
		if k >= 64 {
			s.pos, s.acc, s.count = pos, acc, count
			s.note(sizes, power[1])
			s.endBlock(e)
			return k - int(e>>24) - 1, nil
		}
		bits := acc << (e >> 16 & 31)
		minus := ^(int64(bits) >> 63) // a value's first bit is 0 when it is below 0, and all its bits are turned then
		v := int64((bits^uint64(minus))>>1>>(e>>8&63)) ^ minus - minus
		acc <<= e & 63
		count -= int(e & 63)
		slot := t.slots[k&63]
		v *= int64(slot.quant)
		sizes |= uint64(v * v)
		power[slot.at>>lostBit&1] += uint64(v * v)
		out[slot.at&63] = int16(v)
		k++
	}
	s.pos, s.acc, s.count = pos, acc, count
	s.note(sizes, power[1])
	return 63, nil
}

// note keeps what a block's squares tell.
func (s *scan) note(sizes, lost uint64) {
	s.wild |= int64(sizes >> (2 * maxBits))
	s.lost += int64(lost)
}

// ahead gives the next eight bytes, or what has to be read byte by byte.
func ahead(data []byte, pos int) uint64 {
	if uint(pos) < uint(len(data)) && len(data)-pos >= 8 {
		return binary.BigEndian.Uint64(data[pos:])
	}
	return 1<<64 - 1
}

// endBlock takes the code at which a block ends: a sign of its end, of several blocks' ends (size is
// the number of bits that count them), or a run that leads beyond it, whose value is then not read.
func (s *scan) endBlock(e uint32) {
	n, size := int(e>>16&31), sizeOf(e)
	s.acc <<= n
	s.count -= n
	if e>>24 == endOfBlock && size > 0 {
		s.eobRun = 1<<size | int(s.take(size))
		s.eobRun--
	}
}
