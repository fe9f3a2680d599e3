package double

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// WireResponses is OpenAI's Responses API: POST /v1/responses.
const WireResponses = "responses"

// responsesWire is OpenAI's Responses API.
type responsesWire struct{}

func (responsesWire) name() string                  { return WireResponses }
func (responsesWire) errorBody(r *refusal) string   { return chatError(r) }
func (responsesWire) keepAlive() string             { return ": keep-alive\n\n" }
func (responsesWire) badKey(key string) *refusal    { return chatWire{}.badKey(key) }
func (responsesWire) noModel(model string) *refusal { return chatWire{}.noModel(model) }

// blind: as OpenAI's other API says it (web-ui#274).
func (responsesWire) blind() *refusal {
	return invalid("Invalid content type. image_url is only supported by certain models.")
}

type responsesBody struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        []struct {
		Type       string `json:"type"`
		Name       string `json:"name"`
		Parameters struct {
			Type any `json:"type"`
		} `json:"parameters"`
	} `json:"tools"`
	Stream bool `json:"stream"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	ID        string          `json:"id"`
	Encrypted string          `json:"encrypted_content"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL any    `json:"image_url"`
}

// responsesReader holds what is known while the items are read in order.
type responsesReader struct {
	asked *asked
	first *refusal
	owed  []string // ids of calls that have no output yet
	names map[string]string
}

func (r *responsesReader) note(no *refusal) {
	if r.first == nil {
		r.first = no
	}
}

