package pngread

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"sync"
)

// anyFilter has each row use another filter.
const anyFilter = 5

// sort is one colour type and depth, with or without a table before the pixels.
type sort struct {
	name        string
	depth, kind int
	before      []byte // whole chunks between the header and the pixels
}

var sorts = func() []sort {
	var all []sort
	for _, depth := range []int{1, 2, 4, 8, 16} {
		all = append(all, sort{"grey", depth, grey, nil}, sort{"keyed grey", depth, grey, pack("tRNS", []byte{1, 1})})
	}
	for _, depth := range []int{1, 2, 4, 8} {
		table := pack("PLTE", noise(3 << depth)[:3<<depth])
		short := pack("PLTE", noise(9)[:3])
		all = append(all, sort{"palette", depth, indexed, table}, sort{"short palette", depth, indexed, short},
			sort{"clear palette", depth, indexed, append(table, pack("tRNS", noise(2))...)},
			sort{"more clear than colours", depth, indexed, append(short, pack("tRNS", noise(256))...)})
	}
	for _, depth := range []int{8, 16} {
		all = append(all, sort{"colour", depth, colour, nil}, sort{"keyed colour", depth, colour, pack("tRNS", []byte{1, 1, 1, 1, 1, 1})},
			sort{"colour with palette", depth, colour, pack("PLTE", noise(30))},
			sort{"grey with alpha", depth, greyAlpha, nil}, sort{"alpha", depth, alpha, pack("tEXt", []byte("k\x00v"))})
	}
	for i := range all {
		all[i].name += string([]byte{' ', "0123456789ABCDEFG"[all[i].depth]})
	}
	return all
}()

// noise gives n bytes of which many are 0, 1 and 255.
func noise(n int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = [4]byte{0, 1, 255, byte(rnd.Uint32())}[rnd.IntN(4)]
	}
	return b
}

// draw makes a picture of w × h pixels: its filtered bytes are noise, with filters as wished.
func (s sort) draw(w, h, filter int) []byte {
	return s.file(w, h, zipped(s.rows(w, h, filter)))
}

// rows are the filtered rows.
func (s sort) rows(w, h, filter int) []byte {
	stride := 1 + (w*s.depth*channels[s.kind]+7)/8
	raw := noise(stride * h)
	for y := range h {
		raw[y*stride] = byte(filter)
		if filter == anyFilter {
			raw[y*stride] = byte(y % 5)
		}
	}
	return raw
}

// file puts the chunks of a whole PNG around the bodies of its IDAT chunks.
func (s sort) file(w, h int, idat ...[]byte) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	head = append(head, byte(s.depth), byte(s.kind), 0, 0, 0)
	out := append([]byte(signature), pack("IHDR", head)...)
	out = append(out, s.before...)
	for _, b := range idat {
		out = append(out, pack("IDAT", b)...)
	}
	return append(out, pack("IEND", nil)...)
}

// pack makes a chunk.
func pack(kind string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// zipped makes a zlib stream at the standard level.
func zipped(raw []byte) []byte { return zippedAt(raw, zlib.DefaultCompression) }

func zippedAt(raw []byte, level int) []byte {
	var b bytes.Buffer
	z, ok := zippers[level-zlib.HuffmanOnly].Get().(*zlib.Writer)
	if ok {
		z.Reset(&b)
	} else {
		var err error
		if z, err = zlib.NewWriterLevel(&b, level); err != nil {
			panic(err)
		}
	}
	if _, err := z.Write(raw); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	zippers[level-zlib.HuffmanOnly].Put(z)
	return b.Bytes()
}

// zippers are for use again, by level: making one costs more than these small streams.
var zippers [12]sync.Pool
