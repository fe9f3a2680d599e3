package pngwrite

import (
	"bytes"
	"hash/adler32"
	"testing"

	"pgregory.net/rapid"
)

// someBytes draws n bytes that are often extreme or near each other, where filters branch.
func someBytes(t *rapid.T, n int, name string) []byte {
	one := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 1, 127, 128, 129, 254, 255}))
	return rapid.SliceOfN(one, n, n).Draw(t, name)
}

func TestTheKernelsGiveTheirScalarTwinsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "n")
		row, left, above, corner := someBytes(t, n, "row"), someBytes(t, n, "left"), someBytes(t, n, "above"), someBytes(t, n, "corner")
		got, want := make([]byte, n), make([]byte, n)
		paethRow(got, row, left, above, corner)
		paethScalar(want, row, left, above, corner)
		if !bytes.Equal(got, want) {
			t.Fatalf("paeth %v, want %v", got, want)
		}
		if got, want := weight(row), weightScalar(row); got != want {
			t.Fatalf("weight %d, want %d", got, want)
		}
	})
}

// Every combination of three neighbours, through the kernel, against the words of the PNG
// specification (W3C PNG, 9.4).
func TestPaethIsTheSpecificationsForAllNeighbours(t *testing.T) {
	t.Parallel()
	distance := func(x, y int) int { return max(x-y, y-x) }
	lefts := make([]byte, 256)
	for i := range lefts {
		lefts[i] = byte(i)
	}
	row, got := make([]byte, 256), make([]byte, 256)
	for b := range 256 {
		for c := range 256 {
			above, corner := bytes.Repeat([]byte{byte(b)}, 256), bytes.Repeat([]byte{byte(c)}, 256)
			paethRow(got, row, lefts, above, corner)
			for a := range 256 {
				p := a + b - c
				want := c
				if distance(p, b) <= distance(p, c) {
					want = b
				}
				if distance(p, a) <= distance(p, b) && distance(p, a) <= distance(p, c) {
					want = a
				}
				if got[a] != -byte(want) {
					t.Fatalf("left %d, above %d, corner %d: %d, want %d", a, b, c, -got[a], want)
				}
			}
		}
	}
}

func TestFiltersUndone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "depth")
		n := depth * rapid.IntRange(1, 30).Draw(t, "pixels")
		row, before := someBytes(t, n, "row"), someBytes(t, n, "before")
		f := filter(rapid.IntRange(0, int(filters)-1).Draw(t, "filter"))
		got := make([]byte, n)
		f.apply(got, row, before, depth)
		for i := range n {
			var a, c byte
			if i >= depth {
				a, c = row[i-depth], before[i-depth]
			}
			b := before[i]
			var near [1]byte
			paethScalar(near[:], []byte{0}, []byte{a}, []byte{b}, []byte{c})
			from := [filters]byte{none: 0, sub: a, up: b, avg: byte((int(a) + int(b)) / 2), paeth: -near[0]}[f]
			if got[i]+from != row[i] {
				t.Fatalf("filter %d, byte %d: %d + %d is not %d", f, i, got[i], from, row[i])
			}
		}
	})
}

func TestAdlerIsTheStandardLibrarysWholeAndJoined(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte{255}, 3*adlerRun+5)
	if got, want := adler(long), adler32.Checksum(long); got != want {
		t.Errorf("all ones: %08x, want %08x", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "bytes"), rapid.IntRange(1, 90).Draw(t, "times"))
		want := adler32.Checksum(b)
		at := rapid.IntRange(0, len(b)).Draw(t, "at")
		if got := joinAdler(adler(b[:at]), adler(b[at:]), len(b)-at); got != want {
			t.Fatalf("joined %08x, want %08x", got, want)
		}
	})
}
