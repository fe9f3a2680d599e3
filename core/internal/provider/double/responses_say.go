package double

import (
	"fmt"
	"time"
)

func (responsesWire) callID(n, i int, c Call) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_r%04d_%d", n, i)
}

// items are the answer's output.
func (w responsesWire) items(a *asked, r Reply) []map[string]any {
	items := []map[string]any{}
	if r.Reasoning != "" {
		items = append(items, map[string]any{
			"type": "reasoning", "id": fmt.Sprintf("rs_d%04d", a.turn.N), "encrypted_content": sign(r.Reasoning),
			"summary": []any{map[string]any{"type": "summary_text", "text": r.Reasoning}},
		})
	}
	if r.Text != "" {
		items = append(items, map[string]any{
			"type": "message", "id": fmt.Sprintf("msg_d%04d", a.turn.N), "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": r.Text, "annotations": []any{}}},
		})
	}
	for i, c := range r.Calls {
		status := "completed"
		if r.Length && i == len(r.Calls)-1 {
			status = "incomplete"
		}
		items = append(items, map[string]any{
			"type": "function_call", "id": fmt.Sprintf("fc_d%04d_%d", a.turn.N, i), "call_id": w.callID(a.turn.N, i, c), "name": c.Name,
			"arguments": c.arguments(), "status": status,
		})
	}
	return items
}

func (w responsesWire) response(a *asked, r Reply, status string) map[string]any {
	m := map[string]any{
		"id": fmt.Sprintf("resp_d%04d", a.turn.N), "object": "response", "created_at": time.Now().Unix(), "model": a.turn.Model, "status": status,
		"output": []any{}, "error": nil, "incomplete_details": nil, "parallel_tool_calls": true, "tools": []any{}, "tool_choice": "auto",
	}
	if status == "in_progress" {
		return m
	}
	m["output"] = w.items(a, r)
	if r.Length {
		m["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	}
	if !r.NoUsage {
		in, out, cached := a.tokens(r)
		m["usage"] = map[string]any{
			"input_tokens": in, "output_tokens": out, "total_tokens": in + out,
			"input_tokens_details": map[string]any{"cached_tokens": cached}, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		}
	}
	return m
}

func responsesStatus(r Reply) string {
	if r.Length {
		return "incomplete"
	}
	return "completed"
}

func (w responsesWire) whole(a *asked, r Reply) string {
	return toJSON(w.response(a, r, responsesStatus(r)))
}

// events follows OpenAI's API reference, "Streaming events".
func (w responsesWire) events(a *asked, r Reply) (all []event, last int) {
	say := func(name string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = name, len(all)
		all = append(all, event{name: name, data: toJSON(fields)})
	}
	if r.ErrorEvent != "" && r.Text == "" {
		return []event{{name: "error", data: r.ErrorEvent}}, 0
	}
	say("response.created", map[string]any{"response": w.response(a, r, "in_progress")})
	if r.ErrorEvent != "" {
		r.Calls = nil // it breaks off after the text
	}
	for i, it := range w.items(a, r) {
		begun := map[string]any{"type": it["type"], "id": it["id"]}
		say("response.output_item.added", map[string]any{"output_index": i, "item": begun})
		name, text := "", ""
		switch it["type"] {
		case "message":
			name, text = "response.output_text.delta", r.Text
		case "function_call":
			name, text = "response.function_call_arguments.delta", fmt.Sprint(it["arguments"])
		case "reasoning":
			name, text = "response.reasoning_summary_text.delta", r.Reasoning
		}
		for _, p := range pieces(text) {
			say(name, map[string]any{"output_index": i, "item_id": it["id"], "content_index": 0, "delta": p})
			last = len(all) - 1
		}
		say("response.output_item.done", map[string]any{"output_index": i, "item": it})
	}
	if r.ErrorEvent != "" {
		return append(all, event{name: "error", data: r.ErrorEvent}), last
	}
	status := responsesStatus(r)
	say("response."+status, map[string]any{"response": w.response(a, r, status)})
	return all, last
}
