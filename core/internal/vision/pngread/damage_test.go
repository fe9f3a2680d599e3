package pngread

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFilesCutAnywhereAreRefusedAsTheStandardDecoderDoes(t *testing.T) {
	t.Parallel()
	for _, s := range sorts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			data := s.draw(5, 6, anyFilter)
			for n := range data {
				if _, sound := differ(t, data[:n]); sound {
					t.Errorf("cut at %d of %d and taken", n, len(data))
				}
			}
		})
	}
}

func TestFlippedBytesAreSeenAsTheStandardDecoderDoes(t *testing.T) {
	t.Parallel()
	for _, s := range sorts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			data := s.draw(5, 6, anyFilter)
			for i := range data {
				for _, bit := range []byte{1, 0x20, 0x80, 0xff} {
					data[i] ^= bit
					differ(t, data)
					data[i] ^= bit
				}
			}
		})
	}
}

// As above, with checksums mended, so that what is behind them is reached.
func TestFlippedPixelDataIsSeenAsTheStandardDecoderDoes(t *testing.T) {
	t.Parallel()
	s := sorts[len(sorts)-1]
	for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.BestCompression} {
		t.Run(fmt.Sprint("level ", level), func(t *testing.T) {
			t.Parallel()
			z := zippedAt(s.rows(9, 12, anyFilter), level)
			for i := range z {
				for bit := range 8 {
					z[i] ^= 1 << bit
					differ(t, s.file(9, 12, z))
					z[i] ^= 1 << bit
				}
				differ(t, s.file(9, 12, z[:i]))
			}
		})
	}
}

func TestFlippedPixelDataOfALargePictureIsSeen(t *testing.T) {
	t.Parallel()
	s := sorts[len(sorts)-1]
	whole := zipped(s.rows(300, 400, anyFilter)) // larger than serialBytes: two goroutines
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		z := slices.Clone(whole)
		z[rnd.IntN(len(z))] ^= 1 << rnd.IntN(8)
		if _, sound := differ(t, s.file(300, 400, z)); sound {
			t.Error("a flipped bit was taken")
		}
	}
	if _, sound := differ(t, s.file(300, 400, whole[:len(whole)/2], whole[len(whole)/2:])); !sound {
		t.Error("the whole file was refused")
	}
}

func TestPixelDataMayLieInAnyNumberOfChunks(t *testing.T) {
	t.Parallel()
	s := sorts[len(sorts)-1]
	for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.BestCompression} {
		z := zippedAt(s.rows(40, 30, anyFilter), level)
		for _, size := range []int{1, 2, 3, 7, 8, 9, 16, 17, 100, 1000} {
			chunks := slices.Collect(slices.Chunk(z, size))
			chunks = slices.Insert(chunks, len(chunks)/2, nil) // empty ones are passed over
			if _, sound := differTwice(t, s.file(40, 30, append(chunks, nil)...)); !sound {
				t.Errorf("level %d in chunks of %d bytes: refused", level, size)
			}
		}
	}
}

// The standard decoder reads through a buffer of 4096 bytes. What lies behind the stream in the same chunk goes
// unseen if it is in the buffer by then.
func TestBytesBehindTheStreamAreTakenOrRefusedAsTheStandardDecoderDoes(t *testing.T) {
	t.Parallel()
	s := sorts[len(sorts)-1]
	taken, refused := 0, 0
	for _, level := range []int{zlib.NoCompression, zlib.BestSpeed} {
		for h := 1; h < 60; h += 7 {
			z := zippedAt(s.rows(37, h, anyFilter), level)
			for _, more := range []int{1, 2, 100, 3000, 4000, 4095, 4096, 4097, 9000} {
				junk := make([]byte, more)
				for _, chunks := range [][][]byte{
					{append(slices.Clone(z), junk...)}, {z, junk}, {z[:len(z)-3], append(slices.Clone(z[len(z)-3:]), junk...)},
				} {
					if _, sound := differTwice(t, s.file(37, h, chunks...)); sound {
						taken++
					} else {
						refused++
					}
				}
			}
		}
	}
	if taken == 0 || refused == 0 {
		t.Errorf("%d taken, %d refused: both were to come up", taken, refused)
	}
}

