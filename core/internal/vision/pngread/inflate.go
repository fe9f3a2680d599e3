package pngread

import (
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
)

// inflater unpacks the zlib stream of a source.
type inflater struct {
	src *source
	r   io.Reader
}

func newInflater(src *source) (*inflater, error) {
	if err := readZlibHeader(src); err != nil {
		return nil, err
	}
	return &inflater{src: src, r: flate.NewReader(src)}, nil
}

// fill unpacks len(buf)-slack-from bytes to buf[from:]. What was unpacked before lies in front of from.
func (d *inflater) fill(buf []byte, from int) error {
	_, err := io.ReadFull(d.r, buf[from:len(buf)-slack])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errPixels
	}
	return err
}

// end demands that nothing more comes, and gives the checksum that follows.
func (d *inflater) end() (uint32, error) {
	var one [1]byte
	n, err := io.ReadFull(d.r, one[:])
	if n != 0 {
		return 0, errTooMuch
	}
	if !errors.Is(err, io.EOF) {
		return 0, err
	}
	var sum [4]byte
	if _, err := io.ReadFull(d.src, sum[:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(sum[:]), nil
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
