package resample

import (
	"context"
	"fmt"
	"image"
	"runtime"
	"sync"
	"sync/atomic"
)

// Image reduces the part r of src, which lies in its bounds and is not empty, to w × h pixels,
// 1 ≤ w ≤ r.Dx() and 1 ≤ h ≤ r.Dy(); it panics otherwise. A side that is equal is copied. A grey
// source gives an *image.Gray, any other an *image.NRGBA, from 0, 0 on and without gaps between
// rows. Colours count by their alpha; what is wholly transparent has none, unless both sides are
// copied. The source is only read. The error is ctx.Err(); then there is no picture.
func Image(ctx context.Context, src image.Image, r image.Rectangle, w, h int) (image.Image, error) {
	mustReduce(r, w, h)
	if !r.In(src.Bounds()) {
		panic(fmt.Sprintf("resample: the part %v is not in the picture %v", r, src.Bounds()))
	}
	if m, ok := src.(*image.YCbCr); ok {
		return reduceYCbCr(ctx, m, r, w, h)
	}
	from := sourceOf(src, r)
	p := newPlan(from.layout, spread{size: r.Dy(), n: h}, spread{size: r.Dx(), n: w})
	p.ready = from.ready
	out, pix, stride := newResult(from.layout, w, h)
	err := inStrips(ctx, h, r.Dx()*r.Dy(), func(lo, hi int) error {
		s, _ := pool.Get().(*scratch)
		defer s.keep()
		rows := p.ring(s, from, r.Dx())
		rows.next, _ = p.down.window(lo)
		for y := lo; y < hi; y++ {
			if err := ctx.Err(); err != nil {
				return err //nolint:wrapcheck // the caller's own
			}
			p.next(s, rows, from, y, pix[y*stride:(y+1)*stride])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// mustReduce panics when w × h is not a reduction of r.
func mustReduce(r image.Rectangle, w, h int) {
	if w < 1 || h < 1 || w > r.Dx() || h > r.Dy() {
		panic(fmt.Sprintf("resample: %d × %d pixels cannot be reduced to %d × %d", r.Dx(), r.Dy(), w, h))
	}
}

// newResult makes the picture that rows of l give.
func newResult(l Layout, w, h int) (m image.Image, pix []byte, stride int) {
	if l == Grey {
		g := image.NewGray(image.Rect(0, 0, w, h))
		return g, g.Pix, g.Stride
	}
	n := image.NewNRGBA(image.Rect(0, 0, w, h))
	return n, n.Pix, n.Stride
}

// ring for the rows of a source of the given width, in the scratch.
func (p *plan) ring(s *scratch, from source, columns int) *ring {
	size := columns * int(from.layout)
	if from.direct {
		size = 0
	}
	s.own = sized(s.own, p.down.most*size)
	return newRing(p.down.most, size, s.own)
}

// next reads what the result's row y still needs, and mixes it. Rows above that window are not read.
func (p *plan) next(s *scratch, rows *ring, from source, y int, out []byte) {
	first, weights := p.down.window(y)
	rows.next = max(rows.next, first)
	for rows.next < first+len(weights) {
		row := from.read(rows.next, rows.room())
		rows.put(row, from.opaque || isOpaque(row))
	}
	s.rows = sized(s.rows, len(weights))
	opaque := rows.window(s.rows, first)
	p.row(s, out, y, s.rows, opaque)
}

// inStrips calls do for strips of h rows, on as many cores as the size of the source is worth, and
// waits for all. Strips depend on h alone; rows do not depend on strips.
func inStrips(ctx context.Context, h, pixels int, do func(lo, hi int) error) error {
	strips := (h + stripRows - 1) / stripRows
	workers := min(runtime.GOMAXPROCS(0), strips)
	if pixels <= alonePixels {
		workers = 1
	}
	var taken atomic.Int64
	errs := make([]error, workers)
	work := func(i int) {
		for errs[i] == nil {
			n := int(taken.Add(1)) - 1
			if n >= strips {
				return
			}
			errs[i] = do(n*stripRows, min((n+1)*stripRows, h))
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < workers; i++ {
		wg.Go(func() { work(i) })
	}
	work(0)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err //nolint:wrapcheck // the caller's own
	}
	return nil
}
