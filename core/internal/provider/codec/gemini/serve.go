package gemini

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // sizes of the kinds that programs send
	_ "image/jpeg" // 〃
	_ "image/png"  // 〃
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// ErrRequest says what is wrong with a request of another program, in words for it.
var ErrRequest = errors.New("the request cannot be read")

// asked is a request of another program; it may write names with or without humps.
type asked struct {
	System  *askedContent  `json:"systemInstruction"`
	System2 *askedContent  `json:"system_instruction"`
	Content []askedContent `json:"contents"`
	Tools   []struct {
		Declarations []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"parametersJsonSchema"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		MaxOutputTokens int `json:"maxOutputTokens"`
		Candidates      int `json:"candidateCount"`
	} `json:"generationConfig"`
}

type askedContent struct {
	Role  string      `json:"role"`
	Parts []askedPart `json:"parts"`
}

type askedPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Inline    *inline `json:"inlineData"`
	Call      *call   `json:"functionCall"`
	Response  *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
		Parts    []askedPart     `json:"parts"`
	} `json:"functionResponse"`
	File json.RawMessage `json:"fileData"`
}

// ReadRequest reads a request of another program into Relo's nouns. What they cannot say is
// ErrRequest, with words for the program.
func ReadRequest(model string, body []byte) (provider.Request, error) {
	var a asked
	if err := httpwire.Strict(body, &a); err != nil {
		return provider.Request{}, fmt.Errorf("%w: the body is no JSON: %s", ErrRequest, httpwire.Plain(err.Error()))
	}
	if a.Config.Candidates > 1 {
		return provider.Request{}, fmt.Errorf("%w: generationConfig.candidateCount: several answers at once are not given; set it to 1", ErrRequest)
	}
	r := provider.Request{Model: model, MaxTokens: a.Config.MaxOutputTokens}
	for _, c := range []*askedContent{a.System, a.System2} {
		if c == nil {
			continue
		}
		for _, p := range c.Parts {
			if p.Text != nil {
				r.System = strings.TrimPrefix(r.System+"\n"+*p.Text, "\n")
			}
		}
	}
	for _, t := range a.Tools {
		for _, d := range t.Declarations {
			schema := d.Schema
			if len(schema) == 0 {
				schema = lowered(d.Parameters)
			}
			r.Tools = append(r.Tools, provider.ToolSpec{Name: d.Name, Description: d.Description, Schema: schema})
		}
	}
	e := reader{}
	for i, c := range a.Content {
		if err := e.content(i, c); err != nil {
			return provider.Request{}, err
		}
	}
	r.Messages = e.messages
	return r, nil
}

// reader puts the messages together.
type reader struct {
	messages []provider.Message
	open     []provider.Call // of the last turn of the model, not answered
	made     int
}

func (e *reader) add(role provider.Role, p provider.Part) {
	if n := len(e.messages); n > 0 && e.messages[n-1].Role == role {
		e.messages[n-1].Parts = append(e.messages[n-1].Parts, p)
		return
	}
	e.messages = append(e.messages, provider.Message{Role: role, Parts: []provider.Part{p}})
}

