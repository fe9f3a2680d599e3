// Package anthropic is Anthropic's Messages API as JSON, both ways. A tool's
// pictures go inside the tool_result block that they belong to, after its text, or
// where that is asked for after all results in the same message. It opens no connection.
package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// ErrTranscript says that a transcript breaks its own rules: a part of the wrong kind.
var ErrTranscript = errors.New("the transcript cannot be sent")

type request struct {
	Model     string     `json:"model"`
	MaxTokens int        `json:"max_tokens"`
	System    []*block   `json:"system,omitempty"`
	Messages  []message  `json:"messages"`
	Tools     []toolSpec `json:"tools,omitempty"`
	Stream    bool       `json:"stream"`
}

type message struct {
	Role    string   `json:"role"`
	Content []*block `json:"content"`
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   []*block        `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"` // may be empty beside a signature
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	Cache     *cacheControl   `json:"cache_control,omitempty"`

	picture *provider.Picture
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// Encode makes the body of a streaming request, and a receipt for every picture
// in it; they count only after the provider has taken the request. Errors are
// ErrTranscript and provider.ErrPicture.
func Encode(r provider.Request) ([]byte, []provider.Receipt, error) {
	out := request{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true}
	if out.MaxTokens <= 0 {
		out.MaxTokens = defaultMaxTokens
	}
	var owed []provider.Shown // pictures of the run of results that has not ended
	for i, m := range r.Messages {
		if m.Role != provider.RoleTool {
			out.after(&owed)
		} else if r.Placement == provider.PlaceAfter {
			m = withhold(m, &owed)
		}
		role, blocks, err := encodeMessage(m)
		if err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
		out.add(role, blocks)
	}
	out.after(&owed)
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, toolSpec{t.Name, t.Description, t.Schema})
	}
	if strings.TrimSpace(r.System) != "" {
		out.System = []*block{{Type: "text", Text: r.System}}
	}
	out.cache()
	receipts, err := receipts(out.Messages)
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

// withhold gives the message of results without their pictures, which are owed then.
func withhold(m provider.Message, owed *[]provider.Shown) provider.Message {
	parts := slices.Clone(m.Parts)
	for i, p := range parts {
		if p.Result == nil || len(p.Result.Pictures) == 0 {
			continue
		}
		bare := *p.Result
		if strings.TrimSpace(bare.Text) == "" {
			bare.Text = bare.Words()
		}
		for j := range bare.Pictures {
			*owed = append(*owed, provider.Shown{Tool: bare.Name, Picture: &bare.Pictures[j]})
		}
		bare.Pictures = nil
		parts[i].Result = &bare
	}
	m.Parts = parts
	return m
}

// after puts the owed pictures behind the results, in the same message: results come
// first in it, text after them ("tool_result blocks must come first", Anthropic's
// documentation, "Handling tool calls").
func (r *request) after(owed *[]provider.Shown) {
	if len(*owed) == 0 {
		return
	}
	blocks := []*block{textBlock(provider.Introduce(*owed))}
	for _, o := range *owed {
		blocks = append(blocks, show(o.Picture))
	}
	*owed = nil
	r.add("user", blocks)
}

// add appends blocks to the last message when it has the same role: the wire
// wants user and assistant to take turns.
func (r *request) add(role string, blocks []*block) {
	if len(blocks) == 0 {
		return // "all messages must have non-empty content"
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, blocks...)
		return
	}
	r.Messages = append(r.Messages, message{Role: role, Content: blocks})
}

