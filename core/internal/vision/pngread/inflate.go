package pngread

import (
	"encoding/binary"
	"io"
)

// state is what an inflater does next.
type state int

const (
	atHeader state = iota // read a block's header
	inStored              // give bytes as they are
	inCodes               // read codes
	ended                 // the last block was read
)

// inflater unpacks the zlib stream of a source. It takes and refuses what compress/flate does: codes must be
// complete or have one symbol of one bit, and symbols 286 and 287 and distances 30 and 31 are errors.
type inflater struct {
	src *source

	// hold has the next count bits, lowest first; above them it is 0. Whole bytes of it are always of
	// the source's current chunk, so that they can be given back.
	hold  uint64
	count uint

	state  state
	final  bool
	stored int // bytes left of a stored block
	length int // bytes left of a match that did not fit
	dist   int
	given  int // bytes unpacked so far, no more counted than window

	literals  [1 << 13]uint32
	distances [1 << 11]uint32
}

func newInflater(src *source) (*inflater, error) {
	if err := readZlibHeader(src); err != nil {
		return nil, err
	}
	return &inflater{src: src}, nil
}

// readZlibHeader reads the two bytes of RFC 1950, 2.2. A preset dictionary is taken when it is the
// empty one, whose checksum is 1: the standard library does.
func readZlibHeader(src *source) error {
	var h [2]byte
	if _, err := io.ReadFull(src, h[:]); err != nil {
		return err
	}
	if h[0]&15 != 8 || h[0]>>4 > 7 || (int(h[0])<<8|int(h[1]))%31 != 0 {
		return errZlibHead
	}
	if h[1]&0x20 == 0 {
		return nil
	}
	var id [4]byte
	if _, err := io.ReadFull(src, id[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(id[:]) != 1 {
		return errZlibHead
	}
	return nil
}

// fill unpacks len(buf)-slack-window bytes to buf[window:]. What was unpacked before lies in front of that.
func (d *inflater) fill(buf []byte) error {
	at, to := window, len(buf)-slack
	low := window - d.given
	for at < to {
		var err error
		switch d.state {
		case atHeader:
			err = d.header()
		case inStored:
			at, err = d.copyStored(buf[:to], at)
		case inCodes:
			at, err = d.codes(buf, at, low)
		case ended:
			err = errPixels
		}
		if err != nil {
			return err
		}
	}
	d.given = min(window, to-low)
	return nil
}

// end demands that nothing more comes, and gives the checksum that follows.
func (d *inflater) end() (uint32, error) {
	for d.state != ended {
		switch {
		case d.state == atHeader:
			if err := d.header(); err != nil {
				return 0, err
			}
		case d.state == inStored || d.length > 0:
			return 0, errTooMuch
		default:
			e, err := d.symbol(d.literals[:], literalBits)
			if err != nil {
				return 0, err
			}
			if e&kindMask != kindEnd {
				return 0, errTooMuch
			}
			d.leave()
		}
	}
	d.align()
	var sum [4]byte
	if _, err := io.ReadFull(d.src, sum[:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(sum[:]), nil
}

// leave ends a block.
func (d *inflater) leave() {
	d.state = atHeader
	if d.final {
		d.state = ended
	}
}

// align goes to the next whole byte and gives those held back to the source.
func (d *inflater) align() {
	d.src.pos -= int(d.count >> 3)
	d.hold, d.count = 0, 0
}

// need has n bits held, 32 at most. It loads no byte that it can do without.
func (d *inflater) need(n uint) error {
	for d.count < n {
		c, err := d.src.ReadByte()
		if err != nil {
			return err
		}
		d.hold |= uint64(c) << d.count
		d.count += 8
	}
	return nil
}

// take gives the next n bits, 32 at most.
func (d *inflater) take(n uint) (int, error) {
	if err := d.need(n); err != nil {
		return 0, err
	}
	v := d.hold & (1<<n - 1)
	d.hold >>= n
	d.count -= n
	return int(v), nil
}

// header reads a block's header (RFC 1951, 3.2.3).
func (d *inflater) header() error {
	h, err := d.take(3)
	if err != nil {
		return err
	}
	d.final = h&1 != 0
	switch h >> 1 {
	case 0:
		return d.startStored()
	case 1:
		return d.startFixed()
	case 2:
		return d.startCodes()
	}
	return errDeflate
}

func (d *inflater) startStored() error {
	d.align()
	n, err := d.take(16)
	if err != nil {
		return err
	}
	inverse, err := d.take(16)
	if err != nil {
		return err
	}
	if n != inverse^0xffff {
		return errDeflate
	}
	d.state, d.stored = inStored, n
	if n == 0 {
		d.leave()
	}
	return nil
}

func (d *inflater) copyStored(buf []byte, at int) (int, error) {
	n, err := io.ReadFull(d.src, buf[at:at+min(d.stored, len(buf)-at)])
	if err != nil {
		return 0, err
	}
	d.stored -= n
	if d.stored == 0 {
		d.leave()
	}
	return at + n, nil
}
