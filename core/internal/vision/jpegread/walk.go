package jpegread

import "context"

// Markers, T.81 table B.1.
const (
	markSOF0  = 0xc0
	markSOF1  = 0xc1
	markSOF2  = 0xc2
	markDHT   = 0xc4
	markRST0  = 0xd0
	markRST7  = 0xd7
	markSOI   = 0xd8
	markEOI   = 0xd9
	markSOS   = 0xda
	markDQT   = 0xdb
	markDRI   = 0xdd
	markAPP0  = 0xe0
	markAPP14 = 0xee
	markAPP15 = 0xef
	markCOM   = 0xfe
)

// decoder is the state of one reading of a file.
type decoder struct {
	cursor
	frame

	denom       int
	headersOnly bool // stop at the first scan, build no tables

	jfif           bool
	adobe          bool
	adobeTransform byte

	restart int // MCUs between restart markers, 0 for none
	quant   [4][64]int32
	dc, ac  [4]*table // nil: never defined
	eobRun  int       // blocks still without AC coefficients; the standard decoder keeps it between scans too
	scanned bool
	loose   bool // bytes that no pixel needs lie among the coded ones
	ring    []*row

	inspect func(part *scanPart, r *row) // only for tests: sees every row before its pixels are made
}

// walk goes through the file's segments to its end marker, or with headersOnly to the first scan. Which junk between
// segments is passed over is what image/jpeg passes over.
func (d *decoder) walk(ctx context.Context) error {
	soi, err := d.take(2)
	if err != nil {
		return err
	}
	if soi[0] != 0xff || soi[1] != markSOI {
		return damaged("no start marker")
	}
	for {
		before := d.pos
		m, err := d.marker()
		if err != nil {
			return err
		}
		d.loose = d.loose || d.scanned && (d.pos-before > 2 || m == 0 || markRST0 <= m && m <= markRST7)
		switch {
		case m == markEOI:
			if !d.scanned {
				return damaged("no scan")
			}
			return nil
		case m == 0, markRST0 <= m && m <= markRST7:
			continue // extra data, or a restart marker too many after the last interval
		}
		body, err := d.segment()
		if err != nil {
			return err
		}
		if m == markSOS && d.headersOnly {
			return nil
		}
		if err := d.read(ctx, m, body); err != nil {
			return err
		}
	}
}

// marker gives the next marker's code, or 0 for a stuffed 0xff.
func (d *decoder) marker() (byte, error) {
	two, err := d.take(2)
	if err != nil {
		return 0, err
	}
	a, m := two[0], two[1]
	for a != 0xff {
		a = m
		if m, err = d.byte(); err != nil {
			return 0, err
		}
	}
	if m != 0xff {
		return m, nil
	}
	for m == 0xff {
		if m, err = d.byte(); err != nil {
			return 0, err
		}
	}
	if m == 0 {
		return 0, damaged("fill bytes without a marker")
	}
	return m, nil
}

// segment gives a segment's body without its length.
func (d *decoder) segment() ([]byte, error) {
	l, err := d.take(2)
	if err != nil {
		return nil, err
	}
	n := int(l[0])<<8 + int(l[1]) - 2
	if n < 0 {
		return nil, damaged("a segment shorter than its length")
	}
	return d.take(n)
}

func (d *decoder) read(ctx context.Context, m byte, body []byte) error {
	switch m {
	case markSOF0, markSOF1, markSOF2:
		return d.readFrame(m, body)
	case markDHT:
		return d.readHuffman(body)
	case markDQT:
		return d.readQuant(body)
	case markSOS:
		return d.readScan(ctx, body)
	case markDRI:
		if len(body) != 2 {
			return damaged("restart interval of a wrong length")
		}
		d.restart = int(body[0])<<8 + int(body[1])
		return nil
	case markAPP0:
		if len(body) >= 5 {
			d.jfif = string(body[:5]) == "JFIF\x00"
		}
		return nil
	case markAPP14:
		if len(body) >= 12 && string(body[:5]) == "Adobe" {
			d.adobe, d.adobeTransform = true, body[11]
		}
		return nil
	}
	if markAPP0 <= m && m <= markAPP15 || m == markCOM {
		return nil
	}
	return damaged("a marker that is not known")
}

// readQuant reads quantisation tables, T.81 B.2.4.1.
func (d *decoder) readQuant(body []byte) error {
	for len(body) > 0 {
		wide, id := body[0]>>4, body[0]&15
		body = body[1:]
		if id > 3 || wide > 1 {
			return damaged("quantisation table of a wrong number")
		}
		size := 64 * (1 + int(wide))
		if len(body) < size {
			return damaged("quantisation table of a wrong length")
		}
		for i := range 64 {
			if wide == 0 {
				d.quant[id][i] = int32(body[i])
			} else {
				d.quant[id][i] = int32(body[2*i])<<8 | int32(body[2*i+1])
			}
		}
		body = body[size:]
	}
	return nil
}
