package picture

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/pngwrite"
	"github.com/relo-dev/relo/core/internal/vision/resample"
)

// Fit makes a picture that is on its way to a model fit what one place takes. One that fits
// already comes back byte for byte, after it was decoded to its end; its media type is what its bytes
// say. Else it is reduced to the edge and the pixels, and becomes a PNG, or for want of bytes a JPEG
// and then smaller, as Prepare does it. Nothing is enlarged: a picture that is too small, or too
// long for its width, stands in the upper left corner of a white canvas (note "padded"), so that a
// point of it stays where it was, and Meta.Scale speaks of the picture, not of the canvas. The same
// bytes and limits always give the same bytes. Name is shown, and held against Never. Every refusal
// is an *Error.
func (p *Preparer) Fit(ctx context.Context, data []byte, name string, f vision.Fit) (vision.Picture, vision.Meta, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return vision.Picture{}, vision.Meta{}, err
	}
	defer leave()
	if p.never(name) {
		return vision.Picture{}, vision.Meta{}, refuseNever(name)
	}
	if int64(len(data)) > p.opts.MaxBytes {
		return vision.Picture{}, vision.Meta{}, refuseBytes(name, p.opts.MaxBytes)
	}
	return p.fit(ctx, data, name, f)
}

func (p *Preparer) fit(ctx context.Context, data []byte, name string, f vision.Fit) (vision.Picture, vision.Meta, error) {
	job, meta, err := p.plan(data, name, Params{})
	if err != nil {
		return vision.Picture{}, meta, err
	}
	if p.opts.Children != nil && !job.seen.small(len(data)) {
		o := p.order(name, Params{})
		o.Fit = &f
		pic, done, err := p.opts.Children.prepare(ctx, o, data)
		if err != nil {
			return vision.Picture{}, meta, err
		}
		done.Path = name
		return pic, done, nil
	}
	if f.Holds(meta.Source.Width, meta.Source.Height, len(data), "image/"+job.seen.kind) {
		if err := p.whole(ctx, job); err != nil {
			return vision.Picture{}, meta, err
		}
		kept := encoded{bytes: data, mediaType: "image/" + job.seen.kind, width: meta.Source.Width, height: meta.Source.Height}
		job.seen = &sight{} // nothing was done to it, so there is nothing to note
		return finish(kept, job, &meta), meta, nil
	}
	sent, err := p.refit(ctx, job, f)
	if err != nil {
		return vision.Picture{}, meta, err
	}
	return finish(sent, job, &meta), meta, nil
}

// whole decodes a picture that is sent as it is to its end.
func (p *Preparer) whole(ctx context.Context, job work) error {
	if job.seen.kind == "png" || job.seen.kind == "jpeg" {
		_, err := p.check(ctx, job)
		return err
	}
	_, err := p.decode(ctx, job.data, job.seen, job.name)
	return err
}

// refit decodes, reduces and encodes.
func (p *Preparer) refit(ctx context.Context, job work, f vision.Fit) (encoded, error) {
	w, h, ok := reduced(job.crop.Dx(), job.crop.Dy(), p.opts.MaxPixels, f)
	if !ok {
		return encoded{}, refuse(TooComplex, "%q cannot be made to fit: it would still be too small or too long for its width when it is already too large; show a part of it", job.name)
	}
	part, err := p.pixels(ctx, job, w, h)
	if err != nil {
		return encoded{}, err
	}
	img := upright(part.img, job.seen.orientation)
	l := ladder{fit: f, name: job.name, whole: img, notes: job.scaleNotes(part, w, h)}
	if !opaque(img) {
		l.notes = append(l.notes, "transparent")
	}
	return l.climb(ctx)
}

// reduced is a size within edge and pixels that keeps the aspect, and whose canvas is within them
// too; not ok: there is none.
func reduced(w, h int, pixels int64, f vision.Fit) (int, int, bool) {
	if f.MaxEdge > 0 {
		w, h = fit(w, h, f.MaxEdge)
	}
	if f.MaxPixels > 0 {
		pixels = min(pixels, int64(f.MaxPixels))
	}
	if n := int64(w) * int64(h); n > pixels {
		r := math.Sqrt(float64(pixels) / float64(n))
		w, h = max(1, int(float64(w)*r)), max(1, int(float64(h)*r))
	}
	for {
		cw, ch := canvas(w, h, f)
		if (f.MaxEdge == 0 || max(cw, ch) <= f.MaxEdge) && int64(cw)*int64(ch) <= pixels {
			return w, h, true
		}
		if w == 1 && h == 1 {
			return w, h, false
		}
		w, h = max(1, w*9/10), max(1, h*9/10)
	}
}

