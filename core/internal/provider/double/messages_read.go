package double

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// messagesWire is Anthropic's Messages API.
type messagesWire struct{}

func (messagesWire) name() string                { return WireAnthropic }
func (messagesWire) errorBody(r *refusal) string { return messagesError(r) }
func (messagesWire) keepAlive() string           { return "event: ping\ndata: {\"type\": \"ping\"}\n\n" }

func (messagesWire) badKey(string) *refusal {
	return &refusal{status: http.StatusUnauthorized, kind: "authentication_error", words: "invalid x-api-key"}
}

func (messagesWire) noModel(model string) *refusal {
	return &refusal{status: http.StatusNotFound, kind: "not_found_error", words: "model: " + model}
}

// blind: Anthropic's own models all see; these are the words of a text-only one
// behind this wire (Ollama's, claude-code#91112).
func (messagesWire) blind() *refusal { return invalid("this model does not support image input") }

type messagesBody struct {
	Model     string          `json:"model"`
	MaxTokens *int            `json:"max_tokens"`
	System    json.RawMessage `json:"system"`
	Messages  []messagesPost  `json:"messages"`
	Tools     []messagesTool  `json:"tools"`
	Stream    bool            `json:"stream"`
}

type messagesPost struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type messagesTool struct {
	Name        string `json:"name"`
	InputSchema struct {
		Type any `json:"type"`
	} `json:"input_schema"`
}

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

// messagesReader holds what is known while the messages are read in order.
type messagesReader struct {
	asked *asked
	first *refusal
	owed  []string          // ids of the last assistant's tool_use blocks without a result
	names map[string]string // their tools
}

// note keeps the first rule that was broken; the rest is read all the same.
func (r *messagesReader) note(no *refusal) {
	if r.first == nil {
		r.first = no
	}
}

func (messagesWire) read(req *http.Request, body []byte) (*asked, *refusal) {
	if req.Header.Get("Anthropic-Version") == "" {
		return nil, invalid("anthropic-version: header is required")
	}
	var b messagesBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, invalid("The request body is not valid JSON: " + err.Error())
	}
	if b.Model == "" {
		return nil, invalid("model: Field required")
	}
	r := &messagesReader{asked: &asked{stream: b.Stream, includeUsage: true}}
	r.asked.turn.Model = b.Model
	r.asked.turn.System = r.system(b.System)
	switch {
	case b.MaxTokens == nil:
		r.note(invalid("max_tokens: Field required"))
	case *b.MaxTokens < 1:
		r.note(invalid("max_tokens: Input should be greater than or equal to 1"))
	}
	if len(b.Messages) == 0 {
		r.note(invalid("messages: at least one message is required"))
	}
	r.tools(b.Tools)
	for i, m := range b.Messages {
		r.order(i, b.Messages)
		r.post(i, m)
	}
	r.answered(len(b.Messages))
	r.media()
	return r.asked, r.first
}

