package resample

import (
	"fmt"
	"image"
)

// Stream reduces a picture while it is decoded, row by row from the top. It keeps only as many
// rows as the kernel reaches. What it gives is what Image gives for the same pixels.
type Stream struct {
	plan *plan
	part image.Rectangle
	rows *ring
	s    *scratch
	y    int // the result's next row
	h    int
	out  image.Image
	pix  []byte
	line int
}

// NewStream reduces the part r of a picture to w × h pixels, 1 ≤ w ≤ r.Dx() and 1 ≤ h ≤ r.Dy();
// it panics otherwise. r is in source pixels, from the first of the rows that Put is given.
func NewStream(l Layout, r image.Rectangle, w, h int) *Stream {
	mustReduce(r, w, h)
	if r.Min.X < 0 || r.Min.Y < 0 {
		panic(fmt.Sprintf("resample: the part %v begins before the picture", r))
	}
	p := newPlan(l, spread{size: r.Dy(), n: h}, spread{size: r.Dx(), n: w})
	size := r.Dx() * int(l)
	rows := newRing(p.down.most, size, make([]byte, p.down.most*size))
	st := &Stream{plan: p, part: r, rows: rows, s: new(scratch), h: h}
	st.out, st.pix, st.line = newResult(l, w, h)
	return st
}

// Put takes the source's whole row y; each row of the part must come once, in order. Rows outside
// of the part are passed over. The caller may use row again afterwards.
func (st *Stream) Put(y int, row []byte) {
	y -= st.part.Min.Y
	if y < 0 || y >= st.part.Dy() {
		return
	}
	if y != st.rows.next {
		panic(fmt.Sprintf("resample: row %d came, row %d is next", y+st.part.Min.Y, st.rows.next+st.part.Min.Y))
	}
	l := int(st.plan.layout)
	row = row[st.part.Min.X*l : st.part.Max.X*l]
	copy(st.rows.room(), row)
	st.rows.put(st.rows.room(), st.plan.layout != NRGBA || isOpaque(row))
	for ; st.y < st.h; st.y++ {
		first, weights := st.plan.down.window(st.y)
		if first+len(weights) > st.rows.next {
			return
		}
		st.s.rows = sized(st.s.rows, len(weights))
		opaque := st.rows.window(st.s.rows, first)
		st.plan.row(st.s, st.pix[st.y*st.line:(st.y+1)*st.line], st.y, st.s.rows, opaque)
	}
}

// Image gives the result, an *image.Gray of Grey rows, else an *image.NRGBA. It panics when rows
// of the part are still missing.
func (st *Stream) Image() image.Image {
	if st.y < st.h {
		panic(fmt.Sprintf("resample: row %d has not come", st.rows.next+st.part.Min.Y))
	}
	return st.out
}
