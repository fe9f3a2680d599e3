package envelope

import (
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// chunk writes a chat.completion.chunk with one choice.
func (a *Answer) chunk(delta obj, finish any) {
	c := a.completion("chat.completion.chunk")
	c["choices"] = []any{obj{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}
	a.event("", c)
}

func (a *Answer) completion(object string) obj {
	return obj{"id": "chatcmpl-" + a.id, "object": object, "created": a.created, "model": a.e.Model}
}

func (a *Answer) chatDone(resp provider.Response) {
	for _, p := range a.left(resp) {
		switch p.Kind {
		case provider.PartText:
			a.write(p.Text)
		case provider.PartReasoning:
			if p.Text != "" { // a signature has no place on this wire
				a.chunk(obj{"reasoning_content": p.Text}, nil)
			}
		default:
			call := chatCall(p.Call)
			call["index"] = a.next
			a.next++
			a.chunk(obj{"tool_calls": []any{call}}, nil)
		}
	}
	a.chunk(obj{}, chatFinish(resp))
	if u := chatUsage(resp.Usage); a.e.IncludeUsage && u != nil {
		c := a.completion("chat.completion.chunk")
		c["choices"], c["usage"] = []any{}, u
		a.event("", c)
	}
	a.out.WriteString("data: [DONE]\n\n")
}

func (a *Answer) chatWhole(resp provider.Response) obj {
	var text, thought strings.Builder
	var calls []any
	for _, p := range a.left(resp) {
		switch p.Kind {
		case provider.PartText:
			text.WriteString(p.Text)
		case provider.PartReasoning:
			thought.WriteString(p.Text)
		default:
			calls = append(calls, chatCall(p.Call))
		}
	}
	m := obj{"role": "assistant", "content": text.String(), "refusal": nil}
	if len(calls) > 0 {
		m["tool_calls"], m["content"] = calls, orNull(text.String())
	}
	if thought.Len() > 0 {
		m["reasoning_content"] = thought.String()
	}
	c := a.completion("chat.completion")
	c["choices"] = []any{obj{"index": 0, "message": m, "finish_reason": chatFinish(resp), "logprobs": nil}}
	if u := chatUsage(resp.Usage); u != nil {
		c["usage"] = u
	}
	return c
}

func chatCall(c *provider.Call) obj {
	return obj{"id": c.ID, "type": "function", "function": obj{"name": c.Name, "arguments": args(c)}}
}

func chatFinish(resp provider.Response) string {
	switch {
	case calls(resp) && resp.Stop != provider.StopLength:
		return "tool_calls"
	case resp.Stop == provider.StopLength:
		return "length"
	case resp.Stop == provider.StopRefusal:
		return "content_filter"
	}
	return "stop"
}

// chatUsage gives nil when the provider did not say: the field may be left out.
func chatUsage(u provider.Usage) obj {
	if u.TokensIn == nil && u.TokensOut == nil {
		return nil
	}
	out := obj{"prompt_tokens": count(u.TokensIn), "completion_tokens": count(u.TokensOut), "total_tokens": count(u.TokensIn) + count(u.TokensOut)}
	if u.TokensCached != nil {
		out["prompt_tokens_details"] = obj{"cached_tokens": *u.TokensCached}
	}
	return out
}
