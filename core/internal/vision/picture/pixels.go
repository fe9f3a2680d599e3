package picture

import (
	"context"
	"errors"
	"image"

	"github.com/relo-dev/relo/core/internal/vision/jpegread"
	"github.com/relo-dev/relo/core/internal/vision/pngread"
	"github.com/relo-dev/relo/core/internal/vision/resample"
)

// scaled is the wanted part at the size it is sent in, not yet turned upright.
type scaled struct {
	img     image.Image // *image.Gray or *image.NRGBA
	changes bool        // scaling shows what is not seen before
}

// pixels decodes, crops and scales to w × h upright pixels. PNGs are reduced while they are
// decoded, JPEGs are decoded at a fraction of their size where that is enough, everything else is decoded whole.
func (p *Preparer) pixels(ctx context.Context, job work, w, h int) (scaled, error) {
	o := job.seen.orientation
	r := stored(job.crop, o, int(job.seen.width), int(job.seen.height))
	if o >= 5 {
		w, h = h, w
	}
	if job.seen.kind == "png" {
		if file, ok := pngread.Open(job.data); ok {
			return job.rows(ctx, file, r, w, h)
		}
	}
	if job.seen.kind == "jpeg" {
		if part, done, err := job.fraction(ctx, r, denominator(r, w, h), w, h); done || err != nil {
			return part, err
		}
	}
	src, err := p.decode(ctx, job.data, job.seen, job.name)
	if err != nil {
		return scaled{}, err
	}
	return reduce(ctx, src, r.Add(src.Bounds().Min), w, h)
}

// reduce scales a decoded picture.
func reduce(ctx context.Context, src image.Image, r image.Rectangle, w, h int) (scaled, error) {
	if w == r.Dx() && h == r.Dy() {
		return scaled{img: plain(src, r)}, late(ctx)
	}
	img, err := resample.Image(ctx, src, r, w, h)
	if err != nil {
		return scaled{}, late(ctx)
	}
	watch := newSampler(r, w, h)
	watch.image(src)
	return scaled{img, watch.changes(img)}, nil
}

// rows scales a PNG while it is decoded.
func (job work) rows(ctx context.Context, file *pngread.Reader, r image.Rectangle, w, h int) (scaled, error) {
	layout := int(file.Header().Layout)
	stream := resample.NewStream(resample.Layout(layout), r, w, h)
	var watch *sampler
	if w != r.Dx() || h != r.Dy() {
		watch = newSampler(r, w, h)
	}
	err := file.Rows(ctx, func(y int, row []byte) error {
		stream.Put(y, row)
		if watch != nil {
			watch.pixels(y, row, layout)
		}
		return nil
	})
	if end := late(ctx); end != nil {
		return scaled{}, end
	}
	if err != nil {
		return scaled{}, decodeRefusal(job.name, job.seen, err)
	}
	s := scaled{img: stream.Image()}
	if watch != nil {
		s.changes = watch.changes(s.img)
	}
	return s, nil
}

// denominator is the largest of 8, 4 and 2 by which the part r can be decoded
// smaller and still be larger than w × h, with its edges on whole pixels: the last pixel of a side
// that does not divide would stand for less than the others, and all would be moved a little.
func denominator(r image.Rectangle, w, h int) int {
	for _, d := range [...]int{8, 4, 2} {
		if r.Min.X%d == 0 && r.Min.Y%d == 0 && r.Max.X%d == 0 && r.Max.Y%d == 0 && r.Dx() >= d*w && r.Dy() >= d*h {
			return d
		}
	}
	return 1
}

// fraction scales a JPEG that is decoded at 1/denom. It is not done for sorts that the
// standard decoder has to read, nor where what it leaves out may be a picture of its own.
func (job work) fraction(ctx context.Context, r image.Rectangle, denom, w, h int) (_ scaled, done bool, err error) {
	file, ok := jpegread.Open(job.data)
	if !ok {
		return scaled{}, false, nil
	}
	src, lost, err := file.Reduce(ctx, denom)
	if end := late(ctx); end != nil {
		return scaled{}, false, end
	}
	if errors.Is(err, jpegread.ErrOther) || err == nil && lost > maxLost {
		return scaled{}, false, nil
	}
	if err != nil {
		return scaled{}, false, decodeRefusal(job.name, job.seen, err)
	}
	part := image.Rect(r.Min.X/denom, r.Min.Y/denom, r.Max.X/denom, r.Max.Y/denom)
	s, err := reduce(ctx, src, part.Add(src.Bounds().Min), w, h)
	return s, err == nil, err
}
