package resample

import "unsafe"

// fast tells whether the processor has AVX2 and the system keeps its registers.
var fast = hasAVX2()

// hasAVX2 asks CPUID and XGETBV.
//
//go:noescape
func hasAVX2() bool

// mixRowsAVX2 mixes pairs of rows; n is a multiple of 32, and each row and dst
// have n bytes at least.
//
//go:noescape
func mixRowsAVX2(dst *byte, rows **byte, weights *int16, pairs, n int)

// mixAcross4AVX2 mixes n pixels of four bytes, each from 4·quads pixels of src.
//
//go:noescape
func mixAcross4AVX2(dst, src *byte, list *tap, weights *int16, quads, n int)

// mixAcross1AVX2 mixes n bytes, each from 8·eights bytes of src.
//
//go:noescape
func mixAcross1AVX2(dst, src *byte, list *tap, weights *int16, eights, n int)

// rowBlock is what mixRowsAVX2 does at a time.
const rowBlock = 32

// mixRows mixes rows into dst, byte by byte: an even number of them, each at
// least as long as dst.
func mixRows(dst []byte, rows [][]byte, weights []int16, pointers []*byte) {
	n := len(dst)
	if !fast || n < rowBlock {
		mixRowsPlain(dst, rows, weights)
		return
	}
	for k, row := range rows {
		pointers[k] = &row[:n][0]
	}
	_ = weights[:len(rows)]
	whole := n / rowBlock * rowBlock
	mixRowsAVX2(&dst[0], &pointers[0], &weights[0], len(rows)/2, whole)
	if whole == n {
		return
	}
	last := n - rowBlock // the last block once more, from the end
	for k, row := range rows {
		pointers[k] = &row[last]
	}
	mixRowsAVX2(&dst[last], &pointers[0], &weights[0], len(rows)/2, rowBlock)
}

// mixAcross4 mixes pixels of four bytes; src must reach far enough for the taps
// that fill up (reach).
func mixAcross4(dst, src []byte, t *taps) {
	if !fast || t.k%4 != 0 {
		mixAcross4Plain(dst, src, t)
		return
	}
	t.check(len(src)/4, len(dst)/4)
	mixAcross4AVX2(&dst[0], &src[0], &t.list[0], unsafe.SliceData(t.weights), t.k/4, len(t.list))
}

// mixAcross1 is mixAcross4 for one byte a pixel.
func mixAcross1(dst, src []byte, t *taps) {
	if !fast || t.k%8 != 0 {
		mixAcross1Plain(dst, src, t)
		return
	}
	t.check(len(src), len(dst))
	mixAcross1AVX2(&dst[0], &src[0], &t.list[0], unsafe.SliceData(t.weights), t.k/8, len(t.list))
}

// check panics when a kernel would read or write outside: the assembly does not ask.
func (t *taps) check(src, dst int) {
	if t.reach > src || len(t.list) > dst {
		panic("resample: a kernel would leave its row")
	}
}
