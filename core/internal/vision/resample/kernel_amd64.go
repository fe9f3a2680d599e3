package resample

// vector tells whether the processor has AVX2 and the system keeps its registers.
var vector = hasAVX2()

// hasAVX2 asks CPUID and XGETBV.
//
//go:noescape
func hasAVX2() bool

// downAVX2 mixes pairs of rows of n bytes, n a multiple of downBlock.
//
//go:noescape
func downAVX2(out *int16, rows **byte, weights *int16, pairs, n int)

// pixelsAVX2 mixes n pixels from quads of neighbours of step bytes; order picks the two pixels in
// sixteen bytes apart, plus is or-ed to each result.
//
//go:noescape
func pixelsAVX2(out *byte, mid *int16, first *int32, weights *int16, quads, n, step int, order *[16]byte, plus uint32)

// planeAVX2 mixes n bytes, n a multiple of four, from groups of eight neighbours.
//
//go:noescape
func planeAVX2(out *byte, mid *int16, first *int32, weights *int16, groups, n int)

// downAlphaAVX2 mixes pairs of rows of n bytes, n a multiple of alphaBlock. A pixel is multiplied by
// what times picks of its sixteen-bit channels, or-ed with plus.
//
//go:noescape
func downAlphaAVX2(out *int32, rows **byte, weights *int16, pairs, n int, times, plus *[16]byte)

// acrossAlphaAVX2 mixes n pixels from quads of neighbours.
//
//go:noescape
func acrossAlphaAVX2(out, mid, first *int32, weights *int16, quads, n int)

// rgbAVX2 converts n pixels, n a multiple of rgbBlock.
//
//go:noescape
func rgbAVX2(out, luma, cb, cr *byte, n int)

// What the kernels do at a time, in bytes or pixels. What is left over is done once more
// with the end of the last block at the end of the row.
const (
	downBlock  = 64
	alphaBlock = 16
	rgbBlock   = 8
)

// none is a byte that VPSHUFB fills with zero.
const none = 0x80

// Two pixels' sixteen-bit channels side by side, of four and of three channels.
var (
	pairsOfFour  = [16]byte{0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}
	pairsOfThree = [16]byte{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, none, none, none, none}
)

// What colours and alpha are multiplied by: alpha and 255; or 255 when they are multiplied already.
var (
	timesAlpha = [16]byte{6, 7, 6, 7, 6, 7, none, none, 14, 15, 14, 15, 14, 15, none, none}
	timesFull  = [16]byte{none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none}
	plusAlpha  = [16]byte{6: 255, 14: 255}
	plusFull   = [16]byte{0: 255, 2: 255, 4: 255, 6: 255, 8: 255, 10: 255, 12: 255, 14: 255}
)

// pointers to each row's byte at; the last row once more makes their number even, and its weight,
// which is padding, is 0.
func pointers(to []*byte, rows [][]byte, at int) {
	for k := range to {
		to[k] = &rows[min(k, len(rows)-1)][at]
	}
}

// mostRows are mixed by the kernels: more than a reduction that is not wide has.
const mostRows = 4*wideRatio + 4

// even puts the weights where one more may be read.
func even(to *[mostRows]int16, weights []int16) []int16 {
	n := copy(to[:], weights)
	to[n] = 0
	return to[:n+n%2]
}

// fits says whether all rows have n bytes and can be mixed by a kernel for blocks of them.
func fits(rows [][]byte, weights []int16, n, block int, bits uint) bool {
	if !vector || bits != weightBits || n < block || len(weights) >= mostRows || len(rows) < len(weights) {
		return false
	}
	for _, row := range rows {
		_ = row[:n]
	}
	return true
}

func mixDown(out []int16, rows [][]byte, weights []int16, bits uint) {
	n := len(out)
	if !fits(rows, weights, n, downBlock, bits) {
		mixDownScalar(out, rows, weights, bits)
		return
	}
	var w [mostRows]int16
	var to [mostRows]*byte
	ws := even(&w, weights)
	at := 0
	for at < n {
		run := (n - at) / downBlock * downBlock
		if run == 0 {
			at, run = n-downBlock, downBlock
		}
		pointers(to[:len(ws)], rows, at)
		downAVX2(&out[at], &to[0], &ws[0], len(ws)/2, run)
		at += run
	}
}

func mixDownAlpha(out []int32, rows [][]byte, weights []int16, bits uint, ready bool) {
	n := len(out)
	if !fits(rows, weights, n, alphaBlock, bits) {
		mixDownAlphaScalar(out, rows, weights, bits, ready)
		return
	}
	times, plus := &timesAlpha, &plusAlpha
	if ready {
		times, plus = &timesFull, &plusFull
	}
	var w [mostRows]int16
	var to [mostRows]*byte
	ws := even(&w, weights)
	at := 0
	for at < n {
		run := (n - at) / alphaBlock * alphaBlock
		if run == 0 {
			at, run = n-alphaBlock, alphaBlock
		}
		pointers(to[:len(ws)], rows, at)
		downAlphaAVX2(&out[at], &to[0], &ws[0], len(ws)/2, run, times, plus)
		at += run
	}
}

// takes says whether a row of mid numbers is long enough for the kernels to read what the axis
// pads, and out has the pixels that it gives.
func (a *axis) takes(lanes, mid, out, step int) bool {
	if !vector || a.bits != weightBits || a.stride%lanes != 0 {
		return false
	}
	if mid < step*a.reach+slack || out != len(a.first) {
		panic("resample: a kernel would leave its row")
	}
	return out > 0
}

func mixPixels(out []byte, mid []int16, a *axis, l Layout) {
	if !a.takes(mixedLanes, len(mid), len(out)/4, int(l)) {
		mixPixelsScalar(out, mid, a, l)
		return
	}
	order, plus := &pairsOfFour, uint32(0)
	if l == RGB {
		order, plus = &pairsOfThree, 0xff000000
	}
	pixelsAVX2(&out[0], &mid[0], &a.first[0], &a.weights[0], a.stride/mixedLanes, len(a.first), 2*int(l), order, plus)
}

func mixPlane(out []byte, mid []int16, a *axis) {
	n := len(out) &^ 3
	if !a.takes(planeLanes, len(mid), len(out), 1) || n == 0 {
		mixPlaneScalar(out, mid, a, 0)
		return
	}
	planeAVX2(&out[0], &mid[0], &a.first[0], &a.weights[0], a.stride/planeLanes, n)
	mixPlaneScalar(out, mid, a, n)
}

func mixAcrossAlpha(out, mid []int32, a *axis) {
	if !a.takes(mixedLanes, len(mid), len(out)/4, 4) {
		mixAcrossAlphaScalar(out, mid, a)
		return
	}
	acrossAlphaAVX2(&out[0], &mid[0], &a.first[0], &a.weights[0], a.stride/mixedLanes, len(a.first))
}

func toRGB(out, luma, cb, cr []byte) {
	n := len(luma) &^ (rgbBlock - 1)
	_, _, _ = out[:4*n], cb[:n], cr[:n]
	if !vector || n == 0 {
		n = 0
	} else {
		rgbAVX2(&out[0], &luma[0], &cb[0], &cr[0], n)
	}
	toRGBScalar(out, luma, cb, cr, n)
}
