package double

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// bedrockWire is Bedrock's Converse.
type bedrockWire struct{}

// bedrockPaths are with and without /v1: a base URL of the other wires ends in it.
var bedrockPaths = []string{
	"/model/{id}/converse-stream", "/model/{id}/converse", "/v1/model/{id}/converse-stream", "/v1/model/{id}/converse",
}

func (bedrockWire) name() string { return WireBedrock }

// key finds a Bedrock API key; an access key is not sent (proves).
func (bedrockWire) key(r *http.Request) string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

// badKey: opencode#47073 for an API key, aider#1986 for an access key.
func (bedrockWire) badKey(key string) *refusal {
	if strings.HasPrefix(key, sigV4) {
		return &refusal{status: http.StatusForbidden, kind: "UnrecognizedClientException", words: "The security token included in the request is invalid."}
	}
	return &refusal{status: http.StatusForbidden, kind: "AccessDeniedException", words: "Authentication failed: Please make sure your API Key is valid."}
}

func (bedrockWire) noModel(string) *refusal {
	return unfit("The provided model identifier is invalid.")
}

// blind: seen in public code in ten places.
func (bedrockWire) blind() *refusal {
	return unfit("This model doesn't support the image content block that you provided. To use this content block, choose a model that supports it.")
}

func unfit(words string) *refusal {
	return &refusal{status: http.StatusBadRequest, kind: "ValidationException", words: words}
}

// constraint is a refusal by the API's own model, before a model is asked.
func constraint(value, at, words string) *refusal {
	return unfit(fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, at, words))
}

type bedrockBody struct {
	System     []bedrockBlock `json:"system"`
	Messages   []bedrockPost  `json:"messages"`
	ToolConfig *struct {
		Tools []struct {
			Spec *struct {
				Name        string `json:"name"`
				InputSchema struct {
					JSON map[string]json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
			CachePoint *struct{} `json:"cachePoint"`
		} `json:"tools"`
	} `json:"toolConfig"`
	Inference struct {
		MaxTokens *int `json:"maxTokens"`
	} `json:"inferenceConfig"`
}

type bedrockPost struct {
	Role    string         `json:"role"`
	Content []bedrockBlock `json:"content"`
}

type bedrockBlock struct {
	Text  *string `json:"text"`
	Image *struct {
		Format string `json:"format"`
		Source struct {
			Bytes string `json:"bytes"`
		} `json:"source"`
	} `json:"image"`
	ToolUse *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string         `json:"toolUseId"`
		Content []bedrockBlock `json:"content"`
		Status  string         `json:"status"`
	} `json:"toolResult"`
	Reasoning *struct {
		Text *struct {
			Text      *string `json:"text"`
			Signature string  `json:"signature"`
		} `json:"reasoningText"`
		Redacted string `json:"redactedContent"`
	} `json:"reasoningContent"`
	CachePoint *struct {
		Type string `json:"type"`
	} `json:"cachePoint"`
}

// bedrockReader holds what is known while the messages are read in order.
type bedrockReader struct {
	asked *asked
	model string
	first *refusal
	owed  []string // toolUseIds of the last assistant without a result
	names map[string]string
	used  bool // some toolUse or toolResult was there
}

// note keeps the first rule that was broken; the rest is read all the same.
func (r *bedrockReader) note(no *refusal) {
	if r.first == nil {
		r.first = no
	}
}

func (bedrockWire) read(req *http.Request, body []byte) (*asked, *refusal) {
	var b bedrockBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, &refusal{status: http.StatusBadRequest, kind: "SerializationException", words: "The request body cannot be read: " + err.Error()}
	}
	model := req.PathValue("id")
	r := &bedrockReader{model: model, asked: &asked{
		turn: Turn{Model: model}, stream: strings.HasSuffix(req.URL.Path, "/converse-stream"), includeUsage: true,
	}}
	var system []string
	for i, s := range b.System {
		if s.Text != nil {
			r.text(*s.Text, "SystemContentBlock", fmt.Sprintf("system.%d", i))
			system = append(system, *s.Text)
		}
	}
	r.asked.turn.System = strings.Join(system, "\n")
	r.tools(b)
	if m := b.Inference.MaxTokens; m != nil && *m < 1 {
		r.note(constraint(fmt.Sprint(*m), "inferenceConfig.maxTokens", "Member must have value greater than or equal to 1"))
	}
	if len(b.Messages) == 0 {
		r.note(unfit("A conversation must start with a user message. Try again with a conversation that starts with a user message."))
	}
	for i, m := range b.Messages {
		r.order(i, b.Messages)
		if len(m.Content) == 0 { // strands harness-sdk, hermes-agent: seen for a dropped block
			r.note(unfit(fmt.Sprintf("The content field in the Message object at messages.%d is empty. Add a ContentBlock object to the content field and try again.", i)))
		}
		if m.Role == "assistant" {
			r.assistant(i, m.Content)
			continue
		}
		r.user(i, m.Content)
	}
	if len(r.owed) > 0 {
		r.unanswered(len(b.Messages))
	}
	if r.used && b.ToolConfig == nil { // dify#17545
		r.note(unfit("The toolConfig field must be defined when using toolUse and toolResult content blocks."))
	}
	if n := len(r.asked.turn.Pictures); n > maxBedrockPictures {
		r.note(unfit(fmt.Sprintf("Too much media: 0 document pages + %d images > %d", n, maxBedrockPictures)))
	}
	return r.asked, r.first
}

