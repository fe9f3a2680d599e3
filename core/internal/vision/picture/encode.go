package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
)

// work is one decoded picture and what is wanted of it.
type work struct {
	src   image.Image
	name  string
	seen  *sight
	data  []byte          // the file
	crop  image.Rectangle // of the upright picture
	whole bool            // crop is all of it
	edge  int
}

// encoded is what is sent.
type encoded struct {
	bytes         []byte
	mediaType     string
	width, height int
	notes         []string
}

// render decodes, crops, scales, turns and encodes; a PNG or JPEG that needs none of
// it is passed on with its pixels byte for byte.
func (p *Preparer) render(ctx context.Context, job work) (_ encoded, err error) {
	if job.src, err = p.decode(ctx, job.data, job.seen, job.name); err != nil {
		return encoded{}, err
	}
	w, h := fit(job.crop.Dx(), job.crop.Dy(), job.edge)
	if sent, ok := p.pass(job, w, h); ok {
		return sent, nil
	}
	img, err := job.scaled(ctx, w, h)
	if err != nil {
		return encoded{}, err
	}
	notes := job.scaleNotes(img)
	if !img.Opaque() {
		notes = append(notes, "transparent")
	}
	sent := encoded{mediaType: "image/png", width: w, height: h, notes: notes}
	if sent.bytes, err = encodePNG(img); err != nil {
		return encoded{}, err
	}
	if len(sent.bytes) <= p.opts.MaxSent {
		return sent, nil
	}
	return p.shrink(ctx, job, img, notes)
}

// pass sends the file itself, without what holds no pixels.
func (p *Preparer) pass(job work, w, h int) (encoded, bool) {
	s := job.seen
	if !job.whole || s.orientation > 1 || w != job.crop.Dx() || h != job.crop.Dy() || s.deep || s.ink {
		return encoded{}, false
	}
	sent := encoded{bytes: job.data, width: w, height: h}
	switch s.kind {
	case "png":
		sent.mediaType = "image/png"
		if o, ok := job.src.(interface{ Opaque() bool }); ok && !o.Opaque() {
			sent.notes = append(sent.notes, "transparent")
		}
		if s.hidden != (hidden{}) {
			sent.bytes = stripPNG(job.data)
		}
	case "jpeg":
		sent.mediaType = "image/jpeg"
		if s.hidden != (hidden{}) {
			sent.bytes = stripJPEG(job.data)
		}
	default:
		return encoded{}, false
	}
	return sent, len(sent.bytes) <= p.opts.MaxSent
}

// shrink is the ladder for what is too large as a PNG: JPEG on white, then a
// fifth smaller at a time.
func (p *Preparer) shrink(ctx context.Context, job work, img *image.NRGBA, notes []string) (encoded, error) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if !img.Opaque() {
		notes = append(notes, "flattened-on-white")
	}
	for step := range maxShrinks {
		flat := onWhite(img)
		for _, quality := range qualities {
			if step > 0 && quality != qualities[len(qualities)-1] {
				continue
			}
			if err := late(ctx); err != nil {
				return encoded{}, err
			}
			var buf bytes.Buffer
			if err := jpeg.Encode(&buf, flat, &jpeg.Options{Quality: quality}); err != nil {
				return encoded{}, fmt.Errorf("encode as JPEG: %w", err)
			}
			if buf.Len() <= p.opts.MaxSent {
				notes = append(notes, fmt.Sprintf("jpeg-quality-%d", quality))
				return encoded{buf.Bytes(), "image/jpeg", w, h, notes}, nil
			}
		}
		if step == 0 {
			notes = append(notes, "shrunk-to-fit")
		}
		w, h = max(1, w*4/5), max(1, h*4/5)
		var err error
		if img, err = job.scaled(ctx, w, h); err != nil {
			return encoded{}, err
		}
	}
	return encoded{}, refuse(TooComplex, "the picture does not get small enough to be sent; ask for a region of it")
}

// scaled gives the wanted part, upright and w × h.
func (job work) scaled(ctx context.Context, w, h int) (*image.NRGBA, error) {
	o := job.seen.orientation
	b := job.src.Bounds()
	r := stored(job.crop, o, b.Dx(), b.Dy()).Add(b.Min)
	if o >= 5 {
		w, h = h, w
	}
	if w == r.Dx() && h == r.Dy() {
		return upright(plain(job.src, r), o), late(ctx)
	}
	img, err := scale(ctx, job.src, r, w, h)
	if err != nil {
		return nil, err
	}
	return upright(img, o), nil
}

// scaleNotes warn of what scaling does to the content.
func (job work) scaleNotes(img *image.NRGBA) []string {
	if img.Rect.Dx() == job.crop.Dx() && img.Rect.Dy() == job.crop.Dy() {
		return nil
	}
	var notes []string
	if float64(max(job.crop.Dx(), job.crop.Dy()))/float64(max(img.Rect.Dx(), img.Rect.Dy())) >= readable {
		notes = append(notes, "small-text-may-be-unreadable")
	}
	if disagreement(job, img) > noise {
		notes = append(notes, "changes-when-scaled")
	}
	return notes
}

// fit gives the size whose longest edge is at most edge; never larger, never below one pixel.
func fit(w, h, edge int) (fitW, fitH int) {
	long := max(w, h)
	if long <= edge {
		return w, h
	}
	f := float64(edge) / float64(long)
	return max(1, int(math.Round(float64(w)*f))), max(1, int(math.Round(float64(h)*f)))
}

func encodePNG(img *image.NRGBA) ([]byte, error) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil, fmt.Errorf("encode as PNG: %w", err)
	}
	return buf.Bytes(), nil
}

// onWhite removes transparency, as paper would.
func onWhite(img *image.NRGBA) *image.RGBA {
	out := image.NewRGBA(img.Rect)
	for i := 0; i < len(img.Pix); i += 4 {
		a := uint32(img.Pix[i+3])
		for c := range 3 {
			out.Pix[i+c] = uint8((uint32(img.Pix[i+c])*a + 255*(255-a) + 127) / 255) //nolint:gosec // at most 255
		}
		out.Pix[i+3] = 255
	}
	return out
}
