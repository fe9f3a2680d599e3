package resample

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawBytes draws n bytes, often only the ends of their range, where sums are largest.
func drawBytes(t *rapid.T, n int, name string) []byte {
	out, seed := make([]byte, n), rapid.Uint32().Draw(t, name)
	kind := rapid.IntRange(0, 2).Draw(t, name+"'s kind")
	for i := range out {
		seed = seed*1664525 + 1013904223
		switch kind {
		case 0:
			out[i] = byte(seed >> 24)
		case 1:
			out[i] = byte(int32(seed) >> 31)
		case 2:
			out[i] = byte(-(i & 1)) // a checkerboard
		}
	}
	return out
}

// drawAxis draws a reduction whose kernels exist.
func drawAxis(t *rapid.T, lanes int) *axis {
	size := rapid.IntRange(1, 300).Draw(t, "size")
	n := rapid.IntRange(size/100+1, size).Draw(t, "n")
	return axisOf(spread{size: size, n: n}, lanes)
}

// extreme weights: the largest that an axis has, in any order, still summing up to 1<<weightBits.
func drawWeights(t *rapid.T) []int16 {
	a := drawAxis(t, 1)
	_, w := a.window(rapid.IntRange(0, len(a.first)-1).Draw(t, "window"))
	return rapid.Permutation(w).Draw(t, "weights")
}

func drawRows(t *rapid.T, rows, n int) [][]byte {
	all := make([][]byte, rows)
	for i := range all {
		all[i] = slices.Clip(drawBytes(t, n, "row"))
	}
	return all
}

func TestDownKernelsGiveTheirTwinsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t)
		n := 4 * rapid.IntRange(1, 80).Draw(t, "pixels")
		odd := n - rapid.IntRange(0, 3).Draw(t, "fewer")
		rows := drawRows(t, len(w), n)
		got, want := make([]int16, odd+1), make([]int16, odd+1)
		got[odd], want[odd] = 77, 77 // is not the kernel's
		mixDown(got[:odd], rows, w, weightBits)
		mixDownScalar(want[:odd], rows, w, weightBits)
		if !slices.Equal(got, want) {
			t.Fatalf("%v\nwant %v", got, want)
		}
		ready := rapid.Bool().Draw(t, "ready")
		got32, want32 := make([]int32, n+1), make([]int32, n+1)
		got32[n], want32[n] = 77, 77
		mixDownAlpha(got32[:n], rows, w, weightBits, ready)
		mixDownAlphaScalar(want32[:n], rows, w, weightBits, ready)
		if !slices.Equal(got32, want32) {
			t.Fatalf("alpha, ready %v: %v\nwant %v", ready, got32, want32)
		}
	})
}

func TestAcrossKernelsGiveTheirTwinsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom([]Layout{Grey, RGB, NRGBA}).Draw(t, "layout")
		lanes := mixedLanes
		if l == Grey {
			lanes = planeLanes
		}
		a := drawAxis(t, lanes)
		mid := make([]int16, int(l)*a.reach+slack)
		for i, v := range drawBytes(t, 2*len(mid), "mid") {
			if i%2 == 0 { // from far below 0 to far above 255, as a kernel overshoots
				mid[i/2] = int16(v)*96 - 4000
			}
		}
		n := len(a.first)
		if l == Grey {
			got, want := make([]byte, n+1), make([]byte, n+1)
			mixPlane(got[:n], mid, a)
			mixPlaneScalar(want[:n], mid, a, 0)
			if !bytes.Equal(got, want) {
				t.Fatalf("%v\nwant %v", got, want)
			}
			return
		}
		got, want := make([]byte, 4*n+1), make([]byte, 4*n+1)
		mixPixels(got[:4*n], mid, a, l)
		mixPixelsScalar(want[:4*n], mid, a, l)
		if !bytes.Equal(got, want) {
			t.Fatalf("layout %d: %v\nwant %v", l, got, want)
		}
	})
}

func TestTheAlphaKernelAcrossGivesItsTwinsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawAxis(t, mixedLanes)
		mid := make([]int32, 4*a.reach+slack)
		for i, v := range drawBytes(t, len(mid), "mid") {
			mid[i] = int32(v)*320 - 9000 // an eighth below 0 and above 65025
		}
		n := 4 * len(a.first)
		got, want := make([]int32, n+1), make([]int32, n+1)
		mixAcrossAlpha(got[:n], mid, a)
		mixAcrossAlphaScalar(want[:n], mid, a)
		if !slices.Equal(got, want) {
			t.Fatalf("%v\nwant %v", got, want)
		}
	})
}

func TestTheColourKernelGivesItsTwinsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		y, cb, cr := drawBytes(t, n, "y"), drawBytes(t, n, "cb"), drawBytes(t, n, "cr")
		got, want := make([]byte, 4*n+1), make([]byte, 4*n+1)
		toRGB(got[:4*n], y, cb, cr)
		toRGBScalar(want[:4*n], y, cb, cr, 0)
		if !bytes.Equal(got, want) {
			t.Fatalf("%v\nwant %v", got, want)
		}
	})
}

// TestARowTooShortStopsTheKernel: the assembly does not ask.
func TestARowTooShortStopsTheKernel(t *testing.T) {
	t.Parallel()
	a := axisOf(spread{size: 100, n: 40}, mixedLanes)
	w := []int16{1 << 13, 1 << 13}
	for name, call := range map[string]func(){
		"across": func() { mixPixels(make([]byte, 160), make([]int16, 4*100-1), a, NRGBA) },
		"alpha":  func() { mixAcrossAlpha(make([]int32, 160), make([]int32, 4*100-1), a) },
		"down":   func() { mixDown(make([]int16, 128), [][]byte{make([]byte, 128), make([]byte, 127)}, w, weightBits) },
		"colour": func() { toRGB(make([]byte, 4*64-1), make([]byte, 64), make([]byte, 64), make([]byte, 64)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it did not stop", name)
				}
			}()
			call()
		}()
	}
}

func TestWeightsAddUpAndStayInside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, 200_000)).Draw(t, "size")
		n := rapid.IntRange(1, min(size, 2576)).Draw(t, "n")
		all := spread{size: size, n: n}
		if sub := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "sub"); sub > 1 {
			at := rapid.IntRange(0, 3).Draw(t, "at")
			all.sample = func(x int) int { return (at+x)/sub - at/sub }
			size = all.samples()
		}
		a := axisOf(all, planeLanes)
		last := 0
		for i := range n {
			first, w := a.window(i)
			sum, span, rest := 0, 0, a.weights[a.at[i]:][:max(a.stride, len(w))]
			for k, w := range rest {
				sum += int(w)
				span += max(int(w), -int(w))
				if k >= int(a.count[i]) && w != 0 {
					t.Fatalf("pixel %d: %v behind %d weights", i, rest, a.count[i])
				}
			}
			// The kernels' sums hold 1.3 of the weights' size, see mixAcrossAlpha.
			if sum != 1<<a.bits || span*10 > 13*sum || first < last || first+len(w) > size || first+a.stride > a.reach {
				t.Fatalf("pixel %d: from %d %v, sum %d of %d, size %d", i, first, w, sum, 1<<a.bits, span)
			}
			last = first
		}
	})
}

func TestAVeryLongSideNeedsLittleMemory(t *testing.T) {
	t.Parallel()
	a := axisOf(spread{size: 36_000_000, n: 1568}, planeLanes)
	if size := 2 * len(a.weights); size > 8<<20 {
		t.Errorf("%d bytes of weights", size)
	}
}
