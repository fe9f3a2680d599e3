package pngwrite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"math"
)

// ErrKind is the refusal of an image that is neither *image.Gray nor *image.NRGBA, that is
// empty, or that does not begin at 0,0.
var ErrKind = errors.New("not an image that can be written as PNG here")

// Encode gives the PNG file of img, an *image.Gray or *image.NRGBA that begins at 0,0, of any
// stride. Grey stays 8-bit grey; colours become grey, a palette, RGB or RGBA, the smallest
// that holds every pixel exactly, also colours under full transparency. The same pixels give the
// same bytes with any number of cores. Errors: ErrKind, or the context's.
func Encode(ctx context.Context, img image.Image) ([]byte, error) {
	file, _, err := EncodeMax(ctx, img, math.MaxInt)
	return file, err
}

// EncodeMax is Encode, given up as soon as it is certain that the file would be larger than
// most bytes: then ok is false and there is no file. ok is true exactly when Encode's file has
// at most most bytes.
func EncodeMax(ctx context.Context, img image.Image, most int) (file []byte, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, fmt.Errorf("write png: %w", err)
	}
	src, err := open(img)
	if err != nil {
		return nil, false, err
	}
	head := header(src)
	strips := cut(src)
	room := most - len(head) - len(end)
	total, err := pack(ctx, src, strips, room)
	defer release(strips)
	if err != nil {
		return nil, false, fmt.Errorf("write png: %w", err)
	}
	if total > room {
		return nil, false, nil
	}
	return join(head, strips, total), true, nil
}

// end is the chunk IEND.
const end = "\x00\x00\x00\x00IEND\xaeB\x60\x82"

// chunkCost is what a chunk has beside its data: length, name and checksum.
const chunkCost = 12

// header gives everything before the first IDAT: signature, IHDR, and for a palette PLTE and tRNS.
func header(src *source) []byte {
	out := bytes.NewBufferString("\x89PNG\r\n\x1a\n")
	var ihdr [13]byte
	binary.BigEndian.PutUint32(ihdr[0:], uint32(src.w))
	binary.BigEndian.PutUint32(ihdr[4:], uint32(src.h))
	ihdr[8], ihdr[9] = 8, src.form.colourType()
	out.Write(chunk("IHDR", ihdr[:]))
	if src.form != indexed {
		return out.Bytes()
	}
	plte := make([]byte, 0, 3*len(src.palette))
	alpha := make([]byte, 0, len(src.palette))
	short := 0 // tRNS may leave out the opaque colours at its end
	for i, c := range src.palette {
		plte = append(plte, byte(c), byte(c>>8), byte(c>>16))
		alpha = append(alpha, byte(c>>24))
		if c>>24 != 0xff {
			short = i + 1
		}
	}
	out.Write(chunk("PLTE", plte))
	if short > 0 {
		out.Write(chunk("tRNS", alpha[:short]))
	}
	return out.Bytes()
}

// chunk gives one whole PNG chunk.
func chunk(name string, data []byte) []byte {
	out := make([]byte, 0, chunkCost+len(data))
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	out = append(out, name...)
	out = append(out, data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// join puts the file together. total is what pack counted for all strips.
func join(head []byte, strips []*strip, total int) []byte {
	out := make([]byte, 0, len(head)+total+len(end))
	out = append(out, head...)
	sum := uint32(1)
	for i, s := range strips {
		sum = joinAdler(sum, s.adler, s.bytes)
		from := len(out)
		out = append(out, 0, 0, 0, 0, 'I', 'D', 'A', 'T')
		if i == 0 {
			out = append(out, zlibHead...)
		}
		out = append(out, s.packed.Bytes()...)
		if i == len(strips)-1 {
			out = append(out, zlibTail...)
			out = binary.BigEndian.AppendUint32(out, sum)
		}
		binary.BigEndian.PutUint32(out[from:], uint32(len(out)-from-8))
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from+4:]))
	}
	return append(out, end...)
}
