// Package refusal reads why a provider refused a request that held pictures: because
// the model cannot see, or for one of the other reasons that must never be taken for
// that. It reads words and decides; it sends nothing and remembers nothing.
package refusal

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
)

// Class is what a refusal means for the pictures of the request. The zero value says
// that it is about something else.
type Class string

// The classes, in the order in which they are looked for; Other's own rows stand
// between Unreadable and Size.
const (
	Other      Class = ""           // not about pictures, or about one of their properties that no retry mends
	Shape      Class = "shape"      // the request was formed wrong for this wire or model
	Unreadable Class = "unreadable" // the provider could not read this picture
	Size       Class = "size"       // too large, too many, too small
	Blind      Class = "blind"      // the model cannot see
)

// Refusal is what a provider answered. Status 200 is for an error inside a stream.
type Refusal struct {
	Status int
	Code   string // the provider's own code or type
	Words  string // its message; the whole body where it has no known shape
	Model  string // the id that was asked
}

// Reading is what was understood.
type Reading struct {
	Class Class
	// Phrase is the part of the words that decided, for people: plain and short. With
	// Other it is set only when something was found that speaks against blindness.
	Phrase string
	// Unsure says that the words alone do not prove it: only a retry without the
	// pictures that succeeds does.
	Unsure bool
}

// Read tells the classes apart by status, code and words: first by the rows of
// refusals that were seen in the wild, then by the general shapes of such sentences
// in nine languages. A status that says something else (a key, a limit, a failure of
// the server) is always Other, whatever the words. Numbers in the words are no status.
func Read(r Refusal) Reading {
	g := gateOf(r)
	if g == shut {
		return Reading{}
	}
	s := hear(r)
	for _, class := range [...]Class{Shape, Unreadable, Other, Size, Blind} {
		if f, ok := seek(class, s, g); ok {
			return Reading{Class: class, Phrase: s.phrase(f.from, f.to), Unsure: f.unsure}
		}
	}
	if g == sizeOnly { // the status itself says it, with words of any server in between
		return Reading{Class: Size, Phrase: s.phrase(0, len(s.plain))}
	}
	return Reading{}
}

// gate says what a status lets through.
type gate uint8

const (
	shut     gate = iota
	open          // 400, 415, 422, 501, and an error inside a 200
	sizeOnly      // 413
	at404         // OpenRouter's words
	at500         // Ollama's and llama.cpp's
)

var gates = map[int]gate{
	http.StatusOK: open, http.StatusBadRequest: open, http.StatusUnsupportedMediaType: open,
	http.StatusUnprocessableEntity: open, http.StatusNotImplemented: open,
	http.StatusRequestEntityTooLarge: sizeOnly, http.StatusNotFound: at404, http.StatusInternalServerError: at500,
}

// gateOf reads the status. Inside a 200 the code may be the status that a router
// would have sent (OpenRouter's documentation, "Errors": mid-stream errors).
func gateOf(r Refusal) gate {
	if r.Status == http.StatusOK {
		if n, err := strconv.Atoi(strings.TrimSpace(r.Code)); err == nil && http.StatusText(n) != "" {
			return gates[n]
		}
	}
	return gates[r.Status]
}

// found is where something was found, in runes.
type found struct {
	from, to int
	unsure   bool
}

// seek looks for one class: rows before shapes.
func seek(class Class, s said, g gate) (found, bool) {
	for i := range rows {
		if r := &rows[i]; r.class == class && r.passes(g) {
			if f, ok := r.find(s); ok {
				return f, true
			}
		}
	}
	if g == open || g == sizeOnly && (class == Size || class == Other) {
		return shaped(class, s)
	}
	return found{}, false
}

// phrase is a part of the words as a person reads it.
func (s said) phrase(from, to int) string {
	from, to = max(from, 0), min(to, len(s.plain))
	if from >= to {
		return ""
	}
	return httpwire.Plain(string(s.plain[from:min(to, from+maxPhrase)]))
}