func (r *bedrockReader) tools(b bedrockBody) {
	if b.ToolConfig == nil {
		return
	}
	if len(b.ToolConfig.Tools) == 0 {
		r.note(constraint("[]", "toolConfig.tools", "Member must have length greater than or equal to 1"))
	}
	for i, t := range b.ToolConfig.Tools {
		if t.Spec == nil {
			if t.CachePoint != nil && strings.Contains(r.model, "nova") { // hermes-agent#97281
				r.note(unfit(fmt.Sprintf("The model returned the following errors: Malformed input request: #/toolConfig/tools/%d: extraneous key [cachePoint] is not permitted, please reformat your input and try again.", i)))
			}
			continue
		}
		at := fmt.Sprintf("toolConfig.tools.%d.member.toolSpec.name", i+1)
		r.identifier(t.Spec.Name, at)
		if slices.Contains(r.asked.turn.Tools, t.Spec.Name) {
			r.note(unfit(fmt.Sprintf("The tool %s is already defined at toolConfig.tools.%d.", t.Spec.Name, i)))
		}
		if string(t.Spec.InputSchema.JSON["type"]) != `"object"` {
			r.note(unfit(fmt.Sprintf("The value at toolConfig.tools.%d.toolSpec.inputSchema.json.type must be one of the following: object.", i)))
		}
		r.asked.turn.Tools = append(r.asked.turn.Tools, t.Spec.Name)
	}
}

