package envelope

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Spot is a picture in a request. Its bytes are in Data, or it lies elsewhere (Remote, File)
// and is left alone: nothing is ever fetched.
type Spot struct {
	Index      int         // its number in the request, from 0
	Place      string      // JSON path of its part, such as messages[3].content[1]
	MediaType  string      // as the request declares it, else as the bytes begin; lower case
	Data       []byte      // decoded; nil when it lies elsewhere or is Bad; must not be written to
	SHA256     string      // of Data, hex
	Size       vision.Size // from the header of Data; 0: not known
	Remote     string      // a URL that is no data URL
	File       string      // an id of a file at the provider
	Tool       bool        // in a tool's result
	Unanswered bool        // after the last turn of the model
	Bad        string      // why an inline picture cannot be decoded; empty: it can
	NoWords    bool        // the wire has no place for words here: only another picture may come
}

// form is how a picture is written.
type form int

const (
	formURL    form = iota // a string that is a URL or data URL
	formBase64             // two strings: media type and base64
	formRaw                // one string: base64
	formSource             // Anthropic's source object, of another type than base64
	formFile               // a member file_id
)

// mark is where in the document a spot is.
type mark struct {
	form   form
	part   value // the whole part
	data   value // the URL, the base64, the source or the file_id
	media  value // the media type beside the base64
	source value // Anthropic's source object
	text   string
}

// Pictures gives every picture of the request in the order of the dialogue. The list must not be changed.
func (e *Envelope) Pictures() []Spot { return e.spots }

// seat is where the search for pictures is.
type seat struct {
	place      string
	tool       bool
	unanswered bool
	noWords    bool
	text       string // the type of a text part here
}

func (s seat) inside(place string) seat {
	s.place = place
	return s
}

// find lists the pictures.
func (e *Envelope) find() error {
	e.byRef = map[int32]int{}
	root := e.doc.root()
	if e.Wire == Responses {
		return e.findItems(root)
	}
	last := -1
	for i, m := range root.at("messages").items() {
		if m.at("role").text() == "assistant" {
			last = i
		}
	}
	if e.Wire == Messages {
		if err := e.findParts(root.at("system"), seat{place: "system", unanswered: last < 0, text: "text"}); err != nil {
			return err
		}
	}
	for i, m := range root.at("messages").items() {
		role := m.at("role").text()
		s := seat{tool: role == "tool" || role == "function", unanswered: i > last, text: "text"}
		place := fmt.Sprintf("messages[%d].", i)
		if err := e.findParts(m.at("content"), s.inside(place+"content")); err != nil {
			return err
		}
		s.noWords = true // OpenRouter gives a model's own pictures back like this ("Image generation")
		if err := e.findParts(m.at("images"), s.inside(place+"images")); err != nil {
			return err
		}
	}
	return nil
}

// findItems lists the pictures of a Responses request.
func (e *Envelope) findItems(root value) error {
	for name, v := range root.at("prompt").at("variables").members() {
		if err := e.findPart(v, seat{place: "prompt.variables." + name, text: "input_text"}); err != nil {
			return err
		}
	}
	last := -1
	for i, item := range root.at("input").items() {
		if ofModel(item) {
			last = i
		}
	}
	for i, item := range root.at("input").items() {
		kind := item.at("type").text()
		if kind == "reasoning" {
			continue // may be left out as a whole
		}
		s := seat{place: fmt.Sprintf("input[%d]", i), tool: strings.HasSuffix(kind, "_output"), unanswered: i > last, text: "input_text"}
		if item.at("role").text() == "assistant" {
			s.text = "output_text"
		}
		if kind == "image_generation_call" && item.at("result").kind() == kindString {
			s.noWords = true
			if err := e.add(mark{form: formRaw, part: item, data: item.at("result")}, s); err != nil {
				return err
			}
			continue
		}
		if err := e.findParts(item.at("content"), s.inside(s.place+".content")); err != nil {
			return err
		}
		out := item.at("output")
		if out.kind() == kindObject {
			// computer_call_output holds a screenshot and nothing else (OpenAI's API reference).
			s.noWords = true
			if err := e.findPart(out, s.inside(s.place+".output")); err != nil {
				return err
			}
		}
		if err := e.findParts(out, s.inside(s.place+".output")); err != nil {
			return err
		}
	}
	return nil
}

