package jpegread

import "context"

// scan is the reading of one scan's codes.
type scan struct {
	bits
	parts  []scanPart
	coefs  int // of a row of MCUs, all parts
	blocks int // of a row of MCUs, all parts
	eobRun int
	loose  bool  // bytes that no pixel needs lie before a restart marker
	wild   int64 // not 0 once a coefficient did not fit
	lost   int64 // squares of the brightness's coefficients that were thrown away

	restart int // MCUs between restart markers
	until   int // MCUs until the next one; not asked when restart is 0
	left    int // MCUs left in the scan
	marker  byte

	progressive bool
	from, to    int // of a progressive scan: its band of frequencies, in the order of the file
	high, low   int // and its bits: those below high and not below low, all where high is 0
}

// scanPart is one component in a scan.
type scanPart struct {
	comp   *component
	dc, ac *table
	span   int // coefficients between the beginnings of two blocks
	pred   int32
	coefs  int // where its coefficients begin in a row's
	blocks int // where its blocks begin in a row's
	fast   fast
}

// fast is what reading a coefficient needs, behind one pointer.
type fast struct {
	lut   [1 << lutBits]uint32 // the AC table's
	slots [64]slot
}

// row is a row of MCUs between codes and pixels. Its coefficients are 0 when codes are read into it.
type row struct {
	index int     // of the row
	coefs []int16 // part after part, row of blocks after row of blocks; a block more at the end, for slices
	last  []int8  // for each block the last coefficient that may differ from 0, or noBlock
}

// noBlock marks a block that the file has not: beyond the picture's edge, in a scan of one component.
const noBlock = -1

// readScan reads a scan's header, T.81 B.2.3, and its codes, and makes its pixels.
func (d *decoder) readScan(ctx context.Context, body []byte) error {
	if d.comps == nil {
		return damaged("a scan without a frame")
	}
	if len(body) < 6 || len(body) > 4+2*len(d.comps) || len(body) != 4+2*int(body[0]) {
		return damaged("scan header of a wrong length")
	}
	if !d.ours() {
		// A JPEG whose first scan is not ours was left by Open, so here it is a later marker that changed it.
		return ErrOther
	}
	if !d.scanned {
		d.makePlanes()
		d.scanned = true
	}
	s := &scan{
		bits: bits{data: d.data, start: d.pos, pos: d.pos}, eobRun: d.eobRun,
		restart: d.restart, until: d.restart, left: d.mcusWide * d.mcusUp, marker: markRST0,
	}
	for i := range int(body[0]) {
		if err := d.addPart(s, body[1+2*i], body[2+2*i]); err != nil {
			return err
		}
	}
	blocks := 0
	for i := range s.parts {
		p := &s.parts[i]
		blocks += p.comp.h * p.comp.v
	}
	if len(d.comps) > 1 && blocks > 10 {
		return damaged("an MCU of too many blocks")
	}
	if err := d.readCodes(ctx, s, body[len(body)-3:]); err != nil {
		return err
	}
	d.eobRun, d.pos, d.lost = s.eobRun, s.rest(), d.lost+s.lost
	d.loose = d.loose || s.loose
	return nil
}

