package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// event is one of the stream (OpenAI's API reference, "Streaming events").
type event struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    json.RawMessage `json:"delta"`
	Item     *output         `json:"item"`
	Response *answer         `json:"response"`
}

type answer struct {
	ID         string          `json:"id"`
	Status     string          `json:"status"`
	Output     []output        `json:"output"`
	Usage      json.RawMessage `json:"usage"`
	Error      json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// output is an item of the answer.
type output struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	CallID    string    `json:"call_id"`
	Name      string    `json:"name"`
	Arguments string    `json:"arguments"`
	Status    string    `json:"status"`
	Content   []content `json:"content"`
	Summary   []content `json:"summary"`
	Encrypted string    `json:"encrypted_content"`
}

type content struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// Decoder puts a streaming answer together. It gives no tool call before Finish: what counts
// are the finished items, and the last event says which answer is whole.
type Decoder struct {
	before []provider.Message
	id     string
	items  map[int]*output // by output_index, finished ones
	order  []int
	final  *answer
	text   strings.Builder // streamed
}

// NewDecoder reads the answer to r, whose transcript says which ids of calls are taken.
func NewDecoder(r provider.Request) *Decoder {
	return &Decoder{before: r.Messages, items: map[int]*output{}}
}

// Event takes the next event of the stream and gives the text in it. Errors are
// *provider.Error: KindMalformed, or the provider's own from an error event.
func (d *Decoder) Event(name string, data []byte) (provider.Delta, error) {
	text := strings.TrimSpace(string(data))
	if text == "" || text == "[DONE]" || d.final != nil {
		return provider.Delta{}, nil
	}
	if name == "error" {
		return provider.Delta{}, provider.Complaint(data)
	}
	var e event
	if err := httpwire.Strict(data, &e); err != nil {
		return provider.Delta{}, malformed(data, err)
	}
	switch e.Type {
	case "error":
		return provider.Delta{}, provider.Complaint(data)
	case "":
		if complains(data) { // a proxy's, in the shape of the other API
			return provider.Delta{}, provider.Complaint(data)
		}
		return provider.Delta{}, malformed(data, errors.New("an event without a type"))
	case "response.output_text.delta", "response.refusal.delta":
		var piece string
		if err := json.Unmarshal(e.Delta, &piece); err != nil {
			return provider.Delta{}, malformed(data, err)
		}
		d.text.WriteString(piece)
		return provider.Delta{Text: piece}, nil
	case "response.output_item.done":
		return provider.Delta{}, d.item(e, data)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return provider.Delta{}, d.end(e.Response, data)
	}
	if e.Response != nil && e.Response.ID != "" {
		d.id = e.Response.ID
	}
	return provider.Delta{}, nil
}

// complains reports whether a document is an error and nothing else.
func complains(data []byte) bool {
	var c struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal(data, &c) == nil && len(c.Error) > 0 && string(c.Error) != "null"
}

func (d *Decoder) item(e event, data []byte) error {
	switch {
	case e.Item == nil:
		return malformed(data, errors.New("an item is finished that is not there"))
	case d.items[e.Index] != nil:
		return malformed(data, fmt.Errorf("item %d is finished twice", e.Index))
	case len(d.order) == maxItems:
		return malformed(nil, fmt.Errorf("more than %d items", maxItems))
	}
	d.items[e.Index] = e.Item
	d.order = append(d.order, e.Index)
	return nil
}

func (d *Decoder) end(a *answer, data []byte) error {
	switch {
	case a == nil:
		return malformed(data, errors.New("the last event has no response"))
	case a.Status == "failed", len(a.Error) > 0 && string(a.Error) != "null":
		return provider.Complaint(data)
	}
	d.final = a
	if a.ID != "" {
		d.id = a.ID
	}
	return nil
}

// Whole takes an answer that came as one JSON document instead of a stream.
func (d *Decoder) Whole(body []byte) (provider.Delta, error) {
	if complains(body) {
		return provider.Delta{}, provider.Complaint(body)
	}
	var a answer
	if err := httpwire.Strict(body, &a); err != nil {
		return provider.Delta{}, malformed(body, err)
	}
	if a.Status == "" {
		return provider.Delta{}, malformed(body, errors.New("no status"))
	}
	if len(a.Output) > maxItems {
		return provider.Delta{}, malformed(nil, fmt.Errorf("more than %d items", maxItems))
	}
	if err := d.end(&a, body); err != nil {
		return provider.Delta{}, err
	}
	var out provider.Delta
	for _, o := range a.Output {
		for _, c := range o.Content {
			out.Text += c.Text + c.Refusal
		}
	}
	return out, nil
}

