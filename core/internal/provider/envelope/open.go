package envelope

import (
	"fmt"
	"net/http"

	"github.com/relo-dev/relo/core/internal/httpwire"
)

// Wire is how a program asks.
type Wire string

// The wires, each with the path that its programs ask at.
const (
	Chat      Wire = "chat"      // OpenAI's chat completions, /v1/chat/completions
	Responses Wire = "responses" // OpenAI's Responses, /v1/responses
	Messages  Wire = "messages"  // Anthropic's messages, /v1/messages
)

// Fault is what is wrong with a request, for the program that sent it.
type Fault struct { //nolint:errname // it is the program's fault, as provider.Error is the provider's error
	Status int    // HTTP
	Words  string // what is wrong and what to do
	Field  string // the field that is at fault, as a JSON path; empty: the whole body
}

// Error gives the words.
func (f *Fault) Error() string { return f.Words }

// Body is the fault as a wire's error document.
func (f *Fault) Body(w Wire) []byte { return failure(w, kindOfStatus(w, f.Status), f.Words, f.Field) }

// Envelope is one request of another program. It is never changed after Open and may be
// used by several goroutines; the body that it was opened from must stay as it is.
type Envelope struct {
	Wire         Wire
	Model        string // as the program wrote it
	Stream       bool   // the answer is to come as server-sent events
	IncludeUsage bool   // chat: a stream ends with the usage (stream_options.include_usage); true elsewhere

	doc   *document
	spots []Spot
	marks []mark        // of the same numbers
	byRef map[int32]int // the part of a picture → its number
}

// Open reads a request: one JSON object in UTF-8, of at most 64 MiB, without doubled fields, nested at
// most 256 deep, with at most a million values and 4096 pictures. Errors are *Fault.
func Open(wire Wire, body []byte) (*Envelope, error) {
	dialogue, ok := map[Wire]string{Chat: "messages", Responses: "input", Messages: "messages"}[wire]
	if !ok {
		return nil, &Fault{Status: http.StatusNotFound, Words: fmt.Sprintf("no wire is called %.40q", wire)}
	}
	if len(body) > maxBody {
		return nil, &Fault{Status: http.StatusRequestEntityTooLarge, Words: fmt.Sprintf("the request has %d bytes, at most %d are taken: leave older pictures out", len(body), maxBody)}
	}
	doc, err := scan(body)
	if err != nil {
		return nil, bad("", "the body cannot be read as JSON: %s", httpwire.Plain(err.Error()))
	}
	root := doc.root()
	e := &Envelope{Wire: wire, Model: root.at("model").text(), Stream: root.at("stream").truth(), IncludeUsage: true, doc: doc}
	list := root.at(dialogue)
	switch {
	case root.kind() != kindObject:
		return nil, bad("", "the body is no JSON object: send one as the API's reference shows it")
	case e.Model == "":
		return nil, bad("model", "model is missing: name one of those that GET /v1/models lists")
	case root.at("stream").given() && root.at("stream").kind() != kindBool:
		return nil, bad("stream", "stream must be true or false")
	case wire != Responses && list.kind() != kindArray:
		return nil, bad(dialogue, "%s must be a list of messages", dialogue)
	case wire == Responses && list.given() && list.kind() != kindArray && list.kind() != kindString:
		return nil, bad(dialogue, "input must be a text or a list of items")
	}
	if wire == Chat {
		e.IncludeUsage = root.at("stream_options").at("include_usage").truth()
	}
	if err := e.find(); err != nil {
		return nil, err
	}
	return e, nil
}

// bad is a fault of the request's own.
func bad(field, format string, args ...any) *Fault {
	return &Fault{Status: http.StatusBadRequest, Field: field, Words: fmt.Sprintf(format, args...)}
}
