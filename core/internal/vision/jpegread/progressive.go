package jpegread

import (
	"context"
	mathbits "math/bits"
)

// A progressive file gives its coefficients in several scans, T.81 annex G, so they are kept until the file's end: of each block
// those that the chosen size needs, 2 bytes each, and one bit of every other, since what a later scan holds
// depends on which are not 0. Of the brightness all are kept, to tell at the end how much was thrown away.

// keep makes room for a component's coefficients when its first scan comes.
func (d *decoder) keep(c *component) {
	if c.kept != nil {
		return
	}
	c.room = c.side * c.side
	if c == &d.comps[0] {
		c.room = 64
	}
	for k, z := range zigzag {
		x, y := int(z)&7, int(z)>>3
		switch {
		case c.room == 64:
			c.spots[k] = k
		case x < c.side && y < c.side:
			c.spots[k] = y*c.side + x
		default:
			c.spots[k] = c.room
		}
	}
	blocks := c.wide * c.v * d.mcusUp
	c.kept, c.seen = make([]int16, blocks*c.room), make([]uint64, blocks)
}

// setBand takes the band of frequencies and the bits that a progressive scan has, T.81 B.2.3.
func (s *scan) setBand(from, to, approx byte) error {
	s.from, s.to, s.high, s.low = int(from), int(to), int(approx>>4), int(approx&15)
	switch {
	case from == 0 && to != 0, from > to, to > 63:
		return damaged("a scan with a band that cannot be")
	case from != 0 && len(s.parts) != 1:
		return damaged("a scan with a band of several components")
	case s.high != 0 && s.high != s.low+1:
		return damaged("a scan with bits that cannot be")
	}
	s.progressive = true
	return nil
}

// advance reads what the scan has of block at of p's component.
func (s *scan) advance(p *scanPart, at int) error {
	n := p.comp.room
	kept, seen := p.comp.kept[at*n:at*n+n], &p.comp.seen[at]
	switch {
	case s.from == 0 && s.high == 0:
		if err := s.readDC(p); err != nil {
			return err
		}
		kept[0] = s.fit(int64(p.pred) << s.low)
		return nil
	case s.from == 0:
		kept[0] |= int16(s.take(1) << s.low)
		return nil
	case p.ac == nil:
		if s.eobRun == 0 {
			return damaged("no Huffman table")
		}
	}
	if s.high == 0 {
		return s.firstAC(p, kept, seen)
	}
	return s.refineAC(p, kept, seen)
}

// fit notes a coefficient too large.
func (s *scan) fit(v int64) int16 {
	s.wild |= v ^ int64(int16(v))
	return int16(v)
}

// firstAC reads a band's high bits, T.81 G.1.2.2.
func (s *scan) firstAC(p *scanPart, kept []int16, seen *uint64) error {
	if s.eobRun > 0 {
		s.eobRun--
		return nil
	}
	for k := s.from; k <= s.to; k++ {
		e, err := s.entry(p.ac)
		if err != nil {
			return err
		}
		k += int(e >> 24)
		if k > s.to {
			s.endBlock(e)
			return nil
		}
		n, size := e>>16&31, sizeOf(e)
		s.acc <<= n
		s.count -= int(n)
		if size == 0 {
			continue
		}
		v := s.fit(int64(extend(s.take(size), size)) << s.low)
		*seen |= 1 << k
		if at := p.comp.spots[k]; at < len(kept) {
			kept[at] = v
		}
	}
	return nil
}

// entry gives the entry of the code that comes, which is not yet taken.
func (s *scan) entry(t *table) (uint32, error) {
	if s.count < 32 {
		s.refill()
	}
	e := t.lut[s.acc>>(64-lutBits)]
	if e == 0 {
		if e = t.longEntry(s.acc); e == 0 {
			return 0, damaged("no such Huffman code")
		}
	}
	return e, nil
}

// refineAC reads one more bit of a band, T.81 G.1.2.3: of what is not 0 yet the places, of all else a correction.
func (s *scan) refineAC(p *scanPart, kept []int16, seen *uint64) error {
	k := s.from
	for s.eobRun == 0 && k <= s.to {
		e, err := s.entry(p.ac)
		if err != nil {
			return err
		}
		if e>>24 == endOfBlock {
			s.endBlock(e)
			s.eobRun++ // this block is one of them: its corrections follow
			break
		}
		n, size := e>>16&31, sizeOf(e)
		s.acc <<= n
		s.count -= int(n)
		v := int16(0)
		if size > 1 {
			return damaged("a correction of more than one bit")
		}
		if size == 1 {
			v = int16(2*s.take(1)-1) << s.low
		}
		if k = s.correct(p, kept, *seen, k, int(e>>24)); k > s.to {
			return damaged("a coefficient beyond its band")
		}
		if v != 0 {
			*seen |= 1 << k
			if at := p.comp.spots[k]; at < len(kept) {
				kept[at] = v
			}
		}
		k++
	}
	if s.eobRun > 0 {
		s.eobRun--
		s.correct(p, kept, *seen, k, 64)
	}
	return nil
}

// correct reads a bit for each coefficient from k on that is not 0, until zeros of them that are 0 have been passed over
// and one more comes, whose place it gives; or until the band's end.
func (s *scan) correct(p *scanPart, kept []int16, seen uint64, k, zeros int) int {
	if zeros == 64 && seen>>k == 0 {
		return s.to + 1
	}
	for ; k <= s.to; k++ {
		if seen>>k&1 == 0 {
			if zeros == 0 {
				return k
			}
			zeros--
			continue
		}
		if s.take(1) == 0 {
			continue
		}
		if at := p.comp.spots[k]; at < len(kept) {
			delta := int64(1) << s.low
			if kept[at] < 0 {
				delta = -delta
			}
			kept[at] = s.fit(int64(kept[at]) + delta)
		}
	}
	return k
}

// renderKept makes all pixels of a progressive file, when it has ended well; its last quantisers are what counts.
func (d *decoder) renderKept(ctx context.Context) error {
	s := &scan{}
	for i := range d.comps {
		if c := &d.comps[i]; c.kept != nil {
			d.addRoom(s, c)
		}
	}
	err := d.eachRow(ctx, s, func(r *row) error {
		for i := range s.parts {
			s.unkeep(&s.parts[i], r)
		}
		if s.wild != 0 {
			return damaged("a coefficient too large")
		}
		return nil
	})
	d.lost += s.lost
	return err
}

// unkeep puts a row's kept coefficients, times their quantisers, where pixels are made of them.
func (s *scan) unkeep(p *scanPart, r *row) {
	c := p.comp
	for i := range c.v * c.wide {
		at := r.index*c.v*c.wide + i
		kept, seen := c.kept[at*c.room:(at+1)*c.room], c.seen[at]
		out := (*[64]int16)(r.coefs[p.coefs+i*p.span:])
		out[0] = s.fit(int64(kept[0]) * int64(p.fast.slots[0].quant))
		r.last[p.blocks+i] = int8(max(0, 63-mathbits.LeadingZeros64(seen)))
		for ; seen != 0; seen &= seen - 1 {
			k := mathbits.TrailingZeros64(seen) & 63
			if c.spots[k] >= len(kept) {
				continue
			}
			v, slot := int64(kept[c.spots[k]])*int64(p.fast.slots[k].quant), p.fast.slots[k]
			s.lost += v * v & -int64(slot.at>>lostBit)
			out[slot.at&63] = s.fit(v)
		}
	}
}
