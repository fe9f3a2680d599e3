package showing

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relo-dev/relo/core/internal/vision"
)

// entry is one path of the answer: what was shown of it, or why nothing was.
type entry struct {
	*shownEntry
	Path  string `json:"path"`
	Error *fault `json:"error,omitempty"`
}

// shownEntry always has its notes, so that "none" is said.
type shownEntry struct {
	vision.Meta
	Notes []string `json:"notes"`
}

type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func faultOf(err error) *fault {
	f := &fault{Code: codeCorrupt, Message: Escape(err.Error())}
	if c, ok := errors.AsType[Coded](err); ok {
		f.Code = c.PictureCode()
	}
	return f
}

// Escape makes a name safe to say again: what is no letter, no sign and no space (control
// characters, marks that turn the direction of writing, bytes that are no UTF-8) is
// written as Go writes it in a string, and so is every backslash of such a name. Any
// other name stays as it is.
func Escape(name string) string {
	if !strings.ContainsFunc(name, hidden) && utf8.ValidString(name) {
		return name
	}
	var out strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, `\x%02x`, name[i])
		case r == '\\':
			out.WriteString(`\\`)
		case r == '\n':
			out.WriteString(`\n`)
		case hidden(r) && r < utf8.RuneSelf:
			fmt.Fprintf(&out, `\x%02x`, r)
		case hidden(r) && r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
		i += n
	}
	return out.String()
}

// hidden tells what a reader cannot see as itself.
func hidden(r rune) bool { return !unicode.IsGraphic(r) || (unicode.IsSpace(r) && r != ' ') }

// Refusal words an error of a picture for an agent: its code, when it has one, and why.
func Refusal(err error) string {
	words := Escape(err.Error())
	if c, ok := errors.AsType[Coded](err); ok {
		return c.PictureCode() + ": " + words
	}
	return words
}
