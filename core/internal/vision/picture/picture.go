// Package picture makes a file ready for a model to look at: it opens the file
// inside a folder, refuses what is dangerous before decoding it, and gives back
// a small upright PNG or JPEG that holds pixels and nothing else, together with
// the truth about how it was cut and scaled. The same bytes and parameters
// always give the same bytes. It is the only door to x/image; it never follows
// a path out of the folders, fetches nothing and writes nothing.
package picture

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Options are set once. Every zero value takes the limit of limits.go.
type Options struct {
	Tracked   func(name string) bool // does git track this slash path? Only then a file with several hard links is read
	Never     []string               // globs (doublestar, letter case ignored) of slash paths that no model is shown
	MaxEdge   int                    // longest edge when Params has none, in pixels
	MaxBytes  int64                  // largest file
	MaxPixels int64                  // largest width × height
	MaxMemory int64                  // bytes for one picture while it is decoded
	MaxScans  int                    // most scans of a JPEG
	MaxSent   int                    // most encoded bytes
	MaxTime   time.Duration          // for one picture
	MaxCPU    time.Duration          // computing for one picture, where a child does it
	AtOnce    int                    // pictures prepared at the same time
	Children  *Children              // who decodes what is not small; nil: everything is done in this process
	LFS       LFS                    // reads what a Git LFS pointer stands for; nil: pointers are refused
}

func (o Options) withDefaults() Options {
	o.MaxEdge = cmp.Or(o.MaxEdge, DefaultMaxEdge)
	o.MaxBytes = cmp.Or(o.MaxBytes, maxBytes)
	o.MaxPixels = cmp.Or(o.MaxPixels, maxPixels)
	o.MaxMemory = cmp.Or(o.MaxMemory, maxMemory)
	o.MaxScans = cmp.Or(o.MaxScans, maxScans)
	o.MaxSent = cmp.Or(o.MaxSent, maxSent)
	o.MaxTime = cmp.Or(o.MaxTime, maxTime)
	o.MaxCPU = cmp.Or(o.MaxCPU, childCPU)
	o.AtOnce = cmp.Or(o.AtOnce, maxAtOnce)
	if o.Tracked == nil {
		o.Tracked = func(string) bool { return false }
	}
	return o
}

func (o Options) check() error {
	for _, glob := range o.Never {
		if !doublestar.ValidatePattern(glob) {
			return fmt.Errorf("pictures.never: %q is no glob: %w", glob, doublestar.ErrBadPattern)
		}
	}
	return nil
}

// Params say how one picture is wanted.
type Params struct {
	Region  *vision.Region // part of the upright source, in its pixels; nil: all of it
	MaxEdge int            // longest sent edge, 256..2576; 0: the option's
}

// Preparer makes pictures ready. It may be used by many goroutines.
type Preparer struct {
	opts   Options
	places chan struct{}
	decode decoder // the seam for a decoder in a limited child process
}

// New returns a Preparer. A glob in opts.Never that cannot be read refuses
// every picture with NotAllowed, so a slip never shows a secret.
func New(opts Options) *Preparer {
	opts = opts.withDefaults()
	if opts.check() != nil {
		opts.Never = []string{"**"}
	}
	return &Preparer{opts: opts, places: make(chan struct{}, opts.AtOnce), decode: decodeHere}
}

// Prepare makes the file called name ready. Name is a slash path below one of
// the roots, tried in order, or an absolute path inside one. Every refusal is an *Error.
func (p *Preparer) Prepare(ctx context.Context, roots Roots, name string, params Params) (vision.Picture, vision.Meta, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return vision.Picture{}, vision.Meta{}, err
	}
	defer leave()
	shown, data, err := p.read(ctx, roots, name)
	if err != nil {
		return vision.Picture{}, vision.Meta{}, err
	}
	return p.prepare(ctx, data, shown, params)
}

// PrepareBytes does the same with a picture that is already in memory. Name is
// shown in the metadata and held against Never.
func (p *Preparer) PrepareBytes(ctx context.Context, data []byte, name string, params Params) (vision.Picture, vision.Meta, error) {
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
	return p.prepare(ctx, data, name, params)
}

// enter waits for a free place and starts the clock.
func (p *Preparer) enter(ctx context.Context) (context.Context, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.MaxTime)
	select {
	case p.places <- struct{}{}:
		return ctx, func() { <-p.places; cancel() }, nil
	case <-ctx.Done():
		err := ctx.Err()
		cancel()
		return nil, nil, refuse(Busy, "other pictures are being prepared; ask again in a moment").because(err)
	}
}

// prepare does everything behind the opening: look, decode, orient, crop, scale, encode.
func (p *Preparer) prepare(ctx context.Context, data []byte, name string, params Params) (vision.Picture, vision.Meta, error) {
	job, meta, err := p.plan(data, name, params)
	if err != nil {
		return vision.Picture{}, meta, err
	}
	if p.opts.Children != nil && !job.seen.small(len(data)) {
		pic, done, err := p.opts.Children.prepare(ctx, p.order(name, params), data)
		if err != nil {
			return vision.Picture{}, meta, err
		}
		done.Path = name // JSON keeps only names that are UTF-8
		return pic, done, nil
	}
	sent, err := p.render(ctx, job)
	if err != nil {
		return vision.Picture{}, meta, err
	}
	return finish(sent, job, &meta), meta, nil
}

