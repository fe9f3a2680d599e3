package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

type chunk struct {
	ID      string          `json:"id"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	XGroq   struct {
		Usage json.RawMessage `json:"usage"` // Groq's streams: vercel/ai#1651
	} `json:"x_groq"`
	Error json.RawMessage `json:"error"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"` // in an answer that is not a stream
	FinishReason *string         `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"` // Moonshot's streams: pi#2017, AstrBot#6614
}

type delta struct {
	Content          json.RawMessage   `json:"content"` // a string, null, or Mistral's list of chunks
	Refusal          string            `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content"` // DeepSeek, Kimi, Qwen, Z.ai
	Reasoning        string            `json:"reasoning"`         // OpenRouter, Groq, Cerebras, newer vLLM
	ReasoningDetails []json.RawMessage `json:"reasoning_details"` // OpenRouter
	ToolCalls        []callDelta       `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a piece of a string; an object at some servers
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"` // Gemini's endpoint
}

// Decoder puts a streaming answer together. It gives no tool call before Finish.
type Decoder struct {
	before    []provider.Message
	model     string
	id        string
	text      strings.Builder
	reasoning strings.Builder
	details   details
	refused   bool
	calls     []*building
	byIndex   map[int]*building
	finish    string
	done      bool // [DONE] arrived, or a whole body
	usage     provider.Usage
}

// building is a call of which pieces have arrived.
type building struct {
	call  provider.Call
	args  strings.Builder
	extra json.RawMessage
}

// NewDecoder reads the answer to r, whose transcript says which ids of calls are taken.
func NewDecoder(r provider.Request) *Decoder {
	return &Decoder{before: r.Messages, model: r.Model, byIndex: map[int]*building{}}
}

// Event takes the next event of the stream and gives the text in it. Errors are
// *provider.Error: KindMalformed, or the provider's own from an error event.
func (d *Decoder) Event(name string, data []byte) (provider.Delta, error) {
	text := strings.TrimSpace(string(data))
	switch {
	case d.done, text == "":
		return provider.Delta{}, nil
	case text == "[DONE]":
		d.done = true
		return provider.Delta{}, nil
	case name == "error":
		return provider.Delta{}, provider.Complaint(data)
	}
	var c chunk
	if err := httpwire.Strict(data, &c); err != nil {
		return provider.Delta{}, malformed(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return provider.Delta{}, provider.Complaint(data)
	}
	return d.chunk(c)
}

// Whole takes an answer that came as one JSON document instead of a stream.
func (d *Decoder) Whole(body []byte) (provider.Delta, error) {
	out, err := d.Event("", body)
	if err == nil && d.finish == "" {
		return provider.Delta{}, malformed(body, fmt.Errorf("no choice with a finish_reason"))
	}
	d.done = true
	return out, err
}

func (d *Decoder) chunk(c chunk) (provider.Delta, error) {
	if c.ID != "" {
		d.id = c.ID
	}
	d.readUsage(c.XGroq.Usage)
	d.readUsage(c.Usage)
	var out provider.Delta
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue // Relo asks for one answer
		}
		if ch.FinishReason != nil && *ch.FinishReason != "" {
			d.finish = *ch.FinishReason
		}
		d.readUsage(ch.Usage)
		for _, piece := range []*delta{ch.Delta, ch.Message} {
			if piece == nil {
				continue
			}
			text, err := d.piece(piece)
			if err != nil {
				return provider.Delta{}, err
			}
			out.Text += text
		}
	}
	return out, nil
}

func (d *Decoder) piece(p *delta) (string, error) {
	text, thought, err := content(p.Content)
	if err != nil {
		return "", malformed(p.Content, err)
	}
	told, err := d.think(p)
	if err != nil {
		return "", malformed(nil, err)
	}
	d.reasoning.WriteString(thought + told)
	if p.Refusal != "" {
		d.refused = true
		text += p.Refusal
	}
	d.text.WriteString(text)
	for _, c := range p.ToolCalls {
		if err := d.callPiece(c); err != nil {
			return "", err
		}
	}
	return text, nil
}

// think gives the reasoning of a piece, which some send in two fields at once.
func (d *Decoder) think(p *delta) (string, error) {
	var listed strings.Builder
	for _, raw := range p.ReasoningDetails {
		words, err := d.details.add(raw)
		if err != nil {
			return "", err
		}
		listed.WriteString(words)
	}
	return cmp.Or(p.ReasoningContent, p.Reasoning, listed.String()), nil
}

// content reads a content field: a string, null, or a list of chunks, where
// Magistral puts its thoughts (Mistral's documentation, "Reasoning").
func content(raw json.RawMessage) (text, thought string, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", "", nil
	}
	if raw[0] == '"' {
		err = json.Unmarshal(raw, &text)
		return text, "", err
	}
	var chunks []struct {
		Text     string `json:"text"`
		Thinking []struct {
			Text string `json:"text"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &chunks); err != nil {
		return "", "", err
	}
	for _, c := range chunks {
		text += c.Text
		for _, t := range c.Thinking {
			thought += t.Text
		}
	}
	return text, thought, nil
}

func (d *Decoder) callPiece(p callDelta) error {
	b := d.find(p)
	if b == nil {
		if len(d.calls) == maxCalls {
			return malformed(nil, fmt.Errorf("more than %d tool calls", maxCalls))
		}
		b = &building{}
		d.calls = append(d.calls, b)
		if p.Index != nil {
			d.byIndex[*p.Index] = b
		}
	}
	if b.call.ID == "" {
		b.call.ID = p.ID
	}
	if b.call.Name == "" {
		b.call.Name = p.Function.Name // some servers repeat it in every piece
	}
	if len(p.Extra) > 0 && string(p.Extra) != "null" {
		b.extra = p.Extra
	}
	args := p.Function.Arguments
	switch {
	case len(args) == 0 || string(args) == "null":
	case args[0] == '"':
		var s string
		if err := json.Unmarshal(args, &s); err != nil {
			return malformed(args, err)
		}
		b.args.WriteString(s)
	default:
		b.args.Write(args)
	}
	return nil
}

// find gives the call that a piece belongs to; nil: it begins one. Gemini's
// endpoint gives parallel calls the same index, each with its own id.
func (d *Decoder) find(p callDelta) *building {
	var b *building
	if p.Index != nil {
		b = d.byIndex[*p.Index]
	} else if n := len(d.calls); n > 0 {
		b = d.calls[n-1]
	}
	if b != nil && p.ID != "" && b.call.ID != "" && p.ID != b.call.ID {
		return nil
	}
	return b
}

func malformed(data []byte, err error) *provider.Error {
	return provider.Malformed("chat completion", data, err)
}
