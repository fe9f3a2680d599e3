package packing

import (
	"bytes"
	"encoding/binary"
)

// measure tells the media type of a picture and how many bytes it has, from the marks that say
// where such a file ends; 0: it is none that is known, or its end is missing. Whether it decodes
// the darkroom sees.
func measure(data []byte) (mediaType string, size int) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return pngType, pngSize(data)
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return jpegType, jpegSize(data)
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return gifType, gifSize(data)
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return webpType, within(uint64(binary.LittleEndian.Uint32(data[4:]))+8, data)
	case len(data) >= 26 && string(data[:2]) == "BM":
		return "image/bmp", within(uint64(binary.LittleEndian.Uint32(data[2:])), data)
	}
	return "", 0
}

func within(size uint64, data []byte) int {
	if size < 12 || size > uint64(len(data)) {
		return 0
	}
	return int(size) //nolint:gosec // at most the length of data
}

// pngSize walks the chunks to IEND (PNG specification, 5.3).
func pngSize(data []byte) int {
	for at := 8; at+12 <= len(data); {
		n := uint64(binary.BigEndian.Uint32(data[at:]))
		end := uint64(at) + 12 + n
		if end > uint64(len(data)) {
			return 0
		}
		if string(data[at+4:at+8]) == "IEND" {
			return int(end) //nolint:gosec // at most the length of data
		}
		at = int(end) //nolint:gosec // at most the length of data
	}
	return 0
}

// jpegSize walks the segments, and looks for the end of the picture behind the first scan:
// inside a scan 0xff stands before 0 or a restart only (ITU-T T.81, B.1.1.5).
func jpegSize(data []byte) int {
	at := 2
	for at+4 <= len(data) && data[at] == 0xff {
		marker := data[at+1]
		if marker == 0xff {
			at++
			continue
		}
		length := int(binary.BigEndian.Uint16(data[at+2:]))
		if at += 2 + length; length < 2 || at > len(data) {
			return 0
		}
		if marker == 0xda {
			if i := bytes.Index(data[at:], []byte{0xff, 0xd9}); i >= 0 {
				return at + i + 2
			}
			return 0
		}
	}
	return 0
}

// gifSize walks the blocks to the trailer (GIF89a specification, appendix A).
func gifSize(data []byte) int {
	table := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	if len(data) < 13 {
		return 0
	}
	at := 13 + table(data[10])
	for at < len(data) {
		switch data[at] {
		case 0x3b:
			return at + 1
		case 0x21: // an extension
			at += 2
		case 0x2c: // a frame
			if at+10 > len(data) {
				return 0
			}
			at += 10 + table(data[at+9]) + 1
		default:
			return 0
		}
		for { // its sub-blocks
			if at >= len(data) {
				return 0
			}
			n := int(data[at])
			at += 1 + n
			if n == 0 {
				break
			}
		}
	}
	return 0
}
