package jpegread

// table is one Huffman table, T.81 annex C.
//
// lut has an entry for every run of the next lutBits bits, 0 where the code is longer. For a DC table its low 8 bits are
// the code's length, bits 8 to 15 the symbol. For an AC table they are, from the lowest: 8 bits, how many bits
// the code and the value take together; 8, 63 less the value's; 8, the code's; 8, how many coefficients to skip before the value, or endOfBlock.
type table struct {
	lut   [1 << lutBits]uint32
	limit [17]uint32 // limit[n]: the first 16 bits of what is longer than n bits are at least that
	shift [17]int32  // shift[n]: from a code of n bits to its place in vals
	vals  [256]byte
}

// endOfBlock is more to skip than there can be, so that one question finds every end of a block.
const endOfBlock = 64

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
	e := uint32(symbol)<<8 | uint32(n)
	if ac {
		e = acEntry(n, symbol)
	}
	rest := lutBits - n
	for low := range uint32(1) << rest {
		t.lut[code<<rest|low] = e
	}
}

// acEntry is an entry of an AC table. Sixteen zeros are fifteen and a value of 0.
func acEntry(n int, symbol byte) uint32 {
	run, size := uint32(symbol>>4), uint32(symbol&15)
	if size == 0 && run < 15 {
		return endOfBlock<<24 | uint32(n)<<16 | (63-run)<<8 | uint32(n)
	}
	return run<<24 | uint32(n)<<16 | (63-size)<<8 | (uint32(n) + size)
}

// sizeOf is the number of bits of an AC entry's value.
func sizeOf(e uint32) int { return int(63 - e>>8&63) }

// longEntry is the entry for a code longer than lutBits, 0 when there is none.
func (t *table) longEntry(bits uint64) uint32 {
	symbol, n := t.symbol(bits)
	if n == 0 {
		return 0
	}
	return acEntry(n, symbol)
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
