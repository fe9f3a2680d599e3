package picture

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/jpegread"
	"github.com/relo-dev/relo/core/internal/vision/pngread"
	"github.com/relo-dev/relo/core/internal/vision/pngwrite"
	"github.com/relo-dev/relo/core/internal/vision/resample"
)

// work is one picture and what is wanted of it.
type work struct {
	name  string
	data  []byte // the file
	seen  *sight
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
	drawn         vision.Size // of the picture on a canvas that is larger; zero: it fills what is sent
}

// render decodes, crops, scales, turns and encodes; a PNG or JPEG that needs none of
// it is passed on with its pixels byte for byte, after it was decoded to the end.
func (p *Preparer) render(ctx context.Context, job work) (encoded, error) {
	w, h := fit(job.crop.Dx(), job.crop.Dy(), job.edge)
	if sent, ok := p.pass(job, w, h); ok {
		found, err := p.check(ctx, job)
		if found.transparent {
			sent.notes = append(sent.notes, "transparent")
		}
		if err != nil || !found.loose {
			return sent, err
		}
		job.seen.hidden.metadata = true
	}
	part, err := p.pixels(ctx, job, w, h)
	if err != nil {
		return encoded{}, err
	}
	img := upright(part.img, job.seen.orientation)
	notes := job.scaleNotes(part, w, h)
	if !opaque(img) {
		notes = append(notes, "transparent")
	}
	bytes, fits, err := pngwrite.EncodeMax(ctx, img, p.opts.MaxSent)
	switch {
	case err != nil && late(ctx) != nil:
		return encoded{}, late(ctx)
	case err != nil:
		return encoded{}, fmt.Errorf("encode as PNG: %w", err)
	case fits:
		return encoded{bytes: bytes, mediaType: "image/png", width: w, height: h, notes: notes}, nil
	}
	return p.shrink(ctx, img, notes)
}

// pass is the file itself, without what holds no pixels, when nothing else is needed.
func (p *Preparer) pass(job work, w, h int) (encoded, bool) {
	s := job.seen
	if !job.whole || s.orientation > 1 || w != job.crop.Dx() || h != job.crop.Dy() || s.deep || s.ink {
		return encoded{}, false
	}
	sent := encoded{bytes: job.data, width: w, height: h}
	switch s.kind {
	case "png":
		sent.mediaType = "image/png"
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

// checked is what decoding a file to its end shows.
type checked struct {
	transparent bool // something shines through
	loose       bool // bytes that no pixel needs lie among the coded ones, so it cannot be sent as it is
}

// check decodes a picture to its end.
func (p *Preparer) check(ctx context.Context, job work) (checked, error) {
	switch job.seen.kind {
	case "png":
		if file, ok := pngread.Open(job.data); ok {
			return job.checkRows(ctx, file)
		}
	case "jpeg":
		if file, ok := jpegread.Open(job.data); ok {
			_, err := file.Decode(ctx, 8) // every code is read all the same
			if end := late(ctx); end != nil {
				return checked{}, end
			}
			if !errors.Is(err, jpegread.ErrOther) {
				return checked{loose: file.Loose()}, decodeRefusal(job.name, job.seen, err)
			}
		}
	}
	src, err := p.decode(ctx, job.data, job.seen, job.name)
	if err != nil {
		return checked{}, err
	}
	o, ok := src.(interface{ Opaque() bool })
	c := checked{transparent: ok && !o.Opaque()}
	if job.seen.kind == "jpeg" {
		c.loose = looseScan(ctx, job.data)
	} else {
		c.loose = !exactStream(job.data)
	}
	return c, nil
}

func (job work) checkRows(ctx context.Context, file *pngread.Reader) (c checked, err error) {
	layout := file.Header().Layout
	err = file.Rows(ctx, func(_ int, row []byte) error {
		c.transparent = c.transparent || layout == pngread.NRGBA && !opaqueRow(row)
		return nil
	})
	if end := late(ctx); end != nil {
		return c, end
	}
	c.loose = file.Loose()
	return c, decodeRefusal(job.name, job.seen, err)
}

// shrink is the ladder for what is too large as a PNG: JPEG on white, then a
// fifth smaller at a time.
func (p *Preparer) shrink(ctx context.Context, img image.Image, notes []string) (encoded, error) {
	if !opaque(img) {
		notes = append(notes, "flattened-on-white")
	}
	flat := onWhite(img)
	small := flat
	for step := range maxShrinks {
		b := small.Bounds()
		for _, quality := range qualities {
			if step > 0 && quality != qualities[len(qualities)-1] {
				continue
			}
			if err := late(ctx); err != nil {
				return encoded{}, err
			}
			data, err := encodeJPEG(small, quality)
			if err != nil {
				return encoded{}, err
			}
			if len(data) <= p.opts.MaxSent {
				notes = append(notes, fmt.Sprintf("jpeg-quality-%d", quality))
				return encoded{bytes: data, mediaType: "image/jpeg", width: b.Dx(), height: b.Dy(), notes: notes}, nil
			}
		}
		if step == 0 {
			notes = append(notes, "shrunk-to-fit")
		}
		// From the first again, so that no picture is scaled twice more than once.
		var err error
		if small, err = resample.Image(ctx, flat, flat.Bounds(), max(1, b.Dx()*4/5), max(1, b.Dy()*4/5)); err != nil {
			return encoded{}, late(ctx)
		}
	}
	return encoded{}, refuse(TooComplex, "the picture does not get small enough to be sent; ask for a region of it")
}

// scaleNotes warn of what scaling does to the content.
func (job work) scaleNotes(part scaled, w, h int) []string {
	if w == job.crop.Dx() && h == job.crop.Dy() {
		return nil
	}
	var notes []string
	if float64(max(job.crop.Dx(), job.crop.Dy()))/float64(max(w, h)) >= readable {
		notes = append(notes, "small-text-may-be-unreadable")
	}
	if part.changes {
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

// opaque tells whether nothing shines through a picture that was scaled here.
func opaque(img image.Image) bool {
	m, ok := img.(*image.NRGBA)
	return !ok || m.Opaque()
}

// opaqueRow does the same for a row of pixels of four bytes.
func opaqueRow(row []byte) bool {
	for i := 3; i < len(row); i += 4 {
		if row[i] != 255 {
			return false
		}
	}
	return true
}

// onWhite removes transparency, as paper would. What is opaque is not copied: with
// and without the alpha multiplied in, its bytes are the same.
func onWhite(img image.Image) image.Image {
	m, ok := img.(*image.NRGBA)
	if !ok {
		return img
	}
	out := &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	if m.Opaque() {
		return out
	}
	out.Pix = slices.Clone(m.Pix)
	for i := 0; i < len(out.Pix); i += 4 {
		p := out.Pix[i : i+4 : i+4]
		a := uint32(p[3])
		for c := range 3 {
			p[c] = uint8((uint32(p[c])*a + 255*(255-a) + 127) / 255) //nolint:gosec // at most 255
		}
		p[3] = 255
	}
	return out
}
