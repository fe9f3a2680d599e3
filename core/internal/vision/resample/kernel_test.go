package resample

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// levels draws bytes that kernels find hard too: only the ends of their range.
func levels(t *rapid.T, n int) []byte {
	out := make([]byte, n)
	hard := rapid.Bool().Draw(t, "hard")
	seed := rapid.Uint32().Draw(t, "seed")
	for i := range out {
		seed = seed*1664525 + 1013904223
		out[i] = byte(seed >> 24)
		if hard {
			out[i] = byte(int32(seed) >> 31)
		}
	}
	return out
}

func TestKernelsGiveTheBytesOfTheirPlainTwins(t *testing.T) {
	t.Run("rows", rapid.MakeCheck(func(t *rapid.T) {
		n, rows := rapid.IntRange(1, 200).Draw(t, "bytes"), rapid.IntRange(2, 40).Draw(t, "rows")
		down := span{0, float64(rows), 0, rows, rapid.IntRange(1, rows).Draw(t, "sent")}.taps(2)
		all := make([][]byte, down.k)
		for i := range all {
			all[i] = levels(t, n)
		}
		weights := down.weights[down.list[0].weight:][:down.k]
		got, want := make([]byte, n), make([]byte, n)
		mixRows(got, all, weights, make([]*byte, down.k))
		mixRowsPlain(want, all, weights)
		if !bytes.Equal(got, want) {
			t.Fatalf("%v\n%v", got, want)
		}
	}))
	t.Run("across", rapid.MakeCheck(func(t *rapid.T) {
		size := rapid.IntRange(1, 400).Draw(t, "pixels")
		n := rapid.IntRange(1, size).Draw(t, "sent")
		src := append(levels(t, 4*size), make([]byte, filling)...)
		for i := range filling {
			src[4*size+i] = 255 // what fills up must not count
		}
		s := span{0, float64(size), 0, size, n}
		four, eight := s.taps(4), s.taps(8)
		got, want := make([]byte, 4*n), make([]byte, 4*n)
		mixAcross4(got, src, &four)
		mixAcross4Plain(want, src, &four)
		if !bytes.Equal(got, want) {
			t.Fatalf("four: %v\n%v", got, want)
		}
		mixAcross1(got[:n], src[3*size:], &eight)
		mixAcross1Plain(want[:n], src[3*size:], &eight)
		if !bytes.Equal(got[:n], want[:n]) {
			t.Fatalf("one: %v\n%v", got[:n], want[:n])
		}
	}))
}

func TestWeightsAddUpToOneAndStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, 200_000)).Draw(t, "size")
		n := rapid.IntRange(1, min(size, 2576)).Draw(t, "sent")
		step := rapid.SampledFrom([]int{2, 4, 8}).Draw(t, "step")
		ts := span{0, float64(size), 0, size, n}.taps(step)
		last := int32(0)
		for i, p := range ts.list {
			sum := 0
			for _, w := range ts.weights[p.weight:][:ts.k] {
				sum += int(w)
			}
			if sum != one || p.first < last || int(p.first)+ts.real > size || ts.k%step != 0 || ts.k-ts.real >= step {
				t.Fatalf("pixel %d: %+v, sum %d, %d taps of %d", i, p, sum, ts.real, ts.k)
			}
			last = p.first
		}
	})
}

func TestAVeryLongSideNeedsLittleMemory(t *testing.T) {
	ts := span{0, 36e6, 0, 36_000_000, 1568}.taps(8)
	if n := 2 * len(ts.weights); n > 64<<20 {
		t.Errorf("%d bytes of weights", n)
	}
}

func TestAKernelThatWouldLeaveItsRowIsStopped(t *testing.T) {
	if !fast {
		t.Skip("not run: this processor has no kernels of its own")
	}
	defer func() {
		if recover() == nil {
			t.Error("it was not")
		}
	}()
	ts := span{0, 100, 0, 100, 50}.taps(4)
	mixAcross4(make([]byte, 200), make([]byte, 396), &ts)
}
