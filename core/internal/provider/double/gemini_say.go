package double

import (
	"encoding/json"
	"fmt"
)

// chunk is a piece of the answer with these parts.
func (geminiWire) chunk(a *asked, r Reply, parts []any, finish string) map[string]any {
	one := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if finish != "" {
		one["finishReason"] = finish
	}
	m := map[string]any{"candidates": []any{one}, "modelVersion": a.turn.Model, "responseId": fmt.Sprintf("gem-d%04d", a.turn.N)}
	if !r.NoUsage {
		in, out, cached := a.tokens(r)
		m["usageMetadata"] = map[string]any{
			"promptTokenCount": in, "candidatesTokenCount": out, "cachedContentTokenCount": cached, "totalTokenCount": in + out,
		}
	}
	return m
}

func geminiFinish(r Reply) string {
	if r.Length {
		return "MAX_TOKENS"
	}
	return "STOP"
}

// calls are the parts of the reply's calls; the last one of an answer that ran out of tokens
// never comes, since the API gives whole calls only.
func (geminiWire) calls(a *asked, r Reply) []any {
	var parts []any
	for i, c := range r.Calls {
		args := c.arguments()
		if !json.Valid([]byte(args)) && r.Length {
			continue
		}
		call := map[string]any{"name": c.Name, "args": args}
		if json.Valid([]byte(args)) {
			call["args"] = json.RawMessage(args)
		}
		if c.ID != "" {
			call["id"] = c.ID
		} else {
			call["id"] = fmt.Sprintf("fc-d%04d-%d", a.turn.N, i)
		}
		p := map[string]any{"functionCall": call}
		if i == 0 {
			p["thoughtSignature"] = sign(c.Name)
		}
		parts = append(parts, p)
	}
	return parts
}

func (w geminiWire) whole(a *asked, r Reply) string {
	parts := []any{}
	if r.Reasoning != "" {
		parts = append(parts, map[string]any{"text": r.Reasoning, "thought": true, "thoughtSignature": sign(r.Reasoning)})
	}
	if r.Text != "" {
		parts = append(parts, map[string]any{"text": r.Text})
	}
	return toJSON(w.chunk(a, r, append(parts, w.calls(a, r)...), geminiFinish(r)))
}

// events follows the API's reference of streamGenerateContent.
func (w geminiWire) events(a *asked, r Reply) (all []event, last int) {
	say := func(m map[string]any) { all = append(all, event{data: toJSON(m)}) }
	if r.ErrorEvent != "" && r.Text == "" {
		return []event{{data: r.ErrorEvent}}, 0
	}
	thoughts := pieces(r.Reasoning)
	for i, p := range thoughts {
		part := map[string]any{"text": p, "thought": true}
		if i == len(thoughts)-1 {
			part["thoughtSignature"] = sign(r.Reasoning)
		}
		say(w.chunk(a, r, []any{part}, ""))
	}
	for _, p := range pieces(r.Text) {
		say(w.chunk(a, r, []any{map[string]any{"text": p}}, ""))
		last = len(all) - 1
	}
	if r.ErrorEvent != "" {
		return append(all, event{data: r.ErrorEvent}), last
	}
	for _, p := range w.calls(a, r) {
		say(w.chunk(a, r, []any{p}, ""))
		last = len(all) - 1
	}
	say(w.chunk(a, r, []any{}, geminiFinish(r)))
	return all, last
}
