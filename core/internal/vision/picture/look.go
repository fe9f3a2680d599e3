package picture

import (
	"bytes"

	"github.com/relo-dev/relo/core/internal/vision"
)

// sight is what can be told of a picture without decoding it.
type sight struct {
	kind          string // png, jpeg, gif, webp, bmp
	width, height int64  // as stored, before it is turned upright
	orientation   int    // 1..8, as in EXIF
	frames        int    // of an animation; 0 or 1: a still
	deep          bool   // more than 8 bits a channel
	layered       bool   // interlaced PNG or progressive JPEG: needs more memory
	channels      int    // bytes a decoded pixel takes, or components of a JPEG
	samples       int64  // of a JPEG, in all its components, for every hundred pixels
	scans         int    // of a JPEG
	ink           bool   // a JPEG of four inks
	bareInk       bool   // one without Adobe's marker: its inks are not inverted
	hidden        hidden // what is left out of a file that is sent as it is
}

// hidden is what a file holds besides pixels.
type hidden struct{ metadata, profile bool }

// upright is the size after the picture was turned.
func (s *sight) upright() vision.Size {
	if s.orientation >= 5 {
		return vision.Size{Width: int(s.height), Height: int(s.width)}
	}
	return vision.Size{Width: int(s.width), Height: int(s.height)}
}

// memory estimates the bytes that decoding holds at its peak, from what the
// standard decoders allocate: the picture, passes of an interlaced PNG, and
// four-byte coefficients of a progressive JPEG. It speaks of pictures within maxPixels.
func (s *sight) memory() int64 {
	px := s.width * s.height
	if s.kind != "jpeg" {
		need := px * int64(s.channels)
		if s.layered {
			need += need / 2
		}
		return need
	}
	need := px * s.samples / 100
	if s.layered {
		need *= 1 + 4
	}
	if s.ink {
		need += 4 * px
	}
	return need
}

// small tells whether a picture is decoded in the calling process: of a sort whose cost
// its header bounds, and so little that a child would cost more than it saves.
func (s *sight) small(size int) bool {
	return size <= hereBytes && s.memory() <= hereMemory && !s.layered && s.frames <= 1
}

// notes tell what was done to the source, for the agent and the person.
func (s *sight) notes() []string {
	var notes []string
	if s.orientation > 1 {
		notes = append(notes, "orientation-applied")
	}
	if s.frames > 1 {
		notes = append(notes, "animated-first-frame")
	}
	if s.deep {
		notes = append(notes, "reduced-to-8-bit")
	}
	if s.ink {
		notes = append(notes, "cmyk-converted")
	}
	if s.hidden.profile {
		notes = append(notes, "profile-dropped")
	}
	if s.hidden.metadata {
		notes = append(notes, "metadata-removed")
	}
	return notes
}

// look tells the kind of a picture by its content and reads its header. What
// Relo does not show is refused with words that say what it is.
func look(data []byte, name string) (*sight, error) {
	switch {
	case len(data) == 0:
		return nil, refuse(ZeroSize, "%q is empty; it may not have been written yet", name)
	case bytes.HasPrefix(data, []byte(pngSignature)):
		return lookPNG(data, name)
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return lookJPEG(data, name)
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return lookGIF(data, name)
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return lookWebP(data, name)
	case bytes.HasPrefix(data, []byte("BM")) && len(data) >= 18 && bmpHeaderSizes[le32(data[14:])]:
		return lookBMP(data, name)
	}
	return nil, refuseKind(data, name)
}

func corrupt(name, what string) *Error {
	return refuse(Corrupt, "%q is damaged: %s; make it anew, no part of it is shown", name, what)
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
func le24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
func le16(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 }
func be32(b []byte) uint32 {
	return uint32(b[3]) | uint32(b[2])<<8 | uint32(b[1])<<16 | uint32(b[0])<<24
}
func be16(b []byte) uint32 { return uint32(b[1]) | uint32(b[0])<<8 }
