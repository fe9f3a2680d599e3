package pngwrite

import (
	"encoding/binary"
	"math/bits"
)

// What deflate knows (RFC 1951).
const (
	maxSymbols  = 286 // bytes, the end of a block, match lengths
	maxDists    = 30
	maxCodeLen  = 15
	blockEnd    = 256
	maxMatch    = 258
	minMatch    = 3
	lengthCodes = 19 // the codes that tell the lengths of codes
)

// token is a byte, or a match: bit 31, the length less 3 from bit 16, the distance less 1.
type token uint32

const isMatch token = 1 << 31

// block collects tokens and writes them as deflate blocks with codes made for each.
type block struct {
	tokens  []token
	symbols [maxSymbols]uint32 // counts
	dists   [maxDists]uint32

	out  []byte
	acc  uint64 // bits not yet in out
	fill uint
}

func (b *block) reset() {
	b.out, b.acc, b.fill = b.out[:0], 0, 0
	b.clear()
}

func (b *block) clear() {
	b.tokens = b.tokens[:0]
	b.symbols, b.dists = [maxSymbols]uint32{}, [maxDists]uint32{}
}

func (b *block) literals(raw []byte) {
	for _, c := range raw {
		b.tokens = append(b.tokens, token(c))
		b.symbols[c]++
	}
}

// match adds matches of n bytes in all, n at least minMatch, from dist bytes before.
func (b *block) match(n, dist int) {
	for n > maxMatch {
		part := min(maxMatch, n-minMatch) // what is left must be a match too
		b.one(part, dist)
		n -= part
	}
	b.one(n, dist)
}

func (b *block) one(n, dist int) {
	b.tokens = append(b.tokens, isMatch|token(n-minMatch)<<16|token(dist-1))
	symbol, _ := lengthSymbol(uint32(n - minMatch))
	b.symbols[symbol]++
	symbol, _ = distSymbol(uint32(dist - 1))
	b.dists[symbol]++
}

// lengthSymbol gives the symbol of a match length less 3 and its number of extra bits, which
// are the lowest of l.
func lengthSymbol(l uint32) (symbol, extra uint32) {
	switch {
	case l < 4:
		return 257 + l, 0
	case l == maxMatch-minMatch:
		return 285, 0
	default:
		e := uint32(bits.Len32(l)) - 3
		return 257 + (e+1)*4 + l>>e&3, e
	}
}

// distSymbol gives the symbol of a distance less 1, and its number of extra bits.
func distSymbol(d uint32) (symbol, extra uint32) {
	if d < 2 {
		return d, 0
	}
	e := uint32(bits.Len32(d)) - 2
	return (e+1)*2 + d>>e&1, e
}

// put adds n bits; at most 48 at once, since up to 7 are there before.
func (b *block) put(v uint64, n uint) {
	b.acc |= v << b.fill
	b.fill += n
	b.out = binary.LittleEndian.AppendUint64(b.out, b.acc)
	whole := b.fill >> 3
	b.out = b.out[:len(b.out)-8+int(whole)]
	b.acc >>= whole * 8
	b.fill &= 7
}

// flush writes the collected tokens as one block.
func (b *block) flush() {
	if len(b.tokens) == 0 {
		return
	}
	b.symbols[blockEnd] = 1
	b.dists[0], b.dists[1] = max(1, b.dists[0]), max(1, b.dists[1]) // a tree needs two leaves
	var symbols [maxSymbols]code
	var dists [maxDists]code
	codes(symbols[:], b.symbols[:], maxCodeLen)
	codes(dists[:], b.dists[:], maxCodeLen)
	b.head(symbols[:], dists[:])
	b.body(&symbols, &dists)
	b.put(uint64(symbols[blockEnd].bits), uint(symbols[blockEnd].len))
	b.clear()
}

