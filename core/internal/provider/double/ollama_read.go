package double

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// WireOllama is POST /api/chat.
const WireOllama = "ollama"

// ollamaWire is Ollama's chat.
type ollamaWire struct{}

func (ollamaWire) name() string      { return WireOllama }
func (ollamaWire) keepAlive() string { return "\n" } // Ollama sends none; a blank line is none of its answer

func (ollamaWire) errorBody(r *refusal) string {
	if r.body != "" {
		return r.body
	}
	return toJSON(map[string]any{"error": r.words}) // Ollama's documentation, "Errors"
}

func (ollamaWire) badKey(string) *refusal {
	return &refusal{status: http.StatusUnauthorized, words: "unauthorized"}
}

func (ollamaWire) noModel(model string) *refusal {
	return &refusal{status: http.StatusNotFound, words: fmt.Sprintf("model %q not found, try pulling it first", model)}
}

// blind: the engine's own words, with 500 (ollama#9741, subtitleedit-avalonia#202).
func (ollamaWire) blind() *refusal {
	return &refusal{status: http.StatusInternalServerError, words: "Failed to create new sequence: failed to process inputs: this model is missing data required for image input"}
}

// noTools: ollama#11131, #14795.
func (ollamaWire) noTools(model string) *refusal {
	return invalid("registry.ollama.ai/library/" + model + " does not support tools")
}

// usual: the statuses of Ollama's documentation, "Errors"; all have a body of words alone.
func (w ollamaWire) usual(status int) *refusal {
	r := usual(w.name(), status)
	r.kind, r.code = "", ""
	return r
}

type ollamaBody struct {
	Model    string       `json:"model"`
	Messages []ollamaPost `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	Stream   *bool `json:"stream"`   // nil: true
	Truncate *bool `json:"truncate"` // 〃
	Shift    *bool `json:"shift"`    // 〃
	Options  struct {
		NumCtx *int `json:"num_ctx"`
	} `json:"options"`
}

type ollamaPost struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Images     [][]byte `json:"images"`
	ToolName   string   `json:"tool_name"`
	ToolCallID string   `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (w ollamaWire) read(_ *http.Request, body []byte) (*asked, *refusal) {
	var b ollamaBody
	if err := json.Unmarshal(body, &b); err != nil {
		// The words are those of Go's decoder: "illegal base64 data at input byte 4" for a
		// data URL (dify#8170), "json: cannot unmarshal string …" for arguments that are
		// no object.
		return nil, invalid(err.Error())
	}
	if b.Model == "" {
		return nil, invalid("model is required")
	}
	a := &asked{stream: b.Stream == nil || *b.Stream, includeUsage: true}
	a.turn.Model = b.Model
	for _, t := range b.Tools {
		a.turn.Tools = append(a.turn.Tools, t.Function.Name)
	}
	var first *refusal
	for i, m := range b.Messages {
		entry, no := w.post(a, i, m)
		if no != nil && first == nil {
			first = no
		}
		if m.Role == "system" {
			a.turn.System = strings.TrimLeft(a.turn.System+"\n"+m.Content, "\n")
			continue
		}
		a.turn.Entries = append(a.turn.Entries, entry)
	}
	if first != nil {
		return a, first
	}
	return a, w.fit(a, b)
}

func (w ollamaWire) post(a *asked, i int, m ollamaPost) (Entry, *refusal) {
	entry := Entry{Role: m.Role, Text: m.Content}
	var first *refusal
	if m.Role != "system" && m.Role != "user" && m.Role != "assistant" && m.Role != "tool" {
		first = invalid(fmt.Sprintf(`invalid role: %s. role must be one of "system", "user", "assistant", or "tool"`, m.Role))
	}
	for j, data := range m.Images {
		a.base64 += len(data) / 3 * 4
		pic, is, whole := look(fmt.Sprintf("messages[%d].images[%d]", i, j), "", data)
		pic.MediaType = is // the wire names none
		if no := w.picture(a.turn.Model, pic, whole); no != nil && first == nil {
			first = no
		}
		entry.Pictures = append(entry.Pictures, pic)
		a.turn.Pictures = append(a.turn.Pictures, pic)
	}
	for _, c := range m.ToolCalls {
		entry.Calls = append(entry.Calls, MadeCall{ID: c.ID, Name: c.Function.Name, Args: toJSON(c.Function.Arguments)})
	}
	if m.Role == "tool" {
		entry.ResultOf, entry.ResultID, entry.IsError = m.ToolName, m.ToolCallID, looksFailed(m.Content)
	}
	return entry, first
}

// picture: what cannot be decoded is told (ollama#11320); what is smaller than a patch
// takes the runner down (ollama#11297, #13113).
func (ollamaWire) picture(model string, p Picture, whole bool) *refusal {
	least := 0
	switch {
	case strings.Contains(model, "qwen3-vl"):
		least = 32
	case strings.Contains(model, "qwen2.5vl"):
		least = 28
	}
	switch {
	case !whole:
		return &refusal{status: http.StatusInternalServerError, words: "Failed to create new sequence: failed to process inputs: image: unknown format"}
	case p.Width < least || p.Height < least:
		return &refusal{status: http.StatusInternalServerError, words: "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details"}
	}
	return nil
}

// fit does what the server does with a prompt that is longer than the context: it
// refuses when it was told not to cut, else it drops the oldest messages without a word
// (ollama#3839, #4967).
func (w ollamaWire) fit(a *asked, b ollamaBody) *refusal {
	limit := ollamaContext
	if b.Options.NumCtx != nil {
		limit = *b.Options.NumCtx
	}
	need := a.need()
	if need < limit {
		return nil
	}
	if b.Truncate != nil && !*b.Truncate {
		return invalid(toJSON(map[string]any{"error": map[string]any{
			"code": http.StatusBadRequest, "type": "exceed_context_size_error", "n_prompt_tokens": need, "n_ctx": limit,
			"message": fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", need, limit),
		}}))
	}
	if b.Shift != nil && !*b.Shift {
		return invalid("the prompt is longer than the context length currently available to the model; " +
			"shorten the prompt, adjust the context length in settings, or use a model with a longer context length")
	}
	for len(a.turn.Entries) > 1 && a.need() >= limit {
		a.turn.Pictures = a.turn.Pictures[len(a.turn.Entries[0].Pictures):]
		a.turn.Entries = a.turn.Entries[1:]
	}
	return nil
}

// need is the prompt in tokens.
func (a *asked) need() int {
	n := a.words() / charsPerToken
	for _, p := range a.turn.Pictures {
		n += p.Width * p.Height / pixelsPerToken
	}
	return n
}
