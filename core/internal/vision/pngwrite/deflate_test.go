package pngwrite

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Rows of few and of many colours, with rows before them, through the standard inflater.
func TestTheMatchersStreamIsInflatedToItsRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.SampledFrom([]int{3, 4}).Draw(t, "depth")
		line := 1 + depth*rapid.SampledFrom([]int{1, 2, 5, 40, 300, 9000, 12000}).Draw(t, "pixels")
		rows, warm := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(0, 3).Draw(t, "warm")
		if line*warm > windowBytes {
			warm = 0
		}
		tiles := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), depth, 9*depth), 1, 9).Draw(t, "tiles")
		order := rapid.SliceOfN(rapid.IntRange(0, len(tiles)-1), 1, 60).Draw(t, "order")
		var buf []byte
		for i := 0; len(buf) < line*(rows+warm); i++ {
			if len(buf)%line == 0 {
				buf = append(buf, 0)
			}
			tile := tiles[order[i%len(order)]]
			room := line - len(buf)%line
			buf = append(buf, tile[:min(room, len(tile)/depth*depth)]...)
		}
		buf = append(buf[:line*(rows+warm)], make([]byte, slack)...)
		var m matcher
		packed := m.lines(buf, warm*line, line, depth)
		r := flate.NewReaderDict(bytes.NewReader(packed), buf[:warm*line])
		got, err := io.ReadAll(r)
		if !errors.Is(err, io.ErrUnexpectedEOF) { // the stream is open: its last block comes later
			t.Fatalf("error %v", err)
		}
		if !bytes.Equal(got, buf[warm*line:len(buf)-slack]) {
			t.Fatal("other bytes")
		}
	})
}

// Complete, within the limit, and no dearer than a code where every symbol has the same length.
func TestCodesAreCompleteAndWithinTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{7, 15}).Draw(t, "limit")
		most := 19
		if limit == 15 {
			most = maxSymbols
		}
		count := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(0, 70000),
			rapid.Map(rapid.IntRange(0, 24), func(n int) uint32 { return 1 << n }))
		counts := rapid.SliceOfN(count, 1, most).Draw(t, "counts")
		out := make([]code, len(counts))
		codes(out, counts, limit)
		used, leaves := 0, 0
		for s, c := range counts {
			if (c > 0) != (out[s].len > 0) || int(out[s].len) > limit {
				t.Fatalf("symbol %d, counted %d: %d bits", s, c, out[s].len)
			}
			if c > 0 {
				used++
				leaves += 1 << (limit - int(out[s].len))
			}
		}
		if used > 1 && leaves != 1<<limit {
			t.Fatalf("%d leaves of %d", leaves, 1<<limit)
		}
		for a := range counts { // the more often, the shorter
			for b := range counts {
				if counts[a] > counts[b] && counts[b] > 0 && out[a].len > out[b].len {
					t.Fatalf("%d counted %d has %d bits, %d counted %d has %d", a, counts[a], out[a].len, b, counts[b], out[b].len)
				}
			}
		}
	})
}

// RFC 1951, 3.2.5: the tables of lengths and distances, spelled out.
func TestSymbolsAreTheStandards(t *testing.T) {
	t.Parallel()
	lengths := []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	for n := minMatch; n <= maxMatch; n++ {
		at, exact := slices.BinarySearch(lengths, n)
		if !exact {
			at--
		}
		symbol, extra := lengthSymbol(uint32(n - minMatch))
		if int(symbol) != 257+at {
			t.Errorf("length %d: symbol %d, want %d", n, symbol, 257+at)
		}
		if rest := (n - minMatch) & (1<<extra - 1); n != 258 && lengths[at]+rest != n {
			t.Errorf("length %d: %d extra bits hold %d", n, extra, rest)
		}
	}
	dists := []int{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	for d := 1; d <= windowBytes; d++ {
		at, exact := slices.BinarySearch(dists, d)
		if !exact {
			at--
		}
		symbol, extra := distSymbol(uint32(d - 1))
		if rest := (d - 1) & (1<<extra - 1); int(symbol) != at || dists[at]+rest != d {
			t.Errorf("distance %d: symbol %d, %d extra bits hold %d", d, symbol, extra, rest)
		}
	}
}
