package picture

import (
	"image"
	"math"
	"slices"
)

const (
	// noise is the median difference, in levels of 255, that clean pictures stay
	// below: pages and photos were measured at 0 to 8, hidden pictures at 39 and
	// more (TestScalingAttacksAreNoted).
	noise = 16
	// samples a side are compared; more do not move the median.
	samples = 192
)

// disagreement scales a second time at a grid of points, with the bilinear
// filter of four neighbours that most programs use, and gives the median
// difference in brightness to what is sent. A picture that hides another one
// for a scaler to reveal looks different to every scaler (Quiring and others,
// "Adversarial Preprocessing", USENIX Security 2020).
func disagreement(job work, sent *image.NRGBA) float64 {
	w, h := sent.Rect.Dx(), sent.Rect.Dy()
	b := job.src.Bounds()
	sx, sy := float64(job.crop.Dx())/float64(w), float64(job.crop.Dy())/float64(h)
	read := rowReader(job.src)
	at := func(x, y int) float64 {
		x, y = min(max(x, job.crop.Min.X), job.crop.Max.X-1), min(max(y, job.crop.Min.Y), job.crop.Max.Y-1)
		p := stored(image.Rect(x, y, x+1, y+1), job.seen.orientation, b.Dx(), b.Dy()).Min.Add(b.Min)
		var px [4]float32
		read(p.X, p.Y, px[:])
		return brightness(px[0], px[1], px[2], px[3])
	}
	stepX, stepY := max(1, w/samples), max(1, h/samples)
	var all []float64
	for y := stepY / 2; y < h; y += stepY {
		for x := stepX / 2; x < w; x += stepX {
			fx, fy := (float64(x)+0.5)*sx-0.5+float64(job.crop.Min.X), (float64(y)+0.5)*sy-0.5+float64(job.crop.Min.Y)
			x0, y0 := int(math.Floor(fx)), int(math.Floor(fy))
			dx, dy := fx-float64(x0), fy-float64(y0)
			bilinear := (1-dy)*((1-dx)*at(x0, y0)+dx*at(x0+1, y0)) + dy*((1-dx)*at(x0, y0+1)+dx*at(x0+1, y0+1))
			s := sent.NRGBAAt(x, y)
			f := float32(s.A) / 255
			all = append(all, math.Abs(bilinear-brightness(float32(s.R)*f, float32(s.G)*f, float32(s.B)*f, float32(s.A))))
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// brightness of a colour times alpha, over white (ITU-R BT.601).
func brightness(r, g, b, a float32) float64 {
	return 0.299*float64(r) + 0.587*float64(g) + 0.114*float64(b) + 255 - float64(a)
}
