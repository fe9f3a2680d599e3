package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

type event struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      *answer         `json:"message"`
	ContentBlock *content        `json:"content_block"`
	Delta        *delta          `json:"delta"`
	Usage        json.RawMessage `json:"usage"`
}

type answer struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`
	Content    []content       `json:"content"`
	StopReason *string         `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

type content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
}

type delta struct {
	Type        string  `json:"type"`
	Text        string  `json:"text"`
	PartialJSON string  `json:"partial_json"`
	Thinking    string  `json:"thinking"`
	Signature   string  `json:"signature"`
	StopReason  *string `json:"stop_reason"`
}

// Decoder puts a streaming answer together. It gives no tool call before Finish.
type Decoder struct {
	before  []provider.Message
	id      string
	blocks  []*building
	byIndex map[int]*building
	stop    string
	done    bool // message_stop arrived, or a whole body
	usage   counts
}

// building is a block of which pieces have arrived.
type building struct {
	kind      string
	call      provider.Call
	text      strings.Builder // text, or thinking
	args      strings.Builder
	signature strings.Builder
	whole     bool
}

// NewDecoder reads the answer to r, whose transcript says which ids of calls are taken.
func NewDecoder(r provider.Request) *Decoder {
	return &Decoder{before: r.Messages, byIndex: map[int]*building{}}
}

// Event takes the next event of the stream and gives the text in it. Events and
// blocks of unknown types are passed over, as Anthropic's versioning policy asks.
// Errors are *provider.Error: KindMalformed, or the provider's own from an error event.
func (d *Decoder) Event(name string, data []byte) (provider.Delta, error) {
	if d.done || strings.TrimSpace(string(data)) == "" || strings.TrimSpace(string(data)) == "[DONE]" {
		return provider.Delta{}, nil
	}
	if name == "error" {
		return provider.Delta{}, provider.Complaint(data)
	}
	var e event
	if err := httpwire.Strict(data, &e); err != nil {
		return provider.Delta{}, malformed(data, err)
	}
	if e.Type == "" {
		e.Type = name
	}
	switch e.Type {
	case "error":
		return provider.Delta{}, provider.Complaint(data)
	case "message_start":
		d.start(e.Message)
	case "content_block_start":
		return d.open(e, data)
	case "content_block_delta":
		return d.piece(e, data)
	case "content_block_stop":
		if b := d.byIndex[e.Index]; b != nil {
			b.whole = true
		}
	case "message_delta":
		if e.Delta != nil && e.Delta.StopReason != nil {
			d.stop = *e.Delta.StopReason
		}
		d.usage.read(e.Usage)
	case "message_stop":
		d.done = true
	}
	return provider.Delta{}, nil
}

// Whole takes an answer that came as one JSON document instead of a stream.
func (d *Decoder) Whole(body []byte) (provider.Delta, error) {
	var a answer
	if err := httpwire.Strict(body, &a); err != nil {
		return provider.Delta{}, malformed(body, err)
	}
	if a.Type == "error" || (a.Type == "" && a.Content == nil) {
		return provider.Delta{}, provider.Complaint(body)
	}
	if a.StopReason == nil {
		return provider.Delta{}, malformed(body, fmt.Errorf("no stop_reason"))
	}
	d.start(&a)
	var out provider.Delta
	for i := range a.Content {
		piece, err := d.open(event{Index: i, ContentBlock: &a.Content[i]}, body)
		if err != nil {
			return provider.Delta{}, err
		}
		d.byIndex[i].whole = true
		out.Text += piece.Text
	}
	d.stop, d.done = *a.StopReason, true
	return out, nil
}

func (d *Decoder) start(a *answer) {
	if a == nil {
		return
	}
	d.id = a.ID
	d.usage.read(a.Usage)
}

func (d *Decoder) open(e event, data []byte) (provider.Delta, error) {
	c := e.ContentBlock
	switch {
	case c == nil:
		return provider.Delta{}, malformed(data, fmt.Errorf("a block begins without its content_block"))
	case d.byIndex[e.Index] != nil:
		return provider.Delta{}, malformed(data, fmt.Errorf("block %d begins twice", e.Index))
	case len(d.blocks) == maxBlocks:
		return provider.Delta{}, malformed(nil, fmt.Errorf("more than %d blocks", maxBlocks))
	}
	b := &building{kind: c.Type, call: provider.Call{ID: c.ID, Name: c.Name}}
	d.blocks = append(d.blocks, b)
	d.byIndex[e.Index] = b
	switch c.Type {
	case "text":
		b.text.WriteString(c.Text)
		return provider.Delta{Text: c.Text}, nil
	case "thinking":
		b.text.WriteString(c.Thinking)
		b.signature.WriteString(c.Signature)
	case "redacted_thinking":
		b.signature.WriteString(redactedMark + c.Data)
	case "tool_use":
		b.call.Args = c.Input // {} in a stream; whole at some proxies, and in a body
	}
	return provider.Delta{}, nil
}

func (d *Decoder) piece(e event, data []byte) (provider.Delta, error) {
	b := d.byIndex[e.Index]
	if b == nil || e.Delta == nil {
		return provider.Delta{}, malformed(data, fmt.Errorf("a piece of block %d, which has not begun", e.Index))
	}
	if b.whole {
		return provider.Delta{}, malformed(data, fmt.Errorf("a piece of block %d, which has ended", e.Index))
	}
	switch e.Delta.Type {
	case "text_delta":
		b.text.WriteString(e.Delta.Text)
		return provider.Delta{Text: e.Delta.Text}, nil
	case "input_json_delta":
		b.args.WriteString(e.Delta.PartialJSON)
	case "thinking_delta":
		b.text.WriteString(e.Delta.Thinking)
	case "signature_delta":
		b.signature.WriteString(e.Delta.Signature)
	}
	return provider.Delta{}, nil
}

func malformed(data []byte, err error) *provider.Error {
	return provider.Malformed("message", data, err)
}
