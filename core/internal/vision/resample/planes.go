package resample

import (
	"image"
	"image/color"
)

// planes reduces a picture whose brightness and colours lie apart, as JPEGs have them:
// each plane by itself, straight to the sent size, and only there into RGB.
type planes struct {
	out   *image.NRGBA
	parts [3]plane
}

// plane is one of the three.
type plane struct {
	pix          []byte // from the first row and column that count
	stride       int
	wide         int // columns that count
	down, across taps
}

func newPlanes(m *image.YCbCr, r image.Rectangle, w, h int) *planes {
	p := &planes{out: image.NewNRGBA(image.Rect(0, 0, w, h))}
	sx, sy := subsampling(m.SubsampleRatio)
	p.parts[0] = newPlane(m.Y[m.YOffset(r.Min.X, r.Min.Y):], m.YStride, axes{r.Min.X, r.Max.X, 1, w}, axes{r.Min.Y, r.Max.Y, 1, h})
	at := m.COffset(r.Min.X, r.Min.Y)
	across, down := axes{r.Min.X, r.Max.X, sx, w}, axes{r.Min.Y, r.Max.Y, sy, h}
	p.parts[1] = newPlane(m.Cb[at:], m.CStride, across, down)
	p.parts[2] = newPlane(m.Cr[at:], m.CStride, across, down)
	return p
}

// axes is one axis of a plane: a part of the picture, in pixels, how many of them one
// sample stands for, and how many are sent.
type axes struct{ from, to, each, n int }

// span counts samples from the first that counts. A sample stands for the pixels that
// repeating it would fill, so its centre is theirs.
func (a axes) span() span {
	first, last := a.from/a.each, (a.to+a.each-1)/a.each
	each := float64(a.each)
	return span{float64(a.from)/each - float64(first), float64(a.to-a.from) / each, 0, last - first, a.n}
}

func newPlane(pix []byte, stride int, across, down axes) plane {
	x, y := across.span(), down.span()
	return plane{pix: pix, stride: stride, wide: x.hi, across: x.taps(Grey.step()), down: y.taps(2)}
}

// subsampling is how many pixels a sample of colour stands for, across and down.
func subsampling(r image.YCbCrSubsampleRatio) (x, y int) {
	switch r {
	case image.YCbCrSubsampleRatio422:
		return 2, 1
	case image.YCbCrSubsampleRatio420:
		return 2, 2
	case image.YCbCrSubsampleRatio440:
		return 1, 2
	case image.YCbCrSubsampleRatio411:
		return 4, 1
	case image.YCbCrSubsampleRatio410:
		return 4, 2
	}
	return 1, 1
}

func (p *planes) image() image.Image { return p.out }

func (p *planes) worker() func(y int) {
	w := p.out.Rect.Dx()
	var mix [3]*mixer
	var rows [3][]byte
	for i := range p.parts {
		part := &p.parts[i]
		mix[i], rows[i] = newMixer(Grey, part.wide, &part.down, &part.across), make([]byte, w)
	}
	return func(y int) {
		for i := range p.parts {
			part := &p.parts[i]
			mix[i].row(rows[i], y, func(y int) []byte { return part.pix[y*part.stride:][:part.wide] })
		}
		dst := p.out.Pix[y*p.out.Stride:][:4*w]
		cb, cr := rows[1][:w], rows[2][:w]
		for x, level := range rows[0][:w] {
			o := dst[4*x : 4*x+4 : 4*x+4]
			o[0], o[1], o[2] = color.YCbCrToRGB(level, cb[x], cr[x])
			o[3] = 255
		}
	}
}
