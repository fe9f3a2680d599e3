// Package responses is OpenAI's Responses API as JSON, both ways. A tool's
// pictures go inside its function_call_output. It opens no connection.
package responses

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// ErrTranscript says that a transcript breaks its own rules: a part of the wrong kind.
var ErrTranscript = errors.New("the transcript cannot be sent")

type request struct {
	Model           string     `json:"model"`
	Instructions    string     `json:"instructions,omitempty"`
	Input           []item     `json:"input"`
	Tools           []toolSpec `json:"tools,omitempty"`
	Stream          bool       `json:"stream"`
	Store           bool       `json:"store"`
	Include         []string   `json:"include"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string     `json:"prompt_cache_key,omitempty"`
}

// item is one of the input: a message, a call, a call's output, or reasoning.
type item struct {
	Type      string  `json:"type"`
	Role      string  `json:"role,omitempty"`
	Content   []part  `json:"content,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Output    any     `json:"output,omitempty"` // string or []part
	ID        string  `json:"id,omitempty"`
	Summary   *[]part `json:"summary,omitempty"`
	Encrypted string  `json:"encrypted_content,omitempty"`
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`

	picture *provider.Picture
}

type toolSpec struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// Placements are the places for a tool's pictures: inside its output, where the API takes a
// list of input_text and input_image (OpenAI's API reference, "Function tool call output"),
// or in a message after it, for servers that take plain text only there.
func Placements(string) []provider.Placement {
	return []provider.Placement{provider.PlaceInside, provider.PlaceAfter}
}

// Encode makes the body of a streaming request that leaves nothing with the provider
// (store is false, so that reasoning comes encrypted and goes back as it came), and a
// receipt for every picture in it. Errors are ErrTranscript and provider.ErrPicture.
func Encode(r provider.Request) ([]byte, []provider.Receipt, error) {
	e := encoder{after: r.Placement == provider.PlaceAfter || r.Placement == provider.PlaceBridged}
	for i, m := range r.Messages {
		if err := e.message(m); err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	e.flush()
	out := request{
		Model: r.Model, Instructions: r.System, Input: e.items, Stream: true, Include: []string{"reasoning.encrypted_content"},
		MaxOutputTokens: r.MaxTokens, PromptCacheKey: r.CacheKey,
	}
	if out.Input == nil {
		out.Input = []item{}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, toolSpec{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	receipts, err := receipts(out.Input)
	if err != nil {
		return nil, nil, err
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // code is full of < and &; escaping only makes the request longer
	if err := enc.Encode(out); err != nil {
		return nil, nil, fmt.Errorf("encode the request: %w", err)
	}
	return bytes.TrimRight(body.Bytes(), "\n"), receipts, nil
}

// receipts walks the finished items, so that a place is where the picture is.
func receipts(items []item) ([]provider.Receipt, error) {
	var all []provider.Receipt
	walk := func(path string, parts []part) error {
		for j, p := range parts {
			if p.picture == nil {
				continue
			}
			r, err := p.picture.Receipt(fmt.Sprintf("%s[%d]", path, j))
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	}
	for i, it := range items {
		if err := walk(fmt.Sprintf("input[%d].content", i), it.Content); err != nil {
			return nil, err
		}
		if parts, ok := it.Output.([]part); ok {
			if err := walk(fmt.Sprintf("input[%d].output", i), parts); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

type encoder struct {
	after bool
	items []item
	owed  []provider.Shown // pictures of the run of outputs that has not ended
}

func (e *encoder) message(m provider.Message) error {
	if m.Role != provider.RoleTool {
		e.flush()
	}
	switch m.Role {
	case provider.RoleUser:
		return e.user(m.Parts)
	case provider.RoleAssistant:
		return e.assistant(m.Parts)
	case provider.RoleTool:
		return e.results(m.Parts)
	default:
		return fmt.Errorf("%w: role %q", ErrTranscript, m.Role)
	}
}

func (e *encoder) user(parts []provider.Part) error {
	var out []part
	for _, p := range parts {
		switch {
		case p.Kind == provider.PartText:
			out = append(out, part{Type: "input_text", Text: p.Text})
		case p.Kind == provider.PartPicture && p.Picture != nil:
			out = append(out, show(p.Picture))
		default:
			return wrongPart(p, provider.RoleUser)
		}
	}
	out = said(out)
	if len(out) > 0 {
		e.items = append(e.items, item{Type: "message", Role: "user", Content: out})
	}
	return nil
}

// said leaves out empty texts, which the API refuses, unless nothing else is there.
func said(parts []part) []part {
	var out []part
	for _, p := range parts {
		if p.picture != nil || p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

func (e *encoder) assistant(parts []provider.Part) error {
	for _, p := range parts {
		switch {
		case p.Kind == provider.PartText:
			if p.Text != "" {
				e.items = append(e.items, item{Type: "message", Role: "assistant", Content: []part{{Type: "output_text", Text: p.Text}}})
			}
		case p.Kind == provider.PartReasoning:
			if it, ok := reasoning(p); ok {
				e.items = append(e.items, it)
			}
		case p.Kind == provider.PartCall && p.Call != nil:
			args := string(p.Call.Args)
			if args == "" {
				args = "{}"
			}
			e.items = append(e.items, item{Type: "function_call", CallID: wireID(p.Call.ID), Name: p.Call.Name, Arguments: &args})
		default:
			return wrongPart(p, provider.RoleAssistant)
		}
	}
	return nil
}

// kept is what the Signature of this wire's reasoning holds.
type kept struct {
	ID        string `json:"id"`
	Encrypted string `json:"encrypted"`
}

// reasoning gives an item back as it came. Reasoning of another wire is left out, and so
// is one without its encrypted content: the provider has kept nothing that its id could name.
func reasoning(p provider.Part) (item, bool) {
	text, ok := strings.CutPrefix(p.Signature, mark)
	var k kept
	if !ok || json.Unmarshal([]byte(text), &k) != nil || k.Encrypted == "" {
		return item{}, false
	}
	summary := []part{}
	if p.Text != "" {
		summary = append(summary, part{Type: "summary_text", Text: p.Text})
	}
	return item{Type: "reasoning", ID: k.ID, Summary: &summary, Encrypted: k.Encrypted}, true
}

func (e *encoder) results(parts []provider.Part) error {
	for _, p := range parts {
		if p.Kind != provider.PartResult || p.Result == nil {
			return wrongPart(p, provider.RoleTool)
		}
		out := item{Type: "function_call_output", CallID: wireID(p.Result.ID), Output: p.Result.Words()}
		if len(p.Result.Pictures) > 0 && !e.after {
			list := []part{{Type: "input_text", Text: p.Result.Words()}}
			if p.Result.Text == "" {
				list = nil
			}
			for i := range p.Result.Pictures {
				list = append(list, show(&p.Result.Pictures[i]))
			}
			out.Output = list
		}
		if e.after {
			for i := range p.Result.Pictures {
				e.owed = append(e.owed, provider.Shown{Tool: p.Result.Name, Picture: &p.Result.Pictures[i]})
			}
		}
		e.items = append(e.items, out)
	}
	return nil
}

// flush puts the pictures that wait behind the outputs.
func (e *encoder) flush() {
	if len(e.owed) == 0 {
		return
	}
	content := []part{{Type: "input_text", Text: provider.Introduce(e.owed)}}
	for _, s := range e.owed {
		content = append(content, show(s.Picture))
	}
	e.items, e.owed = append(e.items, item{Type: "message", Role: "user", Content: content}), nil
}

func show(p *provider.Picture) part {
	return part{
		Type: "input_image", picture: p, Detail: "auto",
		ImageURL: "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Bytes),
	}
}

// wireID gives the id of a call as the wire takes it: the same for a call and its output.
func wireID(id string) string {
	if id != "" && len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

func wrongPart(p provider.Part, role provider.Role) error {
	return fmt.Errorf("%w: a part of kind %q in a message of role %q", ErrTranscript, p.Kind, role)
}
