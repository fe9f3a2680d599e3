package pngread

import "context"

// Rows gives every row in order, from the top, as 8-bit pixels in the header's layout. row is valid during
// the call only and must not be written to. An error is ErrDamaged's, sink's or that of a context that ended; rows
// may have been given before. When it is nil, all rows were, and every checksum was right.
func (r *Reader) Rows(ctx context.Context, sink func(y int, row []byte) error) error {
	return r.read(ctx, sink, sizes{block: blockBytes, serial: serialBytes})
}

// sizes are blockBytes and serialBytes; tests take others.
type sizes struct{ block, serial int64 }

func (r *Reader) read(ctx context.Context, sink func(y int, row []byte) error, s sizes) error {
	src := &source{data: r.data, next: r.idat}
	in, err := newInflater(src)
	if err != nil {
		return err
	}
	p := &job{Reader: r, in: in, rows: newRowMaker(r, sink), block: s.block}
	if int64(r.height)*p.rows.stride <= s.serial {
		err = p.alone(ctx)
	} else {
		err = p.shared(ctx)
	}
	if err != nil {
		return err
	}
	return src.finish(ctx, r)
}

// job is one run of Rows.
type job struct {
	*Reader
	in   *inflater
	rows *rowMaker

	block int64 // about the bytes of one
}

// block is some whole rows that were inflated, behind the window that they may refer to.
type block struct {
	buf  []byte // window, rows, slack
	rows int
}

func (b *block) pixels() []byte { return b.buf[window : len(b.buf)-slack] }

// row is row i without its filter; stride is its length with it.
func (b *block) row(i, stride int) []byte {
	return b.pixels()[i*stride+1 : (i+1)*stride : (i+1)*stride]
}

// perBlock is how many rows a block has.
func (j *job) perBlock() int {
	return min(j.height, max(1, int(j.block/j.rows.stride)))
}

func (j *job) newBlock() *block {
	return &block{buf: make([]byte, window+j.perBlock()*int(j.rows.stride)+slack)}
}

// inflate fills b with rows rows; tail is the window that goes from block to block.
func (j *job) inflate(b *block, rows int, tail *[window]byte) error {
	b.rows = rows
	end := window + rows*int(j.rows.stride)
	copy(b.buf, tail[:])
	b.buf = b.buf[:end+slack]
	if err := j.in.fill(b.buf); err != nil {
		return err
	}
	copy(tail[:], b.buf[end-window:end])
	return nil
}

// alone does one block after the other.
func (j *job) alone(ctx context.Context) error {
	b, tail := j.newBlock(), new([window]byte)
	for y := 0; y < j.height; {
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		n := min(j.perBlock(), j.height-y)
		if err := j.inflate(b, n, tail); err != nil {
			return err
		}
		if err := j.rows.unfilter(b); err != nil {
			return err
		}
		if err := j.rows.give(y, b); err != nil {
			return err
		}
		y += n
	}
	sum, err := j.in.end()
	if err != nil {
		return err
	}
	return j.rows.check(sum)
}

// rowMaker turns inflated blocks into rows.
type rowMaker struct {
	sink   func(y int, row []byte) error
	spread func(dst, src []byte)
	stride int64 // a row's bytes with its filter
	size   int   // bytes a pixel for the filters, 1 at least
	above  []byte
	out    []byte
	sum    uint32
}

func newRowMaker(r *Reader, sink func(y int, row []byte) error) *rowMaker {
	m := &rowMaker{
		sink: sink, spread: r.spread(), stride: 1 + r.rowBytes(), size: max(1, r.depth*channels[r.kind]/8), sum: 1,
	}
	if m.spread != nil {
		m.out = make([]byte, r.width*int(r.layout()))
	}
	return m
}

// unfilter unfilters a block in place.
func (m *rowMaker) unfilter(b *block) error {
	pixels, n := b.pixels(), int(m.stride)
	m.sum = adler(m.sum, pixels)
	if m.above == nil {
		m.above = make([]byte, n-1) // nothing lies above the first row
	}
	above := m.above
	for i := range b.rows {
		row := b.row(i, n)
		if err := unfilter(pixels[i*n], row, above, m.size); err != nil {
			return err
		}
		above = row
	}
	copy(m.above, above)
	return nil
}

// give gives the rows of an unfiltered block; the first is row y.
func (m *rowMaker) give(y int, b *block) error {
	for i := range b.rows {
		row := b.row(i, int(m.stride))
		if m.spread != nil {
			m.spread(m.out, row)
			row = m.out
		}
		if err := m.sink(y+i, row); err != nil {
			return err
		}
	}
	return nil
}

// check compares the checksum of all that was given.
func (m *rowMaker) check(sum uint32) error {
	if m.sum != sum {
		return errSum
	}
	return nil
}
