package pngread

import "math/bits"

// An entry of a code's table says what the next bits are:
//
//	bits 0..5    how many of them to drop: the code and the extra bits behind it
//	bits 8..11   how long the code itself is
//	bits 12..14  its kind
//	bits 16..30  a literal, or the least length or distance, or where a further table begins
//
// A code longer than the first table's index leads to a further table: bits 8..11 say then by how
// many more bits that one is indexed.
const (
	entryDrop  = 0x3f
	entryCode  = 8
	entryValue = 16

	kindMask    = 7 << 12
	kindBase    = 0 << 12 // a length or a distance
	kindLiteral = 1 << 12 // the only odd one
	kindEnd     = 2 << 12
	kindFurther = 4 << 12
	kindNone    = 6 << 12 // no code
)

const (
	literalBits  = 11
	distanceBits = 9
	lengthBits   = 7 // of the code that code lengths are written in, never longer

	maxCode      = 15
	maxLiterals  = 286
	maxDistances = 30
	endOfBlock   = 256
	maxMatch     = 258
)

// lengthOrder is the order of the code lengths' own lengths (RFC 1951, 3.2.7).
var lengthOrder = [19]byte{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// literalEntries are the entries of all literals and lengths, without their codes' lengths.
var literalEntries = func() (all [288]uint32) {
	for i := range all {
		switch {
		case i < endOfBlock:
			all[i] = uint32(i)<<entryValue | kindLiteral
		case i == endOfBlock:
			all[i] = kindEnd
		case i < 265:
			all[i] = uint32(i-254) << entryValue
		case i < 285: // groups of four share their extra bits
			extra := uint32(i-261) / 4
			all[i] = (3+(4+uint32(i-261)%4)<<extra)<<entryValue | extra
		case i == 285:
			all[i] = maxMatch << entryValue
		default:
			all[i] = kindNone
		}
	}
	return all
}()

// distanceEntries are those of all distances.
var distanceEntries = func() (all [32]uint32) {
	for i := range all {
		switch {
		case i < 2:
			all[i] = uint32(i+1) << entryValue
		case i < maxDistances: // pairs share theirs
			extra := uint32(i-2) / 2
			all[i] = (1+(2+uint32(i)%2)<<extra)<<entryValue | extra
		default:
			all[i] = kindNone
		}
	}
	return all
}()

// lengthEntries are the symbols that code lengths are written in, as they are.
var lengthEntries = func() (all [19]uint32) {
	for i := range all {
		all[i] = uint32(i) << entryValue
	}
	return all
}()

// build makes a table indexed by first bits of the code with the given lengths of its symbols. It is false when
// the code is not complete, but for one of a single symbol of one bit, or of none.
func build(table, entries []uint32, lengths []byte, first int) bool {
	var counts, next [maxCode + 2]int
	longest := 0
	for _, n := range lengths {
		counts[n]++
		longest = max(longest, int(n))
	}
	code := 0
	for n := 1; n <= longest; n++ {
		next[n] = code
		code = (code + counts[n]) << 1
	}
	if code != 2<<longest || longest == 0 {
		if longest > 1 || longest == 1 && counts[1] != 1 {
			return false
		}
		for i := range table[:1<<first] {
			table[i] = kindNone | 1
		}
	}
	further := further(table, next[:], first, longest)
	for i, n := range lengths {
		if n == 0 {
			continue
		}
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		e := entries[i] + uint32(n) | uint32(n)<<entryCode
		if int(n) <= first {
			for at := reversed; at < 1<<first; at += 1 << n {
				table[at] = e
			}
			continue
		}
		sub := table[table[reversed&(1<<first-1)]>>entryValue:][:further]
		for at := reversed >> first; at < further; at += 1 << (int(n) - first) {
			sub[at] = e
		}
	}
	return true
}

// further links the further tables behind the first and gives the length of each. The codes that need one are the
// last of the first table's, and each has two symbols at least: 143 tables of 16, or 15 of 64.
func further(table []uint32, next []int, first, longest int) int {
	if longest <= first {
		return 0
	}
	size := 1 << (longest - first)
	at := 1 << first
	for prefix := next[first+1] >> 1; prefix < 1<<first; prefix++ {
		reversed := bits.Reverse16(uint16(prefix)) >> (16 - first)
		table[reversed] = uint32(at)<<entryValue | kindFurther | uint32(longest-first)<<entryCode | uint32(first)
		at += size
	}
	return size
}

func (d *inflater) startFixed() error {
	var lengths [288]byte
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	build(d.literals[:], literalEntries[:], lengths[:], literalBits)
	for i := range 32 {
		lengths[i] = 5
	}
	build(d.distances[:], distanceEntries[:], lengths[:32], distanceBits)
	d.state = inCodes
	return nil
}

// startCodes reads the codes of a block (RFC 1951, 3.2.7).
func (d *inflater) startCodes() error {
	sizes, err := d.take(14)
	if err != nil {
		return err
	}
	literals, distances := sizes&31+257, sizes>>5&31+1
	if literals > maxLiterals || distances > maxDistances {
		return errDeflate
	}
	var own [19]byte
	for _, i := range lengthOrder[:sizes>>10+4] {
		n, err := d.take(3)
		if err != nil {
			return err
		}
		own[i] = byte(n)
	}
	var table [1 << lengthBits]uint32
	if !build(table[:], lengthEntries[:], own[:], lengthBits) {
		return errDeflate
	}
	var lengths [maxLiterals + maxDistances]byte
	if err := d.readLengths(table[:], lengths[:literals+distances]); err != nil {
		return err
	}
	if !build(d.literals[:], literalEntries[:], lengths[:literals], literalBits) ||
		!build(d.distances[:], distanceEntries[:], lengths[literals:literals+distances], distanceBits) {
		return errDeflate
	}
	d.state = inCodes
	return nil
}

// readLengths reads the code lengths of all symbols.
func (d *inflater) readLengths(table []uint32, lengths []byte) error {
	for i := 0; i < len(lengths); {
		e, err := d.symbol(table, lengthBits)
		if err != nil {
			return err
		}
		symbol := e >> entryValue
		if symbol <= maxCode {
			lengths[i] = byte(symbol)
			i++
			continue
		}
		repeat := [3]struct{ least, extra int }{{3, 2}, {3, 3}, {11, 7}}[symbol-16]
		n, err := d.take(uint(repeat.extra))
		if err != nil {
			return err
		}
		n += repeat.least
		if n > len(lengths)-i || symbol == 16 && i == 0 {
			return errDeflate
		}
		for range n {
			if symbol == 16 {
				lengths[i] = lengths[i-1]
			}
			i++
		}
	}
	return nil
}

// symbol reads one code, without its extra bits, loading no byte too many: where bits are still missing they
// are taken for 0, and the code found is then longer than what is held.
func (d *inflater) symbol(table []uint32, first uint) (uint32, error) {
	for {
		e := table[d.hold&(1<<first-1)]
		if e&kindMask == kindFurther {
			e = table[uint64(e>>entryValue)+d.hold>>first&(1<<(e>>entryCode&15)-1)]
		}
		if n := uint(e >> entryCode & 15); n <= d.count && e&kindMask != kindNone {
			d.hold >>= n
			d.count -= n
			return e, nil
		}
		if e&kindMask == kindNone {
			return 0, errDeflate
		}
		if err := d.need(d.count + 1); err != nil {
			return 0, err
		}
	}
}