// canvas is the smallest size that holds w × h and is neither too small nor too long.
func canvas(w, h int, f vision.Fit) (int, int) {
	w, h = max(w, f.MinEdge), max(h, f.MinEdge)
	if f.MaxAspect > 0 {
		w, h = max(w, (h+f.MaxAspect-1)/f.MaxAspect), max(h, (w+f.MaxAspect-1)/f.MaxAspect)
	}
	if need := int64(f.MinPixels); int64(w)*int64(h) < need {
		side := int(math.Ceil(math.Sqrt(float64(f.MinPixels))))
		w, h = max(w, min(side, (f.MinPixels+h-1)/h)), max(h, side)
		h = max(h, (f.MinPixels+w-1)/w)
	}
	return w, h
}

// ladder is how a picture gets within its bytes: PNG, JPEG of falling quality, then
// smaller by a fifth at a time.
type ladder struct {
	fit   vision.Fit
	name  string
	whole image.Image // reduced and upright
	notes []string
}

func (l ladder) climb(ctx context.Context) (encoded, error) {
	most := l.fit.MaxBytes
	if most <= 0 {
		most = maxSent
	}
	png, jpeg := l.fit.Takes("image/png"), l.fit.Takes("image/jpeg")
	if !png && !jpeg {
		return encoded{}, refuse(UnsupportedKind, "%q cannot be sent: neither PNG nor JPEG is taken here; describe it in words", l.name)
	}
	img, step := l.whole, 0
	flat := onWhite(l.whole)
	for ; step <= maxShrinks; step++ {
		if step > 0 {
			b := img.Bounds()
			small, err := resample.Image(ctx, l.whole, l.whole.Bounds(), max(1, b.Dx()*4/5), max(1, b.Dy()*4/5))
			if err != nil {
				return encoded{}, late(ctx)
			}
			img, flat = small, onWhite(small)
		}
		if png && (step == 0 || !jpeg) {
			sent, fits, err := l.asPNG(ctx, img, most)
			if err != nil || fits {
				return l.noted(sent, step), err
			}
		}
		if !jpeg {
			continue
		}
		sent, fits, err := l.asJPEG(ctx, flat, most, step)
		if err != nil || fits {
			return l.noted(sent, step), err
		}
	}
	return encoded{}, refuse(TooComplex, "%q does not get small enough to be sent in %d bytes; show a part of it", l.name, most)
}

func (l ladder) noted(sent encoded, step int) encoded {
	notes := append([]string(nil), l.notes...)
	if sent.mediaType == "image/jpeg" && !opaque(l.whole) {
		notes = append(notes, "flattened-on-white")
	}
	if step > 0 {
		notes = append(notes, "shrunk-to-fit")
	}
	if sent.drawn != (vision.Size{}) {
		notes = append(notes, "padded")
	}
	sent.notes = append(notes, sent.notes...)
	return sent
}

// placed is the picture on its canvas, when it needs one.
func (l ladder) placed(img image.Image) (image.Image, encoded) {
	b := img.Bounds()
	w, h := canvas(b.Dx(), b.Dy(), l.fit)
	e := encoded{width: w, height: h}
	if w == b.Dx() && h == b.Dy() {
		return img, e
	}
	e.drawn = vision.Size{Width: b.Dx(), Height: b.Dy()}
	return onCanvasOf(img, w, h), e
}

// onCanvasOf puts a picture into the upper left corner of a white one, pixel by pixel.
func onCanvasOf(img image.Image, w, h int) image.Image {
	all := image.Rect(0, 0, w, h)
	var out draw.Image
	switch img.(type) {
	case *image.Gray:
		out = image.NewGray(all)
	case *image.RGBA:
		out = image.NewRGBA(all)
	default:
		out = image.NewNRGBA(all)
	}
	draw.Draw(out, all, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, img.Bounds().Sub(img.Bounds().Min), img, img.Bounds().Min, draw.Src)
	return out
}

func (l ladder) asPNG(ctx context.Context, img image.Image, most int) (encoded, bool, error) {
	img, e := l.placed(img)
	bytes, fits, err := pngwrite.EncodeMax(ctx, img, most)
	if err != nil && late(ctx) != nil {
		return e, false, late(ctx)
	}
	if err != nil {
		return e, false, fmt.Errorf("encode as PNG: %w", err)
	}
	e.bytes, e.mediaType = bytes, "image/png"
	return e, fits, nil
}

func (l ladder) asJPEG(ctx context.Context, flat image.Image, most, step int) (encoded, bool, error) {
	flat, e := l.placed(flat)
	for i, quality := range qualities {
		if step > 0 && i < len(qualities)-1 {
			continue
		}
		if err := late(ctx); err != nil {
			return e, false, err
		}
		data, err := encodeJPEG(flat, quality)
		if err != nil {
			return e, false, err
		}
		if len(data) <= most {
			e.bytes, e.mediaType, e.notes = data, "image/jpeg", []string{fmt.Sprintf("jpeg-quality-%d", quality)}
			return e, true, nil
		}
	}
	return e, false, nil
}
