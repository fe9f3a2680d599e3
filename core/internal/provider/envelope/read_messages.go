package envelope

import (
	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// redactedMark begins the signature of a thought whose words are hidden, as the codec of
// this wire writes it.
const redactedMark = "redacted:"

// messages reads Anthropic's messages.
func (t *reading) messages() error {
	root := t.e.doc.root()
	for i, tool := range root.at("tools").items() {
		field := place("tools", i)
		if kind := tool.at("type").text(); kind != "" && kind != "custom" {
			return bad(field, "%s: tools of type %q belong to Anthropic's models and cannot be passed on to this one: leave it out, or offer one with an input_schema", field, httpwire.Plain(cut(kind)))
		}
		if err := t.tool(tool.at("name").text(), field, tool.at("description"), tool.at("input_schema")); err != nil {
			return err
		}
	}
	system, err := t.parts(root.at("system"), "system", t.block)
	if err != nil {
		return err
	}
	t.instruct(system)
	for i, m := range root.at("messages").items() {
		if err := t.turn(m, place("messages", i)); err != nil {
			return err
		}
	}
	return nil
}

func (t *reading) turn(m value, field string) error {
	parts, err := t.parts(m.at("content"), field+".content", t.block)
	if err != nil {
		return err
	}
	switch role := m.at("role").text(); role {
	case "system":
		t.instruct(parts)
	case "user":
		// The results come first in their message on this wire; in a transcript they are a
		// message of their own.
		var said []provider.Part
		for _, p := range parts {
			switch p.Kind {
			case provider.PartResult:
				t.add(provider.RoleTool, p)
			case provider.PartText, provider.PartPicture:
				said = append(said, p)
			default:
				return bad(field, "%s: a user's message holds text, pictures and tool_result blocks", field)
			}
		}
		t.add(provider.RoleUser, said...)
	case "assistant":
		for i, p := range parts {
			if p.Kind == provider.PartResult || p.Kind == provider.PartPicture {
				return bad(field, "%s: an assistant's message holds text, thinking and tool_use blocks; block %d is another", field, i)
			}
		}
		t.add(provider.RoleAssistant, parts...)
	default:
		return bad(field+".role", "%s.role %q is neither user nor assistant", field, httpwire.Plain(cut(role)))
	}
	return nil
}

// block reads a content block that is no picture.
func (t *reading) block(part value, kind, field string) (provider.Part, bool, error) {
	switch kind {
	case "text":
		return provider.Text(part.at("text").text()), !part.at("text").empty(), nil
	case "thinking":
		p := provider.Part{Kind: provider.PartReasoning, Text: part.at("thinking").text(), Signature: unmarked(part.at("signature").text())}
		return p, p.Text != "" || p.Signature != "", nil
	case "redacted_thinking":
		return provider.Part{Kind: provider.PartReasoning, Signature: redactedMark + unmarked(part.at("data").text())}, true, nil
	case "tool_use":
		p, err := t.call(part.at("id").text(), part.at("name").text(), field, textOrObject(part.at("input")))
		return p, err == nil, err
	case "tool_result":
		p, err := t.toolResult(part, field)
		return p, err == nil, err
	case "document":
		source := part.at("source")
		if source.at("type").text() == "text" {
			return provider.Text(source.at("data").text()), true, nil
		}
	}
	return provider.Part{}, false, unknownPart(kind, field)
}

func (t *reading) toolResult(part value, field string) (provider.Part, error) {
	inside := &reading{e: t.e, calls: t.calls, ignored: t.ignored}
	parts, err := t.parts(part.at("content"), field+".content", flatBlock)
	if err != nil {
		return provider.Part{}, err
	}
	if err := inside.result(part.at("tool_use_id").text(), field+".tool_use_id", parts, part.at("is_error").truth()); err != nil {
		return provider.Part{}, err
	}
	return inside.r.Messages[0].Parts[0], nil
}

// flatBlock reads what stands inside of a tool's result.
func flatBlock(part value, kind, field string) (provider.Part, bool, error) {
	switch kind {
	case "text":
		return provider.Text(part.at("text").text()), !part.at("text").empty(), nil
	case "document":
		if source := part.at("source"); source.at("type").text() == "text" {
			return provider.Text(source.at("data").text()), true, nil
		}
	case "tool_reference": // Claude Code's tool search: names a tool that is in the list
		return provider.Text("tool: " + part.at("tool_name").text()), true, nil
	}
	return provider.Part{}, false, unknownPart(kind, field)
}
