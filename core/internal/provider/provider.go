// Package provider holds the nouns of a model call: the transcript, the request,
// the response, the receipt of every picture, and the error with the provider's
// own words. It speaks no wire and opens no connection.
package provider

import (
	"context"
	"encoding/json"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Role says whose message it is.
type Role string

// The roles of a transcript. A RoleTool message holds only PartResult parts.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// PartKind says what a part is.
type PartKind string

// The kinds of parts.
const (
	PartText      PartKind = "text"
	PartPicture   PartKind = "picture"
	PartCall      PartKind = "call"
	PartResult    PartKind = "result"
	PartReasoning PartKind = "reasoning"
)

// Part is one piece of a message. Only the fields of its kind are set.
type Part struct {
	Kind    PartKind `json:"kind"`
	Text    string   `json:"text,omitempty"`    // text, reasoning
	Picture *Picture `json:"picture,omitempty"` // picture
	Call    *Call    `json:"call,omitempty"`    // call
	Result  *Result  `json:"result,omitempty"`  // result
	// Signature is the provider's own proof over a reasoning part or a call; it goes back
	// unchanged, over the wire that made it.
	Signature string `json:"signature,omitempty"`
}

// Picture is a prepared picture and where it came from.
type Picture struct {
	vision.Picture
	View vision.View `json:"view"`
}

// Call is a tool call of the model. Args is a JSON object.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// Result answers the call with the same ID: text first, then pictures.
type Result struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Text     string    `json:"text"`
	Pictures []Picture `json:"pictures,omitempty"`
	IsError  bool      `json:"isError,omitempty"`
}

// Message is one turn of a transcript.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Text makes a text part.
func Text(s string) Part { return Part{Kind: PartText, Text: s} }

// Show makes a picture part.
func Show(p Picture) Part { return Part{Kind: PartPicture, Picture: &p} }

// ToolSpec is a tool as the model is told of it. Schema is a JSON Schema of type object.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Request is one model call, in no vendor's shape.
type Request struct {
	Model     string     `json:"model"` // the provider's own id, without the provider's name
	System    string     `json:"system"`
	Messages  []Message  `json:"messages"`
	Tools     []ToolSpec `json:"tools,omitempty"`
	MaxTokens int        `json:"maxTokens"` // of the answer; 0: the wire's default
	// Placement is where a tool's pictures go; empty: where the wire, the dialect or the
	// model's family has them. A wire takes one that it has not for the empty one.
	Placement Placement `json:"placement,omitempty"`
	// CacheKey is the same for requests that begin alike (an attempt's rounds), for
	// providers that route by it; empty: none is sent.
	CacheKey string `json:"cacheKey,omitempty"`
}

// Placement is where the pictures of tools' results go in the body.
type Placement string

// The placements.
const (
	PlaceInside  Placement = "inside"  // inside the tool's result, after its text
	PlaceAfter   Placement = "after"   // in one user's message after the results
	PlaceBridged Placement = "bridged" // the same, behind a blank assistant's message
)

// Stop says why the model stopped.
type Stop string

// The reasons to stop.
const (
	StopEnd     Stop = "end"
	StopCalls   Stop = "calls"
	StopLength  Stop = "length"
	StopRefusal Stop = "refusal"
	StopOther   Stop = "other"
)

// Usage counts tokens; nil means that the provider did not say (never 0).
type Usage struct {
	TokensIn     *int64 `json:"tokensIn"`     // all input, cached included
	TokensOut    *int64 `json:"tokensOut"`    //
	TokensCached *int64 `json:"tokensCached"` // the part of TokensIn that was read from the cache
}

// Receipt says that a picture was in the body of a request that got a 2xx.
type Receipt struct {
	SHA256    string      `json:"sha256"`
	Place     string      `json:"place"` // JSON path in the body, such as messages[3].content[1]
	Bytes     int         `json:"bytes"`
	MediaType string      `json:"mediaType"`
	Size      vision.Size `json:"size"`
	View      vision.View `json:"view"`
}

// Response is the model's answer, whole.
type Response struct {
	Message   Message   `json:"message"`
	Stop      Stop      `json:"stop"`
	Usage     Usage     `json:"usage"`
	Receipts  []Receipt `json:"receipts,omitempty"`
	RequestID string    `json:"requestId,omitempty"` // the provider's own id of the request
}

// Delta is a piece of a streaming answer, for progress only: the whole answer
// is what counts. A half tool call is never in one.
type Delta struct {
	Text string
}

// Client sends requests over one provider's wire. Implementations pass
// providertest.Run.
//
// A client whose wire has more than one place for a tool's picture is a Placer too.
type Client interface {
	// Stream sends the request and calls onDelta (when not nil) as text arrives.
	// It returns a *Error when the provider refuses, answers garbage or stalls.
	Stream(ctx context.Context, r Request, onDelta func(Delta)) (Response, error)
}

// Placer tells the places that a wire has for a tool's pictures.
type Placer interface {
	// Placements gives those that may work for a model, the usual one first.
	Placements(model string) []Placement
}

// Forwarder sends a body of its own wire that somebody else made, and hands the answer's
// bytes on while it reads them.
type Forwarder interface {
	// Speaks reports whether a body of that wire (chat, responses, anthropic) is taken.
	Speaks(wire string) bool
	// Forward returns what Stream would. Nothing is handed on of an answer that is no 2xx,
	// nor of a stream that fails before its first words.
	Forward(ctx context.Context, f Forward) (Response, error)
}

// Forward is one such body.
type Forward struct {
	Request  Request // the same in Relo's nouns, for reading the answer
	Body     []byte
	Receipts []Receipt
	Header   map[string]string // of the program that made the body, sent beside the client's own
	// Pass takes the bytes of the answer in order. An error ends the call: nobody is
	// there to read it.
	Pass func(contentType string, data []byte) error
}