// plan reads the header, holds it against the limits and says what is wanted.
func (p *Preparer) plan(data []byte, name string, params Params) (work, vision.Meta, error) {
	meta := vision.Meta{Path: name}
	edge := cmp.Or(params.MaxEdge, p.opts.MaxEdge)
	if edge < MinMaxEdge || edge > MaxMaxEdge {
		return work{}, meta, refuse(BadRegion, "maxEdge is %d; give a number from %d to %d", edge, MinMaxEdge, MaxMaxEdge)
	}
	seen, err := look(data, name)
	if err != nil {
		return work{}, meta, err
	}
	if err := p.allow(seen, len(data), name); err != nil {
		return work{}, meta, err
	}
	upright := seen.upright()
	meta.Format, meta.Source = seen.kind, upright
	crop, whole, err := cropOf(params.Region, upright, &meta)
	if err != nil {
		return work{}, meta, err
	}
	return work{seen: seen, data: data, name: name, crop: crop, whole: whole, edge: edge}, meta, nil
}

// order is what a child is asked.
func (p *Preparer) order(name string, params Params) order {
	o := p.opts
	return order{Name: name, Params: params, Limits: limits{o.MaxEdge, o.MaxPixels, o.MaxMemory, o.MaxScans, o.MaxSent, o.MaxCPU}}
}

// finish tells in meta what is sent.
func finish(sent encoded, job work, meta *vision.Meta) vision.Picture {
	crop := job.crop
	sum := sha256.Sum256(sent.bytes)
	meta.SHA256 = hex.EncodeToString(sum[:])
	meta.MediaType, meta.Bytes = sent.mediaType, len(sent.bytes)
	meta.Sent = vision.Size{Width: sent.width, Height: sent.height}
	drawn := sent.drawn
	if drawn == (vision.Size{}) {
		drawn = meta.Sent
	}
	meta.Scale = vision.Scale{X: float64(crop.Dx()) / float64(drawn.Width), Y: float64(crop.Dy()) / float64(drawn.Height)}
	meta.ApproxTokens = max(1, sent.width*sent.height/tokenPixels)
	meta.Notes = append(append(meta.Notes, job.seen.notes()...), sent.notes...)
	return vision.Picture{
		SHA256: meta.SHA256, MediaType: sent.mediaType, Width: sent.width, Height: sent.height, Bytes: sent.bytes,
	}
}

// allow holds what the header says against the limits, in 64 bits.
func (p *Preparer) allow(s *sight, size int, name string) error {
	switch {
	case s.width <= 0 || s.height <= 0:
		return refuse(ZeroSize, "%q has no pixels: its header says %d × %d; write the file anew", name, s.width, s.height)
	case s.width*s.height > p.opts.MaxPixels:
		return refuse(TooLargePixels, "%q has %d × %d pixels, more than %d in all; make a smaller copy or cut out the part you need",
			name, s.width, s.height, p.opts.MaxPixels)
	case s.scans > p.opts.MaxScans:
		return refuse(TooComplex, "%q is a JPEG with more than %d scans, which is made to waste time; save it anew as a plain JPEG or PNG",
			name, p.opts.MaxScans)
	case s.memory()+int64(size) > p.opts.MaxMemory:
		return refuse(TooComplex, "%q would need more than %d MiB to decode; save it with 8 bits, not interlaced or progressive, or smaller",
			name, p.opts.MaxMemory>>20)
	}
	return nil
}

// cropOf clips the region to the picture and writes both into meta.
func cropOf(r *vision.Region, size vision.Size, meta *vision.Meta) (crop image.Rectangle, whole bool, err error) {
	all := image.Rect(0, 0, size.Width, size.Height)
	if r == nil {
		return all, true, nil
	}
	if r.X < 0 || r.Y < 0 || r.Width <= 0 || r.Height <= 0 {
		return all, false, refuse(BadRegion, "the region needs x and y of at least 0 and a width and height of at least 1; the picture is %d × %d",
			size.Width, size.Height)
	}
	if r.X >= size.Width || r.Y >= size.Height {
		return all, false, refuse(BadRegion, "the region begins outside of the picture, which is %d × %d", size.Width, size.Height)
	}
	// Compared as differences, so that no sum can overflow.
	right, bottom := r.X+min(r.Width, size.Width-r.X), r.Y+min(r.Height, size.Height-r.Y)
	crop = image.Rect(r.X, r.Y, right, bottom)
	if crop.Dx() < r.Width || crop.Dy() < r.Height {
		meta.Notes = append(meta.Notes, "region-clipped")
	}
	if crop == all {
		return all, true, nil
	}
	meta.Crop = &vision.Region{X: crop.Min.X, Y: crop.Min.Y, Width: crop.Dx(), Height: crop.Dy()}
	return crop, false, nil
}
