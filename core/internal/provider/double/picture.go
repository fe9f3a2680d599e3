package double

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"image"
	_ "image/gif"  // the formats that both providers take
	_ "image/jpeg" // 〃
	_ "image/png"  // 〃
)

var mediaTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// look reads a picture as a provider does: what it is by its bytes, how large, and
// whether it can be decoded. is is empty when it is no picture at all.
func look(place, mediaType string, data []byte) (p Picture, is string, whole bool) {
	sum := sha256.Sum256(data)
	p = Picture{Place: place, MediaType: mediaType, Bytes: data, SHA256: hex.EncodeToString(sum[:])}
	if isWebP(data) {
		p.Width, p.Height = webPSize(data)
		// RIFF counts the bytes after its own eight.
		return p, "image/webp", p.Width > 0 && uint64(binary.LittleEndian.Uint32(data[4:]))+8 <= uint64(len(data))
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return p, sniff(data), false
	}
	p.Width, p.Height = config.Width, config.Height
	if p.Width*p.Height <= maxDecode {
		if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
			return p, "image/" + format, false
		}
	}
	return p, "image/" + format, true
}

func sniff(data []byte) string {
	for _, row := range []struct{ magic, is string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"},
	} {
		if bytes.HasPrefix(data, []byte(row.magic)) {
			return row.is
		}
	}
	return ""
}

// webPHeader is the length that holds the size in each of WebP's three forms.
const webPHeader = 30

func isWebP(data []byte) bool {
	return len(data) >= webPHeader && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

// webPSize reads the size from a WebP container (Google's "WebP Container Specification").
func webPSize(data []byte) (width, height int) {
	switch string(data[12:16]) {
	case "VP8X": // 24 bits each, less one
		u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return u24(data[24:]) + 1, u24(data[27:]) + 1
	case "VP8L": // 14 bits each, less one
		bits := binary.LittleEndian.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(data[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[28:]) & 0x3fff)
	default:
		return 0, 0
	}
}
