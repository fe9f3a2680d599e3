// Package ollama is Ollama's /api/chat as JSON lines, both ways. A tool's pictures go
// into a user's message after the results. A prompt that does not fit the model's
// context is refused by the server instead of being cut silently. It opens no connection.
package ollama

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// ErrTranscript says that a transcript breaks its own rules: a part of the wrong kind.
var ErrTranscript = errors.New("the transcript cannot be sent")

// Dialect is how the servers that speak this wire differ.
type Dialect struct {
	// NoThinking leaves earlier thinking out: ollama.com refuses a history that has the
	// field with 400 (oh-my-pi#1000), while Ollama on a machine wants it back ("Tool
	// calling" of its documentation, the agent loop).
	NoThinking bool
	// Most bounds the context that is asked for, in tokens: what the model has, or what
	// the person lets it have; 0: not said.
	Most int
}

type request struct {
	Model    string     `json:"model"`
	Messages []message  `json:"messages"`
	Tools    []toolSpec `json:"tools,omitempty"`
	Stream   bool       `json:"stream"`
	// Truncate and Shift are true when left out: then what does not fit is dropped from
	// the front (system prompt, tools and task first) and the answer is a plain 200
	// (ollama#3839, #4967, #8531). With false it is a 400 that says so. Both are fields of
	// ChatRequest since 0.12.6; older servers pass them over.
	Truncate bool    `json:"truncate"`
	Shift    bool    `json:"shift"`
	Options  options `json:"options"`
}

type options struct {
	NumCtx     int `json:"num_ctx"`
	NumPredict int `json:"num_predict,omitempty"`
}

type message struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Thinking   string   `json:"thinking,omitempty"`
	Images     []string `json:"images,omitempty"` // base64 alone, no data URL (dify#8170)
	ToolCalls  []call   `json:"tool_calls,omitempty"`
	ToolName   string   `json:"tool_name,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`

	pictures []*provider.Picture // of Images, in their order
}

type call struct {
	ID       string       `json:"id,omitempty"`
	Function callFunction `json:"function"`
}

type callFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type toolSpec struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Encode makes the body of a streaming request, and a receipt for every picture
// in it; they count only after the server has taken the request. Errors are
// ErrTranscript and provider.ErrPicture.
//
// The request says how large a context it needs (num_ctx): the model is loaded with
// it, whatever the server's default is, which may be 4,096 tokens. What the context
// cannot hold is refused by the server.
func Encode(r provider.Request, d Dialect) ([]byte, []provider.Receipt, error) {
	e := encoder{dialect: d}
	if r.System != "" {
		e.messages = append(e.messages, message{Role: "system", Content: r.System})
	}
	for i, m := range r.Messages {
		if err := e.message(m); err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	e.flush()
	receipts, err := receipts(e.messages)
	if err != nil {
		return nil, nil, err
	}
	out := request{Model: r.Model, Messages: e.messages, Stream: true, Options: options{NumPredict: r.MaxTokens}}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, toolSpec{Type: "function", Function: toolFunction{t.Name, t.Description, t.Schema}})
	}
	out.Options.NumCtx = context(out)
	if d.Most > 0 {
		out.Options.NumCtx = min(out.Options.NumCtx, d.Most)
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // code is full of < and &; escaping only makes the request longer
	if err := enc.Encode(out); err != nil {
		return nil, nil, fmt.Errorf("encode the request: %w", err)
	}
	return bytes.TrimRight(body.Bytes(), "\n"), receipts, nil
}

// context is the num_ctx of a request: doubled from leastContext until prompt and
// answer fit, by an estimate on the high side. It grows in steps, so that the rounds of
// a task seldom change it.
func context(r request) int {
	letters, pictures := 0, 0
	for _, m := range r.Messages {
		letters += len(m.Content) + len(m.Thinking) + len(m.ToolName)
		for _, c := range m.ToolCalls {
			letters += len(c.Function.Name) + len(c.Function.Arguments)
		}
		for _, p := range m.pictures {
			pictures += pictureTokens + max(0, p.Width)*max(0, p.Height)/pixelsPerToken
		}
	}
	for _, t := range r.Tools {
		letters += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	answer := answerTokens
	if n := r.Options.NumPredict; n > 0 {
		answer = min(n, answer)
	}
	need, size := letters/bytesPerToken+pictures+answer, leastContext
	for size < need && size < mostContext {
		size *= 2
	}
	return size
}

// receipts walks the finished messages, so that a place is where the picture is.
func receipts(messages []message) ([]provider.Receipt, error) {
	var all []provider.Receipt
	for i, m := range messages {
		for j, p := range m.pictures {
			r, err := p.Receipt(fmt.Sprintf("messages[%d].images[%d]", i, j))
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

type encoder struct {
	dialect  Dialect
	messages []message
	owed     []provider.Shown // pictures of the run of tool messages that has not ended
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
	m := message{Role: "user"}
	var texts []string
	for _, p := range parts {
		switch {
		case p.Kind == provider.PartText:
			texts = append(texts, p.Text)
		case p.Kind == provider.PartPicture && p.Picture != nil:
			m.show(p.Picture)
		default:
			return wrongPart(p, provider.RoleUser)
		}
	}
	if m.Content = strings.Join(texts, "\n"); m.Content != "" || m.Images != nil {
		e.messages = append(e.messages, m)
	}
	return nil
}

func (e *encoder) assistant(parts []provider.Part) error {
	m := message{Role: "assistant"}
	for _, p := range parts {
		switch {
		case p.Kind == provider.PartText:
			m.Content += p.Text
		case p.Kind == provider.PartReasoning:
			if p.Signature == "" && !e.dialect.NoThinking { // a signed one belongs to another wire
				m.Thinking += p.Text
			}
		case p.Kind == provider.PartCall && p.Call != nil:
			args := p.Call.Args
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			m.ToolCalls = append(m.ToolCalls, call{ID: p.Call.ID, Function: callFunction{len(m.ToolCalls), p.Call.Name, args}})
		default:
			return wrongPart(p, provider.RoleAssistant)
		}
	}
	if m.Content != "" || m.ToolCalls != nil {
		e.messages = append(e.messages, m)
	}
	return nil
}

func (e *encoder) results(parts []provider.Part) error {
	for _, p := range parts {
		if p.Kind != provider.PartResult || p.Result == nil {
			return wrongPart(p, provider.RoleTool)
		}
		r := p.Result
		e.messages = append(e.messages, message{Role: "tool", Content: r.Words(), ToolName: r.Name, ToolCallID: r.ID})
		for i := range r.Pictures {
			e.owed = append(e.owed, provider.Shown{Tool: r.Name, Picture: &r.Pictures[i]})
		}
	}
	return nil
}

// flush ends a run of tool messages: their pictures follow in one user message. The
// templates of most models leave a tool message's images out.
func (e *encoder) flush() {
	if len(e.owed) == 0 {
		return
	}
	m := message{Role: "user", Content: provider.Introduce(e.owed)}
	for _, o := range e.owed {
		m.show(o.Picture)
	}
	e.owed = nil
	e.messages = append(e.messages, m)
}

func (m *message) show(p *provider.Picture) {
	m.Images = append(m.Images, base64.StdEncoding.EncodeToString(p.Bytes))
	m.pictures = append(m.pictures, p)
}

func wrongPart(p provider.Part, role provider.Role) error {
	return fmt.Errorf("%w: a part of kind %q in a message of role %q", ErrTranscript, p.Kind, role)
}
