// Package vision answers one question: does this model see pictures?
// Every answer carries the source that gave it. The package also names what a
// prepared picture is. Nothing here opens a file or asks a network.
package vision

import (
	"encoding/json"
	"fmt"
)

// Sight says whether a model reads pictures. The zero value means "not known".
type Sight uint8

// The three answers. Unknown is a value of its own and is never read as Blind.
const (
	Unknown Sight = iota
	Sees
	Blind
)

var sightWords = [...]string{Unknown: "unknown", Sees: "yes", Blind: "no"}

// String gives the word used in every JSON document: yes, no or unknown.
func (s Sight) String() string {
	if int(s) < len(sightWords) {
		return sightWords[s]
	}
	return sightWords[Unknown]
}

// Words is what a person reads beside a model's name.
func (s Sight) Words() string {
	switch s {
	case Sees:
		return "images"
	case Blind:
		return "text only"
	case Unknown:
	}
	return "images unknown"
}

// MarshalJSON writes yes, no or unknown.
func (s Sight) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// UnmarshalJSON reads yes, no or unknown; an empty string (older JSON) is unknown.
func (s *Sight) UnmarshalJSON(b []byte) error {
	var word string
	if err := json.Unmarshal(b, &word); err != nil {
		return fmt.Errorf("sight is one of yes, no, unknown: %w", err)
	}
	if word == "" {
		*s = Unknown
		return nil
	}
	for i, w := range sightWords {
		if w == word {
			*s = Sight(i)
			return nil
		}
	}
	return fmt.Errorf("sight %q is not one of yes, no, unknown", word)
}

// Of turns a known bool into a Sight.
func Of(sees bool) Sight {
	if sees {
		return Sees
	}
	return Blind
}

// Source names who gave an answer, in the words of the JSON documents.
type Source string

// The sources, strongest first: the first of them that answers wins.
const (
	Refused    Source = "refused"    // the endpoint refused a picture in this run and took the same request without it
	Configured Source = "configured" // the person set it
	Probed     Source = "probed"     // a tiny test picture was sent
	Reported   Source = "reported"   // the endpoint's own list of models
	Catalog    Source = "catalog"    // the built-in catalogue
	Name       Source = "name"       // the guess from the model's id
)

var sourceOrder = map[Source]int{Refused: 0, Configured: 1, Probed: 2, Reported: 3, Catalog: 4, Name: 5}

var sourceWords = map[Source]string{
	Refused: "learned from a refusal", Configured: "set by you", Probed: "checked",
	Reported: "reported by the endpoint", Catalog: "the catalogue", Name: "guessed from the name",
}

// Words is the source as a person reads it, for example "guessed from the name".
func (s Source) Words() string {
	if w, ok := sourceWords[s]; ok {
		return w
	}
	return "not known"
}

// Answer is a sight and who says so.
type Answer struct {
	Sight  Sight  `json:"vision"`
	Source Source `json:"visionSource,omitempty"`
	Detail string `json:"visionDetail,omitempty"` // the family that matched, the date of a probe
}

// Resolve picks the answer of the strongest source that has one. Answers with
// Unknown sight never win; with none left the result is the zero Answer.
func Resolve(answers ...Answer) Answer {
	var best Answer
	rank := len(sourceOrder)
	for _, a := range answers {
		r, known := sourceOrder[a.Source]
		if a.Sight == Unknown || !known || r >= rank {
			continue
		}
		best, rank = a, r
	}
	return best
}

// Sources lists the sources, strongest first.
func Sources() []Source { return []Source{Refused, Configured, Probed, Reported, Catalog, Name} }

// Said is what the sources say of one model, strongest first and at most one answer
// a source. One that was asked and does not know is in it, with Unknown sight.
type Said []Answer

// Hear puts answers in the order of their sources; of two from one source the first
// counts. Answers without a known source are left out.
func Hear(answers ...Answer) Said {
	said := make(Said, 0, len(answers))
	for _, source := range Sources() {
		for _, a := range answers {
			if a.Source == source {
				said = append(said, a)
				break
			}
		}
	}
	return said
}

// Answer is the one that counts: of the strongest source that knows. With none it is
// the zero Answer.
func (s Said) Answer() Answer { return Resolve(s...) }
