package resample

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"runtime"
	"sync"
)

// leastRows of a sent picture are worth another goroutine.
const leastRows = 32

// Image reduces the part r of src, inside its bounds, to w × h pixels. Grey sources give
// *image.Gray, all others *image.NRGBA. It panics when that would enlarge it; the only
// error is that of a context that ended.
func Image(ctx context.Context, src image.Image, r image.Rectangle, w, h int) (image.Image, error) {
	demand(r, w, h)
	if m, ok := src.(*image.YCbCr); ok {
		return reduce(ctx, h, newPlanes(m, r, w, h))
	}
	return reduce(ctx, h, newPixels(src, r, w, h))
}

// job makes sent rows; each worker makes some that follow each other.
type job interface {
	image() image.Image
	worker() func(y int) // makes sent row y
}

// reduce shares the rows out to all cores. No row depends on another, so the result does
// not depend on how many there are.
func reduce(ctx context.Context, h int, j job) (image.Image, error) {
	workers := max(1, min(runtime.GOMAXPROCS(0), h/leastRows))
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			row := j.worker()
			for y := i * h / workers; y < (i+1)*h/workers && ctx.Err() == nil; y++ {
				row(y)
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reduce a picture: %w", err)
	}
	return j.image(), nil
}

// pixels reduces a picture whose rows can be had with all channels of a pixel together.
type pixels struct {
	layout       Layout
	read         reader
	part         image.Rectangle
	down, across taps
	out          image.Image
	pix          []byte
	size         int
}

// reader gives the wanted part of source row y, either where it lies or written to buf,
// with the alpha multiplied in, and whether something shines through.
type reader func(y int, buf []byte) (row []byte, clear bool)

func newPixels(src image.Image, r image.Rectangle, w, h int) *pixels {
	l, read := readerOf(src, r)
	if m, ok := src.(*image.NRGBA); ok && w == r.Dx() && h == r.Dy() { // nothing is mixed, so nothing of clear pixels is lost
		read = func(y int, _ []byte) ([]byte, bool) { return m.Pix[m.PixOffset(r.Min.X, y):][:4*r.Dx()], false }
	}
	p := &pixels{layout: l, read: read, part: r}
	p.down = span{0, float64(r.Dy()), 0, r.Dy(), h}.taps(2)
	p.across = span{0, float64(r.Dx()), 0, r.Dx(), w}.taps(l.step())
	p.out, p.pix = canvas(l, w, h)
	p.size = len(p.pix) / h
	return p
}

func (p *pixels) image() image.Image { return p.out }

func (p *pixels) worker() func(y int) {
	n := p.down.real
	mix := newMixer(p.layout, p.part.Dx(), &p.down, &p.across)
	bufs, rows, at := make([][]byte, n), make([][]byte, n), make([]int, n)
	for i := range bufs {
		at[i] = -1
	}
	clear := false
	source := func(y int) []byte {
		i := y % n
		if at[i] != y {
			if bufs[i] == nil {
				bufs[i] = make([]byte, p.part.Dx()*int(p.layout))
			}
			row, c := p.read(p.part.Min.Y+y, bufs[i])
			rows[i], at[i], clear = row, y, clear || c
		}
		return rows[i]
	}
	return func(y int) {
		dst := p.pix[y*p.size:][:p.size]
		mix.row(dst, y, source)
		if clear {
			divide(dst)
		}
	}
}

// readerOf reads any picture; those that decoders really give have a path of their own.
func readerOf(src image.Image, r image.Rectangle) (Layout, reader) {
	switch m := src.(type) {
	case *image.Gray:
		return Grey, func(y int, _ []byte) ([]byte, bool) { return m.Pix[m.PixOffset(r.Min.X, y):][:r.Dx()], false }
	case *image.Gray16:
		return Grey, func(y int, buf []byte) ([]byte, bool) {
			at := m.Pix[m.PixOffset(r.Min.X, y):]
			for i := range buf {
				buf[i] = at[2*i]
			}
			return buf, false
		}
	case *image.NRGBA:
		return NRGBA, func(y int, buf []byte) ([]byte, bool) {
			return multiplied(m.Pix[m.PixOffset(r.Min.X, y):][:4*r.Dx()], buf)
		}
	case *image.RGBA:
		return NRGBA, func(y int, _ []byte) ([]byte, bool) {
			row := m.Pix[m.PixOffset(r.Min.X, y):][:4*r.Dx()]
			return row, !opaque(row)
		}
	case *image.NRGBA64:
		return NRGBA, func(y int, buf []byte) ([]byte, bool) {
			highBytes(buf, m.Pix[m.PixOffset(r.Min.X, y):])
			return multiplied(buf, buf)
		}
	case *image.RGBA64:
		return NRGBA, func(y int, buf []byte) ([]byte, bool) {
			highBytes(buf, m.Pix[m.PixOffset(r.Min.X, y):])
			return buf, !opaque(buf)
		}
	case *image.CMYK:
		return NRGBA, func(y int, buf []byte) ([]byte, bool) {
			at := m.Pix[m.PixOffset(r.Min.X, y):]
			for i := 0; i < len(buf); i += 4 {
				c := at[i : i+4 : i+4]
				buf[i], buf[i+1], buf[i+2] = color.CMYKToRGB(c[0], c[1], c[2], c[3])
				buf[i+3] = 255
			}
			return buf, false
		}
	case *image.Paletted:
		return NRGBA, paletteReader(m, r)
	}
	return NRGBA, func(y int, buf []byte) ([]byte, bool) {
		for x := range r.Dx() {
			put(buf[4*x:], src.At(r.Min.X+x, y))
		}
		return buf, !opaque(buf)
	}
}

// multiplied gives the row itself when it is opaque, else buf.
func multiplied(row, buf []byte) ([]byte, bool) {
	if opaque(row) {
		return row, false
	}
	multiply(buf, row)
	return buf, true
}

func highBytes(dst, src []byte) {
	for i := range dst {
		dst[i] = src[2*i]
	}
}

func paletteReader(m *image.Paletted, r image.Rectangle) reader {
	var table [256][4]byte // an index behind the palette is black and clear
	for i, c := range m.Palette {
		put(table[i][:], c)
	}
	return func(y int, buf []byte) ([]byte, bool) {
		for x, index := range m.Pix[m.PixOffset(r.Min.X, y):][:r.Dx()] {
			copy(buf[4*x:4*x+4], table[index][:])
		}
		return buf, !opaque(buf)
	}
}

// put writes one colour with its alpha multiplied in.
func put(dst []byte, c color.Color) {
	r, g, b, a := c.RGBA()
	dst[0], dst[1], dst[2], dst[3] = byte(r>>8), byte(g>>8), byte(b>>8), byte(a>>8) //nolint:gosec // 16 bits each
}
