package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// chunk is one piece of the stream, and a whole answer too.
type chunk struct {
	Candidates []candidate     `json:"candidates"`
	Feedback   *feedback       `json:"promptFeedback"`
	Usage      json.RawMessage `json:"usageMetadata"`
	ID         string          `json:"responseId"`
	Error      json.RawMessage `json:"error"`
	Choices    json.RawMessage `json:"choices"` // of another API: a proxy's address is wrong
}

type candidate struct {
	Index   int `json:"index"`
	Content *struct {
		Parts []piece `json:"parts"`
	} `json:"content"`
	Finish string `json:"finishReason"`
}

type feedback struct {
	Block string `json:"blockReason"`
}

type piece struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// Decoder puts a streaming answer together. It gives no tool call before Finish.
type Decoder struct {
	before  []provider.Message
	id      string
	parts   []provider.Part
	finish  string
	blocked string
	usage   provider.Usage
}

// NewDecoder reads the answer to r, whose transcript says which ids of calls are taken.
func NewDecoder(r provider.Request) *Decoder { return &Decoder{before: r.Messages} }

// Event takes the next chunk and gives the text in it. Errors are *provider.Error:
// KindMalformed, or the provider's own.
func (d *Decoder) Event(name string, data []byte) (provider.Delta, error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return provider.Delta{}, nil
	}
	if name == "error" {
		return provider.Delta{}, provider.Complaint(data)
	}
	var c chunk
	if err := httpwire.Strict(data, &c); err != nil {
		return provider.Delta{}, malformed(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return provider.Delta{}, provider.Complaint(data)
	}
	if len(c.Choices) > 0 {
		return provider.Delta{}, malformed(data, errors.New("an answer of another API"))
	}
	if c.ID != "" {
		d.id = c.ID
	}
	if c.Feedback != nil && c.Feedback.Block != "" {
		d.blocked = c.Feedback.Block
	}
	d.readUsage(c.Usage)
	var out provider.Delta
	for _, one := range c.Candidates {
		if one.Index != 0 {
			continue // Relo asks for one answer
		}
		if one.Finish != "" {
			d.finish = one.Finish
		}
		if one.Content == nil {
			continue
		}
		for _, p := range one.Content.Parts {
			text, err := d.piece(p)
			if err != nil {
				return provider.Delta{}, malformed(data, err)
			}
			out.Text += text
		}
	}
	return out, nil
}

// Whole takes an answer that came as one JSON document: an answer, or a list of chunks.
func (d *Decoder) Whole(body []byte) (provider.Delta, error) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil {
		var out provider.Delta
		for _, one := range list {
			piece, err := d.Event("", one)
			if err != nil {
				return provider.Delta{}, err
			}
			out.Text += piece.Text
		}
		if len(list) > 0 {
			return out, nil
		}
		return provider.Delta{}, malformed(body, errors.New("an empty list"))
	}
	out, err := d.Event("", body)
	if err == nil && d.finish == "" && d.blocked == "" {
		return provider.Delta{}, malformed(body, errors.New("no finishReason"))
	}
	return out, err
}

// piece adds one part; text that goes on is put to the text before it, unless one of them
// carries a signature, which belongs to its own part.
func (d *Decoder) piece(p piece) (said string, err error) {
	if len(d.parts) >= maxParts {
		return "", fmt.Errorf("more than %d parts", maxParts)
	}
	sign := ""
	if p.Signature != "" {
		sign = mark + p.Signature
	}
	switch {
	case p.Call != nil:
		args := p.Call.Args
		if len(args) == 0 || string(args) == "null" {
			args = json.RawMessage("{}")
		}
		if err := httpwire.Object(args); err != nil {
			return "", fmt.Errorf("the arguments of %.80q: %w", p.Call.Name, err)
		}
		d.parts = append(d.parts, provider.Part{Kind: provider.PartCall, Signature: sign, Call: &provider.Call{ID: p.Call.ID, Name: p.Call.Name, Args: args}})
		return "", nil
	case p.Text == "" && sign == "":
		return "", nil
	}
	kind := provider.PartText
	if p.Thought {
		kind = provider.PartReasoning
	} else {
		said = p.Text
	}
	if n := len(d.parts); n > 0 && d.parts[n-1].Kind == kind && d.parts[n-1].Signature == "" {
		d.parts[n-1].Text += p.Text
		d.parts[n-1].Signature = sign
		return said, nil
	}
	d.parts = append(d.parts, provider.Part{Kind: kind, Text: p.Text, Signature: sign})
	return said, nil
}

// readUsage takes the counts; each chunk's is of all so far. Thoughts are paid as output
// (Gemini API documentation, "Thinking", pricing).
func (d *Decoder) readUsage(raw json.RawMessage) {
	var u struct {
		In       *int64 `json:"promptTokenCount"`
		Out      *int64 `json:"candidatesTokenCount"`
		Thoughts *int64 `json:"thoughtsTokenCount"`
		Cached   *int64 `json:"cachedContentTokenCount"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil || u.In == nil || *u.In <= 0 {
		return
	}
	d.usage = provider.Usage{TokensIn: u.In, TokensOut: u.Out, TokensCached: u.Cached}
	if u.Out != nil && u.Thoughts != nil {
		d.usage.TokensOut = new(*u.Out + *u.Thoughts)
	}
}

// Finish gives the whole answer. When the stream broke off it is KindCut: a half call is
// never given.
func (d *Decoder) Finish() (provider.Response, error) {
	if d.finish == "" && d.blocked == "" {
		return provider.Response{}, &provider.Error{
			Kind: provider.KindCut, Status: http.StatusOK, Words: "the stream ended before the answer was whole",
		}
	}
	stop := stopOf(d.finish)
	if d.finish == "" {
		stop = provider.StopRefusal
	}
	var calls []*provider.Call
	for _, p := range d.parts {
		if p.Call != nil {
			calls = append(calls, p.Call)
		}
	}
	if d.finish == "MALFORMED_FUNCTION_CALL" && len(calls) == 0 {
		return provider.Response{}, malformed(nil, errors.New("the model made a tool call that its provider could not read"))
	}
	if err := provider.NameCalls(calls, d.before); err != nil {
		return provider.Response{}, malformed(nil, err)
	}
	if len(calls) > 0 && (stop == provider.StopEnd || stop == provider.StopOther) {
		stop = provider.StopCalls
	}
	return provider.Response{
		Message: provider.Message{Role: provider.RoleAssistant, Parts: d.parts}, Stop: stop, Usage: d.usage, RequestID: d.id,
	}, nil
}

// stopOf reads finishReason (the API's reference, FinishReason).
func stopOf(word string) provider.Stop {
	switch word {
	case "STOP":
		return provider.StopEnd
	case "MAX_TOKENS":
		return provider.StopLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE":
		return provider.StopRefusal
	}
	return provider.StopOther
}

func malformed(data []byte, err error) *provider.Error {
	return provider.Malformed("Gemini answer", data, err)
}
