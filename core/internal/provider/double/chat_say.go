package double

import (
	"fmt"
	"time"
)

func (chatWire) callID(n, i int, c Call) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_d%04d_%d", n, i)
}

func chatFinish(r Reply) string {
	switch {
	case r.Length:
		return "length"
	case len(r.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func chatUsage(a *asked, r Reply) map[string]any {
	in, out, cached := a.tokens(r)
	return map[string]any{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details": map[string]any{"cached_tokens": cached},
	}
}

// events follows OpenAI's reference of the chat completion chunk object.
func (w chatWire) events(a *asked, r Reply) (all []event, last int) {
	frame := func(choices []any, usage any) {
		m := map[string]any{
			"id": fmt.Sprintf("chatcmpl-d%04d", a.turn.N), "object": "chat.completion.chunk",
			"created": time.Now().Unix(), "model": a.turn.Model, "choices": choices,
		}
		if usage != nil {
			m["usage"] = usage
		}
		all = append(all, event{data: toJSON(m)})
	}
	say := func(delta map[string]any) {
		frame([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": nil}}, nil)
		last = len(all) - 1
	}
	if r.ErrorEvent == "" || r.Text != "" {
		say(map[string]any{"role": "assistant", "content": ""})
	}
	for _, p := range pieces(r.Reasoning) {
		say(map[string]any{"reasoning_content": p})
	}
	for _, p := range pieces(r.Text) {
		say(map[string]any{"content": p})
	}
	if r.ErrorEvent != "" {
		return append(all, event{data: r.ErrorEvent}), last
	}
	for i, c := range r.Calls {
		say(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": w.callID(a.turn.N, i, c), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": ""},
		}}})
		for _, p := range pieces(c.arguments()) {
			say(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": p}}}})
		}
	}
	frame([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": chatFinish(r)}}, nil)
	if a.includeUsage && !r.NoUsage {
		frame([]any{}, chatUsage(a, r))
	}
	return append(all, event{data: "[DONE]"}), last
}

func (w chatWire) whole(a *asked, r Reply) string {
	message := map[string]any{"role": "assistant", "content": orNull(r.Text)}
	if r.Reasoning != "" {
		message["reasoning_content"] = r.Reasoning
	}
	var calls []any
	for i, c := range r.Calls {
		calls = append(calls, map[string]any{
			"id": w.callID(a.turn.N, i, c), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": c.arguments()},
		})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	m := map[string]any{
		"id": fmt.Sprintf("chatcmpl-d%04d", a.turn.N), "object": "chat.completion",
		"created": time.Now().Unix(), "model": a.turn.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": chatFinish(r)}},
	}
	if !r.NoUsage {
		m["usage"] = chatUsage(a, r)
	}
	return toJSON(m)
}
