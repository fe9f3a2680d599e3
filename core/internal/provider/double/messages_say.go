package double

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// sign is the double's proof over its thinking: it takes back only what it said.
func sign(thinking string) string {
	sum := sha256.Sum256([]byte("double" + thinking))
	return hex.EncodeToString(sum[:16])
}

func messagesStop(r Reply) string {
	switch {
	case r.Length:
		return "max_tokens"
	case len(r.Calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

// messagesUsage counts as Anthropic does: input_tokens leaves the cached ones out.
func messagesUsage(a *asked, r Reply) map[string]any {
	in, out, cached := a.tokens(r)
	return map[string]any{
		"input_tokens": in - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": out,
	}
}

func (messagesWire) callID(n, i int, c Call) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("toolu_d%04d_%d", n, i)
}

// said is a block of the answer: as it looks whole, as it begins, and its pieces.
type said struct {
	whole, begun map[string]any
	pieces       []map[string]any
}

func (w messagesWire) blocks(a *asked, r Reply) []said {
	var blocks []said
	if r.Reasoning != "" {
		b := said{
			whole: map[string]any{"type": "thinking", "thinking": r.Reasoning, "signature": sign(r.Reasoning)},
			begun: map[string]any{"type": "thinking", "thinking": "", "signature": ""},
		}
		for _, p := range pieces(r.Reasoning) {
			b.pieces = append(b.pieces, map[string]any{"type": "thinking_delta", "thinking": p})
		}
		b.pieces = append(b.pieces, map[string]any{"type": "signature_delta", "signature": sign(r.Reasoning)})
		blocks = append(blocks, b)
	}
	if r.Text != "" {
		b := said{whole: map[string]any{"type": "text", "text": r.Text}, begun: map[string]any{"type": "text", "text": ""}}
		for _, p := range pieces(r.Text) {
			b.pieces = append(b.pieces, map[string]any{"type": "text_delta", "text": p})
		}
		blocks = append(blocks, b)
	}
	for i, c := range r.Calls {
		id := w.callID(a.turn.N, i, c)
		b := said{
			whole: map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": json.RawMessage(c.arguments())},
			begun: map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": map[string]any{}},
		}
		for _, p := range pieces(c.arguments()) {
			b.pieces = append(b.pieces, map[string]any{"type": "input_json_delta", "partial_json": p})
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func (messagesWire) message(a *asked, r Reply) map[string]any {
	m := map[string]any{
		"id": fmt.Sprintf("msg_d%04d", a.turn.N), "type": "message", "role": "assistant", "model": a.turn.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
	}
	if !r.NoUsage {
		m["usage"] = messagesUsage(a, r)
	}
	return m
}

func (w messagesWire) whole(a *asked, r Reply) string {
	m := w.message(a, r)
	content := []any{}
	for _, b := range w.blocks(a, r) {
		content = append(content, b.whole)
	}
	m["content"], m["stop_reason"] = content, messagesStop(r)
	return toJSON(m)
}

// events follows Anthropic's documentation, "Streaming messages".
func (w messagesWire) events(a *asked, r Reply) (all []event, last int) {
	say := func(name string, fields map[string]any) {
		fields["type"] = name
		all = append(all, event{name: name, data: toJSON(fields)})
	}
	if r.ErrorEvent != "" && r.Text == "" {
		return []event{{name: "error", data: r.ErrorEvent}}, 0
	}
	say("message_start", map[string]any{"message": w.message(a, r)})
	if r.ErrorEvent != "" {
		r.Calls = nil // it breaks off after the text
	}
	for i, b := range w.blocks(a, r) {
		say("content_block_start", map[string]any{"index": i, "content_block": b.begun})
		for _, p := range b.pieces {
			say("content_block_delta", map[string]any{"index": i, "delta": p})
			last = len(all) - 1
		}
		say("content_block_stop", map[string]any{"index": i})
	}
	if r.ErrorEvent != "" {
		return append(all, event{name: "error", data: r.ErrorEvent}), last
	}
	end := map[string]any{"delta": map[string]any{"stop_reason": messagesStop(r), "stop_sequence": nil}}
	if !r.NoUsage {
		_, out, _ := a.tokens(r)
		end["usage"] = map[string]any{"output_tokens": out}
	}
	say("message_delta", end)
	say("message_stop", map[string]any{})
	return all, last
}
