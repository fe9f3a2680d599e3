package picture

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
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
	{0, "version https://git-lfs.github.com/spec/v1", "a Git LFS pointer, and the picture itself is not in the repository's LFS store", "fetch the picture with `git lfs pull` first"},
	{0, "data:image/", "a data URL written as text", "decode its base64 into a file first"},
	{0, "%PDF-", "a PDF document", "read its text, or convert a page to PNG"},
	{0, "%!PS", "a PostScript document", "convert it to PNG"},
	{0, "II*\x00", "a TIFF picture", saveAsPNG},
	{0, "MM\x00*", "a TIFF picture", saveAsPNG},
	{0, "II+\x00", "a BigTIFF picture", saveAsPNG},
	{0, "MM\x00+", "a BigTIFF picture", saveAsPNG},
	{4, "ftypheic", "a HEIC picture", saveAsPNG},
	{4, "ftypheix", "a HEIC picture", saveAsPNG},
	{4, "ftypheim", "a HEIC picture", saveAsPNG},
	{4, "ftypheis", "a HEIC picture", saveAsPNG},
	{4, "ftyphevc", "a HEIC picture", saveAsPNG},
	{4, "ftyphevx", "a HEIC picture", saveAsPNG},
	{4, "ftypcrx ", "a camera's raw picture (CR3)", "develop it as JPEG"},
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
	{0, "P7\n", "a Netpbm picture", saveAsPNG},
	{0, "gimp xcf", "a GIMP document", "export it as PNG"},
	{0, "icns", "an icon of macOS (ICNS)", saveAsPNG},
	{0, "/* XPM */", "an XPM picture", saveAsPNG},
	{0, "\x8aMNG\r\n\x1a\n", "an MNG animation", saveAsPNG},
	{0, "\x8bJNG\r\n\x1a\n", "a JNG picture", saveAsPNG},
	{0, "\xd7\xcd\xc6\x9a", "a Windows metafile (WMF)", saveAsPNG},
	{0, "AT&TFORM", "a DjVu document", "convert a page to PNG"},
	{0, "FLIF", "a FLIF picture", saveAsPNG},
	{0, "BPG\xfb", "a BPG picture", saveAsPNG},
	{0, "\x01\xda", "an SGI picture", saveAsPNG},
	{4, "moov", "a film (QuickTime)", "take a still from it and save it as PNG"},
	{4, "mdat", "a film (QuickTime)", "take a still from it and save it as PNG"},
	{0, "OggS", "a sound or a film (Ogg)", notOne},
	{0, "ID3", "a sound (MP3)", notOne},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and give the path of a picture"},
	{0, "Rar!\x1a\x07", "a RAR archive", "unpack it and give the path of a picture"},
	{0, "BZh", "a bzip2 archive", "unpack it and give the path of a picture"},
	{0, "\xfd7zXZ\x00", "an xz archive", "unpack it and give the path of a picture"},
	{0, "PK\x05\x06", "an empty ZIP archive", notOne},
	{0, "PK\x03\x04", "a ZIP archive or an office document", "unpack it and give the path of a picture"},
	{0, "\x1f\x8b", "a gzip archive", "unpack it and give the path of a picture"},
	{0, "RIFF", "a RIFF file, but no WebP", notOne},
	{0, "\x1aE\xdf\xa3", "a film (Matroska or WebM)", "take a still from it and save it as PNG"},
	{0, "\x7fELF", "a program", notOne},
}