// identifier holds a name or an id against its pattern (hermes-agent#90008).
func (r *bedrockReader) identifier(id, at string) {
	if !toolName(id, maxBedrockName) {
		r.note(constraint(id, at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+"))
	}
}

// order: semantic-kernel#10281, Portkey gateway#748.
func (r *bedrockReader) order(i int, all []bedrockPost) {
	role := all[i].Role
	switch {
	case role != "user" && role != "assistant":
		r.note(constraint(role, fmt.Sprintf("messages.%d.member.role", i+1), "Member must satisfy enum value set: [user, assistant]"))
	case i == 0 && role != "user":
		r.note(unfit("A conversation must start with a user message. Try again with a conversation that starts with a user message."))
	case i > 0 && all[i-1].Role == role:
		r.note(unfit("A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again."))
	}
}

// text: bedrock-engineer#8.
func (r *bedrockReader) text(text, kind, at string) {
	if strings.TrimSpace(text) == "" {
		r.note(unfit(fmt.Sprintf("The text field in the %s object at %s is blank. Add text to the text field, and try again.", kind, at)))
	}
}

func (r *bedrockReader) assistant(i int, blocks []bedrockBlock) {
	entry := Entry{Role: "assistant"}
	r.names = map[string]string{}
	for j, b := range blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, j)
		switch {
		case b.Text != nil:
			r.text(*b.Text, "ContentBlock", at)
			entry.Text += *b.Text
		case b.Reasoning != nil:
			r.reasoning(at, b)
		case b.ToolUse != nil:
			r.used = true
			r.identifier(b.ToolUse.ID, fmt.Sprintf("messages.%d.member.content.%d.member.toolUse.toolUseId", i+1, j+1))
			r.identifier(b.ToolUse.Name, fmt.Sprintf("messages.%d.member.content.%d.member.toolUse.name", i+1, j+1))
			if in := strings.TrimSpace(string(b.ToolUse.Input)); !strings.HasPrefix(in, "{") {
				r.note(unfit(fmt.Sprintf("The format of the value at %s.toolUse.input is invalid. Provide a json object for the field and try again.", at)))
			}
			if slices.Contains(r.owed, b.ToolUse.ID) {
				r.note(unfit(fmt.Sprintf("The toolUse blocks at messages.%d.content contain duplicate Ids: %s", i, b.ToolUse.ID)))
			}
			r.owed = append(r.owed, b.ToolUse.ID)
			r.names[b.ToolUse.ID] = b.ToolUse.Name
			entry.Calls = append(entry.Calls, MadeCall{ID: b.ToolUse.ID, Name: b.ToolUse.Name, Args: string(b.ToolUse.Input)})
		case b.CachePoint == nil:
			r.note(unfit(fmt.Sprintf("The content block at %s may not be in a message of the assistant.", at)))
		}
	}
	r.asked.turn.Entries = append(r.asked.turn.Entries, entry)
}

func (r *bedrockReader) reasoning(at string, b bedrockBlock) {
	text := b.Reasoning.Text
	switch {
	case isOpenAI(r.model):
		r.note(unfit("This model doesn't support the reasoningContent.reasoningText.signature field. Remove reasoningContent.reasoningText.signature and try again."))
	case text == nil && b.Reasoning.Redacted == "", text != nil && text.Text == nil:
		r.note(unfit(fmt.Sprintf("The reasoningContent at %s is not complete.", at)))
	case text != nil && text.Signature != sign(*text.Text):
		r.note(unfit(fmt.Sprintf("The model returned the following errors: %s: Invalid `signature` in `thinking` block", at)))
	}
}

func isOpenAI(model string) bool { return strings.Contains("."+model, ".openai.") }

func (r *bedrockReader) user(i int, blocks []bedrockBlock) {
	entry := Entry{Role: "user"}
	said, results := false, 0
	for j, b := range blocks {
		at, place := fmt.Sprintf("messages.%d.content.%d", i, j), fmt.Sprintf("messages[%d].content[%d]", i, j)
		switch {
		case b.Text != nil:
			r.text(*b.Text, "ContentBlock", at)
			entry.Text, said = strings.TrimLeft(entry.Text+"\n"+*b.Text, "\n"), true
		case b.Image != nil:
			entry.Pictures, said = append(entry.Pictures, r.picture(at, place, fmt.Sprintf("messages.%d.member.content.%d.member.image.format", i+1, j+1), b)), true
		case b.ToolResult != nil:
			r.used = true
			results++
			r.result(i, j, b)
		case b.CachePoint != nil:
			if strings.Contains(r.model, "nova") { // pi#2053
				r.note(unfit(fmt.Sprintf("Malformed input request: #/messages/%d/content/%d: extraneous key [cachePoint] is not permitted, please reformat your input and try again.", i, j)))
			}
		default:
			r.note(unfit(fmt.Sprintf("The content block at %s may not be in a message of the user.", at)))
		}
	}
	if len(r.owed) > 0 {
		r.unanswered(i)
	}
	if said {
		r.asked.turn.Entries = append(r.asked.turn.Entries, entry)
	}
}

