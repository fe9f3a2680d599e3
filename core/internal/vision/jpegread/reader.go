package jpegread

import (
	"context"
	"fmt"
	"image"
	"sync/atomic"
)

// Reader is one JPEG whose headers were read. It may be asked several times, also by several goroutines.
type Reader struct {
	data          []byte
	width, height int
	loose         atomic.Bool
}

// Loose tells whether bytes lie among the coded pixels that no pixel needs: behind the last unit of a
// scan or of an interval. It is known when Decode or Reduce has given a picture.
func (r *Reader) Loose() bool { return r.loose.Load() }

// Open reads the headers up to the first scan: baseline, extended and progressive files of 8 bits. ok is false for what is left to the standard decoder: damaged headers,
// sides of 0, four components, RGB (Adobe's transform 0 or the component names R, G, B, without a JFIF header).
func Open(data []byte) (r *Reader, ok bool) {
	d := decoder{cursor: cursor{data: data}, headersOnly: true}
	if err := d.walk(context.Background()); err != nil || !d.ours() {
		return nil, false
	}
	return &Reader{data: data, width: d.width, height: d.height}, true
}

// Size is the full size in pixels, before EXIF orientation.
func (r *Reader) Size() (width, height int) { return r.width, r.height }

// Decode gives the picture at 1/denom of its size (denom 1, 2, 4 or 8), sides rounded up: *image.Gray or *image.YCbCr.
// The ratio of chroma to luma is the file's, but a chroma plane that the file halves both ways is not
// halved again while its own blocks hold the detail: 4:2:0 at a half is 4:4:4.
// The error wraps ErrDamaged, ErrOther or is ctx's own; there is never half a picture. ctx is asked once a row of MCUs.
func (r *Reader) Decode(ctx context.Context, denom int) (image.Image, error) {
	img, _, err := r.Reduce(ctx, denom)
	return img, err
}

// Reduce is Decode that also tells what was thrown away: the mean square, in levels of 255, of the
// brightness that only the frequencies left out would have shown. A plain photo or page has little of it; where
// there is much, a scaler that looks at all pixels may show something else.
func (r *Reader) Reduce(ctx context.Context, denom int) (img image.Image, lost float64, err error) {
	switch denom {
	case 1, 2, 4, 8:
	default:
		return nil, 0, fmt.Errorf("decode a JPEG at 1/%d: only 1, 2, 4 and 8 are known", denom)
	}
	d := decoder{cursor: cursor{data: r.data}, denom: denom}
	if err := d.walk(ctx); err != nil {
		return nil, 0, fmt.Errorf("decode a JPEG at 1/%d: %w", denom, err)
	}
	if !d.ours() {
		return nil, 0, ErrOther
	}
	if d.progressive {
		if err := d.renderKept(ctx); err != nil {
			return nil, 0, fmt.Errorf("decode a JPEG at 1/%d: %w", denom, err)
		}
	}
	r.loose.Store(d.loose)
	return d.picture(), float64(d.lost) / float64(r.width*r.height), nil
}
