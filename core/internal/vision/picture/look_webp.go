package picture

import "iter"

// riffChunk is one chunk of a RIFF file.
type riffChunk struct {
	kind string
	body []byte
}

// riffChunks walks the chunks in body and sets complete when the last one ends
// where body does. It holds none of them: a file of 40 MiB can have millions.
func riffChunks(body []byte, complete *bool) iter.Seq[riffChunk] {
	return func(yield func(riffChunk) bool) {
		for len(body) >= 8 {
			size := int64(le32(body[4:]))
			if 8+size > int64(len(body)) {
				return
			}
			if !yield(riffChunk{string(body[:4]), body[8 : 8+size]}) {
				return
			}
			body = body[min(8+size+size&1, int64(len(body))):]
		}
		*complete = len(body) <= 1
	}
}

func lookWebP(data []byte, name string) (*sight, error) {
	size := int64(le32(data[4:]))
	if size < 4 || 8+size > int64(len(data)) {
		return nil, corrupt(name, "the WebP is cut off")
	}
	s := &sight{kind: "webp", orientation: 1, channels: 4}
	complete, chunks := false, 0
	for c := range riffChunks(data[12:8+size], &complete) {
		if err := s.webpChunk(c, chunks, name); err != nil {
			return nil, err
		}
		chunks++
	}
	if !complete || chunks == 0 {
		return nil, corrupt(name, "the WebP is cut off")
	}
	return s, nil
}

// webpChunk notes what one chunk tells; it is the i-th.
func (s *sight) webpChunk(c riffChunk, i int, name string) error {
	switch {
	case c.kind == "VP8X" && len(c.body) >= 10:
		if i > 0 {
			return corrupt(name, "the WebP has two headers")
		}
		s.width, s.height = int64(le24(c.body[4:]))+1, int64(le24(c.body[7:]))+1
	case c.kind == "ICCP":
		s.hidden.profile = true
	case c.kind == "EXIF" || c.kind == "XMP ":
		s.hidden.metadata = true
	case c.kind == "ANMF":
		s.frames++
		s.channels = 12 // a frame of the second sort below, and the canvas it is put on
	case c.kind == "VP8 " || c.kind == "VP8L" || c.kind == "ALPH":
		if c.kind != "VP8 " {
			s.channels = max(s.channels, 8) // pixels, and those before a transform
		}
		if c.kind == "ALPH" {
			return nil
		}
		w, h := vp8Size(c)
		if s.width == 0 && s.height == 0 {
			s.width, s.height = w, h
		} else if w != s.width || h != s.height {
			return corrupt(name, "the WebP's headers give two sizes")
		}
	}
	return nil
}

// vp8Size reads a size from the head of a lossy or lossless chunk; 0 when it has none.
func vp8Size(c riffChunk) (w, h int64) {
	switch {
	case c.kind == "VP8 " && len(c.body) >= 10:
		return int64(le16(c.body[6:]) & 0x3fff), int64(le16(c.body[8:]) & 0x3fff)
	case c.kind == "VP8L" && len(c.body) >= 5:
		bits := le32(c.body[1:])
		return int64(bits&0x3fff) + 1, int64(bits>>14&0x3fff) + 1
	}
	return 0, 0
}

// webpFrame is the first frame of an animation, as a still WebP of its own, and its place.
type webpFrame struct {
	still         []byte
	x, y          int
	width, height int
}

// firstFrame takes the first frame out of an animated WebP ("WebP Container
// Specification"). It fails when the frame is missing, cut off or of an impossible size.
func firstFrame(data []byte) (f webpFrame, ok bool) {
	size := int64(le32(data[4:]))
	var all bool
	for c := range riffChunks(data[12:8+size], &all) {
		if c.kind != "ANMF" {
			continue
		}
		if len(c.body) < 16 {
			return f, false
		}
		f.x, f.y = int(2*le24(c.body)), int(2*le24(c.body[3:]))
		f.width, f.height = int(le24(c.body[6:]))+1, int(le24(c.body[9:]))+1
		f.still, ok = stillWebP(f, c.body[16:])
		return f, ok
	}
	return f, false
}

func stillWebP(f webpFrame, parts []byte) ([]byte, bool) {
	var alpha, pixels riffChunk
	complete := false
	for p := range riffChunks(parts, &complete) {
		switch p.kind {
		case "ALPH":
			alpha = p
		case "VP8 ", "VP8L":
			if pixels.kind == "" {
				pixels = p
			}
		}
	}
	if w, h := vp8Size(pixels); !complete || pixels.kind == "" || int(w) != f.width || int(h) != f.height {
		return nil, false
	}
	out := []byte("RIFF\x00\x00\x00\x00WEBP")
	if alpha.kind != "" && pixels.kind == "VP8 " {
		const hasAlpha = 0x10
		w, h := f.width-1, f.height-1
		out = appendChunk(out, riffChunk{"VP8X", []byte{
			hasAlpha, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16), //nolint:gosec // three bytes each
		}})
		out = appendChunk(out, alpha)
	}
	out = appendChunk(out, pixels)
	putLE32(out[4:], len(out)-8)
	return out, true
}

func appendChunk(out []byte, c riffChunk) []byte {
	out = append(append(out, c.kind...), 0, 0, 0, 0)
	putLE32(out[len(out)-4:], len(c.body))
	out = append(out, c.body...)
	if len(c.body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

func putLE32(b []byte, v int) {
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24) //nolint:gosec // the bytes of a number
}
