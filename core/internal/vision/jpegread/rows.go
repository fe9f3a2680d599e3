package jpegread

import (
	"context"
	"sync"
)

// eachRow has fill put coefficients into row after row, while another goroutine makes pixels of the rows filled; the
// one that fills helps when all rows wait for that. Both are done when it returns.
func (d *decoder) eachRow(ctx context.Context, s *scan, fill func(*row) error) error {
	n := ringRows
	if s.blocks*d.mcusUp < serialBlocks {
		n = 1
	}
	free, full := make(chan *row, n), make(chan *row, n)
	for _, r := range d.rows(s, n) {
		free <- r
	}
	var wg sync.WaitGroup
	if n > 1 {
		wg.Go(func() {
			for r := range full {
				d.render(s, r)
				free <- r
			}
		})
	}
	defer wg.Wait()
	defer close(full)
	for i := range d.mcusUp {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r *row
		select {
		case r = <-free:
		case r = <-full:
			d.render(s, r)
		}
		r.index = i
		if err := fill(r); err != nil {
			return err
		}
		if n == 1 {
			d.render(s, r)
			free <- r
		} else {
			full <- r
		}
	}
	return nil
}

// rows gives n rows for a scan, all coefficients 0, those of an earlier scan where they are large enough.
func (d *decoder) rows(s *scan, n int) []*row {
	for len(d.ring) < n {
		d.ring = append(d.ring, &row{})
	}
	for _, r := range d.ring[:n] {
		if len(r.coefs) < s.coefs+64 || len(r.last) < s.blocks {
			r.coefs, r.last = make([]int16, s.coefs+64), make([]int8, s.blocks)
		}
		clear(r.coefs)
	}
	return d.ring[:n]
}

// render makes the pixels of a row, and its coefficients 0.
func (d *decoder) render(s *scan, r *row) {
	for i := range s.parts {
		p := &s.parts[i]
		if d.inspect != nil {
			d.inspect(p, r)
		}
		c := p.comp
		for y := range c.v {
			from := y * c.wide
			line := c.plane[(r.index*c.v+y)*c.side*c.stride:]
			coefs, last := r.coefs[p.coefs+from*p.span:], r.last[p.blocks+from:p.blocks+from+c.wide]
			switch c.side {
			case 8:
				render8(line, c.stride, coefs, last)
			case 4:
				render4(line, c.stride, coefs, last)
			case 2:
				render2(line, c.stride, coefs, last)
			default:
				render1(line, coefs, last)
			}
		}
	}
	clear(r.coefs[:s.coefs])
}
