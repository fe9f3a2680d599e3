// Package chat is OpenAI's chat completions as JSON, both ways, with the dialects
// of those who speak it. A tool's pictures go where the wire takes them: in one
// user message after the tools' messages, behind a blank assistant's where the
// model's template wants turns. It opens no connection.
package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
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
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Tools               []toolSpec     `json:"tools,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	CacheControl        *cacheControl  `json:"cache_control,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role             string          `json:"role"`
	Content          any             `json:"content"` // string, []part, or nil beside calls
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []call          `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`

	picture *provider.Picture
}

type imageURL struct {
	URL string `json:"url"`
}

type call struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function callFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type toolSpec struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Encode makes the body of a streaming request, and a receipt for every picture
// in it; they count only after the provider has taken the request. Errors are
// ErrTranscript and provider.ErrPicture.
func Encode(r provider.Request, d Dialect) ([]byte, []provider.Receipt, error) {
	e := encoder{dialect: d, model: r.Model, bridge: d.Bridge}
	if r.Placement == provider.PlaceAfter || r.Placement == provider.PlaceBridged {
		e.bridge = r.Placement == provider.PlaceBridged
	}
	if r.System != "" {
		e.add(message{Role: "system", Content: r.System})
	}
	for i, m := range r.Messages {
		if err := e.message(m); err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	e.flush()
	out := request{Model: r.Model, Messages: e.messages, Stream: true}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, toolSpec{Type: "function", Function: toolFunction{t.Name, t.Description, t.Schema}})
	}
	if !d.NoUsageOption {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if d.CompletionTokens {
		out.MaxCompletionTokens = r.MaxTokens
	} else {
		out.MaxTokens = r.MaxTokens
	}
	out.cache(r, d)
	receipts, err := receipts(e.messages)
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

// cache says what the dialect wants to know for its cache of prompts.
func (out *request) cache(r provider.Request, d Dialect) {
	if d.CacheKey && r.CacheKey != "" {
		out.PromptCacheKey = cacheKey(r.CacheKey)
	}
	if slices.ContainsFunc(d.CachedMakers, func(maker string) bool { return strings.HasPrefix(r.Model, maker) }) {
		out.CacheControl = &cacheControl{Type: "ephemeral"}
	}
}

// receipts walks the finished messages, so that a place is where the picture is.
func receipts(messages []message) ([]provider.Receipt, error) {
	var all []provider.Receipt
	for i, m := range messages {
		parts, _ := m.Content.([]part)
		for j, p := range parts {
			if p.picture == nil {
				continue
			}
			r, err := p.picture.Receipt(fmt.Sprintf("messages[%d].content[%d]", i, j))
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
	model    string
	bridge   bool
	messages []message
	owed     []provider.Shown // pictures of the run of tool messages that has not ended
}

func (e *encoder) add(m message) {
	if n := len(e.messages); e.bridge && m.Role == "user" && n > 0 && e.messages[n-1].Role == "tool" {
		// A space, since an empty string is taken for no message: pipecat-flows#180.
		e.messages = append(e.messages, message{Role: "assistant", Content: " "})
	}
	e.messages = append(e.messages, m)
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
	var texts []string
	pictures := false
	for _, p := range parts {
		switch {
		case p.Kind == provider.PartText:
			texts = append(texts, p.Text)
			out = append(out, part{Type: "text", Text: p.Text})
		case p.Kind == provider.PartPicture && p.Picture != nil:
			pictures = true
			out = append(out, show(p.Picture))
		default:
			return wrongPart(p, provider.RoleUser)
		}
	}
	switch {
	case pictures:
		e.add(message{Role: "user", Content: out})
	case len(texts) > 0:
		// A string, not parts: some text-only servers take nothing else.
		e.add(message{Role: "user", Content: strings.Join(texts, "\n\n")})
	}
	return nil
}

func (e *encoder) assistant(parts []provider.Part) error {
	m := message{Role: "assistant"}
	var text, reasoning strings.Builder
	for _, p := range parts {
		switch {
		case p.Kind == provider.PartText:
			text.WriteString(p.Text)
		case p.Kind == provider.PartReasoning:
			if ours(p) {
				reasoning.WriteString(p.Text)
			}
			if list, ok := unseal(detailsMark, e.model, p.Signature); ok && e.dialect.Thoughts == ThoughtsDetails {
				m.ReasoningDetails = list // an answer has one such part
			}
		case p.Kind == provider.PartCall && p.Call != nil:
			m.ToolCalls = append(m.ToolCalls, e.call(p))
		default:
			return wrongPart(p, provider.RoleAssistant)
		}
	}
	if text.Len() > 0 {
		m.Content = text.String()
	}
	if m.Content == nil && m.ToolCalls == nil {
		return nil // an answer of nothing; OpenAI refuses a message of nothing
	}
	if e.dialect.Thoughts == ThoughtsSome || e.dialect.Thoughts == ThoughtsAlways {
		m.ReasoningContent = reasoning.String()
	}
	if e.dialect.Thoughts == ThoughtsAlways && m.ReasoningContent == "" {
		m.ReasoningContent = " " // Kimi refuses both "" and the field's absence: crush#2696
	}
	e.add(m)
	return nil
}

func (e *encoder) call(p provider.Part) call {
	c := call{ID: e.id(p.Call.ID), Type: "function", Function: callFunction{Name: p.Call.Name, Arguments: arguments(p.Call.Args)}}
	if extra, ok := unseal(extraMark, e.model, p.Signature); ok && e.dialect.CallProofs {
		c.Extra = extra
	}
	return c
}

func (e *encoder) results(parts []provider.Part) error {
	for _, p := range parts {
		if p.Kind != provider.PartResult || p.Result == nil {
			return wrongPart(p, provider.RoleTool)
		}
		r := p.Result
		e.add(message{Role: "tool", ToolCallID: e.id(r.ID), Content: r.Words()})
		for i := range r.Pictures {
			e.owed = append(e.owed, provider.Shown{Tool: r.Name, Picture: &r.Pictures[i]})
		}
	}
	return nil
}

// flush ends a run of tool messages: their pictures follow in one user message,
// since "Image URLs are only allowed for messages with role 'user'" (OpenAI's
// words, OpenHands#7700). Its words say whose the pictures are; it is tool output
// and no turn of the person's.
func (e *encoder) flush() {
	if len(e.owed) == 0 {
		return
	}
	parts := []part{{Type: "text", Text: provider.Introduce(e.owed)}}
	for _, o := range e.owed {
		parts = append(parts, show(o.Picture))
	}
	e.owed = nil
	e.add(message{Role: "user", Content: parts})
}

func show(p *provider.Picture) part {
	data := "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Bytes)
	return part{Type: "image_url", ImageURL: &imageURL{URL: data}, picture: p}
}

func arguments(args json.RawMessage) string {
	if len(args) == 0 {
		return "{}"
	}
	return string(args)
}

// id gives the id of a call as this dialect takes it: the same for a call and its result.
func (e *encoder) id(id string) string {
	limit := maxID
	fits := len(id) <= maxID
	if e.dialect.ShortIDs {
		limit, fits = shortID, len(id) == shortID && !strings.ContainsFunc(id, notAlphanumeric)
	}
	if fits {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	out := make([]byte, min(limit, len(sum)))
	for i := range out {
		out[i] = alphanumeric[int(sum[i])%len(alphanumeric)]
	}
	return string(out)
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func notAlphanumeric(r rune) bool { return !strings.ContainsRune(alphanumeric, r) }

func wrongPart(p provider.Part, role provider.Role) error {
	return fmt.Errorf("%w: a part of kind %q in a message of role %q", ErrTranscript, p.Kind, role)
}
