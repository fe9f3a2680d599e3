package picture

// riffChunk is one chunk of a RIFF file.
type riffChunk struct {
	kind string
	body []byte
}

// riffChunks lists the chunks in body; complete is false when one is cut off.
func riffChunks(body []byte) (chunks []riffChunk, complete bool) {
	for len(body) >= 8 {
		size := int64(le32(body[4:]))
		if 8+size > int64(len(body)) {
			return chunks, false
		}
		chunks = append(chunks, riffChunk{string(body[:4]), body[8 : 8+size]})
		body = body[min(8+size+size&1, int64(len(body))):]
	}
	return chunks, len(body) <= 1
}

func lookWebP(data []byte, name string) (*sight, error) {
	size := int64(le32(data[4:]))
	if size < 4 || 8+size > int64(len(data)) {
		return nil, corrupt(name, "the WebP is cut off")
	}
	chunks, complete := riffChunks(data[12 : 8+size])
	if !complete || len(chunks) == 0 {
		return nil, corrupt(name, "the WebP is cut off")
	}
	s := &sight{kind: "webp", orientation: 1, channels: 4}
	for i, c := range chunks {
		switch {
		case c.kind == "VP8X" && len(c.body) >= 10:
			if i > 0 {
				return nil, corrupt(name, "the WebP has two headers")
			}
			s.width, s.height = int64(le24(c.body[4:]))+1, int64(le24(c.body[7:]))+1
		case c.kind == "ICCP":
			s.hidden.profile = true
		case c.kind == "EXIF" || c.kind == "XMP ":
			s.hidden.metadata = true
		case c.kind == "ANMF":
			s.frames++
		case c.kind == "VP8 " || c.kind == "VP8L":
			w, h := vp8Size(c)
			if s.width == 0 && s.height == 0 {
				s.width, s.height = w, h
			} else if w != s.width || h != s.height {
				return nil, corrupt(name, "the WebP's headers give two sizes")
			}
		}
	}
	return s, nil
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
	chunks, _ := riffChunks(data[12 : 8+size])
	for _, c := range chunks {
		if c.kind != "ANMF" {
			continue
		}
		if len(c.body) < 16 {
			return f, false
		}
		f.x, f.y = int(2*le24(c.body)), int(2*le24(c.body[3:]))
		f.width, f.height = int(le24(c.body[6:]))+1, int(le24(c.body[9:]))+1
		parts, complete := riffChunks(c.body[16:])
		if !complete {
			return f, false
		}
		f.still, ok = stillWebP(f, parts)
		return f, ok
	}
	return f, false
}

func stillWebP(f webpFrame, parts []riffChunk) ([]byte, bool) {
	var alpha, pixels riffChunk
	for _, p := range parts {
		switch p.kind {
		case "ALPH":
			alpha = p
		case "VP8 ", "VP8L":
			if pixels.kind == "" {
				pixels = p
			}
		}
	}
	if w, h := vp8Size(pixels); pixels.kind == "" || int(w) != f.width || int(h) != f.height {
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