// refuseKind says what the file is instead of a picture that can be shown.
func refuseKind(data []byte, name string) *Error {
	head := data[:min(len(data), documentHead)]
	if isSVG(head) || isSVG(gunzipHead(data)) {
		return refuse(SVGIsSource, "%q is an SVG: drawing instructions, not pixels; read it as text, or convert it to PNG (a screenshot of it in a browser will do) to see it", name)
	}
	if isHTML(head) {
		return refuse(UnsupportedKind, "%q is an HTML page, not a picture; if it was downloaded, the server answered with a page; to see it, take a screenshot of it in a browser", name)
	}
	if bytes.HasSuffix(data, []byte("TRUEVISION-XFILE.\x00")) || isTGA(data) {
		return refuse(UnsupportedKind, "%q is a TGA picture, which cannot be shown; %s", name, saveAsPNG)
	}
	for _, k := range kinds {
		if len(data) >= k.at && bytes.HasPrefix(data[k.at:], []byte(k.magic)) {
			return refuse(UnsupportedKind, "%q is %s, which cannot be shown; %s", name, k.what, k.hint)
		}
	}
	if front := data[:min(len(data), 24)]; len(data) > len(pngSignature) &&
		(bytes.HasPrefix(front, []byte("\x89PNG")) || bytes.HasPrefix(front[1:], []byte("PNG")) || bytes.Contains(front, []byte("IHDR"))) {
		return corrupt(name, "the PNG's signature was changed, as a transfer in text mode does")
	}
	if len(head) > 16 && isWords(head) {
		return refuse(UnsupportedKind, "%q is text, not a picture; read it as text, or give the path of a picture", name)
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

// firstNames gives the document type and the first element of a document, past its
// declaration and comments; each is empty when there is none. What is read once is never read
// again, so that no document takes longer than its length.
func firstNames(head []byte) (doctype, element string) {
	s := text(head)
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		switch {
		case strings.HasPrefix(s, "<?"):
			_, s, _ = strings.Cut(s, "?>")
		case strings.HasPrefix(s, "<!--"):
			_, s, _ = strings.Cut(s[len("<!--"):], "-->")
		case len(s) >= len("<!DOCTYPE") && strings.EqualFold(s[:len("<!DOCTYPE")], "<!DOCTYPE") && doctype == "":
			s = strings.TrimLeftFunc(s[len("<!DOCTYPE"):], unicode.IsSpace)
			doctype = nameAt(s)
			s = behindType(s)
		case strings.HasPrefix(s, "<"):
			return doctype, nameAt(s[1:])
		default:
			return doctype, ""
		}
	}
}

// nameAt is the name that s begins with.
func nameAt(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("></[\"'", r) })
	if end < 0 {
		return s
	}
	return s[:end]
}

// behindType gives what follows a document type: quoted words and a list of
// entities in brackets belong to it.
func behindType(s string) string {
	brackets := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return ""
			}
			i += 1 + end
		case '[':
			brackets++
		case ']':
			brackets--
		case '>':
			if brackets <= 0 {
				return s[i+1:]
			}
		}
	}
	return ""
}

func isSVG(head []byte) bool {
	doctype, element := firstNames(head)
	return doctype == "svg" && element == "" || element == "svg" || strings.HasSuffix(element, ":svg")
}

// htmlElements are what pages and pieces of pages begin with.
var htmlElements = map[string]bool{
	"html": true, "head": true, "body": true, "title": true, "meta": true, "script": true, "style": true, "link": true, "div": true, "p": true,
	"h1": true, "h2": true, "table": true, "center": true, "pre": true, "iframe": true, "br": true, "img": true, "span": true, "form": true, "noscript": true,
}

func isHTML(head []byte) bool {
	doctype, element := firstNames(head)
	return strings.EqualFold(doctype, "html") || htmlElements[strings.ToLower(element)]
}

// isTGA tells the first sort of TGA, which has no signature, by a header that
// makes sense ("Truevision TGA File Format Specification", 2.0).
func isTGA(data []byte) bool {
	if len(data) < 18+3 || data[1] > 1 || data[17]&0xc0 != 0 || le16(data[12:]) == 0 || le16(data[14:]) == 0 {
		return false
	}
	sort, depth := data[2], data[16]
	mapped := data[1] == 1 && (data[7] == 15 || data[7] == 16 || data[7] == 24 || data[7] == 32)
	bare := data[1] == 0 && le32(data[3:]) == 0 && data[7] == 0
	return (sort == 1 || sort == 9) && mapped && depth == 8 ||
		(sort == 2 || sort == 10) && bare && (depth == 15 || depth == 16 || depth == 24 || depth == 32) ||
		(sort == 3 || sort == 11) && bare && depth == 8
}

// isWords tells whether a file begins as text does.
func isWords(head []byte) bool {
	for i := 0; i < len(head); {
		r, size := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && size == 1 && len(head)-i >= utf8.UTFMax || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' {
			return false
		}
		i += max(size, 1)
	}
	return true
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
