package ollama

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// line is one line of the stream, or the whole answer.
type line struct {
	Message    *piece          `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     json.RawMessage `json:"prompt_eval_count"`
	Cached     json.RawMessage `json:"prompt_eval_cached_count"` // the part of Prompt that was read from the cache; since 0.33
	Eval       json.RawMessage `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

type piece struct {
	Content   string `json:"content"`
	Thinking  string `json:"thinking"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"` // an object; a string of one at some proxies
		} `json:"function"`
	} `json:"tool_calls"`
}

// Decoder puts a streaming answer together. It gives no tool call before Finish.
type Decoder struct {
	before   []provider.Message
	text     strings.Builder
	thinking strings.Builder
	calls    []*provider.Call
	done     bool
	reason   string
	usage    provider.Usage
}

// NewDecoder reads the answer to r, whose transcript says which ids of calls are taken.
func NewDecoder(r provider.Request) *Decoder { return &Decoder{before: r.Messages} }

// Event takes the next line of the stream and gives the text in it. Errors are
// *provider.Error: KindMalformed, or the server's own from a line with an error, which
// comes inside a 200 (Ollama's documentation, "Errors that occur while streaming").
func (d *Decoder) Event(_ string, data []byte) (provider.Delta, error) {
	if d.done || strings.TrimSpace(string(data)) == "" {
		return provider.Delta{}, nil
	}
	var l line
	if err := httpwire.Strict(data, &l); err != nil {
		return provider.Delta{}, malformed(data, err)
	}
	if len(l.Error) > 0 && string(l.Error) != "null" {
		return provider.Delta{}, provider.Complaint(data)
	}
	var out provider.Delta
	if l.Message != nil {
		out.Text = l.Message.Content
		d.text.WriteString(l.Message.Content)
		d.thinking.WriteString(l.Message.Thinking)
		if err := d.take(l.Message); err != nil {
			return provider.Delta{}, malformed(data, err)
		}
	}
	if l.Done {
		d.done, d.reason = true, l.DoneReason
		d.usage = usage(l)
	}
	return out, nil
}

// take keeps the calls of a line: each comes whole (Ollama's documentation, "Tool
// calling", streaming).
func (d *Decoder) take(p *piece) error {
	for _, c := range p.ToolCalls {
		if len(d.calls) == maxCalls {
			return fmt.Errorf("more than %d tool calls", maxCalls)
		}
		args := c.Function.Arguments
		var inner string
		switch {
		case len(args) == 0 || string(args) == "null":
			args = json.RawMessage("{}")
		case args[0] == '"' && json.Unmarshal(args, &inner) == nil:
			args = json.RawMessage(inner)
		}
		if err := httpwire.Object(args); err != nil {
			return fmt.Errorf("the arguments of %.80q: %w", c.Function.Name, err)
		}
		d.calls = append(d.calls, &provider.Call{ID: c.ID, Name: c.Function.Name, Args: args})
	}
	return nil
}

// Whole takes an answer that came as one JSON document instead of a stream.
func (d *Decoder) Whole(body []byte) (provider.Delta, error) {
	out, err := d.Event("", body)
	if err == nil && !d.done {
		return provider.Delta{}, malformed(body, fmt.Errorf("not done"))
	}
	return out, err
}

// Finish gives the whole answer. When the stream broke off it is KindCut. Where the
// server has no ids for its calls they get one.
func (d *Decoder) Finish() (provider.Response, error) {
	if !d.done {
		return provider.Response{}, &provider.Error{
			Kind: provider.KindCut, Status: http.StatusOK, Words: "the stream ended before the answer was whole",
		}
	}
	if err := provider.NameCalls(d.calls, d.before); err != nil {
		return provider.Response{}, malformed(nil, err)
	}
	m := provider.Message{Role: provider.RoleAssistant}
	if d.thinking.Len() > 0 {
		m.Parts = append(m.Parts, provider.Part{Kind: provider.PartReasoning, Text: d.thinking.String()})
	}
	if d.text.Len() > 0 {
		m.Parts = append(m.Parts, provider.Text(d.text.String()))
	}
	for _, c := range d.calls {
		m.Parts = append(m.Parts, provider.Part{Kind: provider.PartCall, Call: c})
	}
	return provider.Response{Message: m, Stop: d.stop(), Usage: d.usage}, nil
}

// stop reads done_reason: stop beside calls too. load is the answer to a request
// without messages, and older servers give none at all (Ollama's API documentation).
func (d *Decoder) stop() provider.Stop {
	switch {
	case d.reason == "length":
		return provider.StopLength
	case len(d.calls) > 0:
		return provider.StopCalls
	case d.reason == "stop", d.reason == "":
		return provider.StopEnd
	default:
		return provider.StopOther
	}
}

// usage reads the last line's counts. An answer is not lost over one that cannot be
// read; a prompt of 0 tokens is a server that did not count.
func usage(l line) provider.Usage {
	u := provider.Usage{TokensIn: count(l.Prompt), TokensOut: count(l.Eval), TokensCached: count(l.Cached)}
	if u.TokensIn == nil || *u.TokensIn == 0 {
		return provider.Usage{TokensOut: u.TokensOut}
	}
	return u
}

func count(raw json.RawMessage) *int64 {
	var n int64
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &n) != nil || n < 0 {
		return nil
	}
	return &n
}

func malformed(data []byte, err error) *provider.Error {
	return provider.Malformed("chat answer of Ollama's", data, err)
}
