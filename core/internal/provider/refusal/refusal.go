// Package refusal reads why a provider refused a request that held pictures: because
// the model cannot see, or for one of the other reasons that must never be taken for
// that. It reads words and decides; it sends nothing and remembers nothing.
package refusal

// Class is what a refusal means for the pictures of the request. The zero value says
// that it is about something else.
type Class string

// The classes, in the order in which they are looked for.
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
	Class  Class
	Phrase string // the part of the words that decided, for people
	// Unsure says that the words alone do not prove it: only a retry without the
	// pictures that succeeds does.
	Unsure bool
}
