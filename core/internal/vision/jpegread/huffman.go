package jpegread

// table is one Huffman table, T.81 annex C.
//
// lut has an entry for every run of the next lutBits bits: the low 8 bits are how many of them are taken, 0 when the
// code is longer. For a DC table bits 8 to 15 are the symbol. For an AC table they are the coefficients to
// skip before the value, or endOfBlock, and bits 16 to 31 the value itself, if its bits are among those looked at;
// if they are not, needBits is set in the low 8 bits, which then count the code alone, and bits 16 to 23 are the symbol.
type table struct {
	lut   [1 << lutBits]uint32
	limit [17]uint32 // limit[n]: the first 16 bits of what is longer than n bits are at least that
	shift [17]int32  // shift[n]: from a code of n bits to its place in vals
	vals  [256]byte
}

const (
	endOfBlock = 64
	needBits   = 0x80
)

// readHuffman reads Huffman tables, T.81 B.2.4.2.
func (d *decoder) readHuffman(body []byte) error {
	for len(body) > 0 {
		if len(body) < 17 {
			return damaged("Huffman table of a wrong length")
		}
		class, id := body[0]>>4, body[0]&15
		if class > 1 || id > 3 || d.baseline && id > 1 {
			return damaged("Huffman table of a wrong number")
		}
		n := 0
		for _, c := range body[1:17] {
			n += int(c)
		}
		if n == 0 || n > 256 || len(body) < 17+n {
			return damaged("Huffman table of a wrong length")
		}
		if !d.headersOnly {
			t, err := newTable(body[1:17], body[17:17+n], class == 1)
			if err != nil {
				return err
			}
			if class == 0 {
				d.dc[id] = t
			} else {
				d.ac[id] = t
			}
		}
		body = body[17+n:]
	}
	return nil
}

// newTable builds a table from the number of codes of each length and their symbols. A table with more codes than bits
// can tell apart is damage; image/jpeg lets it pass.
func newTable(counts, vals []byte, ac bool) (*table, error) {
	t := &table{}
	copy(t.vals[:], vals)
	code, k := uint32(0), 0
	for n := 1; n <= 16; n++ {
		t.shift[n] = int32(k) - int32(code)
		for range counts[n-1] {
			if code >= 1<<n {
				return nil, damaged("Huffman table with too many codes")
			}
			if n <= lutBits {
				t.enter(code, n, vals[k], ac)
			}
			code++
			k++
		}
		t.limit[n] = code << (16 - n)
		code <<= 1
	}
	return t, nil
}

// enter fills all entries of lut that begin with code.
func (t *table) enter(code uint32, n int, symbol byte, ac bool) {
	rest := lutBits - n
	for low := range uint32(1) << rest {
		at := code<<rest | low
		if !ac {
			t.lut[at] = uint32(symbol)<<8 | uint32(n)
			continue
		}
		t.lut[at] = acEntry(low, rest, n, symbol)
	}
}

// acEntry is an entry of an AC table; low are the bits after the code, rest their number.
func acEntry(low uint32, rest, n int, symbol byte) uint32 {
	run, size := uint32(symbol>>4), int(symbol&15)
	switch {
	case symbol == 0:
		return endOfBlock<<8 | uint32(n)
	case symbol == 0xf0: // sixteen zeros: the last of them is a value of 0
		return 15<<8 | uint32(n)
	case size == 0 || size > rest:
		return uint32(symbol)<<16 | needBits | uint32(n)
	}
	v := int32(low >> (rest - size))
	if v < 1<<(size-1) {
		v -= 1<<size - 1
	}
	return uint32(v)<<16 | run<<8 | uint32(n+size)
}

// symbol gives the code at the head of bits and its length, or a length of 0 when there is none.
func (t *table) symbol(bits uint64) (symbol byte, n int) {
	head := uint32(bits >> 48)
	for n := 1; n <= 16; n++ {
		if head < t.limit[n] {
			return t.vals[uint8(int32(head>>(16-n))+t.shift[n])], n
		}
	}
	return 0, 0
}
