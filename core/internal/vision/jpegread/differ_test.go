package jpegread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"sync/atomic"
)

// differ says how this package and image/jpeg do not agree about a file, or "". stricter is true if this
// one refuses what image/jpeg takes, which only some damage may bring about.
func differ(ctx context.Context, data []byte, tolerance int) (what string, stricter bool) {
	want, wantErr := jpeg.Decode(bytes.NewReader(data))
	r, ok := Open(data)
	if !ok {
		return "", false
	}
	d := decoder{cursor: cursor{data: data}, denom: 1}
	var mad atomic.Bool // two goroutines make pixels
	d.inspect = func(p *scanPart, r *row) {
		if overflows(p, r) {
			mad.Store(true)
		}
	}
	err := d.walk(ctx)
	if err == nil && !d.ours() {
		err = ErrOther
	}
	if err == nil && d.progressive {
		err = d.renderKept(ctx)
	}
	for _, denom := range []int{1, 2, 4, 8} {
		m, e := r.Decode(ctx, denom)
		if d.progressive && err != nil && strictly(err.Error()) {
			continue // it may be in a frequency that a smaller size does not keep
		}
		if (e == nil) != (err == nil) {
			return fmt.Sprintf("at 1/%d: %v, but at 1/1: %v", denom, e, err), false
		}
		if e != nil {
			continue
		}
		w, h := r.Size()
		if got, want := m.Bounds(), image.Rect(0, 0, (w+denom-1)/denom, (h+denom-1)/denom); got != want {
			return fmt.Sprintf("at 1/%d: bounds %v, want %v", denom, got, want), false
		}
	}
	switch {
	case errors.Is(err, ErrOther):
		return "", false
	case err != nil && wantErr == nil:
		return fmt.Sprintf("refused (%v), image/jpeg takes it", err), true
	case err == nil && wantErr != nil:
		return fmt.Sprintf("taken, image/jpeg refuses it: %v", wantErr), false
	case err != nil || mad.Load():
		return "", false
	}
	return samePixels(d.picture(), want, tolerance), false
}

// overflows tells whether a row has a block in which image/jpeg's 32 bits would not do: no picture's block has.
func overflows(p *scanPart, r *row) bool {
	for i := range p.comp.wide * p.comp.v {
		sum := 0
		for _, c := range r.coefs[p.coefs+i*p.span:][:64] {
			sum += max(int(c), -int(c))
		}
		if sum > 4000 { // a row's half of it, times 2^20, would not fit
			return true
		}
	}
	return false
}

// samePixels compares planes as they are shown.
func samePixels(got, want image.Image, tolerance int) string {
	switch want := want.(type) {
	case *image.Gray:
		got, ok := got.(*image.Gray)
		if !ok || got.Rect != want.Rect {
			return fmt.Sprintf("another sort or size than gray %v", want.Rect)
		}
		return samePlane("gray", got.Pix, got.Stride, want.Pix, want.Stride, want.Rect, tolerance)
	case *image.YCbCr:
		got, ok := got.(*image.YCbCr)
		if !ok || got.Rect != want.Rect || got.SubsampleRatio != want.SubsampleRatio {
			return fmt.Sprintf("another sort or size than %v %v", want.SubsampleRatio, want.Rect)
		}
		c := image.Rect(0, 0, want.COffset(want.Rect.Max.X-1, 0)+1, want.COffset(0, want.Rect.Max.Y-1)/want.CStride+1)
		return samePlane("Y", got.Y, got.YStride, want.Y, want.YStride, want.Rect, tolerance) +
			samePlane("Cb", got.Cb, got.CStride, want.Cb, want.CStride, c, tolerance) +
			samePlane("Cr", got.Cr, got.CStride, want.Cr, want.CStride, c, tolerance)
	}
	return fmt.Sprintf("%T is not ours", want)
}

func samePlane(name string, got []byte, gotStride int, want []byte, wantStride int, r image.Rectangle, tolerance int) string {
	for y := range r.Dy() {
		for x := range r.Dx() {
			g, w := int(got[y*gotStride+x]), int(want[y*wantStride+x])
			if g-w > tolerance || w-g > tolerance {
				return fmt.Sprintf("%s at %d,%d is %d, image/jpeg has %d; ", name, x, y, g, w)
			}
		}
	}
	return ""
}