// body writes the tokens.
func (b *block) body(symbols *[maxSymbols]code, dists *[maxDists]code) {
	type word struct {
		bits uint32
		len  uint32
	}
	var lengths [256]word // a length's code and extra bits
	for l := range lengths {
		s, extra := lengthSymbol(uint32(l))
		c := symbols[s]
		rest := uint32(l) & (1<<extra - 1)
		lengths[l] = word{uint32(c.bits) | rest<<c.len, uint32(c.len) + extra}
	}
	need := len(b.out) + 6*len(b.tokens) + 16 // 48 bits is the most that a token takes
	if cap(b.out) < need {
		b.out = append(make([]byte, 0, need+need/4), b.out...)
	}
	out, at := b.out[:cap(b.out)], len(b.out)
	acc, fill := b.acc, b.fill
	for _, t := range b.tokens {
		if t&isMatch == 0 {
			c := symbols[t&0xff]
			acc |= uint64(c.bits) << (fill & 63)
			fill += uint(c.len)
		} else {
			w := lengths[t>>16&0xff]
			acc |= uint64(w.bits) << (fill & 63)
			fill += uint(w.len)
			d := uint32(t & 0x7fff)
			s, extra := distSymbol(d)
			c := dists[s]
			acc |= (uint64(c.bits) | uint64(d&(1<<extra-1))<<c.len) << (fill & 63)
			fill += uint(c.len) + uint(extra)
		}
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(fill >> 3)
		acc >>= fill &^ 7 & 63
		fill &= 7
	}
	b.out, b.acc, b.fill = out[:at], acc, fill
}

// order is in which the lengths of the length codes are told (RFC 1951, 3.2.7).
var order = [lengthCodes]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// head writes a block's beginning: its kind and both codes, their lengths run by run.
func (b *block) head(symbols, dists []code) {
	for len(symbols) > blockEnd+1 && symbols[len(symbols)-1].len == 0 {
		symbols = symbols[:len(symbols)-1]
	}
	for len(dists) > 1 && dists[len(dists)-1].len == 0 {
		dists = dists[:len(dists)-1]
	}
	var all [maxSymbols + maxDists]uint8
	lens := all[:0]
	for _, c := range symbols {
		lens = append(lens, c.len)
	}
	for _, c := range dists {
		lens = append(lens, c.len)
	}
	var counts [lengthCodes]uint32
	runs := runs(lens)
	for _, r := range runs {
		counts[r.symbol]++
	}
	var small [lengthCodes]code
	codes(small[:], counts[:], 7)
	told := lengthCodes
	for told > 4 && small[order[told-1]].len == 0 {
		told--
	}
	b.put(0|2<<1, 3) // not the last block; codes of its own
	b.put(uint64(len(symbols)-257)|uint64(len(dists)-1)<<5|uint64(told-4)<<10, 14)
	for _, s := range order[:told] {
		b.put(uint64(small[s].len), 3)
	}
	for _, r := range runs {
		c := small[r.symbol]
		b.put(uint64(c.bits)|uint64(r.rest)<<c.len, uint(c.len+r.extra))
	}
}

// run is a length, or with symbol 16 to 18 a repetition with its extra bits.
type run struct{ symbol, rest, extra uint8 }

// runs tells lengths in as few symbols as a greedy reading gives.
func runs(lens []uint8) []run {
	out := make([]run, 0, len(lens))
	for i := 0; i < len(lens); {
		l, n := lens[i], 1
		for i+n < len(lens) && lens[i+n] == l {
			n++
		}
		i += n
		if l != 0 {
			out = append(out, run{symbol: l})
			n--
		}
		for n > 0 {
			switch {
			case l == 0 && n >= 11:
				k := min(n, 138)
				out = append(out, run{18, uint8(k - 11), 7})
				n -= k
			case l == 0 && n >= 3:
				out = append(out, run{17, uint8(n - 3), 3})
				n = 0
			case l != 0 && n >= 3:
				k := min(n, 6)
				out = append(out, run{16, uint8(k - 3), 2})
				n -= k
			default:
				out = append(out, run{symbol: l})
				n--
			}
		}
	}
	return out
}

// sync ends the stream so far at a whole byte, with an empty stored block.
func (b *block) sync() {
	b.flush()
	b.put(0, 3)
	if b.fill > 0 {
		b.put(0, 8-b.fill)
	}
	b.out = append(b.out, 0, 0, 0xff, 0xff)
}
