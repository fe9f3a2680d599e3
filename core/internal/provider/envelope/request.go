package envelope

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// reading is a request on its way into Relo's nouns.
type reading struct {
	e       *Envelope
	r       provider.Request
	system  []string
	calls   map[string]string // id → name, of the calls so far
	ignored map[string]bool
}

// Request gives the request in Relo's nouns, for another wire. What that cannot say is a
// *Fault that names the field and what to do; what may be left out without harm is in
// Ignored. A picture whose bytes are not in the request becomes words that say so, since
// nothing is fetched. The signature of reasoning is what this wire's program was given; it means
// something only to the provider that made it.
func (e *Envelope) Request() (provider.Request, error) {
	t, err := e.read()
	if err != nil {
		return provider.Request{}, err
	}
	return t.r, nil
}

// Ignored names the fields that Request leaves out, sorted; temperature is one of them.
func (e *Envelope) Ignored() []string {
	t, _ := e.read() // what is at fault says Request
	names := make([]string, 0, len(t.ignored))
	for name := range t.ignored {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (e *Envelope) read() (*reading, error) {
	t := &reading{e: e, calls: map[string]string{}, ignored: map[string]bool{}}
	t.r.Model = e.Model
	if err := t.fields(); err != nil {
		return t, err
	}
	var err error
	switch e.Wire {
	case Chat:
		err = t.chat()
	case Responses:
		err = t.responses()
	default:
		err = t.messages()
	}
	if err != nil {
		return t, err
	}
	if len(t.r.Messages) == 0 {
		return t, bad("messages", "the request says nothing: send at least one message")
	}
	t.r.System = strings.Join(t.system, "\n\n")
	return t, t.choice()
}

// ignore notes that a field is left out.
func (t *reading) ignore(field string) { t.ignored[field] = true }

// add appends parts; the model's own pieces, and the results of one round, are one message.
func (t *reading) add(role provider.Role, parts ...provider.Part) {
	if len(parts) == 0 {
		return
	}
	if n := len(t.r.Messages); n > 0 && t.r.Messages[n-1].Role == role && role != provider.RoleUser {
		t.r.Messages[n-1].Parts = append(t.r.Messages[n-1].Parts, parts...)
		return
	}
	t.r.Messages = append(t.r.Messages, provider.Message{Role: role, Parts: parts})
}

// instruct takes what a system or developer message says. At the beginning it is the
// request's system text; later it stays where it is, marked, as no transcript has such a turn.
func (t *reading) instruct(parts []provider.Part) {
	var texts []string
	var shown []provider.Part
	for _, p := range parts {
		if p.Kind == provider.PartText {
			texts = append(texts, p.Text)
		} else {
			shown = append(shown, p)
		}
	}
	text := strings.Join(texts, "\n\n")
	switch {
	case text == "":
	case len(t.r.Messages) == 0:
		t.system = append(t.system, text)
	default:
		t.add(provider.RoleUser, provider.Text("<system>\n"+text+"\n</system>"))
	}
	if len(shown) > 0 { // a system text holds no pictures
		t.add(provider.RoleUser, append([]provider.Part{provider.Text("Pictures that belong to the instructions:")}, shown...)...)
	}
}

// parts reads a content: a text, nothing, or a list of parts that one reads, with ok false
// for a part that says nothing.
func (t *reading) parts(content value, field string, one func(part value, kind, field string) (p provider.Part, ok bool, err error)) ([]provider.Part, error) {
	switch content.kind() {
	case kindNone, kindNull:
		return nil, nil
	case kindString:
		if content.empty() {
			return nil, nil
		}
		return []provider.Part{provider.Text(content.text())}, nil
	case kindArray:
	default:
		return nil, bad(field, "%s must be a text or a list of parts", field)
	}
	var all []provider.Part
	for i, part := range content.items() {
		at := fmt.Sprintf("%s[%d]", field, i)
		if part.kind() != kindObject {
			return nil, bad(at, "%s must be an object with a type", at)
		}
		p, ok, err := t.picture(part), true, error(nil)
		if p.Kind == "" {
			p, ok, err = one(part, part.at("type").text(), at)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, p)
		}
	}
	return all, nil
}

// picture gives a part that is a picture; its kind is empty when it is none.
func (t *reading) picture(part value) provider.Part {
	i, ok := t.e.byRef[part.n]
	if !ok {
		return provider.Part{}
	}
	s := t.e.spots[i]
	why := s.Bad
	switch {
	case s.Remote != "":
		why = fmt.Sprintf("it is at %s and was not fetched", httpwire.Plain(s.Remote))
	case s.File != "":
		why = fmt.Sprintf("it is the provider's file %s", httpwire.Plain(s.File))
	case s.Data != nil && sniff(s.Data) == "" && !strings.HasPrefix(s.MediaType, "image/"):
		why = "its bytes are no picture"
	}
	if why != "" {
		t.ignore(s.Place)
		return provider.Text(fmt.Sprintf("[A picture is not shown here: %s.]", why))
	}
	p := s.Shown()
	if real := sniff(s.Data); real != "" {
		p.MediaType = real // a provider refuses bytes that are not what their type says
	}
	return provider.Show(p)
}

// result adds a tool's answer.
func (t *reading) result(id, field string, parts []provider.Part, failed bool) error {
	name, ok := t.calls[id]
	if !ok {
		return bad(field, "%s: no call before it has the id %q: send the call as well, or leave its result out", field, httpwire.Plain(cut(id)))
	}
	r := provider.Result{ID: id, Name: name, IsError: failed}
	var texts []string
	for _, p := range parts {
		if p.Picture != nil {
			r.Pictures = append(r.Pictures, *p.Picture)
		} else {
			texts = append(texts, p.Text)
		}
	}
	r.Text = strings.Join(texts, "\n")
	t.add(provider.RoleTool, provider.Part{Kind: provider.PartResult, Result: &r})
	return nil
}

// call makes the part of a tool call and remembers it.
func (t *reading) call(id, name, field string, args json.RawMessage) (provider.Part, error) {
	if id == "" || name == "" {
		return provider.Part{}, bad(field, "%s: a tool call needs an id and a name", field)
	}
	t.calls[id] = name
	return provider.Part{Kind: provider.PartCall, Call: &provider.Call{ID: id, Name: name, Args: args}}, nil
}

// arguments reads arguments that come as a text. A model's slip is kept as it was made, in
// an object, since every wire wants one.
func arguments(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if httpwire.Object([]byte(text)) == nil {
		return json.RawMessage(text)
	}
	return wrapped("arguments", text)
}

func wrapped(key, text string) json.RawMessage {
	return slices.Concat([]byte("{"), quote(key), []byte(":"), quote(text), []byte("}"))
}

// tool adds a tool that the model may call.
func (t *reading) tool(name, field string, description value, schema value) error {
	if name == "" {
		return bad(field, "%s: a tool needs a name", field)
	}
	s := provider.ToolSpec{Name: name, Description: description.text(), Schema: schema.raw()}
	switch {
	case !schema.given():
		s.Schema = json.RawMessage(`{"type":"object","properties":{}}`) // a function without parameters may leave them out
	case schema.kind() != kindObject:
		return bad(field, "%s: the parameters of a tool must be a JSON Schema of type object", field)
	}
	t.r.Tools = append(t.r.Tools, s)
	return nil
}

// choice reads tool_choice: that a tool must be called is nothing that every wire can say.
func (t *reading) choice() error {
	c := t.e.doc.root().at("tool_choice")
	word := c.text()
	if c.kind() == kindObject {
		word = c.at("type").text()
	}
	switch {
	case !c.given() || word == "auto":
		return nil
	case word == "none" && len(t.calls) == 0:
		t.r.Tools = nil
		return nil
	case word == "none":
		t.ignore("tool_choice") // a transcript with calls needs its tools
		return nil
	}
	return bad("tool_choice", "tool_choice %q cannot be passed on to this model: leave it out, or use \"auto\" or \"none\"", httpwire.Plain(cut(word)))
}

func cut(s string) string {
	if len(s) > maxQuoted {
		return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return s
}

func unknownPart(kind, field string) error {
	return bad(field, "%s: parts of type %q cannot be passed on to this model: send text or a picture", field, httpwire.Plain(cut(kind)))
}
