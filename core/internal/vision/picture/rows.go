package picture

import (
	"image"
	"image/color"
	"image/draw"
)

// rowFunc writes pixels of row y, from x on, into dst: red, green, blue times
// alpha and alpha, each 0..255. The length of dst says how many.
type rowFunc func(x, y int, dst []float32)

// rowReader reads any picture; those that decoders really give have a path of their own.
func rowReader(src image.Image) rowFunc {
	switch m := src.(type) {
	case *image.NRGBA:
		return nrgbaRows(m)
	case *image.RGBA:
		return func(x, y int, dst []float32) {
			at := m.Pix[m.PixOffset(x, y):]
			for i := range dst {
				dst[i] = float32(at[i])
			}
		}
	case *image.Gray:
		return func(x, y int, dst []float32) {
			at := m.Pix[m.PixOffset(x, y):]
			for i := 0; i < len(dst); i += 4 {
				v := float32(at[i/4])
				dst[i], dst[i+1], dst[i+2], dst[i+3] = v, v, v, 255
			}
		}
	case *image.YCbCr:
		return func(x, y int, dst []float32) {
			for i := 0; i < len(dst); i, x = i+4, x+1 {
				c := m.COffset(x, y)
				r, g, b := color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c])
				dst[i], dst[i+1], dst[i+2], dst[i+3] = float32(r), float32(g), float32(b), 255
			}
		}
	case *image.CMYK:
		return func(x, y int, dst []float32) {
			at := m.Pix[m.PixOffset(x, y):]
			for i := 0; i < len(dst); i += 4 {
				r, g, b := color.CMYKToRGB(at[i], at[i+1], at[i+2], at[i+3])
				dst[i], dst[i+1], dst[i+2], dst[i+3] = float32(r), float32(g), float32(b), 255
			}
		}
	case *image.Paletted:
		return palettedRows(m)
	}
	return func(x, y int, dst []float32) {
		for i := 0; i < len(dst); i, x = i+4, x+1 {
			putColour(dst[i:], src.At(x, y))
		}
	}
}

func nrgbaRows(m *image.NRGBA) rowFunc {
	return func(x, y int, dst []float32) {
		at := m.Pix[m.PixOffset(x, y):]
		for i := 0; i < len(dst); i += 4 {
			a := float32(at[i+3])
			f := a / 255
			dst[i], dst[i+1], dst[i+2], dst[i+3] = float32(at[i])*f, float32(at[i+1])*f, float32(at[i+2])*f, a
		}
	}
}

func palettedRows(m *image.Paletted) rowFunc {
	table := make([]float32, 4*256) // an index behind the palette is black and clear
	for i, c := range m.Palette {
		putColour(table[4*i:], c)
	}
	return func(x, y int, dst []float32) {
		at := m.Pix[m.PixOffset(x, y):]
		for i := 0; i < len(dst); i += 4 {
			copy(dst[i:i+4], table[4*int(at[i/4]):])
		}
	}
}

// putColour writes one colour; 257 is 65535 / 255.
func putColour(dst []float32, c color.Color) {
	r, g, b, a := c.RGBA()
	dst[0], dst[1], dst[2], dst[3] = float32(r)/257, float32(g)/257, float32(b)/257, float32(a)/257
}

// plain copies the part r of src pixel by pixel, with 8 bits a channel.
func plain(src image.Image, r image.Rectangle) image.Image {
	size := image.Rect(0, 0, r.Dx(), r.Dy())
	switch m := src.(type) {
	case *image.Gray, *image.Gray16:
		out := image.NewGray(size)
		draw.Draw(out, size, src, r.Min, draw.Src)
		return out
	case *image.NRGBA:
		out := image.NewNRGBA(size)
		for y := range r.Dy() {
			copy(out.Pix[y*out.Stride:(y+1)*out.Stride], m.Pix[m.PixOffset(r.Min.X, r.Min.Y+y):])
		}
		return out
	case *image.RGBA, *image.YCbCr, *image.CMYK: // these draw has quick ways for, and what is opaque is the same in both
		out := image.NewRGBA(size)
		draw.Draw(out, size, src, r.Min, draw.Src)
		if out.Opaque() {
			return &image.NRGBA{Pix: out.Pix, Stride: out.Stride, Rect: out.Rect}
		}
	}
	out := image.NewNRGBA(size)
	for y := range r.Dy() {
		for x := range r.Dx() {
			c, ok := color.NRGBAModel.Convert(src.At(r.Min.X+x, r.Min.Y+y)).(color.NRGBA)
			if ok {
				out.SetNRGBA(x, y, c)
			}
		}
	}
	return out
}
