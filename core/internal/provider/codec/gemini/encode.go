// Package gemini is Gemini's generateContent as JSON, both ways. A tool's pictures go
// into the function's response or beside it, as the model's version has it. It opens no
// connection.
package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// ErrTranscript says that a transcript breaks its own rules: a part of the wrong kind.
var ErrTranscript = errors.New("the transcript cannot be sent")

type request struct {
	System   *content   `json:"systemInstruction,omitempty"`
	Contents []*content `json:"contents"`
	Tools    []tools    `json:"tools,omitempty"`
	Config   *config    `json:"generationConfig,omitempty"`
}

type config struct {
	MaxOutputTokens int `json:"maxOutputTokens,omitempty"`
}

type tools struct {
	Declarations []declaration `json:"functionDeclarations"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type content struct {
	Role  string  `json:"role,omitempty"`
	Parts []*part `json:"parts"`
}

type part struct {
	Text      string    `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
	Inline    *inline   `json:"inlineData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`

	picture *provider.Picture
}

type inline struct {
	MediaType string `json:"mimeType"`
	Data      string `json:"data"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type response struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
	Parts    []*part        `json:"parts,omitempty"`
}

// version finds the number behind gemini-.
var version = regexp.MustCompile(`gemini-(?:[a-z]+-)*?(\d+)`)

// generation is the model's, 0 when its id does not say.
func generation(model string) int {
	if m := version.FindStringSubmatch(strings.ToLower(model)); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return 0
}

// Placements are the places for a tool's pictures: inside the function's response from
// Gemini 3 on, beside it in the same turn for older ones, which take none there.
func Placements(model string) []provider.Placement {
	switch n := generation(model); {
	case n >= nested:
		return []provider.Placement{provider.PlaceInside, provider.PlaceAfter}
	case n > 0:
		return []provider.Placement{provider.PlaceAfter}
	}
	return []provider.Placement{provider.PlaceAfter, provider.PlaceInside}
}

// Encode makes the body of a request (the model is in its URL), and a receipt for every
// picture in it. Errors are ErrTranscript and provider.ErrPicture.
func Encode(r provider.Request) ([]byte, []provider.Receipt, error) {
	place := r.Placement
	if place == "" || place == provider.PlaceBridged {
		place = Placements(r.Model)[0]
	}
	e := encoder{inside: place == provider.PlaceInside, signs: generation(r.Model) >= nested}
	for i, m := range r.Messages {
		if err := e.message(m); err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	e.flush()
	out := request{Contents: e.contents}
	if strings.TrimSpace(r.System) != "" {
		out.System = &content{Parts: []*part{{Text: r.System}}}
	}
	if out.Contents == nil {
		out.Contents = []*content{}
	}
	if r.MaxTokens > 0 {
		out.Config = &config{MaxOutputTokens: r.MaxTokens}
	}
	if len(r.Tools) > 0 {
		var all tools
		for _, t := range r.Tools {
			all.Declarations = append(all.Declarations, declaration{t.Name, t.Description, t.Schema})
		}
		out.Tools = []tools{all}
	}
	receipts, err := receipts(out.Contents)
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

// receipts walks the finished contents, so that a place is where the picture is.
func receipts(contents []*content) ([]provider.Receipt, error) {
	var all []provider.Receipt
	var walk func(path string, parts []*part) error
	walk = func(path string, parts []*part) error {
		for j, p := range parts {
			place := fmt.Sprintf("%s.parts[%d]", path, j)
			if p.picture != nil {
				r, err := p.picture.Receipt(place)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			if p.Response != nil {
				if err := walk(place+".functionResponse", p.Response.Parts); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i, c := range contents {
		if err := walk(fmt.Sprintf("contents[%d]", i), c.Parts); err != nil {
			return nil, err
		}
	}
	return all, nil
}

type encoder struct {
	inside   bool
	signs    bool // a call must have a signature
	contents []*content
	owed     []provider.Shown
}

// add appends to the last content when it has the same role: turns alternate.
func (e *encoder) add(role string, parts ...*part) {
	if len(parts) == 0 {
		return
	}
	if n := len(e.contents); n > 0 && e.contents[n-1].Role == role {
		e.contents[n-1].Parts = append(e.contents[n-1].Parts, parts...)
		return
	}
	e.contents = append(e.contents, &content{Role: role, Parts: parts})
}

func (e *encoder) message(m provider.Message) error {
	if m.Role != provider.RoleTool {
		e.flush()
	}
	switch m.Role {
	case provider.RoleUser:
		return e.user(m.Parts)
	case provider.RoleAssistant:
		return e.model(m.Parts)
	case provider.RoleTool:
		return e.results(m.Parts)
	default:
		return fmt.Errorf("%w: role %q", ErrTranscript, m.Role)
	}
}

func (e *encoder) user(parts []provider.Part) error {
	for _, p := range parts {
		switch {
		case p.Kind == provider.PartText && p.Text == "":
		case p.Kind == provider.PartText:
			e.add("user", &part{Text: p.Text})
		case p.Kind == provider.PartPicture && p.Picture != nil:
			e.add("user", show(p.Picture))
		default:
			return wrongPart(p, provider.RoleUser)
		}
	}
	return nil
}

func (e *encoder) model(parts []provider.Part) error {
	signed := false
	for _, p := range parts {
		sign, own := strings.CutPrefix(p.Signature, mark)
		if !own {
			sign = "" // another wire's
		}
		switch {
		case p.Kind == provider.PartText && p.Text == "" && !own:
		case p.Kind == provider.PartText:
			e.add("model", &part{Text: p.Text, Signature: sign})
		case p.Kind == provider.PartReasoning:
			if own { // words of another wire's thoughts say nothing here
				e.add("model", &part{Text: p.Text, Thought: true, Signature: sign})
			}
		case p.Kind == provider.PartCall && p.Call != nil:
			// Of calls made at once the first alone has a signature.
			if !own && e.signs && !signed {
				sign = noThought
			}
			signed = true
			args := p.Call.Args
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			e.add("model", &part{Signature: sign, Call: &call{ID: p.Call.ID, Name: p.Call.Name, Args: args}})
		default:
			return wrongPart(p, provider.RoleAssistant)
		}
	}
	return nil
}

func (e *encoder) results(parts []provider.Part) error {
	for _, p := range parts {
		if p.Kind != provider.PartResult || p.Result == nil {
			return wrongPart(p, provider.RoleTool)
		}
		r := p.Result
		key := "output" // the keys that the API's reference of FunctionResponse names
		if r.IsError {
			key = "error"
		}
		out := &response{ID: r.ID, Name: r.Name, Response: map[string]any{key: r.Words()}}
		for i := range r.Pictures {
			if e.inside { // without displayName and $ref: python-genai#2792
				out.Parts = append(out.Parts, show(&r.Pictures[i]))
			} else {
				e.owed = append(e.owed, provider.Shown{Tool: r.Name, Picture: &r.Pictures[i]})
			}
		}
		e.add("user", &part{Response: out})
	}
	return nil
}

// flush puts the pictures that wait behind the responses, in the same turn.
func (e *encoder) flush() {
	if len(e.owed) == 0 {
		return
	}
	e.add("user", &part{Text: provider.Introduce(e.owed)})
	for _, s := range e.owed {
		e.add("user", show(s.Picture))
	}
	e.owed = nil
}

func show(p *provider.Picture) *part {
	return &part{picture: p, Inline: &inline{MediaType: p.MediaType, Data: base64.StdEncoding.EncodeToString(p.Bytes)}}
}

func wrongPart(p provider.Part, role provider.Role) error {
	return fmt.Errorf("%w: a part of kind %q in a message of role %q", ErrTranscript, p.Kind, role)
}
