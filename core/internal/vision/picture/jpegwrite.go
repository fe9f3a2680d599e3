package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"sync"
)

// mcu is the side of the squares that image/jpeg codes at once, in pixels, with its
// 4:2:0 colours; those of a grey picture have half of it.
const mcu = 16

// leastHalves is the height from which on a picture is coded as two.
const leastHalves = 16 * mcu

// encodeJPEG codes a picture. A high one is coded as an upper and a lower half at the same
// time, which become one file with a restart marker between them (ITU-T T.81, E.1.4): there each
// decoder begins anew. Its bytes do not depend on the number of cores.
func encodeJPEG(img image.Image, quality int) ([]byte, error) {
	b := img.Bounds()
	part, ok := img.(interface {
		SubImage(r image.Rectangle) image.Image
	})
	if !ok || b.Dy() < leastHalves {
		return encodeHalf(img, quality)
	}
	rows := (b.Dy() + 2*mcu - 1) / (2 * mcu) // of squares, in the upper half: not fewer than in the lower
	cut := b.Min.Y + rows*mcu
	side := mcu
	if _, grey := img.(*image.Gray); grey {
		side = mcu / 2
	}
	interval := rows * (mcu / side) * ((b.Dx() + side - 1) / side)
	if interval > 1<<16-1 {
		return encodeHalf(img, quality)
	}
	var upper, lower []byte
	var errUpper, errLower error
	var both sync.WaitGroup
	both.Go(func() {
		upper, errUpper = encodeHalf(part.SubImage(image.Rect(b.Min.X, b.Min.Y, b.Max.X, cut)), quality)
	})
	lower, errLower = encodeHalf(part.SubImage(image.Rect(b.Min.X, cut, b.Max.X, b.Max.Y)), quality)
	both.Wait()
	if err := errors.Join(errUpper, errLower); err != nil {
		return nil, err
	}
	return joinHalves(upper, lower, b.Dy(), interval)
}

func encodeHalf(img image.Image, quality int) ([]byte, error) {
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode as JPEG: %w", err)
	}
	return buf.Bytes(), nil
}

var errHalves = errors.New("encode as JPEG: the encoder wrote what cannot be put together")

// joinHalves puts the scans of two files with the same tables together, to one of the given
// height, in pixels, with a restart after interval squares.
func joinHalves(upper, lower []byte, height, interval int) ([]byte, error) {
	frame, scan := 0, 0
	for at := 2; at+4 <= len(upper) && scan == 0; at += 2 + int(be16(upper[at+2:])) {
		switch upper[at+1] {
		case mSOF0:
			frame = at
		case mSOS:
			scan = at
		}
	}
	end := len(upper) - 2
	begin := scan + 2
	if frame == 0 || scan == 0 || len(lower) < len(upper[:begin+2]) || !bytes.Equal(upper[scan:begin+2], lower[scan:begin+2]) {
		return nil, errHalves
	}
	begin += int(be16(upper[begin:]))
	out := make([]byte, 0, len(upper)+len(lower))
	out = append(out, upper[:scan]...)
	binary.BigEndian.PutUint16(out[frame+5:], uint16(height))  //nolint:gosec // a side has at most 2576 pixels
	out = append(out, 0xff, mDRI, 0, 4)                        // its length and the interval follow
	out = binary.BigEndian.AppendUint16(out, uint16(interval)) //nolint:gosec // the caller has asked
	out = append(append(out, upper[scan:end]...), 0xff, mRST0) // the upper half without its end
	return append(out, lower[begin:]...), nil
}