func (r *messagesReader) system(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	text, _ := r.blocks(raw, "system")
	var all []string
	for _, b := range text {
		if b.Type != "text" {
			r.note(invalid("system: Input should be a valid string or a list of text blocks"))
		}
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

// blocks reads content: a string is one block of text.
func (r *messagesReader) blocks(raw json.RawMessage, path string) (blocks []messagesBlock, ok bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []messagesBlock{{Type: "text", Text: text}}, true
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		r.note(invalid(path + ": Input should be a valid string or a list of content blocks"))
		return nil, false
	}
	return blocks, true
}

func (r *messagesReader) tools(tools []messagesTool) {
	for i, t := range tools {
		switch {
		case !toolName(t.Name, 128):
			r.note(invalid(fmt.Sprintf("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)))
		case slices.Contains(r.asked.turn.Tools, t.Name):
			r.note(invalid("tools: Tool names must be unique."))
		case t.InputSchema.Type == nil:
			r.note(invalid(fmt.Sprintf("tools.%d.custom.input_schema.type: Field required", i)))
		case t.InputSchema.Type != "object":
			r.note(invalid(fmt.Sprintf("tools.%d.custom.input_schema.type: Input should be 'object'", i)))
		}
		r.asked.turn.Tools = append(r.asked.turn.Tools, t.Name)
	}
}

// order: the person begins, and the two take turns. Today's service joins messages
// of one role; proxies and older versions refuse them, so the double does.
func (r *messagesReader) order(i int, all []messagesPost) {
	role := all[i].Role
	switch {
	case role != "user" && role != "assistant":
		r.note(invalid(fmt.Sprintf("messages.%d.role: Input should be 'user' or 'assistant'", i)))
	case i == 0 && role != "user":
		r.note(invalid("messages: first message must use the \"user\" role"))
	case i > 0 && all[i-1].Role == role:
		r.note(invalid(fmt.Sprintf("messages: roles must alternate between \"user\" and \"assistant\", but found multiple %q roles in a row", role)))
	}
}

func (r *messagesReader) post(i int, m messagesPost) {
	blocks, ok := r.blocks(m.Content, fmt.Sprintf("messages.%d.content", i))
	if ok && len(blocks) == 0 {
		r.note(invalid(fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)))
	}
	if m.Role == "assistant" {
		r.assistant(i, blocks)
		return
	}
	r.user(i, blocks)
	r.answered(i)
}

func (r *messagesReader) assistant(i int, blocks []messagesBlock) {
	entry := Entry{Role: "assistant"}
	r.names = map[string]string{}
	for j, b := range blocks {
		path := fmt.Sprintf("messages.%d.content.%d", i, j)
		switch b.Type {
		case "text":
			r.text(b.Text)
			entry.Text += b.Text
		case "thinking":
			if b.Signature != sign(b.Thinking) {
				r.note(invalid(path + ": Invalid `signature` in `thinking` block"))
			}
		case "redacted_thinking":
			if b.Data == "" {
				r.note(invalid(path + ".redacted_thinking.data: Field required"))
			}
		case "tool_use":
			if !toolName(b.ID, 256) {
				r.note(invalid(path + ".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"))
			}
			if in := strings.TrimSpace(string(b.Input)); !strings.HasPrefix(in, "{") {
				r.note(invalid(path + ".tool_use.input: Input should be a valid dictionary"))
			}
			if _, twice := r.names[b.ID]; twice {
				r.note(invalid("messages: `tool_use` ids must be unique"))
			}
			r.owed = append(r.owed, b.ID)
			r.names[b.ID] = b.Name
			entry.Calls = append(entry.Calls, MadeCall{ID: b.ID, Name: b.Name, Args: string(b.Input)})
		default:
			r.tag(path, b.Type)
		}
	}
	r.asked.turn.Entries = append(r.asked.turn.Entries, entry)
}

func (r *messagesReader) tag(path, tag string) {
	r.note(invalid(fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'image', 'text', 'thinking', 'tool_result', 'tool_use'", path, tag)))
}

func (r *messagesReader) text(text string) {
	if strings.TrimSpace(text) == "" {
		r.note(invalid("messages: text content blocks must contain non-whitespace text"))
	}
}

func (r *messagesReader) user(i int, blocks []messagesBlock) {
	entry := Entry{Role: "user"}
	said := false
	for j, b := range blocks {
		path, place := fmt.Sprintf("messages.%d.content.%d", i, j), fmt.Sprintf("messages[%d].content[%d]", i, j)
		switch b.Type {
		case "text":
			r.text(b.Text)
			entry.Text, said = strings.TrimLeft(entry.Text+"\n"+b.Text, "\n"), true
		case "image":
			entry.Pictures, said = append(entry.Pictures, r.picture(path+".image", place, b)), true
		case "tool_result":
			r.result(path, place, b, said)
		default:
			r.tag(path, b.Type)
		}
	}
	if said {
		r.asked.turn.Entries = append(r.asked.turn.Entries, entry)
	}
}

// result: tool_result blocks come first in the message, before its text
// (Anthropic's documentation, "Implement tool use"; the refusal is the one for a
// result that is missing).
func (r *messagesReader) result(path, place string, b messagesBlock, late bool) {
	at := slices.Index(r.owed, b.ToolUseID)
	switch {
	case at < 0:
		// claude-code#13460.
		r.note(invalid(fmt.Sprintf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", path, b.ToolUseID)))
		return
	case late:
		r.answered(-1)
		return
	}
	r.owed = slices.Delete(r.owed, at, at+1)
	entry := Entry{Role: "tool", ResultOf: r.names[b.ToolUseID], ResultID: b.ToolUseID, IsError: b.IsError}
	if len(b.Content) > 0 {
		inner, _ := r.blocks(b.Content, path+".tool_result.content")
		for k, c := range inner {
			switch c.Type {
			case "text":
				r.text(c.Text)
				entry.Text = strings.TrimLeft(entry.Text+"\n"+c.Text, "\n")
			case "image":
				entry.Pictures = append(entry.Pictures, r.picture(
					fmt.Sprintf("%s.tool_result.content.%d.image", path, k), fmt.Sprintf("%s.content[%d]", place, k), c))
			default:
				r.tag(fmt.Sprintf("%s.tool_result.content.%d", path, k), c.Type)
			}
		}
	}
	r.asked.turn.Entries = append(r.asked.turn.Entries, entry)
}

// answered: every tool_use has its result in the very next message (claude-code#7929).
func (r *messagesReader) answered(i int) {
	if len(r.owed) > 0 {
		r.note(invalid(fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
			max(i-1, 0), strings.Join(r.owed, ", "))))
	}
	r.owed = nil
}

func (r *messagesReader) picture(path, place string, b messagesBlock) Picture {
	path += ".source." + b.Source.Type
	data, err := base64.StdEncoding.DecodeString(b.Source.Data)
	pic, is, whole := look(place, b.Source.MediaType, data)
	r.asked.base64 += len(b.Source.Data)
	r.asked.turn.Pictures = append(r.asked.turn.Pictures, pic)
	switch {
	case b.Source.Type != "base64":
		r.note(invalid(path + ": only base64 is played by this double"))
	case !slices.Contains(mediaTypes, b.Source.MediaType): // opencode#17772
		r.note(invalid(path + ".media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"))
	case err != nil:
		r.note(invalid(path + ".data: Input should be valid base64"))
	case len(b.Source.Data) > maxBase64: // claude-code#8202
		r.note(invalid(fmt.Sprintf("%s: image exceeds 5 MB maximum: %d bytes > %d bytes", path, len(b.Source.Data), maxBase64)))
	case is != "" && is != b.Source.MediaType: // llxprt-code#2130
		r.note(invalid(fmt.Sprintf("%s: The image was specified using the %s media type, but the image appears to be a %s image", path, b.Source.MediaType, is)))
	case is == "", !whole: // claude-code#46127
		r.note(invalid("Could not process image"))
	case max(pic.Width, pic.Height) > maxEdge: // claude-code#27090
		r.note(invalid(path + ".data: At least one of the image dimensions exceed max allowed size: 8000 pixels"))
	}
	return pic
}

// media holds the pictures together against the limits of a request.
func (r *messagesReader) media() {
	all := r.asked.turn.Pictures
	if len(all) > maxPictures {
		r.note(invalid(fmt.Sprintf("Too much media: 0 document pages + %d images > %d", len(all), maxPictures)))
	}
	if len(all) <= manyPictures {
		return
	}
	for _, p := range all {
		if max(p.Width, p.Height) > maxEdgeMany { // claude-code#52220
			r.note(invalid(p.Place + ": At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"))
		}
	}
}
