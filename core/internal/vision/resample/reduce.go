package resample

import (
	"encoding/binary"
	"math"
	"sync"
)

// Layout says how the pixels of a row of bytes lie: its number is their bytes a pixel. An NRGBA
// row's colours are not multiplied by alpha.
type Layout int

// The layouts of rows.
const (
	Grey  Layout = 1
	RGB   Layout = 3
	NRGBA Layout = 4
)

// plan is how a plane or a picture of pixels is reduced. Workers share it.
type plan struct {
	layout       Layout
	ready        bool // colours are times alpha already, as in image.RGBA
	down, across *axis
}

func newPlan(l Layout, down, across spread) *plan {
	lanes := mixedLanes
	if l == Grey {
		lanes = planeLanes
	}
	return &plan{layout: l, down: axisOf(down, 1), across: axisOf(across, lanes)}
}

// copies says that nothing is mixed. Then pixels stay as they are, also what has no alpha.
func (p *plan) copies() bool { return p.down.copies() && p.across.copies() }

// scratch is what a worker mixes in.
type scratch struct {
	mid    []int16
	wide   []int32
	sums   []int32
	rows   [][]byte
	own    []byte // a ring's
	planes [3][]byte
}

var pool = sync.Pool{New: func() any { return new(scratch) }}

// keep gives the scratch back, but for what is large.
func (s *scratch) keep() {
	clear(s.rows[:cap(s.rows)])
	if cap(s.own)+2*cap(s.mid)+4*cap(s.wide)+4*cap(s.sums)+24*cap(s.rows) <= maxPooled {
		pool.Put(s)
	}
}

// sized gives n elements, of s if it has them. What they hold is not said.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// row mixes the result's row y from its window of source rows into out. opaque says that no pixel
// in the window is seen through.
func (p *plan) row(s *scratch, out []byte, y int, window [][]byte, opaque bool) {
	if p.copies() && p.layout != RGB && (opaque || !p.ready) {
		copy(out, window[0])
		return
	}
	_, weights := p.down.window(y)
	columns, step := p.across.size, int(p.layout)
	if !opaque {
		s.wide = sized(s.wide, 4*p.across.reach+slack)
		s.sums = sized(s.sums, len(out))
		mixDownAlpha(s.wide[:4*columns], window, weights, p.down.bits, p.ready)
		mixAcrossAlpha(s.sums, s.wide, p.across)
		divideAlpha(out, s.sums)
		return
	}
	s.mid = sized(s.mid, step*p.across.reach+slack)
	mixDown(s.mid[:step*columns], window, weights, p.down.bits)
	if p.layout == Grey {
		mixPlane(out, s.mid, p.across)
		return
	}
	mixPixels(out, s.mid, p.across, p.layout)
}

// ring holds the source rows that the kernel reaches.
type ring struct {
	rows   [][]byte
	opaque []bool
	own    []byte // where rows are copied or converted to; empty when they are used where they lie
	size   int    // bytes a row
	next   int    // the source row that comes next, from the top of the part
}

// newRing of n rows, each with room for size bytes of own; 0: rows are used where they lie.
func newRing(n, size int, own []byte) *ring {
	return &ring{rows: make([][]byte, n), opaque: make([]bool, n), own: own[:n*size], size: size}
}

// room is where the next row may be put.
func (r *ring) room() []byte {
	at := r.next % len(r.rows) * r.size
	return r.own[at : at+r.size : at+r.size]
}

// put takes the next row.
func (r *ring) put(row []byte, opaque bool) {
	at := r.next % len(r.rows)
	r.rows[at], r.opaque[at] = row, opaque
	r.next++
}

// window collects the rows from first on into to and says whether all of them are opaque.
func (r *ring) window(to [][]byte, first int) (opaque bool) {
	opaque = true
	for k := range to {
		at := (first + k) % len(r.rows)
		to[k] = r.rows[at]
		opaque = opaque && r.opaque[at]
	}
	return opaque
}

// isOpaque says whether every pixel of four bytes has the alpha 255.
func isOpaque(row []byte) bool {
	const alphas = 0xff000000ff000000
	both := uint64(math.MaxUint64)
	for ; len(row) >= 32; row = row[32:] {
		both &= binary.LittleEndian.Uint64(row) & binary.LittleEndian.Uint64(row[8:]) &
			binary.LittleEndian.Uint64(row[16:]) & binary.LittleEndian.Uint64(row[24:])
		if both&alphas != alphas {
			return false
		}
	}
	for ; len(row) >= 4; row = row[4:] {
		if row[3] != 255 {
			return false
		}
	}
	return true
}
