package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/url"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// content gives a string's bytes without a copy where nothing is escaped.
func (v value) content() []byte {
	n := v.node()
	if n.kind == kindString && !n.escaped {
		return v.d.src[n.start+1 : n.end-1 : n.end-1]
	}
	return []byte(v.text())
}

// readURL takes a data URL apart (RFC 2397); any other URL stays what it is.
func (s *Spot) readURL(v value) {
	all := v.content()
	scheme, rest, ok := bytes.Cut(all, []byte(":"))
	switch {
	case !ok:
		// Some local servers want bare base64 in the place of a URL
		// (lmstudio-ai/lmstudio-bug-tracker#1752); a word that is none is no picture.
		if s.readBase64(all); s.Data != nil && sniff(s.Data) == "" {
			s.Data = nil
		}
		if s.Data == nil {
			s.Bad = "it is neither a data URL nor another URL"
		}
	case !strings.EqualFold(string(scheme), "data"):
		s.Remote = string(all)
	default:
		head, body, ok := bytes.Cut(rest, []byte(","))
		if !ok {
			s.Bad = "its data URL has no comma"
			return
		}
		media, parameters, _ := strings.Cut(string(head), ";")
		s.MediaType = mediaType(media)
		if base64ed := strings.EqualFold(parameters[strings.LastIndexByte(parameters, ';')+1:], "base64"); base64ed {
			s.readBase64(body)
			return
		}
		plain, err := url.PathUnescape(string(body))
		if s.Data = []byte(plain); err != nil || plain == "" {
			s.Data, s.Bad = nil, "its data URL is neither base64 nor percent-encoded"
		}
	}
}

// readBase64 decodes as the most lenient of the providers do: with or without padding, in
// either alphabet, with line breaks.
func (s *Spot) readBase64(text []byte) {
	if bytes.ContainsAny(text, " \t\r\n") {
		text = bytes.Join(bytes.Fields(text), nil)
	}
	text = bytes.TrimRight(text, "=")
	enc := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		enc = base64.RawURLEncoding
	}
	data := make([]byte, enc.DecodedLen(len(text)))
	n, err := enc.Decode(data, text)
	switch {
	case err != nil:
		s.Bad = "its base64 does not decode"
	case n == 0:
		s.Bad = "it is empty"
	default:
		s.Data = data[:n]
	}
}

// measure says what is known from the bytes alone.
func (s *Spot) measure() {
	if s.Data == nil {
		return
	}
	sum := sha256.Sum256(s.Data)
	s.SHA256, s.Size = hex.EncodeToString(sum[:]), sizeOf(s.Data)
	if s.MediaType == "" {
		s.MediaType = sniff(s.Data)
	}
}

// mediaType writes a media type as providers do.
func mediaType(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "image/jpg" {
		return "image/jpeg" // not registered, and written by many
	}
	return s
}

// sniff tells a picture by its first bytes; empty: none that models take.
func sniff(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF8")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// sizeOf reads width and height from the header; no pixel is decoded. Of WebP they stay unknown.
func sizeOf(data []byte) vision.Size {
	read := map[string]func(io.Reader) (image.Config, error){
		"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig,
	}[sniff(data)]
	if read == nil {
		return vision.Size{}
	}
	c, err := read(bytes.NewReader(data))
	if err != nil {
		return vision.Size{}
	}
	return vision.Size{Width: c.Width, Height: c.Height}
}
