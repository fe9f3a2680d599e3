package double

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// WireGemini is the Gemini API: POST /v1beta/models/MODEL:streamGenerateContent.
const WireGemini = "gemini"

// geminiPaths take the model and the method as one segment. The base URL of a test may end in /v1.
var geminiPaths = []string{"/v1beta/models/{call}", "/v1/models/{call}"}

// geminiWire is the Gemini API.
type geminiWire struct{}

func (geminiWire) name() string      { return WireGemini }
func (geminiWire) keepAlive() string { return ": keep-alive\n\n" }

func (geminiWire) key(r *http.Request) string {
	if key := r.Header.Get("X-Goog-Api-Key"); key != "" {
		return key
	}
	return r.URL.Query().Get("key")
}

// errorBody: google.rpc.Status as JSON (the API's documentation, "Troubleshooting").
func (geminiWire) errorBody(r *refusal) string {
	if r.body != "" {
		return r.body
	}
	return toJSON(map[string]any{"error": map[string]any{"code": r.status, "message": r.words, "status": r.kind}})
}

func (geminiWire) badKey(string) *refusal {
	return &refusal{status: http.StatusBadRequest, kind: "INVALID_ARGUMENT", words: "API key not valid. Please pass a valid API key."}
}

func (geminiWire) noModel(model string) *refusal {
	return &refusal{
		status: http.StatusNotFound, kind: "NOT_FOUND",
		words: fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", model),
	}
}

func (geminiWire) blind() *refusal {
	return argument("Image input modality is not enabled for models/text-only")
}

func (geminiWire) usual(status int) *refusal {
	kind, words := "UNKNOWN", "An unexpected error occurred."
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		kind, words = "INVALID_ARGUMENT", "Request contains an invalid argument."
	case http.StatusUnauthorized:
		kind, words = "UNAUTHENTICATED", "Request had invalid authentication credentials."
	case http.StatusPaymentRequired:
		kind, words = "FAILED_PRECONDITION", "Your credit balance is too low: insufficient balance."
	case http.StatusForbidden:
		kind, words = "PERMISSION_DENIED", "The caller does not have permission"
	case http.StatusNotFound:
		kind, words = "NOT_FOUND", "Requested entity was not found."
	case http.StatusTooManyRequests:
		kind, words = "RESOURCE_EXHAUSTED", "You exceeded your current rate limit. Please retry later."
	case http.StatusServiceUnavailable:
		kind, words = "UNAVAILABLE", "The model is overloaded. Please try again later."
	}
	return &refusal{status: status, kind: kind, words: words}
}

func argument(words string) *refusal {
	return &refusal{status: http.StatusBadRequest, kind: "INVALID_ARGUMENT", words: words}
}

type geminiBody struct {
	System   *geminiContent  `json:"systemInstruction"`
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Declarations []struct {
			Name   string `json:"name"`
			Schema struct {
				Type any `json:"type"`
			} `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Inline    *struct {
		MediaType string `json:"mimeType"`
		Data      string `json:"data"`
	} `json:"inlineData"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Response map[string]any `json:"response"`
		Parts    []geminiPart   `json:"parts"`
	} `json:"functionResponse"`
}

// geminiReader holds what is known while the contents are read in order.
type geminiReader struct {
	asked  *asked
	first  *refusal
	calls  int // of the last turn of the model that are not answered
	signed bool
}

func (r *geminiReader) note(no *refusal) {
	if r.first == nil {
		r.first = no
	}
}

// third is a model whose calls need their signature back.
var third = regexp.MustCompile(`gemini-([3-9]|\d\d)`)

// older is a model whose function responses hold no pictures.
var older = regexp.MustCompile(`gemini-[12]`)

func (geminiWire) read(req *http.Request, body []byte) (*asked, *refusal) {
	model, method, _ := strings.Cut(req.PathValue("call"), ":")
	a := &asked{stream: method == "streamGenerateContent", includeUsage: true}
	a.turn.Model = model
	if method != "streamGenerateContent" && method != "generateContent" {
		return nil, &refusal{status: http.StatusNotFound, kind: "NOT_FOUND", words: "Not found"}
	}
	var b geminiBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, argument("Invalid JSON payload received. " + err.Error())
	}
	r := &geminiReader{asked: a, signed: third.MatchString(model)}
	if b.System != nil {
		for _, p := range b.System.Parts {
			if p.Text != nil {
				a.turn.System += *p.Text
			}
		}
	}
	for _, t := range b.Tools {
		for i, d := range t.Declarations {
			if !toolName(strings.NewReplacer(".", "_", ":", "_").Replace(d.Name), 64) {
				r.note(argument(fmt.Sprintf("Invalid value at 'tools[0].function_declarations[%d].name': Invalid function name. Must start with a letter or an underscore.", i)))
			}
			a.turn.Tools = append(a.turn.Tools, d.Name)
		}
	}
	if len(b.Contents) == 0 {
		r.note(argument("* GenerateContentRequest.contents: contents is not specified"))
	}
	for i, c := range b.Contents {
		r.content(i, c)
	}
	if r.calls > 0 {
		r.note(unanswered())
	}
	return a, r.first
}