// readCodes reads all codes of a scan. band are the last three bytes of its header.
func (d *decoder) readCodes(ctx context.Context, s *scan, band []byte) error {
	if !d.progressive {
		return d.eachRow(ctx, s, func(r *row) error { return s.readRow(d, r) })
	}
	if err := s.setBand(band[0], band[1], band[2]); err != nil {
		return err
	}
	for i := range s.parts {
		d.keep(s.parts[i].comp)
	}
	r := &row{last: make([]int8, s.blocks)}
	for r.index = range d.mcusUp {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.readRow(d, r); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) addPart(s *scan, id, tables byte) error {
	var c *component
	for i := range d.comps {
		if d.comps[i].id == id {
			c = &d.comps[i]
		}
	}
	if c == nil {
		return damaged("a scan of an unknown component")
	}
	for i := range s.parts {
		if s.parts[i].comp == c {
			return damaged("a scan with a component twice")
		}
	}
	dc, ac := tables>>4, tables&15
	if dc > 3 || ac > 3 || d.baseline && (dc > 1 || ac > 1) {
		return damaged("Huffman table of a wrong number")
	}
	p := d.addRoom(s, c)
	p.dc, p.ac = d.dc[dc], d.ac[ac]
	if p.ac != nil {
		p.fast.lut = p.ac.lut
	}
	return nil
}

// addRoom gives a component room in the rows of a scan.
func (d *decoder) addRoom(s *scan, c *component) *scanPart {
	s.parts = append(s.parts, scanPart{
		comp: c, span: spans[c.side], coefs: s.coefs, blocks: s.blocks,
		fast: fast{slots: slotsOf(c.side, &d.quant[c.quant], c == &d.comps[0])},
	})
	s.coefs += c.wide * c.v * spans[c.side]
	s.blocks += c.wide * c.v
	return &s.parts[len(s.parts)-1]
}

// readRow reads the codes of the row of MCUs r.index.
func (s *scan) readRow(d *decoder, r *row) error {
	for mx := range d.mcusWide {
		var err error
		if len(s.parts) == 1 {
			err = s.readSingle(d, r, mx)
		} else {
			err = s.readMCU(r, mx)
		}
		if err != nil {
			return err
		}
		s.left--
		if s.restart == 0 {
			continue
		}
		if s.until--; s.until == 0 && s.left > 0 {
			if err := s.readRestart(); err != nil {
				return err
			}
		}
	}
	if s.overrun() {
		return damaged("a scan that ends too early")
	}
	if s.wild != 0 {
		return damaged("a coefficient too large")
	}
	return nil
}

// readMCU reads the blocks of one MCU of several components.
func (s *scan) readMCU(r *row, mx int) error {
	for i := range s.parts {
		p := &s.parts[i]
		for y := range p.comp.v {
			for x := range p.comp.h {
				if err := s.into(p, r, y*p.comp.wide+mx*p.comp.h+x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readSingle reads as many blocks of a single component as an MCU of all would have, block after block in the rows of
// that component, without those beyond the edge. Which those are is image/jpeg's rule.
func (s *scan) readSingle(d *decoder, r *row, mx int) error {
	p := &s.parts[0]
	n := p.comp.h * p.comp.v
	for j := range n {
		at := mx*n + j
		x, y := at%p.comp.wide, at/p.comp.wide+r.index*p.comp.v
		if 8*x >= d.width || 8*y >= d.height {
			r.last[at] = noBlock
			continue
		}
		if err := s.into(p, r, at); err != nil {
			return err
		}
	}
	return nil
}

// into reads block at of p's in this row.
func (s *scan) into(p *scanPart, r *row, at int) error {
	if s.progressive {
		return s.advance(p, r.index*p.comp.v*p.comp.wide+at)
	}
	last, err := s.readBlock(p, (*[64]int16)(r.coefs[p.coefs+at*p.span:]))
	r.last[p.blocks+at] = int8(last)
	return err
}

// readRestart passes over the restart marker that comes now, T.81 E.2.4, and over junk before it that image/jpeg passes over:
// all but other markers.
func (s *scan) readRestart() error {
	if s.overrun() {
		return damaged("an interval that ends too early")
	}
	c := cursor{data: s.data, pos: s.rest()}
	two, err := c.take(2)
	if err != nil {
		return err
	}
	a, m := two[0], two[1]
	for a != 0xff || m != s.marker {
		s.loose = true
		if a == 0xff && m != 0xff && m != 0 {
			return damaged("another marker than the restart marker")
		}
		if m != 0xff {
			if m, err = c.byte(); err != nil {
				return err
			}
		}
		a = m
		if m, err = c.byte(); err != nil {
			return err
		}
	}
	s.bits = bits{data: s.data, start: c.pos, pos: c.pos}
	s.until, s.eobRun = s.restart, 0
	s.marker = markRST0 | (s.marker+1)&7
	for i := range s.parts {
		s.parts[i].pred = 0
	}
	return nil
}
