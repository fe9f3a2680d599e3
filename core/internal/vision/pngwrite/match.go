package pngwrite

import (
	"encoding/binary"
	"math/bits"
)

// matcher finds repetitions in unfiltered rows. It knows what the bytes are: it looks only where
// pixels begin, first at the pixel before and the pixel above, then at places where a pixel of the
// same colour stood before. A match of one pixel, which a general packer scorns when it is far,
// pays: with few bytes left outside matches, the codes of all matches become short.
type matcher struct {
	block
	head [1 << hashBits]int32 // the newest place of each hash, plus 1
	prev [pixelSlots]int32    // the one before it, by pixel
}

// lines packs buf[start:], rows of line bytes each with depth bytes a pixel; what lies before
// start are whole rows that the reader has already. buf goes on for 8 bytes after its end.
func (m *matcher) lines(buf []byte, start, line, depth int) []byte {
	m.reset()
	clear(m.head[:])
	f := finder{m: m, buf: buf, end: len(buf) - slack, line: line, depth: depth, keep: 64 - 8*depth}
	for row := 0; row < start; row += line {
		f.learn(row+1, row+line)
	}
	f.row = start
	f.pack(start)
	m.sync()
	return m.out
}

// finder is one run of a matcher.
type finder struct {
	m           *matcher
	buf         []byte
	end         int // of what is packed
	row         int // where the current row begins
	line, depth int
	keep        int // shifts a word so that one pixel is left
}

func (f *finder) pack(i int) {
	b := &f.m.block
	for i < f.end {
		if len(b.tokens) >= blockTokens {
			b.flush()
		}
		for i-f.row >= f.line {
			f.row += f.line
		}
		n, dist := 0, 0
		switch off := i - f.row - 1; {
		case off < 0: // the filter's byte
			if n, dist = f.above(i), f.line; n < minMatch {
				b.literals(f.buf[i : i+1])
				i++
				continue
			}
		case uint32(off)%uint32(f.depth) != 0:
			rest := f.depth - int(uint32(off)%uint32(f.depth))
			to := min(i+rest, f.end)
			b.literals(f.buf[i:to])
			i = to
			continue
		default:
			n, dist = f.find(i)
		}
		if n == 0 {
			to := min(i+f.depth, f.end)
			b.literals(f.buf[i:to])
			i = to
			continue
		}
		n = f.whole(i, n)
		b.match(n, dist)
		if i > f.row {
			f.learn(i+f.depth, min(i+min(n, learnMatch), f.row+f.line))
		}
		i += n
	}
}

// whole is n, the length of a match at i, without the part of a pixel at its end.
func (f *finder) whole(i, n int) int {
	if i+n == f.end {
		return n
	}
	end := i + n - f.row
	if end >= f.line {
		end = int(uint32(end) % uint32(f.line))
	}
	if end == 0 {
		return n
	}
	part := int(uint32(end-1) % uint32(f.depth))
	if n-part < minMatch {
		return n
	}
	return n - part
}

// above is how long the bytes at i are those of the row above.
func (f *finder) above(i int) int {
	if i < f.line || f.line > windowBytes {
		return 0
	}
	return f.same(i-f.line, i)
}

// same is how many bytes from i on are those from j on.
func (f *finder) same(j, i int) int {
	from := i
	for i < f.end {
		d := binary.LittleEndian.Uint64(f.buf[i:]) ^ binary.LittleEndian.Uint64(f.buf[j:])
		if d != 0 {
			i += bits.TrailingZeros64(d) >> 3
			break
		}
		i, j = i+8, j+8
	}
	return min(i, f.end) - from
}

// find gives the match that saves most at the pixel at i, 0 when there is none, and learns the place.
func (f *finder) find(i int) (n, dist int) {
	buf := f.buf
	x := binary.LittleEndian.Uint64(buf[i:])
	best := 0
	if i > f.depth {
		if l := f.same(i-f.depth, i); l >= minMatch {
			n, dist, best = l, f.depth, gain(l, f.depth)
		}
	}
	if i < f.line || buf[i+n-f.line] == buf[i+n] {
		if l := f.above(i); l >= minMatch {
			if g := gain(l, f.line); g > best {
				n, dist, best = l, f.line, g
			}
		}
	}
	if n >= niceMatch {
		return n, dist
	}
	h := (x << f.keep) * hashPrime >> (64 - hashBits)
	j := int(f.m.head[h]) - 1
	f.m.head[h] = int32(i + 1)
	f.m.prev[f.slot(i)] = int32(j + 1)
	least := max(0, i-windowBytes)
	for range chainDepth {
		if j < least {
			break
		}
		if buf[j+n] == buf[i+n] && (binary.LittleEndian.Uint64(buf[j:])^x)<<f.keep == 0 {
			if l := f.same(j, i); l > n {
				if g := gain(l, i-j); g > best {
					n, dist, best = l, i-j, g
					if n >= niceMatch {
						break
					}
				}
			}
		}
		j = int(f.m.prev[f.slot(j)]) - 1
	}
	return n, dist
}

// slot is where in prev the pixel at i has its place. Two pixels of one window never share one.
func (f *finder) slot(i int) uint32 { return uint32(i) / uint32(f.depth) % pixelSlots }

// learn notes the pixels from from up to to, in one row, without looking for matches.
func (f *finder) learn(from, to int) {
	to = min(to, f.end)
	for i := from; i < to; i += f.depth {
		x := binary.LittleEndian.Uint64(f.buf[i:])
		h := (x << f.keep) * hashPrime >> (64 - hashBits)
		f.m.prev[f.slot(i)] = f.m.head[h]
		f.m.head[h] = int32(i + 1)
	}
}

// gain is about how many bits a match saves: its bytes' less a length's code and the distance's.
func gain(n, dist int) int {
	return n*byteWorth - bits.Len32(uint32(dist)) - matchWorth
}