// unanswered: gemini-cli#1946.
func unanswered() *refusal {
	return argument("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
}

func (r *geminiReader) content(i int, c geminiContent) {
	if len(c.Parts) == 0 {
		r.note(argument(fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)))
	}
	switch c.Role {
	case "user", "":
		r.user(i, c)
	case "model":
		if r.calls > 0 {
			r.note(unanswered())
		}
		r.model(i, c)
	default:
		r.note(argument("Please use a valid role: user, model."))
	}
}

func (r *geminiReader) model(i int, c geminiContent) {
	e := Entry{Role: "assistant"}
	r.calls = 0
	for j, p := range c.Parts {
		switch {
		case p.Call != nil:
			// The first of calls made at once carries the signature.
			if r.calls == 0 && r.signed && p.Signature == "" {
				r.note(argument(fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d.", p.Call.Name, i)))
			}
			r.calls++
			e.Calls = append(e.Calls, MadeCall{ID: p.Call.ID, Name: p.Call.Name, Args: string(p.Call.Args)})
		case p.Thought && p.Text != nil:
			if p.Signature != sign(*p.Text) {
				r.note(argument("Thought signature is not valid."))
			}
		case p.Text != nil:
			e.Text = strings.TrimLeft(e.Text+"\n"+*p.Text, "\n")
		default:
			r.note(argument(fmt.Sprintf("* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field", i, j)))
		}
	}
	r.asked.turn.Entries = append(r.asked.turn.Entries, e)
}

func (r *geminiReader) user(i int, c geminiContent) {
	if n := len(r.asked.turn.Entries); r.calls > 0 && (n == 0 || len(c.Parts) == 0 || c.Parts[0].Response == nil) {
		r.note(unanswered())
		r.calls = 0
	}
	said := Entry{Role: "user"}
	some := false
	for j, p := range c.Parts {
		place := fmt.Sprintf("contents[%d].parts[%d]", i, j)
		switch {
		case p.Response != nil:
			if r.calls == 0 {
				r.note(unanswered())
			}
			r.calls = max(0, r.calls-1)
			r.result(place, p)
		case p.Inline != nil:
			said.Pictures, some = append(said.Pictures, r.picture(place, p)), true
		case p.Text != nil:
			said.Text, some = strings.TrimLeft(said.Text+"\n"+*p.Text, "\n"), true
		default:
			r.note(argument(fmt.Sprintf("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field", place)))
		}
	}
	if r.calls > 0 {
		r.note(unanswered())
		r.calls = 0
	}
	if some {
		r.asked.turn.Entries = append(r.asked.turn.Entries, said)
	}
}

func (r *geminiReader) result(place string, p geminiPart) {
	e := Entry{Role: "tool", ResultOf: p.Response.Name, ResultID: p.Response.ID}
	for key, v := range p.Response.Response {
		e.Text, e.IsError = fmt.Sprint(v), key == "error"
	}
	for k, inner := range p.Response.Parts {
		if older.MatchString(r.asked.turn.Model) { // seen of Gemini 2.5: multimodal function responses are Gemini 3's
			r.note(argument("Multimodal function response is not supported for this model."))
		}
		if inner.Inline != nil {
			e.Pictures = append(e.Pictures, r.picture(fmt.Sprintf("%s.functionResponse.parts[%d]", place, k), inner))
		}
	}
	r.asked.turn.Entries = append(r.asked.turn.Entries, e)
}

func (r *geminiReader) picture(place string, p geminiPart) Picture {
	r.asked.base64 += len(p.Inline.Data)
	raw, err := base64.StdEncoding.DecodeString(p.Inline.Data)
	pic, is, whole := look(place, p.Inline.MediaType, raw)
	switch {
	case err != nil:
		r.note(argument("Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed"))
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, p.Inline.MediaType):
		r.note(argument("Unsupported MIME type: " + p.Inline.MediaType))
	case !whole: // gemini-cli#5064
		r.note(argument("Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"))
	case is != p.Inline.MediaType: // gemini-cli#27244
		r.note(argument("Provided image is not valid."))
	}
	r.asked.turn.Pictures = append(r.asked.turn.Pictures, pic)
	return pic
}
