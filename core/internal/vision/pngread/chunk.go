package pngread

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	signature = "\x89PNG\r\n\x1a\n"
	overhead  = 12 // a chunk's length, type and checksum
)

// chunk is one chunk whose checksum is right; next is where the one behind it begins.
type chunk struct {
	kind string
	body []byte
	next int
}

// chunkAt reads and checks the chunk at offset at.
func chunkAt(data []byte, at int) (chunk, error) {
	if len(data)-at < overhead {
		return chunk{}, errShort
	}
	length := binary.BigEndian.Uint32(data[at:])
	if int64(length) > int64(len(data)-at-overhead) {
		return chunk{}, errShort
	}
	end := at + 8 + int(length)
	if crc32.ChecksumIEEE(data[at+4:end]) != binary.BigEndian.Uint32(data[end:]) {
		return chunk{}, errSum
	}
	return chunk{kind: string(data[at+4 : at+8]), body: data[at+8 : end], next: end + 4}, nil
}

// kindAt is the type of the chunk at offset at, or nothing where the file ends before it.
func kindAt(data []byte, at int) string {
	if len(data)-at < 8 {
		return ""
	}
	return string(data[at+4 : at+8])
}

// finish checks what follows the chunk in which the zlib stream ended, up to IEND: more
// IDAT and anything that is not to come earlier is passed over, as the standard decoder does.
func finish(data []byte, at int) error {
	for {
		c, err := chunkAt(data, at)
		if err != nil {
			return err
		}
		switch c.kind {
		case "IHDR", "PLTE", "tRNS":
			return errOrder
		case "IEND":
			if len(c.body) != 0 {
				return damaged("its end has a content")
			}
			return nil
		}
		at = c.next
	}
}

// source gives the bodies of IDAT chunks that follow each other as one stream.
type source struct {
	data []byte
	next int    // where the next chunk begins
	body []byte // the current chunk's
	pos  int    // how much of it was read
}

// more goes to the next IDAT chunk that holds something.
func (s *source) more() error {
	for s.pos == len(s.body) {
		c, err := chunkAt(s.data, s.next)
		if err != nil {
			return err
		}
		if c.kind != "IDAT" {
			return errPixels
		}
		s.body, s.pos, s.next = c.body, 0, c.next
	}
	return nil
}

// ReadByte gives the next byte, or says why there is none.
func (s *source) ReadByte() (byte, error) {
	if s.pos == len(s.body) {
		if err := s.more(); err != nil {
			return 0, err
		}
	}
	c := s.body[s.pos]
	s.pos++
	return c, nil
}

// Read gives what the current chunk still has.
func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.more(); err != nil {
		return 0, err
	}
	n := copy(p, s.body[s.pos:])
	s.pos += n
	return n, nil
}
