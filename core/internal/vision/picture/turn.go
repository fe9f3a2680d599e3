package picture

import "image"

// A picture is turned upright last, when it is small. So the part to cut is
// turned back into stored pixels first; the result is the same.

// stored turns a rectangle of the upright picture into one of the stored
// picture, which is w × h, by the EXIF orientation o.
func stored(r image.Rectangle, o, w, h int) image.Rectangle {
	if o >= 5 { // rows are columns
		r = image.Rect(r.Min.Y, r.Min.X, r.Max.Y, r.Max.X)
	}
	if mirrorsX(o) {
		r.Min.X, r.Max.X = w-r.Max.X, w-r.Min.X
	}
	if mirrorsY(o) {
		r.Min.Y, r.Max.Y = h-r.Max.Y, h-r.Min.Y
	}
	return r
}

// mirrorsX tells whether upright pixels run against the stored ones along a stored row.
func mirrorsX(o int) bool { return o == 2 || o == 3 || o == 7 || o == 8 }

// mirrorsY tells the same along a stored column.
func mirrorsY(o int) bool { return o == 3 || o == 4 || o == 6 || o == 7 }

// upright turns a picture by the EXIF orientation o.
func upright(src *image.NRGBA, o int) *image.NRGBA {
	if o <= 1 {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	ow, oh := w, h
	if o >= 5 {
		ow, oh = h, w
	}
	out := image.NewNRGBA(image.Rect(0, 0, ow, oh))
	for y := range oh {
		for x := range ow {
			sx, sy := x, y
			if o >= 5 {
				sx, sy = y, x
			}
			if mirrorsX(o) {
				sx = w - 1 - sx
			}
			if mirrorsY(o) {
				sy = h - 1 - sy
			}
			copy(out.Pix[out.PixOffset(x, y):][:4], src.Pix[src.PixOffset(sx, sy):])
		}
	}
	return out
}
