package envelope

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// ErrChange says that a change cannot be made: there is no such picture, or its place takes
// no words.
var ErrChange = errors.New("the picture cannot be changed")

// Changes are what is different in the body that is sent.
type Changes struct {
	Model    string         // in the place of the model's id; empty: it stays
	Pictures map[int]Change // by Spot.Index
	// NoForeign leaves out the thoughts that other wires' models gave (Answer.Foreign), and on
	// Anthropic's wire those without a signature: its provider refuses them, and then every later request of the dialogue.
	NoForeign bool
}

// Change puts another picture or, when Picture is nil, words in a picture's place.
type Change struct {
	Picture *vision.Picture
	Words   string
}

// splice is bytes in the place of others.
type splice struct {
	start, end int32
	with       []byte
}

// Seal gives the body to send: the request's own bytes but for the changes, and a receipt
// for every picture whose bytes are in it. It may be called again with other changes.
// Errors are ErrChange and provider.ErrPicture.
func (e *Envelope) Seal(c Changes) (body []byte, receipts []provider.Receipt, err error) {
	var all []splice
	if c.Model != "" {
		all = append(all, over(e.doc.root().at("model"), quote(c.Model)))
	}
	if c.NoForeign {
		all = append(all, e.foreign()...)
	}
	for i := range c.Pictures {
		if i < 0 || i >= len(e.spots) {
			return nil, nil, fmt.Errorf("%w: there is no picture %d", ErrChange, i)
		}
	}
	for i, spot := range e.spots {
		change, changed := c.Pictures[i]
		shown := spot.Shown()
		switch {
		case changed && change.Picture == nil && spot.NoWords:
			return nil, nil, fmt.Errorf("%w: %s takes a picture only", ErrChange, spot.Place)
		case changed && change.Picture == nil:
			all = append(all, e.marks[i].words(change.Words))
			continue
		case changed:
			shown.Picture = *change.Picture
			all = append(all, e.marks[i].picture(*change.Picture)...)
		case spot.Data == nil:
			continue
		}
		if shown.MediaType == "" {
			shown.MediaType = "application/octet-stream" // sent without a type, and known by no header
		}
		r, err := shown.Receipt(spot.Place)
		if err != nil {
			return nil, nil, err
		}
		receipts = append(receipts, r)
	}
	return e.spliced(all), receipts, nil
}

// Shown is the picture as it is in the request, in Relo's nouns; without bytes when it
// lies elsewhere or is bad.
func (s Spot) Shown() provider.Picture {
	p := provider.Picture{View: vision.View{
		ID: s.Place, Path: fmt.Sprintf("picture %d of the request", s.Index+1), Role: vision.Other, Source: s.Size,
	}}
	p.SHA256, p.MediaType, p.Width, p.Height, p.Bytes = s.SHA256, s.MediaType, s.Size.Width, s.Size.Height, s.Data
	return p
}

// spliced writes the body anew.
func (e *Envelope) spliced(all []splice) []byte {
	slices.SortFunc(all, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	size := len(e.doc.src)
	for _, s := range all {
		size += len(s.with) - int(s.end-s.start)
	}
	body, at := make([]byte, 0, size), int32(0)
	for _, s := range all {
		body = append(append(body, e.doc.src[at:s.start]...), s.with...)
		at = s.end
	}
	return append(body, e.doc.src[at:]...)
}

func over(v value, with []byte) splice {
	n := v.node()
	return splice{n.start, n.end, with}
}

// picture writes another picture into the same shape.
func (m mark) picture(p vision.Picture) []splice {
	text := base64.StdEncoding.EncodeToString(p.Bytes)
	whole := quote("data:" + p.MediaType + ";base64," + text)
	switch m.form {
	case formURL:
		return []splice{over(m.data, whole)}
	case formBase64:
		if m.media.kind() == kindString {
			return []splice{over(m.media, quote(p.MediaType)), over(m.data, quote(text))}
		}
	case formRaw:
		return []splice{over(m.data, quote(text))}
	case formFile:
		if null := m.part.at("image_url"); null.kind() != kindNone {
			return []splice{over(null, whole), over(m.data, []byte("null"))}
		}
		n := m.data.node()
		return []splice{{n.keyStart, n.end, append([]byte(`"image_url":`), whole...)}}
	case formSource:
	}
	source := slices.Concat([]byte(`{"type":"base64","media_type":`), quote(p.MediaType), []byte(`,"data":`), quote(text), []byte("}"))
	return []splice{over(m.source, source)}
}

// words writes a text part into the picture's place. A mark of the prompt cache stays with
// it, or the provider's cache would be missed from there on.
func (m mark) words(text string) splice {
	part := slices.Concat([]byte(`{"type":`), quote(m.text), []byte(`,"text":`), quote(text))
	for _, name := range []string{"cache_control", "prompt_cache_breakpoint"} { // Anthropic's and OpenAI's
		if cache := m.part.at(name); cache.kind() != kindNone {
			part = slices.Concat(part, []byte(`,"`+name+`":`), cache.raw())
		}
	}
	return over(m.part, append(part, '}'))
}

// quote writes a JSON string, < and & as they are.
func quote(text string) []byte { return encoded(text) }
