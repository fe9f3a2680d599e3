package pngread

import (
	"encoding/binary"
	"sync/atomic"
)

// Layout is how a row's pixels lie: its number is the bytes a pixel.
type Layout int

// The layouts of rows.
const (
	Grey  Layout = 1 // one level
	RGB   Layout = 3 // red, green, blue
	NRGBA Layout = 4 // red, green, blue, not multiplied by the alpha that follows them
)

// Header says what Rows gives.
type Header struct {
	Width, Height int    // pixels, each 1 or more
	Layout        Layout // of the rows given, whatever the file's own is
	Opaque        bool   // false when Layout is NRGBA
}

// The colour types of the PNG specification (11.2.1).
const (
	grey      = 0
	colour    = 2
	indexed   = 3
	greyAlpha = 4
	alpha     = 6
)

// channels of each colour type; 0 where there is no such type.
var channels = [7]int{grey: 1, colour: 3, indexed: 1, greyAlpha: 2, alpha: 4}

// Reader is a PNG whose header was read. It holds the file's bytes and may be used by
// several goroutines at a time.
type Reader struct {
	data          []byte
	width, height int
	depth, kind   int
	palette       [256][4]byte // red, green, blue, alpha; opaque black behind the file's own
	clear         [6]byte      // the tRNS chunk of a grey or RGB picture
	keyed         bool         // there is a tRNS chunk
	idat          int          // where the first IDAT chunk begins
	loose         atomic.Bool
}

// Loose tells whether bytes lie among the coded pixels that no pixel needs: behind the zlib stream,
// in its chunk or in more of the kind. It is known when Rows has given all rows.
func (r *Reader) Loose() bool { return r.loose.Load() }

// Open reads the header of a PNG, up to its pixels, and checks the checksums so far. ok is false for what
// is left to the standard decoder: interlaced pictures, no PNG, and headers that it may well refuse.
// data must not be changed as long as the Reader is used.
func Open(data []byte) (r *Reader, ok bool) {
	if len(data) > maxFile || len(data) < len(signature) || string(data[:len(signature)]) != signature {
		return nil, false
	}
	c, err := chunkAt(data, len(signature))
	if err != nil || c.kind != "IHDR" || len(c.body) != 13 {
		return nil, false
	}
	r = &Reader{data: data}
	if !r.readIHDR(c.body) || !r.readTables(c.next) {
		return nil, false
	}
	return r, true
}

// Header says what Rows will give.
func (r *Reader) Header() Header {
	l := r.layout()
	return Header{Width: r.width, Height: r.height, Layout: l, Opaque: l != NRGBA}
}

func (r *Reader) layout() Layout {
	switch {
	case r.keyed || r.kind == greyAlpha || r.kind == alpha:
		return NRGBA
	case r.kind == grey:
		return Grey
	}
	return RGB
}

func (r *Reader) readIHDR(b []byte) bool {
	w, h := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if w-1 >= maxFile || h-1 >= maxFile || b[10] != 0 || b[11] != 0 || b[12] != 0 {
		return false
	}
	r.width, r.height, r.depth, r.kind = int(w), int(h), int(b[8]), int(b[9])
	if r.kind >= len(channels) || channels[r.kind] == 0 {
		return false
	}
	switch r.depth {
	case 8:
	case 1, 2, 4:
		if r.kind != grey && r.kind != indexed {
			return false
		}
	case 16:
		if r.kind == indexed {
			return false
		}
	default:
		return false
	}
	// The standard decoder wants eight bytes of each pixel to fit an int.
	return r.rowBytes() <= maxRow && int64(w)*int64(h) <= 1<<60-1
}

// readTables reads the chunks between the header and the pixels.
func (r *Reader) readTables(at int) bool {
	colours, key := false, false
	for {
		if kindAt(r.data, at) == "IDAT" { // Rows will check it
			r.idat = at
			return colours || r.kind != indexed
		}
		c, err := chunkAt(r.data, at)
		if err != nil {
			return false
		}
		switch c.kind {
		case "IHDR", "IEND":
			return false
		case "PLTE":
			if colours || key || !r.readPLTE(c.body) {
				return false
			}
			colours = true
		case "tRNS":
			// Behind a palette where there must be one, and once only.
			if key || (r.kind == indexed) != colours && r.kind != colour || !r.readTRNS(c.body) {
				return false
			}
			key = true
		}
		at = c.next
	}
}

func (r *Reader) readPLTE(b []byte) bool {
	n := len(b) / 3
	if len(b)%3 != 0 || n == 0 || n > 256 || n > 1<<r.depth || r.kind == grey || r.kind == greyAlpha {
		return false
	}
	for i := range r.palette {
		r.palette[i][3] = 255
		if i < n {
			copy(r.palette[i][:3], b[3*i:])
		}
	}
	return true
}

func (r *Reader) readTRNS(b []byte) bool {
	switch r.kind {
	case grey:
		if len(b) != 2 {
			return false
		}
		copy(r.clear[:], b)
		if r.depth < 8 {
			r.clear[1] *= spreadBy[r.depth] // as the samples are; what does not fit wraps, as it does there
		}
	case colour:
		if len(b) != 6 {
			return false
		}
		copy(r.clear[:], b)
	case indexed:
		if len(b) > 256 {
			return false
		}
		for i, a := range b {
			r.palette[i][3] = a
		}
	default:
		return false
	}
	r.keyed = true
	return true
}

// spreadBy brings samples of 1, 2 and 4 bits to 0..255.
var spreadBy = [5]byte{1: 0xff, 2: 0x55, 4: 0x11}

// rowBytes is a packed row's length without its filter.
func (r *Reader) rowBytes() int64 {
	return (int64(r.depth*channels[r.kind])*int64(r.width) + 7) / 8
}