func (e *reader) content(i int, c askedContent) error {
	if c.Role == "model" {
		e.open = nil
	}
	for j, p := range c.Parts {
		place := fmt.Sprintf("contents[%d].parts[%d]", i, j)
		var err error
		switch c.Role {
		case "model":
			err = e.model(place, p)
		case "user", "function", "":
			err = e.user(place, p)
		default:
			err = fmt.Errorf("%w: contents[%d].role must be user or model", ErrRequest, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *reader) model(place string, p askedPart) error {
	sign := ""
	if p.Signature != "" {
		sign = mark + p.Signature
	}
	switch {
	case p.Call != nil:
		c := provider.Call{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args}
		if e.made++; c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", e.made) // this wire may leave it out
		}
		e.open = append(e.open, c)
		e.add(provider.RoleAssistant, provider.Part{Kind: provider.PartCall, Call: &c, Signature: sign})
	case p.Thought && p.Text != nil:
		e.add(provider.RoleAssistant, provider.Part{Kind: provider.PartReasoning, Text: *p.Text, Signature: sign})
	case p.Text != nil:
		e.add(provider.RoleAssistant, provider.Part{Kind: provider.PartText, Text: *p.Text, Signature: sign})
	case sign == "":
		return fmt.Errorf("%w: %s holds nothing that can be passed on", ErrRequest, place)
	}
	return nil
}

func (e *reader) user(place string, p askedPart) error {
	switch {
	case p.Response != nil:
		return e.result(place, p)
	case p.Inline != nil:
		pic, err := picture(place, *p.Inline)
		if err != nil {
			return err
		}
		e.add(provider.RoleUser, provider.Show(pic))
	case p.Text != nil:
		e.add(provider.RoleUser, provider.Text(*p.Text))
	case len(p.File) > 0:
		e.add(provider.RoleUser, provider.Text("[A file by its address is not fetched.]"))
	default:
		return fmt.Errorf("%w: %s holds nothing that can be passed on", ErrRequest, place)
	}
	return nil
}

func (e *reader) result(place string, p askedPart) error {
	r := provider.Result{ID: p.Response.ID, Name: p.Response.Name, Text: string(p.Response.Response)}
	at := slices.IndexFunc(e.open, func(c provider.Call) bool { return c.ID == r.ID || r.ID == "" && c.Name == r.Name })
	if at < 0 {
		return fmt.Errorf("%w: %s answers no call of the turn before it", ErrRequest, place)
	}
	r.ID = e.open[at].ID
	e.open = slices.Delete(e.open, at, at+1)
	var said map[string]json.RawMessage
	if json.Unmarshal(p.Response.Response, &said) == nil && len(said) == 1 {
		for key, v := range said {
			var text string
			if json.Unmarshal(v, &text) == nil && slices.Contains([]string{"output", "result", "error", "content"}, key) {
				r.Text, r.IsError = text, key == "error"
			}
		}
	}
	for k, inner := range p.Response.Parts {
		if inner.Inline == nil {
			continue
		}
		pic, err := picture(fmt.Sprintf("%s.functionResponse.parts[%d]", place, k), *inner.Inline)
		if err != nil {
			return err
		}
		r.Pictures = append(r.Pictures, pic)
	}
	e.add(provider.RoleTool, provider.Part{Kind: provider.PartResult, Result: &r})
	return nil
}

func picture(place string, in inline) (provider.Picture, error) {
	if !strings.HasPrefix(in.MediaType, "image/") {
		return provider.Picture{}, fmt.Errorf("%w: %s.inlineData is %.40q; pictures are what is passed on", ErrRequest, place, in.MediaType)
	}
	data, err := base64.StdEncoding.DecodeString(in.Data)
	if err != nil {
		return provider.Picture{}, fmt.Errorf("%w: %s.inlineData.data is no base64", ErrRequest, place)
	}
	sum := sha256.Sum256(data)
	p := provider.Picture{View: vision.View{ID: place, Path: "a picture of the request, " + place, Role: vision.Other}}
	p.SHA256, p.MediaType, p.Bytes = hex.EncodeToString(sum[:]), in.MediaType, data
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		p.Width, p.Height = c.Width, c.Height
	}
	return p, nil
}

// lowered turns a schema of this API (types in capitals) into JSON Schema.
func lowered(raw json.RawMessage) json.RawMessage {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if t, ok := v["type"].(string); ok {
				v["type"] = strings.ToLower(t)
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(v)
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}

// Answer is an answer in this wire's words: the whole of it, or, when text was streamed, the rest.
func Answer(model string, r provider.Response, streamed bool) []byte {
	parts := []map[string]any{}
	for _, p := range r.Message.Parts {
		sign, own := strings.CutPrefix(p.Signature, mark)
		one := map[string]any{}
		switch p.Kind { //nolint:exhaustive // an answer holds nothing else
		case provider.PartText:
			if streamed {
				continue
			}
			one["text"] = p.Text
		case provider.PartReasoning:
			one["text"], one["thought"] = p.Text, true
		case provider.PartCall:
			one["functionCall"] = map[string]any{"id": p.Call.ID, "name": p.Call.Name, "args": p.Call.Args}
		}
		if own {
			one["thoughtSignature"] = sign
		}
		parts = append(parts, one)
	}
	doc := map[string]any{
		"candidates":   []any{map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}, "finishReason": finishOf(r.Stop)}},
		"modelVersion": model, "responseId": r.RequestID,
	}
	if u := r.Usage; u.TokensIn != nil {
		usage := map[string]any{"promptTokenCount": *u.TokensIn, "totalTokenCount": *u.TokensIn}
		if u.TokensOut != nil {
			usage["candidatesTokenCount"], usage["totalTokenCount"] = *u.TokensOut, *u.TokensIn+*u.TokensOut
		}
		if u.TokensCached != nil {
			usage["cachedContentTokenCount"] = *u.TokensCached
		}
		doc["usageMetadata"] = usage
	}
	return encoded(doc)
}

// Piece is a piece of a stream's text.
func Piece(model, text string) []byte {
	return encoded(map[string]any{"candidates": []any{map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": text}}}}}, "modelVersion": model})
}

// Failure is an error document (google.rpc.Status).
func Failure(status int, words string) []byte {
	names := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
	name := names[status]
	if name == "" {
		name = "INTERNAL"
	}
	return encoded(map[string]any{"error": map[string]any{"code": status, "message": words, "status": name}})
}

func encoded(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // what is written here can be
		return []byte("{}")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func finishOf(s provider.Stop) string {
	switch s {
	case provider.StopLength:
		return "MAX_TOKENS"
	case provider.StopRefusal:
		return "SAFETY"
	case provider.StopOther:
		return "OTHER"
	case provider.StopEnd, provider.StopCalls:
	}
	return "STOP"
}