// cache marks the end of what stays the same (tools and system) and of what the
// next request will repeat (everything), so that an agent's rounds are read from
// the cache (Anthropic's documentation, "Prompt caching").
func (r *request) cache() {
	ephemeral := &cacheControl{Type: "ephemeral"}
	if n := len(r.System); n > 0 {
		r.System[n-1].Cache = ephemeral
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == "user" {
		content := r.Messages[n-1].Content
		content[len(content)-1].Cache = ephemeral
	}
}

// receipts walks the finished messages, so that a place is where the picture is.
func receipts(messages []message) ([]provider.Receipt, error) {
	var all []provider.Receipt
	var walk func(path string, blocks []*block) error
	walk = func(path string, blocks []*block) error {
		for i, b := range blocks {
			place := fmt.Sprintf("%s.content[%d]", path, i)
			if b.picture != nil {
				r, err := b.picture.Receipt(place)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			if err := walk(place, b.Content); err != nil {
				return err
			}
		}
		return nil
	}
	for i, m := range messages {
		if err := walk(fmt.Sprintf("messages[%d]", i), m.Content); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func encodeMessage(m provider.Message) (role string, blocks []*block, err error) {
	one := map[provider.Role]func(provider.Part) (*block, error){
		provider.RoleUser: userBlock, provider.RoleAssistant: assistantBlock, provider.RoleTool: resultBlock,
	}[m.Role]
	if one == nil {
		return "", nil, fmt.Errorf("%w: role %q", ErrTranscript, m.Role)
	}
	for _, p := range m.Parts {
		b, err := one(p)
		if err != nil {
			return "", nil, err
		}
		if b != nil {
			blocks = append(blocks, b)
		}
	}
	if m.Role == provider.RoleAssistant {
		return "assistant", blocks, nil
	}
	return "user", blocks, nil
}

func userBlock(p provider.Part) (*block, error) {
	switch {
	case p.Kind == provider.PartText:
		return textBlock(p.Text), nil
	case p.Kind == provider.PartPicture && p.Picture != nil:
		return show(p.Picture), nil
	default:
		return nil, wrongPart(p, provider.RoleUser)
	}
}

func assistantBlock(p provider.Part) (*block, error) {
	switch {
	case p.Kind == provider.PartText:
		return textBlock(p.Text), nil
	case p.Kind == provider.PartReasoning:
		return reasoningBlock(p), nil
	case p.Kind == provider.PartCall && p.Call != nil:
		input := p.Call.Args
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		return &block{Type: "tool_use", ID: wireID(p.Call.ID), Name: p.Call.Name, Input: input}, nil
	default:
		return nil, wrongPart(p, provider.RoleAssistant)
	}
}

// reasoningBlock gives thinking back with its signature. Reasoning without one, or with
// another wire's (their marks have a colon, which base64 has not), is left out: this
// wire would refuse it.
func reasoningBlock(p provider.Part) *block {
	if data, ok := strings.CutPrefix(p.Signature, redactedMark); ok {
		return &block{Type: "redacted_thinking", Data: data}
	}
	if p.Signature == "" || strings.Contains(p.Signature, ":") {
		return nil
	}
	return &block{Type: "thinking", Thinking: &p.Text, Signature: p.Signature}
}

func resultBlock(p provider.Part) (*block, error) {
	if p.Kind != provider.PartResult || p.Result == nil {
		return nil, wrongPart(p, provider.RoleTool)
	}
	b := &block{Type: "tool_result", ToolUseID: wireID(p.Result.ID), IsError: p.Result.IsError}
	if t := textBlock(p.Result.Text); t != nil {
		b.Content = append(b.Content, t)
	}
	for i := range p.Result.Pictures {
		b.Content = append(b.Content, show(&p.Result.Pictures[i]))
	}
	if b.IsError && len(b.Content) == 0 {
		b.Content = []*block{textBlock("the tool failed without words")} // an error must say something
	}
	return b, nil
}

// textBlock gives nil for blank text: "text content blocks must contain non-whitespace text".
func textBlock(text string) *block {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &block{Type: "text", Text: text}
}

func show(p *provider.Picture) *block {
	return &block{Type: "image", picture: p, Source: &source{
		Type: "base64", MediaType: p.MediaType, Data: base64.StdEncoding.EncodeToString(p.Bytes),
	}}
}

// wireID gives the id of a call as the wire takes it (^[a-zA-Z0-9_-]+$): the same
// for a call and its result. Other providers' ids hold dots and colons.
func wireID(id string) string {
	plain := !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	if id != "" && len(id) <= maxID && plain {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

func wrongPart(p provider.Part, role provider.Role) error {
	return fmt.Errorf("%w: a part of kind %q in a message of role %q", ErrTranscript, p.Kind, role)
}