// unanswered: every toolUse has its result in the very next message (camel#3954).
func (r *bedrockReader) unanswered(i int) {
	r.note(unfit(fmt.Sprintf("Expected toolResult blocks at messages.%d.content for the following Ids: %s", i, strings.Join(r.owed, ", "))))
	r.owed = nil
}

func (r *bedrockReader) result(i, j int, b bedrockBlock) {
	id := b.ToolResult.ID
	r.identifier(id, fmt.Sprintf("messages.%d.member.content.%d.member.toolResult.toolUseId", i+1, j+1))
	at := slices.Index(r.owed, id)
	if at < 0 { // dify-official-plugins#765
		r.note(unfit(fmt.Sprintf("The number of toolResult blocks at messages.%d.content exceeds the number of toolUse blocks of previous turn.", i)))
		return
	}
	r.owed = slices.Delete(r.owed, at, at+1)
	if s := b.ToolResult.Status; s != "" && s != "success" && s != "error" {
		r.note(constraint(s, fmt.Sprintf("messages.%d.member.content.%d.member.toolResult.status", i+1, j+1), "Member must satisfy enum value set: [success, error]"))
	}
	entry := Entry{Role: "tool", ResultOf: r.names[id], ResultID: id, IsError: b.ToolResult.Status == "error"}
	if len(b.ToolResult.Content) == 0 { // zot#40
		r.note(&refusal{status: http.StatusInternalServerError, kind: "InternalServerException", words: "The system encountered an unexpected error during processing. Try your request again."})
	}
	for k, c := range b.ToolResult.Content {
		inner := fmt.Sprintf("messages.%d.content.%d.toolResult.content.%d", i, j, k)
		switch {
		case c.Text != nil:
			r.text(*c.Text, "ToolResultContentBlock", inner)
			entry.Text = strings.TrimLeft(entry.Text+"\n"+*c.Text, "\n")
		case c.Image != nil:
			if isOpenAI(r.model) { // oh-my-pi#11685, pi#8643
				r.note(unfit("This model doesn't support the image field for user messages. Remove the image field and try again."))
			}
			entry.Pictures = append(entry.Pictures, r.picture(inner, fmt.Sprintf("messages[%d].content[%d].toolResult.content[%d]", i, j, k),
				fmt.Sprintf("messages.%d.member.content.%d.member.toolResult.content.%d.member.image.format", i+1, j+1, k+1), c))
		default:
			r.note(unfit(fmt.Sprintf("The content block at %s may not be in a toolResult.", inner)))
		}
	}
	r.asked.turn.Entries = append(r.asked.turn.Entries, entry)
}

func (r *bedrockReader) picture(at, place, format string, b bedrockBlock) Picture {
	data, err := base64.StdEncoding.DecodeString(b.Image.Source.Bytes)
	mediaType := "image/" + b.Image.Format
	pic, is, whole := look(place, mediaType, data)
	r.asked.base64 += len(b.Image.Source.Bytes)
	r.asked.turn.Pictures = append(r.asked.turn.Pictures, pic)
	switch {
	case !slices.Contains(mediaTypes, mediaType): // hermes-agent#55429: case matters, jpg is refused
		r.note(constraint(b.Image.Format, format, "Member must satisfy enum value set: [gif, jpeg, png, webp]"))
	case err != nil:
		r.note(&refusal{status: http.StatusBadRequest, kind: "SerializationException", words: "Invalid base64 at " + at + ".image.source.bytes"})
	case len(data) > maxBedrockBytes:
		r.note(unfit(fmt.Sprintf("The model returned the following errors: %s.image.source.bytes: image exceeds 3.75 MB maximum: %d bytes > %d bytes", at, len(data), maxBedrockBytes)))
	case is != "" && is != mediaType: // boto3#4415
		r.note(unfit("The model returned the following errors: The provided image does not match the specified image format."))
	case is == "", !whole:
		r.note(unfit("The model returned the following errors: Could not process image"))
	case max(pic.Width, pic.Height) > maxEdge:
		r.note(unfit(fmt.Sprintf("The model returned the following errors: %s.image.source.bytes: At least one of the image dimensions exceed max allowed size: 8000 pixels", at)))
	}
	return pic
}