// ofModel reports whether an item of a Responses input is the model's own: everything but
// what a person, a program or a tool says.
func ofModel(item value) bool {
	kind, role := item.at("type").text(), item.at("role").text()
	if role != "" {
		return role == "assistant"
	}
	return kind != "" && kind != "message" && kind != "item_reference" && !strings.HasSuffix(kind, "_output") &&
		!strings.HasSuffix(kind, "_response")
}

func (e *Envelope) findParts(list value, s seat) error {
	for i, part := range list.items() {
		if err := e.findPart(part, s.inside(fmt.Sprintf("%s[%d]", s.place, i))); err != nil {
			return err
		}
	}
	return nil
}

// findPart takes a part that is a picture, or looks into one that holds parts: a tool's
// result, a document of parts.
func (e *Envelope) findPart(part value, s seat) error {
	if part.kind() != kindObject {
		return nil
	}
	kind := part.at("type").text()
	if strings.HasSuffix(kind, "thinking") {
		return nil // may be left out as a whole; it holds no parts
	}
	if m, ok := pictureIn(kind, part); ok {
		return e.add(m, s)
	}
	s.tool = s.tool || strings.HasSuffix(kind, "tool_result")
	if err := e.findParts(part.at("content"), s.inside(s.place+".content")); err != nil {
		return err
	}
	return e.findParts(part.at("source").at("content"), s.inside(s.place+".source.content"))
}

// pictureIn reads the part of a picture in each of the shapes that programs write. Beside
// the three references' own these are: image_url as a text (Mistral's documentation,
// "Vision"), MCP's image content, passed through by some programs, and a picture as a file
// (OpenAI's chat reference, "file" parts).
func pictureIn(kind string, part value) (mark, bool) {
	m := mark{part: part}
	switch kind {
	case "image_url", "input_image", "computer_screenshot":
		m.data = part.at("image_url")
		if m.data.kind() == kindObject {
			m.data = m.data.at("url")
		}
		if m.data.kind() != kindString {
			m.form, m.data = formFile, part.at("file_id")
		}
	case "image":
		return blockIn(m, part)
	case "file":
		m.data = part.at("file").at("file_data")
		return m, imageURL(m.data)
	case "input_file":
		m.data = part.at("file_data")
		return m, imageURL(m.data)
	}
	return m, m.data.kind() == kindString
}

func blockIn(m mark, part value) (mark, bool) {
	if source := part.at("source"); source.kind() == kindObject {
		m.source, m.media = source, source.at("media_type")
		switch source.at("type").text() {
		case "base64":
			m.form, m.data = formBase64, source.at("data")
		case "url":
			m.form, m.data = formSource, source.at("url")
		case "file":
			m.form, m.data = formSource, source.at("file_id")
		}
		return m, m.data.kind() == kindString
	}
	for _, name := range []string{"image_url", "image", "url"} {
		if m.data = part.at(name); m.data.kind() == kindObject {
			m.data = m.data.at("url")
		}
		if m.data.kind() == kindString {
			return m, true
		}
	}
	m.form, m.data = formBase64, part.at("data")
	for _, name := range []string{"mimeType", "mime_type", "media_type"} {
		if m.media = part.at(name); m.media.kind() == kindString {
			break
		}
	}
	if m.media.kind() != kindString {
		m.form = formRaw
	}
	return m, m.data.kind() == kindString
}

// imageURL reports a data URL of a picture, by its beginning.
func imageURL(v value) bool {
	const head = `"data:image/`
	raw := v.raw()
	return v.kind() == kindString && len(raw) > len(head) && strings.EqualFold(string(raw[:len(head)]), head)
}

// add reads what a mark points at.
func (e *Envelope) add(m mark, s seat) error {
	if len(e.spots) == maxPictures {
		return &Fault{Status: http.StatusRequestEntityTooLarge, Field: s.place, Words: fmt.Sprintf("the request holds more than %d pictures: leave older ones out", maxPictures)}
	}
	m.text = s.text
	spot := Spot{Index: len(e.spots), Place: s.place, Tool: s.tool, Unanswered: s.unanswered, NoWords: s.noWords}
	switch m.form {
	case formURL:
		spot.readURL(m.data)
	case formBase64, formRaw:
		spot.MediaType = mediaType(m.media.text())
		spot.readBase64(m.data.content())
	case formSource:
		if spot.Remote = m.data.text(); m.source.at("type").text() == "file" {
			spot.File, spot.Remote = spot.Remote, ""
		}
	case formFile:
		spot.File = m.data.text()
	}
	spot.measure()
	e.byRef[m.part.n] = spot.Index
	e.spots, e.marks = append(e.spots, spot), append(e.marks, m)
	return nil
}