func (responsesWire) read(_ *http.Request, body []byte) (*asked, *refusal) {
	var b responsesBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, invalid("We could not parse the JSON body of your request. (" + err.Error() + ")")
	}
	a := &asked{stream: b.Stream, includeUsage: true}
	a.turn.Model, a.turn.System = b.Model, b.Instructions
	if b.Model == "" {
		return nil, invalidCode("missing_required_parameter", "model", "Missing required parameter: 'model'.")
	}
	r := &responsesReader{asked: a, names: map[string]string{}}
	for i, t := range b.Tools {
		switch {
		case t.Type != "function" || !toolName(t.Name, 64):
			r.note(invalidCode("invalid_value", fmt.Sprintf("tools[%d].name", i),
				fmt.Sprintf("Invalid 'tools[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)))
		case t.Parameters.Type != "object":
			r.note(invalidCode("invalid_function_parameters", fmt.Sprintf("tools[%d].parameters", i),
				fmt.Sprintf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%v\"'.", t.Name, t.Parameters.Type)))
		}
		a.turn.Tools = append(a.turn.Tools, t.Name)
	}
	var items []responsesItem
	var text string
	switch {
	case json.Unmarshal(b.Input, &text) == nil:
		a.turn.Entries = append(a.turn.Entries, Entry{Role: "user", Text: text})
	case json.Unmarshal(b.Input, &items) != nil || len(items) == 0:
		return a, invalidCode("invalid_type", "input", "Invalid type for 'input': expected one of a string or array of input items.")
	}
	for i, it := range items {
		r.item(i, it)
	}
	if len(r.owed) > 0 { // "No tool output found for function call call_…" (openai-agents-python#1789)
		r.note(invalidCode("", "input", "No tool output found for function call "+r.owed[0]+"."))
	}
	return a, r.first
}

func (r *responsesReader) item(i int, it responsesItem) {
	switch it.Type {
	case "", "message":
		r.message(i, it)
	case "function_call":
		if len(it.CallID) > 64 {
			r.note(invalidCode("string_above_max_length", fmt.Sprintf("input[%d].call_id", i),
				fmt.Sprintf("Invalid 'input[%d].call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", i, len(it.CallID))))
		}
		e := r.assistant()
		e.Calls = append(e.Calls, MadeCall{ID: it.CallID, Name: it.Name, Args: it.Arguments})
		r.owed = append(r.owed, it.CallID)
		r.names[it.CallID] = it.Name
	case "function_call_output":
		at := slices.Index(r.owed, it.CallID)
		if at < 0 {
			r.note(invalidCode("", "input", "No tool call found for function call output with call_id "+it.CallID+"."))
			return
		}
		r.owed = slices.Delete(r.owed, at, at+1)
		text, pictures := r.content(fmt.Sprintf("input[%d].output", i), it.Output, "input_text")
		r.asked.turn.Entries = append(r.asked.turn.Entries, Entry{
			Role: "tool", Text: text, Pictures: pictures, ResultOf: r.names[it.CallID], ResultID: it.CallID, IsError: looksFailed(text),
		})
	case "reasoning":
		var summary strings.Builder
		for _, s := range it.Summary {
			summary.WriteString(s.Text)
		}
		said := summary.String()
		// What it is given back must be what it gave: "could not be verified" is its word.
		if it.Encrypted != sign(said) {
			r.note(invalidCode("invalid_encrypted_content", "input", "The encrypted content for item "+it.ID+" could not be verified."))
		}
	default:
		r.note(invalidCode("invalid_value", fmt.Sprintf("input[%d]", i), fmt.Sprintf("Invalid value: '%s'.", it.Type)))
	}
}

// assistant is the entry of the turn under way: its items come one by one.
func (r *responsesReader) assistant() *Entry {
	all := r.asked.turn.Entries
	if n := len(all); n == 0 || all[n-1].Role != "assistant" {
		r.asked.turn.Entries = append(all, Entry{Role: "assistant"})
	}
	return &r.asked.turn.Entries[len(r.asked.turn.Entries)-1]
}

func (r *responsesReader) message(i int, it responsesItem) {
	want := map[string]string{"user": "input_text", "system": "input_text", "developer": "input_text", "assistant": "output_text"}[it.Role]
	if want == "" {
		r.note(invalidCode("invalid_value", fmt.Sprintf("input[%d]", i), fmt.Sprintf("Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", it.Role)))
		return
	}
	text, pictures := r.content(fmt.Sprintf("input[%d].content", i), it.Content, want)
	switch it.Role {
	case "system", "developer":
		r.asked.turn.System = strings.TrimLeft(r.asked.turn.System+"\n"+text, "\n")
	case "assistant":
		e := r.assistant()
		e.Text = strings.TrimLeft(e.Text+"\n"+text, "\n")
	default:
		r.asked.turn.Entries = append(r.asked.turn.Entries, Entry{Role: "user", Text: text, Pictures: pictures})
	}
}

func (r *responsesReader) content(place string, raw json.RawMessage, want string) (text string, pictures []Picture) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []responsesPart
	if json.Unmarshal(raw, &parts) != nil {
		r.note(invalidCode("invalid_type", place, fmt.Sprintf("Invalid type for '%s': expected one of an array of objects or string.", place)))
		return "", nil
	}
	for j, p := range parts {
		switch {
		case p.Type == want:
			text = strings.TrimLeft(text+"\n"+p.Text, "\n")
		case p.Type == "input_image" && want == "input_text":
			if pic, ok := r.picture(fmt.Sprintf("%s[%d]", place, j), p); ok {
				pictures = append(pictures, pic)
				r.asked.turn.Pictures = append(r.asked.turn.Pictures, pic)
			}
		default:
			r.note(invalidCode("invalid_value", fmt.Sprintf("%s[%d]", place, j), fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", p.Type, want)))
		}
	}
	return text, pictures
}

func (r *responsesReader) picture(place string, p responsesPart) (Picture, bool) {
	url, _ := p.ImageURL.(string)
	head, data, ok := strings.Cut(url, ",")
	kind, isData := strings.CutPrefix(strings.TrimSuffix(head, ";base64"), "data:")
	if !ok || !isData || !strings.HasSuffix(head, ";base64") {
		r.note(invalidCode("invalid_value", place+".image_url", fmt.Sprintf("Invalid '%s.image_url'. Expected a valid URL, but got a value with an invalid format.", place)))
		return Picture{}, false
	}
	r.asked.base64 += len(data)
	raw, err := base64.StdEncoding.DecodeString(data)
	switch {
	case err != nil:
		r.note(invalidCode("invalid_value", place+".image_url", fmt.Sprintf("Invalid '%s.image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got an invalid base64-encoded value.", place)))
		return Picture{}, false
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		r.note(invalidCode("invalid_value", place+".image_url", fmt.Sprintf("Invalid '%s.image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type '%s'.", place, kind)))
		return Picture{}, false
	}
	pic, is, whole := look(place, kind, raw)
	if !whole || is != kind { // codex#7459, opencode#4781
		r.note(invalidCode("invalid_value", place, "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp']."))
	}
	return pic, true
}
