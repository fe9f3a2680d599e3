package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// event is the payload of any event of ConverseStream (Bedrock's API reference,
// ConverseStreamOutput); the name of the event is outside of it.
type event struct {
	Index *int            `json:"contentBlockIndex"`
	Start *content        `json:"start"`
	Delta *delta          `json:"delta"`
	Stop  string          `json:"stopReason"`
	Usage json.RawMessage `json:"usage"`
}

type delta struct {
	Text      string `json:"text"`
	ToolUse   *call  `json:"toolUse"`
	Reasoning *struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
		Redacted  string `json:"redactedContent"`
	} `json:"reasoningContent"`
}

type content struct {
	Text      string `json:"text"`
	ToolUse   *call  `json:"toolUse"`
	Reasoning *struct {
		Text     *reasoningText `json:"reasoningText"`
		Redacted string         `json:"redactedContent"`
	} `json:"reasoningContent"`
}

type call struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"` // a string of a piece of JSON in a stream, an object in a body
}

type answer struct {
	Output *struct {
		Message *struct {
			Content []content `json:"content"`
		} `json:"message"`
	} `json:"output"`
	Stop  string          `json:"stopReason"`
	Usage json.RawMessage `json:"usage"`
}

// Decoder puts a streaming answer together. It gives no tool call before Finish.
type Decoder struct {
	before  []provider.Message
	own     map[string]string // tools' own names by the wire's
	blocks  []*building
	byIndex map[int]*building
	stop    string
	usage   counts
}

// building is a block of which pieces have arrived.
type building struct {
	kind      blockKind
	call      provider.Call
	text      strings.Builder // text, or reasoning
	args      strings.Builder
	signature strings.Builder
	redacted  []byte
	ended     bool
}

type blockKind int

const (
	kindUnknown blockKind = iota
	kindText
	kindReasoning
	kindCall
)

// NewDecoder reads the answer to r, whose transcript says which ids of calls are taken.
func NewDecoder(r provider.Request) *Decoder {
	return &Decoder{before: r.Messages, own: ownNames(r), byIndex: map[int]*building{}}
}

// Event takes the next event of the stream and gives the text in it; name is that of
// the event or of the exception. Events, blocks and pieces of unknown kinds are
// passed over. Errors are *provider.Error: KindMalformed, or the provider's own.
func (d *Decoder) Event(name string, data []byte) (provider.Delta, error) {
	if isFault(name) {
		return provider.Delta{}, complaint(name, data)
	}
	if !Tells(name) {
		return provider.Delta{}, nil
	}
	if d.stop != "" && name != "metadata" {
		return provider.Delta{}, nil
	}
	var e event
	if err := httpwire.Strict(data, &e); err != nil {
		return provider.Delta{}, malformed(data, err)
	}
	switch name {
	case "contentBlockStart":
		return provider.Delta{}, d.open(e, data)
	case "contentBlockDelta":
		return d.piece(e, data)
	case "contentBlockStop":
		if e.Index != nil && d.byIndex[*e.Index] != nil {
			d.byIndex[*e.Index].ended = true
		}
	case "messageStop":
		if d.stop = e.Stop; d.stop == "" {
			return provider.Delta{}, malformed(data, errors.New("no stopReason"))
		}
	case "metadata":
		d.usage.read(e.Usage)
	}
	return provider.Delta{}, nil
}

// Tells says whether an event of this name is part of an answer.
func Tells(name string) bool {
	switch name {
	case "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
		return true
	}
	return false
}

// Whole takes an answer that came as one JSON document instead of a stream.
func (d *Decoder) Whole(body []byte) (provider.Delta, error) {
	var a answer
	if err := httpwire.Strict(body, &a); err != nil {
		return provider.Delta{}, malformed(body, err)
	}
	if a.Output == nil || a.Output.Message == nil {
		return provider.Delta{}, provider.Complaint(body)
	}
	if a.Stop == "" {
		return provider.Delta{}, malformed(body, errors.New("no stopReason"))
	}
	var out provider.Delta
	for i, c := range a.Output.Message.Content {
		b, err := d.block(i)
		if err != nil {
			return provider.Delta{}, malformed(nil, err)
		}
		b.ended = true
		switch {
		case c.ToolUse != nil:
			b.begin(*c.ToolUse, d.own)
			b.args.Write(c.ToolUse.Input)
		case c.Reasoning != nil:
			b.kind = kindReasoning
			if t := c.Reasoning.Text; t != nil {
				b.text.WriteString(t.Text)
				b.signature.WriteString(t.Signature)
			}
			if err := b.hide(c.Reasoning.Redacted); err != nil {
				return provider.Delta{}, malformed(body, err)
			}
		case c.Text != "":
			b.kind = kindText
			b.text.WriteString(c.Text)
			out.Text += c.Text
		}
	}
	d.stop = a.Stop
	d.usage.read(a.Usage)
	return out, nil
}

// block makes the block of an index that has none.
func (d *Decoder) block(index int) (*building, error) {
	if len(d.blocks) == maxBlocks {
		return nil, fmt.Errorf("more than %d blocks", maxBlocks)
	}
	b := &building{}
	d.blocks = append(d.blocks, b)
	d.byIndex[index] = b
	return b, nil
}