// Finish gives the whole answer. When the stream broke off it is KindCut, and when a call
// cannot be read KindMalformed: a half call is never given.
func (d *Decoder) Finish() (provider.Response, error) {
	if d.final == nil || d.final.Status == "in_progress" || d.final.Status == "queued" {
		return provider.Response{}, &provider.Error{
			Kind: provider.KindCut, Status: http.StatusOK, Words: "the stream ended before the answer was whole",
		}
	}
	b := builder{stop: d.stop(), m: provider.Message{Role: provider.RoleAssistant}}
	for _, o := range d.outputs() {
		if err := b.add(o); err != nil {
			return provider.Response{}, malformed(nil, err)
		}
	}
	if err := provider.NameCalls(b.calls, d.before); err != nil {
		return provider.Response{}, malformed(nil, err)
	}
	if len(b.calls) > 0 && (b.stop == provider.StopEnd || b.stop == provider.StopOther) {
		b.stop = provider.StopCalls
	}
	return provider.Response{Message: b.m, Stop: b.stop, Usage: usage(d.final.Usage), RequestID: d.id}, nil
}

// outputs are the items: of the last event, or as they were finished where that repeats none.
func (d *Decoder) outputs() []output {
	if len(d.final.Output) > 0 {
		return d.final.Output
	}
	var out []output
	for _, i := range d.order {
		out = append(out, *d.items[i])
	}
	return out
}

func (d *Decoder) stop() provider.Stop {
	if d.final.Status == "completed" {
		return provider.StopEnd
	}
	if d.final.Incomplete != nil {
		switch d.final.Incomplete.Reason {
		case "max_output_tokens":
			return provider.StopLength
		case "content_filter":
			return provider.StopRefusal
		}
	}
	return provider.StopOther
}

// builder puts the message together.
type builder struct {
	stop  provider.Stop
	m     provider.Message
	calls []*provider.Call
}

func (b *builder) add(o output) error {
	switch o.Type {
	case "message":
		for _, c := range o.Content {
			if c.Refusal != "" {
				b.stop = provider.StopRefusal
			}
			if text := c.Text + c.Refusal; text != "" {
				b.m.Parts = append(b.m.Parts, provider.Text(text))
			}
		}
	case "reasoning":
		var texts []string
		for _, c := range append(append([]content{}, o.Summary...), o.Content...) {
			texts = append(texts, c.Text)
		}
		p := provider.Part{Kind: provider.PartReasoning, Text: strings.Join(texts, "\n\n")}
		if o.Encrypted != "" {
			k, err := json.Marshal(kept{ID: o.ID, Encrypted: o.Encrypted})
			if err != nil {
				return err
			}
			p.Signature = mark + string(k)
		}
		if p.Text != "" || p.Signature != "" {
			b.m.Parts = append(b.m.Parts, p)
		}
	case "function_call":
		args := o.Arguments
		if args == "" {
			args = "{}"
		}
		cutShort := b.stop == provider.StopLength && o.Status != "completed"
		if err := httpwire.Object([]byte(args)); err != nil || cutShort {
			if b.stop == provider.StopLength {
				return nil // the limit of tokens cut it short
			}
			return fmt.Errorf("the arguments of %.80q: %w", o.Name, err)
		}
		call := &provider.Call{ID: o.CallID, Name: o.Name, Args: json.RawMessage(args)}
		b.calls = append(b.calls, call)
		b.m.Parts = append(b.m.Parts, provider.Part{Kind: provider.PartCall, Call: call})
	}
	return nil
}

// usage reads the counts; an answer is not lost over one that cannot be read.
func usage(raw json.RawMessage) provider.Usage {
	var u struct {
		In      *int64 `json:"input_tokens"`
		Out     *int64 `json:"output_tokens"`
		Details struct {
			Cached *int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil || u.In == nil || *u.In <= 0 {
		return provider.Usage{} // a request of 0 tokens is a server that does not count
	}
	return provider.Usage{TokensIn: u.In, TokensOut: u.Out, TokensCached: u.Details.Cached}
}

func malformed(data []byte, err error) *provider.Error {
	return provider.Malformed("response", data, err)
}
