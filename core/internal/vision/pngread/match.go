package pngread

import "encoding/binary"

// codes reads codes and unpacks to buf[at:], until the block ends or buf is full but for its slack.
// Nothing was unpacked before buf[low].
func (d *inflater) codes(buf []byte, at, low int) (int, error) {
	to := len(buf) - slack
	for at < to && d.state == inCodes {
		var err error
		switch {
		case d.length > 0:
			n := min(d.length, to-at)
			copyMatch(buf, at, n, d.dist)
			at += n
			d.length -= n
		case at <= to-quickOutput && len(d.src.body)-d.src.pos >= quickInput:
			at, err = d.quick(buf, at, low)
		default:
			at, err = d.step(buf, at, low)
		}
		if err != nil {
			return 0, err
		}
	}
	return at, nil
}

// step reads one code.
func (d *inflater) step(buf []byte, at, low int) (int, error) {
	e, err := d.symbol(d.literals[:], literalBits)
	if err != nil {
		return 0, err
	}
	switch e & kindMask {
	case kindLiteral:
		buf[at] = byte(e >> entryValue)
		return at + 1, nil
	case kindEnd:
		d.leave()
		return at, nil
	}
	length, err := d.withExtra(e)
	if err != nil {
		return 0, err
	}
	e, err = d.symbol(d.distances[:], distanceBits)
	if err != nil {
		return 0, err
	}
	dist, err := d.withExtra(e)
	if err != nil {
		return 0, err
	}
	if at-dist < low {
		return 0, errDeflate
	}
	d.length, d.dist = length, dist
	return at, nil
}

// withExtra adds an entry's extra bits to its value.
func (d *inflater) withExtra(e uint32) (int, error) {
	extra, err := d.take(uint(e&entryDrop - e>>entryCode&15))
	return int(e>>entryValue) + extra, err
}

const (
	// quickInput is how many bytes of a chunk must be left for quick: it loads two words a turn.
	quickInput = 16

	// quickOutput is how many bytes it may give a turn: three literals and a match.
	quickOutput = 3 + maxMatch
)

// quick reads codes as long as no end is near: neither buf's nor the chunk's.
func (d *inflater) quick(buf []byte, at, low int) (int, error) {
	in, pos := d.src.body, d.src.pos
	hold, count := d.hold, d.count
	literals, distances := &d.literals, &d.distances
	to := len(buf) - slack - quickOutput
	ok := true
loop:
	for at <= to && pos+quickInput <= len(in) {
		// A word fills hold to 56 bits at least; what is more lies above count and is loaded once more later.
		hold |= binary.LittleEndian.Uint64(in[pos:]) << (count & 63)
		pos += int((63 - count) >> 3)
		count |= 56
		e := literals[hold&(1<<literalBits-1)]
		for range 3 { // codes of the first table, 33 bits at most: 23 are left, and no code is longer than 15
			if e&kindLiteral == 0 {
				break
			}
			hold >>= e & entryDrop & 63
			count -= uint(e & entryDrop)
			buf[at] = byte(e >> entryValue)
			at++
			e = literals[hold&(1<<literalBits-1)]
		}
		if e&kindMask != kindBase {
			if e&kindMask == kindFurther {
				e = literals[(uint64(e>>entryValue)+hold>>literalBits&(1<<(e>>entryCode&15)-1))&(1<<13-1)]
			}
			switch e & kindMask {
			case kindLiteral:
				hold >>= e & entryDrop & 63
				count -= uint(e & entryDrop)
				buf[at] = byte(e >> entryValue)
				at++
				continue
			case kindEnd:
				hold >>= e & entryDrop & 63
				count -= uint(e & entryDrop)
				d.leave()
				break loop
			case kindNone:
				ok = false
				break loop
			}
		}
		if count < 48 { // a length of 20 bits and a distance of 28
			hold |= binary.LittleEndian.Uint64(in[pos:]) << (count & 63)
			pos += int((63 - count) >> 3)
			count |= 56
		}
		length := int(e>>entryValue) + int(hold&(1<<(e&entryDrop&63)-1)>>(e>>entryCode&15))
		hold >>= e & entryDrop & 63
		count -= uint(e & entryDrop)
		e = distances[hold&(1<<distanceBits-1)]
		if e&kindMask != kindBase {
			if e&kindMask == kindFurther {
				e = distances[(uint64(e>>entryValue)+hold>>distanceBits&(1<<(e>>entryCode&15)-1))&(1<<11-1)]
			}
			if e&kindMask != kindBase {
				ok = false
				break
			}
		}
		dist := int(e>>entryValue) + int(hold&(1<<(e&entryDrop&63)-1)>>(e>>entryCode&15))
		hold >>= e & entryDrop & 63
		count -= uint(e & entryDrop)
		if at-dist < low {
			ok = false
			break
		}
		repeat(buf, at, length, dist)
		at += length
	}
	d.hold, d.count, d.src.pos = hold&(1<<(count&63)-1), count, pos
	if !ok {
		return 0, errDeflate
	}
	return at, nil
}

// copyMatch repeats what lies dist bytes before buf[at], for n bytes.
func copyMatch(buf []byte, at, n, dist int) {
	for n > dist {
		copy(buf[at:at+dist], buf[at-dist:])
		at, n = at+dist, n-dist
	}
	copy(buf[at:at+n], buf[at-dist:])
}

// repeat is copyMatch in whole words. It writes up to 15 bytes more than n.
func repeat(buf []byte, at, n, dist int) {
	if dist < 8 {
		repeatShort(buf, at, n, dist)
		return
	}
	if n > 32 && dist >= n {
		copy(buf[at:at+n], buf[at-dist:])
		return
	}
	to := buf[at : at+n+8]
	from := buf[at-dist:][:n+8]
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
	}
}

// repeatShort repeats fewer than eight bytes: a word is filled with them, and as many of its bytes count as are
// whole repeats. Shifts beyond the word give 0.
func repeatShort(buf []byte, at, n, dist int) {
	word := binary.LittleEndian.Uint64(buf[at-dist:]) & (1<<(8*dist) - 1)
	word |= word << (8 * dist)
	word |= word << (16 * dist)
	word |= word << (32 * dist)
	step := 8 / dist * dist
	to := buf[at : at+n+8]
	for i := 0; i < n; i += step {
		binary.LittleEndian.PutUint64(to[i:], word)
	}
}