func (d *Decoder) open(e event, data []byte) error {
	switch {
	case e.Index == nil:
		return malformed(data, errors.New("a block begins without its contentBlockIndex"))
	case d.byIndex[*e.Index] != nil:
		return malformed(data, fmt.Errorf("block %d begins twice", *e.Index))
	}
	b, err := d.block(*e.Index)
	if err != nil {
		return malformed(nil, err)
	}
	if e.Start != nil && e.Start.ToolUse != nil {
		b.begin(*e.Start.ToolUse, d.own)
	}
	return nil
}

// begin makes the block a call, under the tool's own name.
func (b *building) begin(c call, own map[string]string) {
	b.kind, b.call = kindCall, provider.Call{ID: c.ID, Name: c.Name}
	if name, ok := own[c.Name]; ok {
		b.call.Name = name
	}
}

// piece adds to a block. Only calls are announced by a contentBlockStart: the first
// piece of text or reasoning begins its block.
func (d *Decoder) piece(e event, data []byte) (provider.Delta, error) {
	if e.Index == nil || e.Delta == nil {
		return provider.Delta{}, malformed(data, errors.New("a piece without its contentBlockIndex and delta"))
	}
	b := d.byIndex[*e.Index]
	if b == nil {
		if e.Delta.ToolUse != nil {
			return provider.Delta{}, malformed(data, fmt.Errorf("a piece of call %d, which has not begun", *e.Index))
		}
		var err error
		if b, err = d.block(*e.Index); err != nil {
			return provider.Delta{}, malformed(nil, err)
		}
	}
	if b.ended {
		return provider.Delta{}, malformed(data, fmt.Errorf("a piece of block %d, which has ended", *e.Index))
	}
	kind := e.Delta.kind()
	switch {
	case kind == kindUnknown:
		return provider.Delta{}, nil
	case b.kind == kindUnknown:
		b.kind = kind
	case b.kind != kind:
		return provider.Delta{}, malformed(data, fmt.Errorf("block %d changes its kind", *e.Index))
	}
	return b.take(e.Delta, data)
}

func (d *delta) kind() blockKind {
	switch {
	case d.ToolUse != nil:
		return kindCall
	case d.Reasoning != nil:
		return kindReasoning
	case d.Text != "":
		return kindText
	default:
		return kindUnknown
	}
}

func (b *building) take(e *delta, data []byte) (provider.Delta, error) {
	switch b.kind {
	case kindCall:
		if b.call.Name == "" {
			return provider.Delta{}, malformed(data, errors.New("a piece of a call that has no name"))
		}
		var piece string
		if err := json.Unmarshal(e.ToolUse.Input, &piece); err != nil {
			return provider.Delta{}, malformed(data, fmt.Errorf("a piece of a call's input: %w", err))
		}
		b.args.WriteString(piece)
	case kindReasoning:
		b.text.WriteString(e.Reasoning.Text)
		b.signature.WriteString(e.Reasoning.Signature)
		if err := b.hide(e.Reasoning.Redacted); err != nil {
			return provider.Delta{}, malformed(data, err)
		}
	case kindText:
		b.text.WriteString(e.Text)
		return provider.Delta{Text: e.Text}, nil
	case kindUnknown: // piece passes them over
	}
	return provider.Delta{}, nil
}

// hide adds bytes of redacted reasoning.
func (b *building) hide(redacted string) error {
	more, err := base64.StdEncoding.DecodeString(redacted)
	if err != nil {
		return fmt.Errorf("redactedContent is no base64: %w", err)
	}
	b.redacted = append(b.redacted, more...)
	return nil
}

func malformed(data []byte, err error) *provider.Error {
	return provider.Malformed("Converse answer", data, err)
}

// isFault tells an exception's name, or an error frame's, from an event's.
func isFault(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "exception") || strings.HasPrefix(name, errorPrefix)
}

// complaint reads an exception inside the stream. Its name is the provider's code.
func complaint(name string, data []byte) *provider.Error {
	said := httpwire.ReadComplaint(data)
	e := provider.Complaint(data)
	e.Code, e.Words, e.Status = strings.TrimPrefix(name, errorPrefix), said.Words, http.StatusOK
	if kind, ok := exceptionKind(e.Code); ok {
		e.Kind = kind
	}
	return e
}

// exceptions are parts of the names of Bedrock's and AWS's common exceptions (API
// references of ConverseStream, "Errors", and "Common errors"). What is not here is
// read as any error inside a stream.
var exceptions = []struct {
	part string
	kind provider.Kind
}{
	{"validation", provider.KindRefused},
	{"resourcenotfound", provider.KindRefused},
	{"servicequotaexceeded", provider.KindRefused},
	{"accessdenied", provider.KindKey},
	{"unrecognizedclient", provider.KindKey},
	{"expiredtoken", provider.KindKey},
	{"invalidsignature", provider.KindKey},
	{"throttling", provider.KindBusy},
	{"internalserver", provider.KindBusy},
	{"serviceunavailable", provider.KindBusy},
	{"modelstreamerror", provider.KindBusy},
	{"modelerror", provider.KindBusy},
	{"modeltimeout", provider.KindBusy},
	{"modelnotready", provider.KindBusy},
}

func exceptionKind(name string) (provider.Kind, bool) {
	for _, row := range exceptions {
		if strings.Contains(strings.ToLower(name), row.part) {
			return row.kind, true
		}
	}
	return "", false
}
