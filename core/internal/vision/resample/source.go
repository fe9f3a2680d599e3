package resample

import (
	"image"
	"image/color"
)

// source gives the rows of the part r of a picture, counted from its top.
type source struct {
	layout Layout
	ready  bool // colours are times alpha
	opaque bool // known for all rows; else each is asked
	direct bool // rows are used where they lie, read needs no room
	read   func(y int, room []byte) []byte
}

// sourceOf knows the pictures that decoders return; all others are asked pixel by pixel.
func sourceOf(src image.Image, r image.Rectangle) source {
	n := r.Dx()
	lie := func(pix []byte, stride, at, step int) func(int, []byte) []byte {
		return func(y int, _ []byte) []byte { return pix[at+y*stride : at+y*stride+n*step] }
	}
	convert := func(pix []byte, stride, at, step int, f func(out, row []byte)) func(int, []byte) []byte {
		return func(y int, room []byte) []byte {
			f(room, pix[at+y*stride:at+y*stride+n*step])
			return room
		}
	}
	at := r.Min
	switch m := src.(type) {
	case *image.Gray:
		return source{Grey, false, true, true, lie(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 1)}
	case *image.NRGBA:
		return source{NRGBA, false, false, true, lie(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 4)}
	case *image.RGBA:
		return source{NRGBA, true, false, true, lie(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 4)}
	case *image.Gray16:
		return source{Grey, false, true, false, convert(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 2, fromGray16)}
	case *image.NRGBA64:
		return source{NRGBA, false, false, false, convert(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 8, fromNRGBA64)}
	case *image.RGBA64:
		return source{NRGBA, false, false, false, convert(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 8, fromRGBA64)}
	case *image.CMYK:
		return source{NRGBA, false, true, false, convert(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 4, fromCMYK)}
	case *image.Paletted:
		table := tableOf(m.Palette)
		return source{NRGBA, false, false, false, convert(m.Pix, m.Stride, m.PixOffset(at.X, at.Y), 1, table.convert)}
	case *image.NYCbCrA:
		return source{layout: NRGBA, read: func(y int, room []byte) []byte {
			fromNYCbCrA(room, m, at.X, at.Y+y)
			return room
		}}
	}
	return source{layout: NRGBA, read: func(y int, room []byte) []byte {
		for x := range n {
			putColour(room[4*x:], src.At(at.X+x, at.Y+y))
		}
		return room
	}}
}

// putColour writes one colour, not multiplied by alpha.
func putColour(out []byte, c color.Color) {
	n, _ := color.NRGBAModel.Convert(c).(color.NRGBA)
	out[0], out[1], out[2], out[3] = n.R, n.G, n.B, n.A
}

// Of 16 bits the upper ones are taken, as the models of image/color do.

func fromGray16(out, row []byte) {
	for i := range out {
		out[i] = row[2*i]
	}
}

func fromNRGBA64(out, row []byte) {
	for i := range out {
		out[i] = row[2*i]
	}
}

func fromRGBA64(out, row []byte) {
	for i := 0; i < len(out); i += 4 {
		p, o := row[2*i:2*i+8:2*i+8], out[i:i+4:i+4]
		o[0], o[1], o[2], o[3] = p[0], p[2], p[4], p[6]
		a := uint32(p[6])<<8 | uint32(p[7])
		if a == 0xffff || a == 0 {
			continue
		}
		for c := range 3 {
			v := min(uint32(p[2*c])<<8|uint32(p[2*c+1]), a)
			o[c] = byte(v * 0xffff / a >> 8) //nolint:gosec // v is at most a
		}
	}
}

// fromCMYK is color.CMYKToRGB with its two divisions made one.
func fromCMYK(out, row []byte) {
	for i := 0; i < len(out); i += 4 {
		p, o := row[i:i+4:i+4], out[i:i+4:i+4]
		w := (255 - uint32(p[3])) * 257
		o[0] = byte((255 - uint32(p[0])) * w / 65280) //nolint:gosec // at most 255
		o[1] = byte((255 - uint32(p[1])) * w / 65280) //nolint:gosec // at most 255
		o[2] = byte((255 - uint32(p[2])) * w / 65280) //nolint:gosec // at most 255
		o[3] = 255
	}
}

// table is a palette's colours; those behind its end are black and wholly transparent.
type table [256][4]byte

func tableOf(p color.Palette) *table {
	t := new(table)
	for i, c := range p[:min(len(p), len(t))] {
		putColour(t[i][:], c)
	}
	return t
}

func (t *table) convert(out, row []byte) {
	for i, v := range row {
		*(*[4]byte)(out[4*i:]) = t[v]
	}
}

func fromNYCbCrA(out []byte, m *image.NYCbCrA, x, y int) {
	for i := 0; i < len(out); i, x = i+4, x+1 {
		c := m.COffset(x, y)
		o := out[i : i+4 : i+4]
		o[0], o[1], o[2] = color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c])
		o[3] = m.A[m.AOffset(x, y)]
	}
}