func TestTooMuchAndTooLittleIsSeen(t *testing.T) {
	t.Parallel()
	s := sorts[len(sorts)-1]
	rows := s.rows(37, 20, anyFilter)
	for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.BestCompression} {
		for _, more := range []int{-len(rows), -1000, -2, -1, 1, 2, 3, 300, 70000} {
			other := append(slices.Clone(rows), make([]byte, max(0, more))...)[:len(rows)+more]
			if opened, sound := differ(t, s.file(37, 20, zippedAt(other, level))); !opened || sound {
				t.Errorf("level %d, %d bytes more: opened %v, sound %v", level, more, opened, sound)
			}
		}
	}
}

func TestChunksAreTakenInTheStandardDecodersOrderOnly(t *testing.T) {
	t.Parallel()
	for _, s := range sorts {
		z := zipped(s.rows(4, 4, anyFilter))
		extra := map[string][]byte{
			"header": s.file(4, 4)[8:33], "palette": pack("PLTE", noise(6)), "short palette": pack("PLTE", noise(4)), "no palette": pack("PLTE", nil),
			"key": pack("tRNS", noise(2)), "key of six": pack("tRNS", noise(6)), "no key": pack("tRNS", nil), "long key": pack("tRNS", noise(257)),
			"text": pack("zTXt", []byte("k\x00\x00never unpacked")), "end": pack("IEND", nil), "end with content": pack("IEND", []byte{1}), "pixels": pack("IDAT", z),
			"empty": pack("IDAT", nil), "odd pixels": pack("IDAT", []byte("odd")), "wrong sum": append(pack("tEXt", nil)[:8], 1, 2, 3, 4),
		}
		base := s.file(4, 4, z, nil)
		for at := len(signature); at < len(base); {
			for name, c := range extra {
				t.Run(fmt.Sprintf("%s/%s at %d", s.name, name, at), func(t *testing.T) {
					differ(t, slices.Insert(slices.Clone(base), at, c...))
				})
			}
			at += overhead + int(binary.BigEndian.Uint32(base[at:]))
		}
	}
}

func TestHeadersThatAskForTooMuchAreLeftToTheStandardDecoder(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{0, 1}, {1, 0}, {1 << 31, 1}, {1, 1 << 31}, {1<<31 - 1, 1}, {1<<32 - 1, 1<<32 - 1}} {
		if _, ok := Open(sorts[len(sorts)-1].file(size[0], size[1], zipped(nil))); ok {
			t.Errorf("%d×%d was opened", size[0], size[1])
		}
	}
	var b bytes.Buffer
	b.WriteString(signature)
	if _, ok := Open(b.Bytes()); ok {
		t.Error("a signature alone was opened")
	}
}

// Some literals and the longest match, again and again, so that a block ends at each place within the first.
func TestBlocksMayEndWithinAMatch(t *testing.T) {
	t.Parallel()
	s := sort{depth: 8, kind: grey}
	rnd := rand.New(rand.NewPCG(3, 4))
	const stride, period = 1501, 4 + maxMatch
	const rows = blockBytes / stride
	for shift := range 16 {
		for literals := range 3 {
			raw := make([]byte, stride*(rows+2))
			for i := (rows*stride + shift - 8) % period; i < len(raw); i += period {
				for k := range min(1+literals, len(raw)-i) {
					raw[i+k] = byte(1 + rnd.IntN(255))
				}
			}
			for y := range rows + 2 {
				raw[y*stride] = 0
			}
			r, ok := Open(s.file(stride-1, rows+2, zippedAt(raw, zlib.BestSpeed)))
			if !ok {
				t.Fatal("not opened")
			}
			if err := r.Rows(t.Context(), func(int, []byte) error { return nil }); err != nil {
				t.Errorf("shifted by %d, %d literals: %v", shift, 1+literals, err)
			}
		}
	}
}
