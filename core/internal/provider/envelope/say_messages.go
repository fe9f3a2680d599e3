package envelope

import (
	"encoding/json"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// message is the document that begins a stream, or the whole answer.
func (a *Answer) message(content []any, stop any, u provider.Usage) obj {
	return obj{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.e.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": messagesUsage(u),
	}
}

// messagesUsage counts as this wire does: input_tokens leaves out what was read from the
// cache. The wire demands numbers, so what is not known is 0.
func messagesUsage(u provider.Usage) obj {
	cached := min(count(u.TokensCached), count(u.TokensIn))
	return obj{
		"input_tokens": count(u.TokensIn) - cached, "cache_read_input_tokens": cached,
		"cache_creation_input_tokens": 0, "output_tokens": count(u.TokensOut),
	}
}

func (a *Answer) blockStart(block obj) {
	a.event("content_block_start", obj{"type": "content_block_start", "index": a.next, "content_block": block})
}

func (a *Answer) blockDelta(delta obj) {
	a.event("content_block_delta", obj{"type": "content_block_delta", "index": a.next, "delta": delta})
}

func (a *Answer) blockStop() {
	a.event("content_block_stop", obj{"type": "content_block_stop", "index": a.next})
	a.next++
}

func (a *Answer) messagesText(text string) {
	if !a.open {
		a.open = true
		a.blockStart(obj{"type": "text", "text": ""})
	}
	a.blockDelta(obj{"type": "text_delta", "text": text})
}

func (a *Answer) messagesDone(resp provider.Response) {
	closeText := func() {
		if a.open {
			a.open = false
			a.blockStop()
		}
	}
	for _, p := range a.left(resp) {
		if p.Kind == provider.PartText {
			a.write(p.Text)
			continue
		}
		closeText()
		begun, pieces := started(a.blockOf(p))
		a.blockStart(begun)
		for _, piece := range pieces {
			a.blockDelta(piece)
		}
		a.blockStop()
	}
	closeText()
	a.event("message_delta", obj{
		"type": "message_delta", "delta": obj{"stop_reason": messagesStop(resp), "stop_sequence": nil}, "usage": messagesUsage(resp.Usage),
	})
	a.event("message_stop", obj{"type": "message_stop"})
}

// blockOf writes a part as a content block.
func (a *Answer) blockOf(p provider.Part) obj {
	switch p.Kind {
	case provider.PartText:
		return obj{"type": "text", "text": p.Text}
	case provider.PartCall:
		return obj{"type": "tool_use", "id": p.Call.ID, "name": p.Call.Name, "input": arguments(args(p.Call))}
	default: // reasoning
	}
	if data, ok := strings.CutPrefix(p.Signature, redactedMark); ok {
		return obj{"type": "redacted_thinking", "data": a.signature(provider.Part{Signature: data})}
	}
	return obj{"type": "thinking", "thinking": p.Text, "signature": a.signature(p)}
}

// started takes a block apart into how it begins and the pieces that follow.
func started(block obj) (begun obj, pieces []obj) {
	switch block["type"] {
	case "tool_use":
		input, _ := block["input"].(json.RawMessage)
		block["input"] = obj{}
		return block, []obj{{"type": "input_json_delta", "partial_json": string(input)}}
	case "thinking":
		text, signature := block["thinking"], block["signature"]
		block["thinking"], block["signature"] = "", ""
		if text != "" {
			pieces = append(pieces, obj{"type": "thinking_delta", "thinking": text})
		}
		return block, append(pieces, obj{"type": "signature_delta", "signature": signature})
	}
	return block, nil
}

func (a *Answer) messagesWhole(resp provider.Response) obj {
	content := []any{}
	for _, p := range a.left(resp) {
		content = append(content, a.blockOf(p))
	}
	return a.message(content, messagesStop(resp), resp.Usage)
}

// messagesStop gives stop_reason (Anthropic's documentation, "Handling stop reasons").
func messagesStop(resp provider.Response) string {
	switch {
	case resp.Stop == provider.StopLength:
		return "max_tokens"
	case calls(resp):
		return "tool_use"
	case resp.Stop == provider.StopRefusal:
		return "refusal"
	}
	return "end_turn"
}
