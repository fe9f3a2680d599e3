package picture

import (
	"bytes"
	"compress/zlib"
	"hash/crc32"
	"io"
	"iter"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngChunk is one chunk of a PNG: its type and where it lies, from the length to behind the checksum.
type pngChunk struct {
	kind       string
	start, end int
}

// pngPixels are the chunks that hold pixels or say how to read them.
var pngPixels = map[string]bool{"IHDR": true, "PLTE": true, "tRNS": true, "IDAT": true, "IEND": true}

// holdsPixels tells whether a chunk is needed to read the pixels of a PNG of that colour type.
// A palette beside true colours is a proposal for old screens, and holds none (PNG, third edition, 11.2.2).
func (c pngChunk) holdsPixels(colour byte) bool {
	const palette = 3
	return pngPixels[c.kind] && (c.kind != "PLTE" || colour == palette)
}

// pngProfiles are the chunks that say what the colours mean.
var pngProfiles = map[string]bool{"iCCP": true, "cICP": true, "gAMA": true, "cHRM": true, "mDCv": true, "cLLi": true}

// pngSRGB are profiles that say what is taken for granted without them: the
// colours of sRGB (PNG, third edition, 11.3.2.5).
var pngSRGB = map[string]string{
	"gAMA": "\x00\x00\xb1\x8f",
	"cHRM": "\x00\x00\x7a\x26\x00\x00\x80\x84\x00\x00\xfa\x00\x00\x00\x80\xe8\x00\x00\x75\x30\x00\x00\xea\x60\x00\x00\x3a\x98\x00\x00\x17\x70",
	"cICP": "\x01\x0d\x00\x01",
}

// pngChunks walks the chunks up to IEND. It holds none of them: a file of 40 MiB can have millions.
func pngChunks(data []byte) iter.Seq[pngChunk] {
	return func(yield func(pngChunk) bool) {
		for at := len(pngSignature); at+12 <= len(data); {
			end := int64(at) + 12 + int64(be32(data[at:]))
			if end > int64(len(data)) {
				return
			}
			c := pngChunk{string(data[at+4 : at+8]), at, int(end)}
			if !yield(c) || c.kind == "IEND" {
				return
			}
			at = c.end
		}
	}
}

// body is the chunk's data without length, type and checksum.
func (c pngChunk) body(data []byte) []byte { return data[c.start+8 : c.end-4] }

func (c pngChunk) sound(data []byte) bool {
	return crc32.ChecksumIEEE(data[c.start+4:c.end-4]) == be32(data[c.end-4:])
}

func lookPNG(data []byte, name string) (*sight, error) {
	const header = len(pngSignature) + 8 + 13 + 4
	if len(data) < header || string(data[12:16]) != "IHDR" || be32(data[8:]) != 13 {
		return nil, corrupt(name, "the PNG has no header")
	}
	h := data[16:]
	s := &sight{kind: "png", width: int64(be32(h)), height: int64(be32(h[4:])), orientation: 1, deep: h[8] == 16, layered: h[12] == 1}
	s.channels = pngPixelBytes(h[8], h[9])
	if s.width >= 1<<31 || s.height >= 1<<31 {
		return nil, corrupt(name, "the PNG's header gives an impossible size")
	}
	if s.width == 0 || s.height == 0 || s.width*s.height > maxPixels {
		return s, nil // the limits speak before the rest of the file is read
	}
	complete, turned := false, false
	for c := range pngChunks(data) {
		switch {
		case c.kind == "eXIf":
			if !turned { // there may be one only (PNG, third edition, 11.3.4.6); the first counts, as everywhere
				turned, s.orientation = true, tiffOrientation(c.body(data))
			}
			s.hidden.metadata = true
		case c.kind == "acTL" && len(c.body(data)) >= 4:
			s.frames = int(be32(c.body(data)))
			s.hidden.metadata = true
		case pngProfiles[c.kind] && (pngSRGB[c.kind] == "" || pngSRGB[c.kind] != string(c.body(data))):
			s.hidden.profile = true
		case !c.holdsPixels(h[9]):
			s.hidden.metadata = true
		}
		if !c.sound(data) {
			return nil, corrupt(name, "a checksum of the PNG is wrong")
		}
		if c.kind == "IEND" {
			complete = true
			s.hidden.metadata = s.hidden.metadata || c.end < len(data)
		}
	}
	if !complete {
		return nil, corrupt(name, "the PNG is cut off")
	}
	return s, nil
}

// pngPixelBytes is what the standard decoder allocates a pixel.
func pngPixelBytes(depth, colour byte) int {
	const grey, palette = 0, 3
	switch {
	case depth == 16 && colour == grey:
		return 2
	case depth == 16:
		return 8
	case colour == grey || colour == palette:
		return 1
	}
	return 4
}

// exactStream tells whether the zlib stream of a PNG ends where its last chunk of pixels does.
func exactStream(data []byte) bool {
	var coded []byte
	for c := range pngChunks(data) {
		if c.kind == "IDAT" {
			coded = append(coded, c.body(data)...)
		}
	}
	left := bytes.NewReader(coded) // read byte by byte, so that nothing behind the end is taken
	z, err := zlib.NewReader(left)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, z) //nolint:gosec // it was decoded before, so it is no bomb
	return err == nil && left.Len() == 0
}

// stripPNG keeps the chunks with pixels, byte for byte, and nothing else.
func stripPNG(data []byte) []byte {
	out := append(make([]byte, 0, len(data)), pngSignature...)
	for c := range pngChunks(data) {
		if c.holdsPixels(data[25]) {
			out = append(out, data[c.start:c.end]...)
		}
	}
	return out
}
