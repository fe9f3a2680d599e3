package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// decoder turns the bytes of a picture into its stored pixels, not yet turned
// upright, or refuses with an *Error.
type decoder func(ctx context.Context, data []byte, s *sight, name string) (image.Image, error)

// decodeHere decodes in this process. The limits were held before; the clock is
// asked whenever a decoder wants more bytes.
func decodeHere(ctx context.Context, data []byte, s *sight, name string) (img image.Image, err error) {
	defer func() {
		if r := recover(); r != nil { // a decoder's fault must not end the daemon
			img, err = nil, corrupt(name, "the decoder gave up").because(fmt.Errorf("decoder panicked: %v", r))
		}
	}()
	img, err = decodeKind(whileTime(ctx, bytes.NewReader(data)), data, s)
	if end := late(ctx); end != nil {
		return nil, end
	}
	if err != nil {
		return nil, decodeRefusal(name, s, err)
	}
	if b := img.Bounds(); int64(b.Dx()) != s.width || int64(b.Dy()) != s.height {
		return nil, corrupt(name, "its pixels are not as many as its header says")
	}
	return img, nil
}

func decodeKind(r io.Reader, data []byte, s *sight) (image.Image, error) {
	switch s.kind {
	case "png":
		return png.Decode(r)
	case "jpeg":
		if s.bareInk {
			return decodeBareInk(r)
		}
		return jpeg.Decode(r)
	case "gif":
		return decodeGIF(r, s)
	case "webp":
		if s.frames > 0 {
			return decodeAnimation(data, s)
		}
		return webp.Decode(r)
	default:
		return bmp.Decode(r)
	}
}

// decodeBareInk decodes a CMYK JPEG without Adobe's marker. The standard
// decoder wants the marker and then takes the inks for inverted, so it is given
// one and the inversion is undone.
func decodeBareInk(r io.Reader) (image.Image, error) {
	soi := make([]byte, 2)
	if _, err := io.ReadFull(r, soi); err != nil {
		return nil, err
	}
	marker := "\xff\xd8\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
	img, err := jpeg.Decode(io.MultiReader(bytes.NewReader([]byte(marker)), r))
	if err != nil {
		return nil, err
	}
	if inks, ok := img.(*image.CMYK); ok {
		for i := range inks.Pix {
			inks.Pix[i] = ^inks.Pix[i]
		}
	}
	return img, nil
}

// decodeGIF puts the first frame on the screen that the file declares.
func decodeGIF(r io.Reader, s *sight) (image.Image, error) {
	frame, err := gif.Decode(r)
	if err != nil {
		return nil, err
	}
	return onCanvas(frame, frame.Bounds().Min, s), nil
}

// decodeAnimation puts the first frame of an animated WebP on its canvas.
func decodeAnimation(data []byte, s *sight) (image.Image, error) {
	f, ok := firstFrame(data)
	if !ok || int64(f.x+f.width) > s.width || int64(f.y+f.height) > s.height {
		return nil, errFrame
	}
	frame, err := webp.Decode(bytes.NewReader(f.still))
	if err != nil {
		return nil, err
	}
	return onCanvas(frame, image.Pt(f.x, f.y), s), nil
}

var errFrame = errors.New("the first frame is missing or does not fit")

// onCanvas draws the frame on an empty canvas, unless it fills it anyway.
func onCanvas(frame image.Image, at image.Point, s *sight) image.Image {
	canvas := image.Rect(0, 0, int(s.width), int(s.height))
	if frame.Bounds() == canvas && at == (image.Point{}) {
		return frame
	}
	out := image.NewNRGBA(canvas)
	draw.Draw(out, frame.Bounds().Sub(frame.Bounds().Min).Add(at), frame, frame.Bounds().Min, draw.Src)
	return out
}

// decodeRefusal parts what a decoder cannot do from what is damaged; no error is no refusal.
func decodeRefusal(name string, s *sight, err error) error {
	if err == nil {
		return nil
	}
	_, noPNG := errors.AsType[png.UnsupportedError](err)
	_, noJPEG := errors.AsType[jpeg.UnsupportedError](err)
	if noPNG || noJPEG || errors.Is(err, bmp.ErrUnsupported) {
		return refuse(UnsupportedKind, "%q is a %s of a sort that cannot be decoded here (%s); save it as a plain PNG", name, s.kind, err).because(err)
	}
	return corrupt(name, err.Error()).because(err)
}
