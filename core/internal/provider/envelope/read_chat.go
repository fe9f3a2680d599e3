package envelope

import (
	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// chat reads OpenAI's chat completions.
func (t *reading) chat() error {
	root := t.e.doc.root()
	for i, tool := range root.at("tools").items() {
		field := place("tools", i)
		if kind := tool.at("type").text(); kind != "function" {
			return bad(field, "%s: tools of type %q cannot be passed on to this model: offer a function", field, httpwire.Plain(cut(kind)))
		}
		f := tool.at("function")
		if err := t.tool(f.at("name").text(), field, f.at("description"), f.at("parameters")); err != nil {
			return err
		}
		if f.at("strict").truth() {
			t.ignore("tools[].function.strict")
		}
	}
	for i, m := range root.at("messages").items() {
		if err := t.chatMessage(m, place("messages", i)); err != nil {
			return err
		}
	}
	return nil
}

func (t *reading) chatMessage(m value, field string) error {
	role := m.at("role").text()
	if m.at("name").given() {
		t.ignore("messages[].name")
	}
	if role == "assistant" {
		return t.chatAnswer(m, field)
	}
	parts, err := t.parts(m.at("content"), field+".content", chatPart)
	if err != nil {
		return err
	}
	switch role {
	case "system", "developer":
		t.instruct(parts)
	case "user":
		t.add(provider.RoleUser, parts...)
	case "tool":
		return t.result(m.at("tool_call_id").text(), field+".tool_call_id", parts, false)
	default:
		return bad(field+".role", "%s.role %q is none of system, developer, user, assistant and tool", field, httpwire.Plain(cut(role)))
	}
	return nil
}

func chatPart(part value, kind, field string) (provider.Part, bool, error) {
	switch {
	case kind == "text" || (kind == "" && part.at("text").kind() == kindString):
		return provider.Text(part.at("text").text()), !part.at("text").empty(), nil
	case kind == "refusal":
		return provider.Text(part.at("refusal").text()), !part.at("refusal").empty(), nil
	}
	return provider.Part{}, false, unknownPart(kind, field)
}

// chatAnswer reads a turn of the model. Its thoughts are in the fields that DeepSeek, Kimi,
// Qwen (reasoning_content) and OpenRouter, vLLM (reasoning) give and take back.
func (t *reading) chatAnswer(m value, field string) error {
	for _, name := range []string{"audio", "function_call"} {
		if m.at(name).given() {
			return bad(field+"."+name, "%s.%s cannot be passed on to this model: send text and tool_calls", field, name)
		}
	}
	var all []provider.Part
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if text := m.at(name).text(); text != "" {
			all = append(all, provider.Part{Kind: provider.PartReasoning, Text: text})
			break
		}
	}
	if m.at("reasoning_details").given() {
		t.ignore("messages[].reasoning_details")
	}
	parts, err := t.parts(m.at("content"), field+".content", chatPart)
	if err != nil {
		return err
	}
	if refusal := m.at("refusal").text(); refusal != "" {
		parts = append(parts, provider.Text(refusal))
	}
	for _, p := range parts {
		if p.Picture != nil {
			t.ignore(p.Picture.View.ID) // a model's own turn holds no pictures in a transcript
			p = provider.Text("[A picture that you made is not shown here.]")
		}
		all = append(all, p)
	}
	if !m.at("images").empty() {
		t.ignore("messages[].images")
	}
	for i, c := range m.at("tool_calls").items() {
		at := place(field+".tool_calls", i)
		if kind := c.at("type").text(); kind != "" && kind != "function" {
			return bad(at, "%s: calls of type %q cannot be passed on to this model: offer functions", at, httpwire.Plain(cut(kind)))
		}
		call, err := t.call(c.at("id").text(), c.at("function").at("name").text(), at, textOrObject(c.at("function").at("arguments")))
		if err != nil {
			return err
		}
		all = append(all, call)
	}
	t.add(provider.RoleAssistant, all...)
	return nil
}

// textOrObject reads arguments: a text on this wire, an object at some programs.
func textOrObject(v value) []byte {
	if v.kind() == kindObject {
		return v.raw()
	}
	return arguments(v.text())
}
