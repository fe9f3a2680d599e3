package jpegread

// cursor is a place in the file. Reading past the end is an error that leaves nothing half read.
type cursor struct {
	data []byte
	pos  int
}

func (c *cursor) byte() (byte, error) {
	if c.pos >= len(c.data) {
		return 0, errEnd
	}
	b := c.data[c.pos]
	c.pos++
	return b, nil
}

// take gives the next n bytes, still part of the file.
func (c *cursor) take(n int) ([]byte, error) {
	if n > len(c.data)-c.pos {
		return nil, errEnd
	}
	b := c.data[c.pos : c.pos+n]
	c.pos += n
	return b, nil
}
