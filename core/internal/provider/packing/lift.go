package packing

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Lifted is a picture that was found as a data URL in a text.
type Lifted struct {
	MediaType string // by its bytes; of a bad one what the URL says
	Data      []byte // nil when it is bad
	Bad       bool   // it cannot be read: cut off, of another kind, or no base64
}

// Lift takes the data URLs with base64 out of a tool's text, since base64 is no prose: pictures
// are found in the order of their places, and in each one's place stands a line that says which it
// is; what is no picture, or cannot be read, leaves a line too. Base64 may be broken by spaces
// and lines, URL-encoded or escaped as in JSON. SVG is a source and no picture. Short data URLs
// of other kinds stay as they are. The cost grows with the text's length only.
func Lift(text string) (rest string, found []Lifted) {
	if !strings.Contains(text, ",") || !strings.Contains(text, ":") {
		return text, nil
	}
	var out strings.Builder
	from, good := 0, 0
	for at := 0; at < len(text); {
		colon := strings.IndexByte(text[at:], ':')
		if colon < 0 {
			break
		}
		colon += at
		at = colon + 1
		start := colon - len("data")
		if start < from || !strings.EqualFold(text[start:colon], "data") || start > 0 && isWord(text[start-1]) {
			continue
		}
		kind, body, ok := header(text, at)
		if !ok {
			continue
		}
		lifted, end, length := payload(text, body, kind)
		picture := strings.HasPrefix(kind, "image/")
		if !picture && length < leastBlob {
			at = end
			continue
		}
		out.WriteString(text[from:start])
		switch {
		case !picture:
			fmt.Fprintf(&out, "[%d bytes of %s that stood here are left out]", decoded(length), named(kind))
		case lifted.Bad:
			fmt.Fprintf(&out, "[an inline picture that cannot be read stood here: %s, %d bytes; %s]", kind, decoded(length), badWords(kind))
			found = append(found, lifted)
		case good >= maxLifted:
			fmt.Fprintf(&out, "[one more inline picture stood here: %s, %d bytes; at most %d are shown]", lifted.MediaType, len(lifted.Data), maxLifted)
		default:
			good++
			fmt.Fprintf(&out, "[picture %d of this result: %s, %d bytes]", good, lifted.MediaType, len(lifted.Data))
			found = append(found, lifted)
		}
		from, at = end, end
	}
	out.WriteString(text[from:])
	return out.String(), found
}

// decoded is the length of what n characters of base64 without padding hold.
func decoded(n int) int { return n * 3 / 4 }

func named(kind string) string {
	if kind == "" {
		return "data"
	}
	return kind
}

func badWords(kind string) string {
	if strings.HasPrefix(kind, "image/svg") {
		return "SVG is read as a source file, or shown as a screenshot"
	}
	return "ask for a file and look at that"
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// header reads a data URL from behind its colon to its comma; ok: it says base64.
func header(text string, at int) (kind string, body int, ok bool) {
	head := text[at:min(len(text), at+maxHeader)]
	comma := strings.IndexByte(head, ',')
	if comma < 0 {
		return "", 0, false
	}
	head = strings.ToLower(head[:comma])
	for _, escape := range [...][2]string{{"%2f", "/"}, {"%3b", ";"}, {`\/`, "/"}} {
		head = strings.ReplaceAll(head, escape[0], escape[1])
	}
	for i := range len(head) {
		if b := head[i]; !isWord(b) && !strings.ContainsRune("/+.;=\" ", rune(b)) {
			return "", 0, false
		}
	}
	kind, params, _ := strings.Cut(head, ";")
	for p := range strings.SplitSeq(params, ";") {
		ok = ok || strings.TrimSpace(p) == "base64"
	}
	return strings.TrimSpace(kind), at + comma + 1, ok
}

// payload reads base64 from its beginning: the picture, where its text ends, and how many
// characters of base64 it had.
func payload(text string, at int, kind string) (l Lifted, end, length int) {
	l = Lifted{MediaType: kind, Bad: true}
	s := scan(text, at)
	solid := s.solid()
	if !strings.HasPrefix(kind, "image/") {
		return l, s.behind(s.ends[solid]), solid
	}
	for _, plus := range [...]bool{false, true} {
		if plus && len(s.spaces) == 0 {
			break
		}
		chars, ends := s.chars, s.ends
		if plus { // a plus sign that was URL-decoded is a space
			chars, ends = s.withPlus()
		}
		data := decode(chars)
		is, size := measure(data)
		if size == 0 {
			continue
		}
		n := (size*4 + 2) / 3
		// The whole run in which the picture ends belongs to it: some files have bytes behind their end.
		if !plus {
			n = s.runOf(n)
		}
		return Lifted{MediaType: is, Data: decode(chars[:n])}, s.behind(ends[n]), n
	}
	return l, s.behind(s.ends[solid]), solid
}

// decode reads as much as it can of base64 in the standard alphabet without padding.
func decode(chars []byte) []byte {
	if len(chars)%4 == 1 {
		chars = chars[:len(chars)-1]
	}
	data := make([]byte, base64.RawStdEncoding.DecodedLen(len(chars)))
	n, err := base64.RawStdEncoding.Decode(data, chars)
	if err != nil {
		return nil
	}
	return data[:n]
}
