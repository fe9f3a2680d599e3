package envelope

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// called is how a program knows a tool, where that is more than a function's name.
type called struct {
	namespace string
	name      string
	custom    bool // its input is a text, not an object
}

// flat is the one name of a tool in a namespace (Codex offers the tools of an MCP server
// so). It is the same for a tool and for every call of it.
func flat(namespace, name string) string {
	if namespace == "" || strings.HasPrefix(name, namespace+"__") {
		return name
	}
	all := namespace + "__" + name
	if len(all) <= maxName {
		return all
	}
	sum := sha256.Sum256([]byte(all))
	mark := "_" + hex.EncodeToString(sum[:4])
	return all[:maxName-len(mark)] + mark
}

// responses reads OpenAI's Responses.
func (t *reading) responses() error {
	root := t.e.doc.root()
	if text := root.at("instructions").text(); text != "" {
		t.system = append(t.system, text)
	}
	for i, tool := range root.at("tools").items() {
		if err := t.responsesTool(tool, "", place("tools", i)); err != nil {
			return err
		}
	}
	if text := root.at("input").text(); text != "" {
		t.add(provider.RoleUser, provider.Text(text))
	}
	for i, item := range root.at("input").items() {
		if err := t.item(item, place("input", i)); err != nil {
			return err
		}
	}
	return nil
}

func (t *reading) responsesTool(tool value, namespace, field string) error {
	name := flat(namespace, tool.at("name").text())
	switch kind := tool.at("type").text(); kind {
	case "function":
		if tool.at("strict").truth() {
			t.ignore("tools[].strict")
		}
		return t.tool(name, field, tool.at("description"), tool.at("parameters"))
	case "custom":
		if err := t.tool(name, field, tool.at("description"), value{}); err != nil {
			return err
		}
		s := &t.r.Tools[len(t.r.Tools)-1]
		s.Schema = []byte(`{"type":"object","properties":{"input":{"type":"string","description":"the whole input of the tool, as plain text"}},"required":["input"]}`)
		if grammar := tool.at("format").at("definition").text(); grammar != "" {
			s.Description = strings.TrimSpace(s.Description + "\n\nThe input must follow this grammar:\n" + grammar)
		}
		return nil
	case "namespace":
		for i, inner := range tool.at("tools").items() {
			if err := t.responsesTool(inner, tool.at("name").text(), place(field+".tools", i)); err != nil {
				return err
			}
		}
		return nil
	default:
		return bad(field, "%s: tools of type %q run at the provider and cannot be passed on to this model: leave it out, or offer a function", field, httpwire.Plain(cut(kind)))
	}
}

// names gives the tools that a program knows by more than a name, by the name that the model is told.
func (e *Envelope) names() map[string]called {
	all := map[string]called{}
	if e.Wire != Responses {
		return all
	}
	var walk func(tools value, namespace string)
	walk = func(tools value, namespace string) {
		for _, tool := range tools.items() {
			name, kind := tool.at("name").text(), tool.at("type").text()
			if kind == "namespace" {
				if namespace == "" {
					walk(tool.at("tools"), name)
				}
			} else if kind == "custom" || namespace != "" {
				all[flat(namespace, name)] = called{namespace, name, kind == "custom"}
			}
		}
	}
	walk(e.doc.root().at("tools"), "")
	return all
}

func (t *reading) item(item value, field string) error {
	kind := item.at("type").text()
	switch kind {
	case "", "message":
		return t.responsesMessage(item, field)
	case "reasoning":
		t.reasoning(item)
	case "function_call", "custom_tool_call":
		args := wrapped("input", item.at("input").text())
		if kind == "function_call" {
			args = textOrObject(item.at("arguments"))
		}
		name := flat(item.at("namespace").text(), item.at("name").text())
		call, err := t.call(item.at("call_id").text(), name, field, args)
		if err != nil {
			return err
		}
		t.add(provider.RoleAssistant, call)
	case "function_call_output", "custom_tool_call_output":
		parts, err := t.parts(item.at("output"), field+".output", responsesPart)
		if err != nil {
			return err
		}
		return t.result(item.at("call_id").text(), field+".call_id", parts, false)
	case "item_reference":
		return bad(field, "%s: %s", field, wholeSelf)
	default:
		return bad(field, "%s: items of type %q belong to tools that run at the provider and cannot be passed on to this model: leave it out", field, httpwire.Plain(cut(kind)))
	}
	return nil
}

// reasoning keeps a thought: its words, and what only its provider can read.
func (t *reading) reasoning(item value) {
	var texts []string
	for _, list := range []string{"summary", "content"} {
		for _, p := range item.at(list).items() {
			if text := p.at("text").text(); text != "" {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 {
			break // the content says at length what the summary says
		}
	}
	p := provider.Part{Kind: provider.PartReasoning, Text: strings.Join(texts, "\n\n"), Signature: unmarked(item.at("encrypted_content").text())}
	if p.Text != "" || p.Signature != "" {
		t.add(provider.RoleAssistant, p)
	}
}

func (t *reading) responsesMessage(item value, field string) error {
	parts, err := t.parts(item.at("content"), field+".content", responsesPart)
	if err != nil {
		return err
	}
	switch role := item.at("role").text(); role {
	case "system", "developer":
		t.instruct(parts)
	case "user":
		t.add(provider.RoleUser, parts...)
	case "assistant":
		for i := range parts {
			if parts[i].Picture != nil {
				t.ignore(parts[i].Picture.View.ID)
				parts[i] = provider.Text("[A picture that you made is not shown here.]")
			}
		}
		t.add(provider.RoleAssistant, parts...)
	default:
		return bad(field+".role", "%s.role %q is none of system, developer, user and assistant", field, httpwire.Plain(cut(role)))
	}
	return nil
}

func responsesPart(part value, kind, field string) (provider.Part, bool, error) {
	switch kind {
	case "input_text", "output_text", "text":
		return provider.Text(part.at("text").text()), !part.at("text").empty(), nil
	case "refusal":
		return provider.Text(part.at("refusal").text()), !part.at("refusal").empty(), nil
	}
	return provider.Part{}, false, unknownPart(kind, field)
}
