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

// upright turns a picture that was scaled here by the EXIF orientation o.
func upright(img image.Image, o int) image.Image {
	if o <= 1 {
		return img
	}
	b := img.Bounds()
	size := image.Rect(0, 0, b.Dx(), b.Dy())
	if o >= 5 {
		size = image.Rect(0, 0, b.Dy(), b.Dx())
	}
	switch m := img.(type) {
	case *image.Gray:
		out := image.NewGray(size)
		turn(out.Pix, m.Pix, b.Dx(), b.Dy(), 1, o)
		return out
	case *image.NRGBA:
		out := image.NewNRGBA(size)
		turn(out.Pix, m.Pix, b.Dx(), b.Dy(), 4, o)
		return out
	}
	panic("picture: what was scaled is neither grey nor coloured")
}

// turn copies w × h pixels of n bytes each, without gaps between rows.
func turn(out, in []byte, w, h, n, o int) {
	// The steps in out for a step to the right and down in in, and where it begins.
	right, down, start := n, n*w, 0
	if o >= 5 {
		right, down = n*h, n
	}
	if mirrorsX(o) {
		start += right * (w - 1)
		right = -right
	}
	if mirrorsY(o) {
		start += down * (h - 1)
		down = -down
	}
	for y := range h {
		at := start + y*down
		for x := range w {
			from := n * (y*w + x)
			copy(out[at:at+n], in[from:from+n])
			at += right
		}
	}
}
