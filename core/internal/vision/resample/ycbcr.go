package resample

import (
	"context"
	"image"
)

// plane is one of a picture's three.
type plane struct {
	*plan
	from source
}

// planeOf is the plane of samples that begin with pix's first.
func planeOf(pix []byte, stride int, down, across spread) plane {
	n := across.samples()
	return plane{newPlan(Grey, down, across), source{
		layout: Grey, opaque: true, direct: true,
		read: func(y int, _ []byte) []byte { return pix[y*stride : y*stride+n] },
	}}
}

// reduceYCbCr reduces each plane straight to w × h and converts there (JFIF, as color.YCbCrToRGB).
// The chroma planes' weights are those of the luma plane with each sample's pixels added up, so
// they lie where image.YCbCr says: a sample covers its pixels evenly.
func reduceYCbCr(ctx context.Context, m *image.YCbCr, r image.Rectangle, w, h int) (image.Image, error) {
	planes := planesOf(m, r, w, h)
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	err := inStrips(ctx, h, r.Dx()*r.Dy(), func(lo, hi int) error {
		s, _ := pool.Get().(*scratch)
		defer s.keep()
		var rings [3]*ring
		for i, p := range planes {
			rings[i] = newRing(p.down.most, 0, nil)
			s.planes[i] = sized(s.planes[i], w)
		}
		for y := lo; y < hi; y++ {
			if err := ctx.Err(); err != nil {
				return err //nolint:wrapcheck // the caller's own
			}
			for i, p := range planes {
				p.next(s, rings[i], p.from, y, s.planes[i])
			}
			toRGB(out.Pix[y*out.Stride:(y+1)*out.Stride], s.planes[0], s.planes[1], s.planes[2])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func planesOf(m *image.YCbCr, r image.Rectangle, w, h int) [3]plane {
	subX, subY := subsampling(m.SubsampleRatio)
	down, across := spread{size: r.Dy(), n: h}, spread{size: r.Dx(), n: w}
	cDown, cAcross := down, across
	// As image.YCbCr.COffset counts.
	cDown.sample = func(y int) int { return (r.Min.Y+y)/subY - r.Min.Y/subY }
	cAcross.sample = func(x int) int { return (r.Min.X+x)/subX - r.Min.X/subX }
	at := m.COffset(r.Min.X, r.Min.Y)
	return [3]plane{
		planeOf(m.Y[m.YOffset(r.Min.X, r.Min.Y):], m.YStride, down, across),
		planeOf(m.Cb[at:], m.CStride, cDown, cAcross),
		planeOf(m.Cr[at:], m.CStride, cDown, cAcross),
	}
}

// subsampling says how many pixels across and down share a chroma sample.
func subsampling(s image.YCbCrSubsampleRatio) (x, y int) {
	switch s {
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
	default: // 4:4:4
		return 1, 1
	}
}
