package pngread

import (
	"bytes"
	"fmt"
	"hash/adler32"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// paethOfTheSpecification is written as the PNG specification has it (9.4).
func paethOfTheSpecification(a, b, c int) int {
	p := a + b - c
	far := func(v int) int { return max(p-v, v-p) }
	switch {
	case far(a) <= far(b) && far(a) <= far(c):
		return a
	case far(b) <= far(c):
		return b
	}
	return c
}

func TestPaethIsTheSpecificationsForAllBytes(t *testing.T) {
	t.Parallel()
	for a := range 256 {
		for b := range 256 {
			for c := range 256 {
				if got, want := paeth(a, b, c), paethOfTheSpecification(a, b, c); got != want {
					t.Fatalf("paeth(%d, %d, %d) = %d, want %d", a, b, c, got, want)
				}
			}
		}
	}
}

// padded draws n bytes inside a larger slice, so that a write beyond them can be seen.
func padded(t *rapid.T, name string, n int) (all, inner []byte) {
	all = rapid.SliceOfN(rapid.Byte(), n+48, n+48).Draw(t, name)
	return all, all[16 : 16+n : 16+n]
}

func TestKernelsGiveTheirScalarTwinsBytesAndStayInside(t *testing.T) {
	t.Parallel()
	type undo func(row, above []byte, size int)
	kernels := []struct {
		name         string
		fast, scalar undo
	}{
		{"sub", func(row, _ []byte, size int) { unSub(row, size) }, func(row, _ []byte, size int) { unSubScalar(row, size, 0) }},
		{"up", func(row, above []byte, _ int) { unUp(row, above) }, func(row, above []byte, _ int) { unUpScalar(row, above, 0) }},
		{"average", unAverage, func(row, above []byte, size int) { unAverageScalar(row, above, size, 0) }},
		{"paeth", unPaeth, func(row, above []byte, size int) { unPaethScalar(row, above, size, 0) }},
	}
	for _, k := range kernels {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(0, 200).Draw(t, "bytes")
				size := rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8}).Draw(t, "size")
				all, row := padded(t, "row", n)
				allAbove, above := padded(t, "above", n)
				want, wantAbove := slices.Clone(all), slices.Clone(allAbove)
				k.scalar(want[16:16+n], wantAbove[16:16+n], size)
				k.fast(row, above, size)
				if !bytes.Equal(all, want) || !bytes.Equal(allAbove, wantAbove) {
					t.Fatalf("%d bytes of %d a pixel:\n got %v\nwant %v", n, size, all, want)
				}
			})
		})
	}
}

// Every a, b and c in every lane, through the kernels for three and four bytes a pixel.
func TestPaethKernelsKnowAllBytes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{3, 4} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			row, above := make([]byte, 2*256*size+1), make([]byte, 2*256*size+1)
			for c := range 256 {
				for b := range 256 {
					// Pixel 2a has c above it and is made a; pixel 2a+1 has b above it and shows what was foretold.
					want := make([]byte, 0, len(row))
					clear(row)
					left, corner := 0, 0
					for a := range 256 {
						for lane := range size {
							above[2*a*size+lane], above[(2*a+1)*size+lane] = byte(c), byte(b)
							row[2*a*size+lane] = byte(a - paethOfTheSpecification(left, c, corner))
						}
						left, corner = paethOfTheSpecification(a, b, c), b
						want = append(want, bytes.Repeat([]byte{byte(a)}, size)...)
						want = append(want, bytes.Repeat([]byte{byte(left)}, size)...)
					}
					unPaeth(row, above, size)
					if !bytes.Equal(row[:len(want)], want) {
						t.Fatalf("b %d, c %d: another row than foretold", b, c)
					}
				}
			}
		})
	}
}

func TestAdlerIsTheStandardLibrarys(t *testing.T) {
	t.Parallel()
	for _, fast := range []func(uint32, []byte) uint32{adler, adlerScalar} {
		full := bytes.Repeat([]byte{255}, 70000)
		for _, n := range []int{0, 1, 15, 16, 17, 5551, 5552, 5553, 11104, 70000} {
			if got, want := fast(1, full[:n]), adler32.Checksum(full[:n]); got != want {
				t.Errorf("%d bytes of 255: %08x, want %08x", n, got, want)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			b := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes")
			cut := rapid.IntRange(0, len(b)).Draw(t, "cut")
			if got, want := fast(fast(1, b[:cut]), b[cut:]), adler32.Checksum(b); got != want {
				t.Fatalf("%08x, want %08x", got, want)
			}
		})
	}
}

func TestMatchesAreRepeatedByteByByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dist := rapid.IntRange(1, 300).Draw(t, "distance")
		n := rapid.IntRange(1, maxMatch).Draw(t, "length")
		buf := append(noise(dist), make([]byte, n+slack)...)
		want := slices.Clone(buf)
		for i := range n {
			want[dist+i] = want[i]
		}
		other := slices.Clone(buf)
		copyMatch(other, dist, n, dist)
		if !bytes.Equal(other, want) {
			t.Fatal("copyMatch gives other bytes")
		}
		repeat(buf, dist, n, dist)
		if !bytes.Equal(buf[:dist+n], want[:dist+n]) || !bytes.Equal(buf[dist+n+16:], want[dist+n+16:]) {
			t.Fatal("repeat gives other bytes, or reaches too far")
		}
	})
}
