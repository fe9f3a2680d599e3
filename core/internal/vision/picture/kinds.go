package picture

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// kind is a row about a file that Relo does not show: how it begins, what it
// is, and what to do about it.
type kind struct {
	at    int
	magic string
	what  string
	hint  string
}

const (
	saveAsPNG = "convert it to PNG or JPEG first"
	notOne    = "give the path of a picture"
)

var kinds = []kind{
	{0, "version https://git-lfs.github.com/spec/v1", "a Git LFS pointer, not the picture itself", "fetch the picture with `git lfs pull` first"},
	{0, "%PDF-", "a PDF document", "read its text, or convert a page to PNG"},
	{0, "%!PS", "a PostScript document", "convert it to PNG"},
	{0, "II*\x00", "a TIFF picture", saveAsPNG},
	{0, "MM\x00*", "a TIFF picture", saveAsPNG},
	{0, "II+\x00", "a BigTIFF picture", saveAsPNG},
	{0, "MM\x00+", "a BigTIFF picture", saveAsPNG},
	{4, "ftypheic", "a HEIC picture", saveAsPNG},
	{4, "ftypheix", "a HEIC picture", saveAsPNG},
	{4, "ftypheim", "a HEIC picture", saveAsPNG},
	{4, "ftyphevc", "a HEIC picture", saveAsPNG},
	{4, "ftypmif1", "a HEIF picture", saveAsPNG},
	{4, "ftypmsf1", "a HEIF picture", saveAsPNG},
	{4, "ftypavif", "an AVIF picture", saveAsPNG},
	{4, "ftypavis", "an AVIF picture", saveAsPNG},
	{4, "ftyp", "a film (MP4 or its kin)", "take a still from it and save it as PNG"},
	{0, "\xff\x0a", "a JPEG XL picture", saveAsPNG},
	{4, "JXL \r\n\x87\n", "a JPEG XL picture", saveAsPNG},
	{4, "jP  \r\n\x87\n", "a JPEG 2000 picture", saveAsPNG},
	{0, "\xff\x4f\xff\x51", "a JPEG 2000 picture", saveAsPNG},
	{0, "\x00\x00\x01\x00", "an icon (ICO)", saveAsPNG},
	{0, "\x00\x00\x02\x00", "a cursor (CUR)", saveAsPNG},
	{0, "8BPS", "a Photoshop document", "export it as PNG"},
	{0, "DDS ", "a DDS texture", saveAsPNG},
	{0, "qoif", "a QOI picture", saveAsPNG},
	{0, "v/1\x01", "an OpenEXR picture", saveAsPNG},
	{0, "#?RADIANCE", "a Radiance HDR picture", saveAsPNG},
	{0, "P1\n", "a Netpbm picture", saveAsPNG},
	{0, "P4\n", "a Netpbm picture", saveAsPNG},
	{0, "P2\n", "a Netpbm picture", saveAsPNG},
	{0, "P5\n", "a Netpbm picture", saveAsPNG},
	{0, "P3\n", "a Netpbm picture", saveAsPNG},
	{0, "P6\n", "a Netpbm picture", saveAsPNG},
	{0, "PK\x03\x04", "a ZIP archive or an office document", "unpack it and give the path of a picture"},
	{0, "\x1f\x8b", "a gzip archive", "unpack it and give the path of a picture"},
	{0, "RIFF", "a RIFF file, but no WebP", notOne},
	{0, "\x1aE\xdf\xa3", "a film (Matroska or WebM)", "take a still from it and save it as PNG"},
	{0, "\x7fELF", "a program", notOne},
}

// xmlHead is what may stand before the first element of a document.
var xmlHead = regexp.MustCompile(`^(?s:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)`)

// refuseKind says what the file is instead of a picture that can be shown.
func refuseKind(data []byte, name string) *Error {
	head := data[:min(len(data), unzipped)]
	if isSVG(head) || isSVG(gunzipHead(data)) {
		return refuse(SVGIsSource, "%q is an SVG: drawing instructions, not pixels; read it as text, or publish it on the canvas (relo_canvas) and capture it to see it", name)
	}
	if isHTML(head) {
		return refuse(UnsupportedKind, "%q is an HTML page, not a picture; if it was downloaded, the server answered with a page; to see it, capture it with relo_canvas", name)
	}
	if bytes.HasPrefix(data, []byte("\x89PNG")) && len(data) >= len(pngSignature) {
		return corrupt(name, "the PNG's signature was changed, as a transfer in text mode does")
	}
	for _, k := range kinds {
		if len(data) >= k.at && bytes.HasPrefix(data[k.at:], []byte(k.magic)) {
			return refuse(UnsupportedKind, "%q is %s, which cannot be shown; %s", name, k.what, k.hint)
		}
	}
	if bytes.HasSuffix(data, []byte("TRUEVISION-XFILE.\x00")) {
		return refuse(UnsupportedKind, "%q is a TGA picture, which cannot be shown; %s", name, saveAsPNG)
	}
	return refuse(UnsupportedKind, "%q is no picture that can be shown: PNG, JPEG, GIF, WebP and BMP are, told by their content; %s", name, saveAsPNG)
}

// text gives the head of a document without byte order mark; UTF-16 is read by
// leaving out its zero bytes, which is enough to find an element's name.
func text(head []byte) string {
	s := string(head)
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		s = strings.TrimPrefix(s, mark)
	}
	return strings.ReplaceAll(s, "\x00", "")
}

// firstElement gives the document from its first element on, past declaration,
// comments and document type.
func firstElement(head []byte) string {
	s := text(head)
	for {
		skip := xmlHead.FindString(s)
		if skip == "" {
			return s
		}
		s = s[len(skip):]
	}
}

func isSVG(head []byte) bool {
	rest, ok := strings.CutPrefix(firstElement(head), "<")
	if !ok {
		return false
	}
	words := strings.FieldsFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == '>' || r == '/' })
	return len(words) > 0 && (words[0] == "svg" || strings.HasSuffix(words[0], ":svg"))
}

func isHTML(head []byte) bool {
	s := strings.ToLower(strings.TrimSpace(text(head)))
	first := strings.ToLower(firstElement(head))
	for _, begin := range []string{"<html", "<head", "<body", "<title", "<meta"} {
		if strings.HasPrefix(first, begin) {
			return true
		}
	}
	return strings.HasPrefix(s, "<!doctype html")
}

// gunzipHead unpacks the first bytes of a gzip file, nil when it is none.
func gunzipHead(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(z, unzipped))
	if err != nil && len(head) == 0 {
		return nil
	}
	return head
}
