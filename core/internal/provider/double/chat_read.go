package double

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// chatWire is OpenAI's chat completions.
type chatWire struct{}

func (chatWire) name() string                { return WireChat }
func (chatWire) errorBody(r *refusal) string { return chatError(r) }
func (chatWire) keepAlive() string           { return ": keep-alive\n\n" } // as OpenRouter's ": OPENROUTER PROCESSING"

func (chatWire) badKey(key string) *refusal {
	shown := key
	if len(key) > 8 { // OpenAI repeats the ends of the key
		shown = key[:4] + strings.Repeat("*", len(key)-8) + key[len(key)-4:]
	}
	return &refusal{
		status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key",
		words: "Incorrect API key provided: " + shown + ". You can find your API key at https://platform.openai.com/account/api-keys.",
	}
}

func (chatWire) noModel(model string) *refusal {
	return &refusal{
		status: http.StatusNotFound, kind: "invalid_request_error", code: "model_not_found",
		words: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model),
	}
}

// blind: web-ui#274, vllm#11629.
func (chatWire) blind() *refusal {
	return invalid("Invalid content type. image_url is only supported by certain models.")
}

type chatBody struct {
	Model         string     `json:"model"`
	Messages      []chatPost `json:"messages"`
	Tools         []chatTool `json:"tools"`
	Stream        bool       `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatPost struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []chatCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Function struct {
		Name       string `json:"name"`
		Parameters struct {
			Type any `json:"type"`
		} `json:"parameters"`
	} `json:"function"`
}

type chatPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ImageURL json.RawMessage `json:"image_url"`
}

// chatReader holds what is known while the messages are read in order.
type chatReader struct {
	asked *asked
	owed  []string          // ids of calls that have no answer yet
	names map[string]string // of the last assistant's calls, by id
}

func (chatWire) read(_ *http.Request, body []byte) (*asked, *refusal) {
	var b chatBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, invalid("We could not parse the JSON body of your request. (" + err.Error() + ")")
	}
	a := &asked{stream: b.Stream, includeUsage: b.StreamOptions.IncludeUsage}
	a.turn.Model = b.Model
	if b.Model == "" {
		return nil, invalid("you must provide a model parameter")
	}
	if len(b.Messages) == 0 {
		return a, invalidCode("empty_array", "messages",
			"Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	if no := chatTools(a, b.Tools); no != nil {
		return a, no
	}
	r := &chatReader{asked: a}
	var first *refusal
	for i, m := range b.Messages {
		// All are read, so that the pictures are known to a model that sees none.
		if no := r.post(i, m); no != nil && first == nil {
			first = no
		}
	}
	if no := r.answered(); no != nil && first == nil {
		first = no
	}
	return a, first
}

func chatTools(a *asked, tools []chatTool) *refusal {
	for i, t := range tools {
		name := t.Function.Name
		switch {
		case !toolName(name, 64):
			return invalidCode("invalid_value", fmt.Sprintf("tools[%d].function.name", i),
				fmt.Sprintf("Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i))
		case slices.Contains(a.turn.Tools, name):
			return invalid("Tool names must be unique.") // DeepSeek's words; OpenAI's were not seen
		case t.Function.Parameters.Type != "object":
			return invalidCode("invalid_function_parameters", fmt.Sprintf("tools[%d].function.parameters", i),
				fmt.Sprintf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%v\"'.", name, t.Function.Parameters.Type))
		}
		a.turn.Tools = append(a.turn.Tools, name)
	}
	return nil
}

// answered: every call must have its tool message before anything else is said
// (agno#3105, cai#111).
func (r *chatReader) answered() *refusal {
	if len(r.owed) == 0 {
		return nil
	}
	owed := strings.Join(r.owed, ", ")
	r.owed = nil
	return invalid("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
		"The following tool_call_ids did not have response messages: " + owed)
}

func (r *chatReader) post(i int, m chatPost) *refusal {
	text, pictures, first := r.content(i, m)
	entry := Entry{Role: m.Role, Text: text, Pictures: pictures}
	note := func(no *refusal) {
		if first == nil {
			first = no
		}
	}
	if m.Role != "tool" {
		note(r.answered())
		r.names = map[string]string{}
	}
	switch m.Role {
	case "system", "developer":
		r.asked.turn.System = strings.TrimLeft(r.asked.turn.System+"\n"+text, "\n")
		return first
	case "user":
	case "assistant":
		note(r.calls(i, m, &entry))
	case "tool":
		at := slices.Index(r.owed, m.ToolCallID)
		if at < 0 {
			note(invalidCode("", fmt.Sprintf("messages.[%d].role", i),
				"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."))
			break
		}
		r.owed = slices.Delete(r.owed, at, at+1)
		entry.ResultOf, entry.ResultID, entry.IsError = r.names[m.ToolCallID], m.ToolCallID, looksFailed(text)
	default:
		note(invalidCode("invalid_value", fmt.Sprintf("messages[%d].role", i),
			fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)))
	}
	r.asked.turn.Entries = append(r.asked.turn.Entries, entry)
	return first
}

func (r *chatReader) calls(i int, m chatPost, entry *Entry) *refusal {
	if len(m.ToolCalls) == 0 && (len(m.Content) == 0 || string(m.Content) == "null") {
		return invalid(fmt.Sprintf("Invalid value for 'content': expected a string, got null. (messages[%d])", i))
	}
	for j, c := range m.ToolCalls {
		if len(c.ID) > maxCallID {
			return invalidCode("string_above_max_length", fmt.Sprintf("messages[%d].tool_calls[%d].id", i, j),
				fmt.Sprintf("Invalid 'messages[%d].tool_calls[%d].id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
					i, j, maxCallID, len(c.ID)))
		}
		r.owed = append(r.owed, c.ID)
		r.names[c.ID] = c.Function.Name
		entry.Calls = append(entry.Calls, MadeCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
	}
	return nil
}

func (r *chatReader) content(i int, m chatPost) (text string, pictures []Picture, no *refusal) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return "", nil, nil
	}
	if json.Unmarshal(m.Content, &text) == nil {
		return text, nil, nil
	}
	var parts []chatPart
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", nil, invalid(fmt.Sprintf("Invalid type for 'messages[%d].content': expected one of a string or array of objects.", i))
	}
	for j, p := range parts {
		switch p.Type {
		case "text":
			text = strings.TrimLeft(text+"\n"+p.Text, "\n")
		case "image_url":
			pic, bad := r.picture(fmt.Sprintf("messages[%d].content[%d]", i, j), p.ImageURL)
			if bad == nil && m.Role != "user" {
				// OpenHands#7700.
				bad = invalidCode("invalid_value", fmt.Sprintf("messages[%d]", i), fmt.Sprintf(
					"Invalid 'messages[%d]'. Image URLs are only allowed for messages with role 'user', but this message with role '%s' contains an image URL.", i, m.Role))
			}
			if bad != nil && no == nil {
				no = bad
			}
			pictures = append(pictures, pic)
			r.asked.turn.Pictures = append(r.asked.turn.Pictures, pic)
		default:
			if no == nil {
				// openai-kotlin#320.
				no = invalidCode("invalid_value", fmt.Sprintf("messages[%d].content[%d].type", i, j),
					fmt.Sprintf("Invalid value: '%s'. Supported values are: 'text' and 'image_url'.", p.Type))
			}
		}
	}
	return text, pictures, no
}

// OpenAI's words for a picture that it cannot read (vercel/ai#1544).
const unsupportedPicture = "You uploaded an unsupported image. Please make sure your image is below 20 MB in size " +
	"and is of one the following formats: ['png', 'jpeg', 'gif', 'webp']."

func (r *chatReader) picture(place string, raw json.RawMessage) (Picture, *refusal) {
	var object struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		// ComfyUI-IF_AI_tools#101.
		return Picture{Place: place}, invalidCode("invalid_type", place+".image_url",
			fmt.Sprintf("Invalid type for '%s.image_url': expected an object, but got a string instead.", place))
	}
	head, data, ok := strings.Cut(object.URL, ",")
	mediaType, isData := strings.CutPrefix(head, "data:")
	mediaType, isBase64 := strings.CutSuffix(mediaType, ";base64")
	if !ok || !isData || !isBase64 {
		// The double fetches nothing, so a link is refused like a broken data URL.
		return Picture{Place: place}, invalidCode("invalid_image_url", place, fmt.Sprintf("Invalid '%s.image_url'. Expected a valid URL.", place))
	}
	r.asked.base64 += len(data)
	decoded, err := base64.StdEncoding.DecodeString(data)
	pic, is, whole := look(place, mediaType, decoded)
	switch {
	case err != nil, !slices.Contains(mediaTypes, mediaType), len(data) > maxDataURL:
		return pic, invalidCode("invalid_image_format", place, unsupportedPicture)
	case is != mediaType, !whole:
		// codex#7459 has these words for Responses, code invalid_image.
		return pic, invalidCode("image_parse_error", place, "The image data you provided does not represent a valid image. Please check your input and try again.")
	}
	return pic, nil
}

func toolName(name string, limit int) bool {
	return name != "" && len(name) <= limit && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
