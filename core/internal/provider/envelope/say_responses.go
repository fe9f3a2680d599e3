package envelope

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/relo-dev/relo/core/internal/provider"
)

// say writes an event of the Responses wire.
func (a *Answer) say(kind string, v obj) {
	v["type"], v["sequence_number"] = kind, a.events
	a.events++
	a.event(kind, v)
}

// response is the document that begins and ends a stream.
func (a *Answer) response(status string) obj {
	items := a.items
	if items == nil {
		items = []any{}
	}
	return obj{
		"id": "resp_" + a.id, "object": "response", "created_at": a.created, "status": status, "model": a.e.Model,
		"output": items, "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": obj{}, "store": false,
		"parallel_tool_calls": true, "previous_response_id": nil, "tool_choice": "auto", "tools": []any{}, "usage": nil,
	}
}

func (a *Answer) itemID(prefix string) string { return fmt.Sprintf("%s_%s_%d", prefix, a.id, a.next) }

// textItem is a message with one piece of text; nil: none yet.
func (a *Answer) textItem(status string, content []any) obj {
	return obj{"id": a.itemID("msg"), "type": "message", "role": "assistant", "status": status, "content": content}
}

func outputText(text string) obj {
	return obj{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func (a *Answer) responsesText(text string) {
	if !a.open {
		a.open, a.from = true, a.text.Len()
		a.say("response.output_item.added", obj{"output_index": a.next, "item": a.textItem("in_progress", []any{})})
		a.say("response.content_part.added", obj{"output_index": a.next, "item_id": a.itemID("msg"), "content_index": 0, "part": outputText("")})
	}
	a.say("response.output_text.delta", obj{"output_index": a.next, "item_id": a.itemID("msg"), "content_index": 0, "delta": text, "logprobs": []any{}})
}

// closeText ends the item of text that is open.
func (a *Answer) closeText() {
	if !a.open {
		return
	}
	text := a.text.String()[a.from:]
	at := obj{"output_index": a.next, "item_id": a.itemID("msg"), "content_index": 0}
	done, part := maps.Clone(at), maps.Clone(at)
	done["text"], done["logprobs"] = text, []any{}
	a.say("response.output_text.done", done)
	part["part"] = outputText(text)
	a.say("response.content_part.done", part)
	a.finish(a.textItem(a.status, []any{outputText(text)}))
	a.open = false
}

// finish ends an item.
func (a *Answer) finish(item obj) {
	a.say("response.output_item.done", obj{"output_index": a.next, "item": item})
	a.items = append(a.items, item)
	a.next++
}

func (a *Answer) responsesDone(resp provider.Response) {
	if resp.Stop == provider.StopLength {
		a.status = "incomplete"
	}
	for _, p := range a.left(resp) {
		switch p.Kind {
		case provider.PartText:
			a.write(p.Text)
		case provider.PartReasoning:
			a.closeText()
			a.sayReasoning(a.reasoningItem(p))
		default:
			a.closeText()
			a.sayCall(p.Call)
		}
	}
	a.closeText()
	final := a.finalResponse(resp)
	a.say(fmt.Sprintf("response.%s", final["status"]), obj{"response": final})
}

func (a *Answer) finalResponse(resp provider.Response) obj {
	status, why := "completed", ""
	switch resp.Stop {
	case provider.StopLength:
		status, why = "incomplete", "max_output_tokens"
	case provider.StopRefusal:
		status, why = "incomplete", "content_filter"
	default:
	}
	r := a.response(status)
	if why != "" {
		r["incomplete_details"] = obj{"reason": why}
	}
	u := resp.Usage
	// Unknown is written as 0: clients refuse a last event without a usage (vercel/ai,
	// openai-responses-api.ts: the schema of this event demands it).
	r["usage"] = obj{
		"input_tokens": count(u.TokensIn), "output_tokens": count(u.TokensOut), "total_tokens": count(u.TokensIn) + count(u.TokensOut),
		"input_tokens_details": obj{"cached_tokens": count(u.TokensCached)}, "output_tokens_details": obj{"reasoning_tokens": 0},
	}
	return r
}

func (a *Answer) reasoningItem(p provider.Part) obj {
	item := obj{"id": a.itemID("rs"), "type": "reasoning", "summary": []any{}}
	if p.Text != "" {
		item["summary"] = []any{obj{"type": "summary_text", "text": p.Text}}
	}
	if signature := a.signature(p); signature != "" {
		item["encrypted_content"] = signature
	}
	return item
}

func (a *Answer) sayReasoning(item obj) {
	begun := maps.Clone(item)
	begun["summary"] = []any{}
	a.say("response.output_item.added", obj{"output_index": a.next, "item": begun})
	if list, ok := item["summary"].([]any); ok && len(list) > 0 {
		part, _ := list[0].(obj)
		at := func(more obj) obj {
			more["output_index"], more["item_id"], more["summary_index"] = a.next, item["id"], 0
			return more
		}
		a.say("response.reasoning_summary_part.added", at(obj{"part": obj{"type": "summary_text", "text": ""}}))
		a.say("response.reasoning_summary_text.delta", at(obj{"delta": part["text"]}))
		a.say("response.reasoning_summary_text.done", at(obj{"text": part["text"]}))
		a.say("response.reasoning_summary_part.done", at(obj{"part": part}))
	}
	a.finish(item)
}

// callItem writes a call as the program knows the tool; field is where its input is.
func (a *Answer) callItem(c *provider.Call) (item obj, field string) {
	tool, ok := a.names[c.Name]
	if !ok {
		tool.name = c.Name
	}
	item = obj{"id": a.itemID("fc"), "type": "function_call", "status": "completed", "call_id": c.ID, "name": tool.name, "arguments": args(c)}
	if tool.namespace != "" {
		item["namespace"] = tool.namespace
	}
	if !tool.custom {
		return item, "arguments"
	}
	input := struct {
		Input *string `json:"input"`
	}{}
	if json.Unmarshal(c.Args, &input) != nil || input.Input == nil {
		whole := args(c) // the model gave it another shape; the tool will say so
		input.Input = &whole
	}
	delete(item, "arguments")
	item["id"], item["type"], item["input"] = a.itemID("ctc"), "custom_tool_call", *input.Input
	return item, "input"
}

func (a *Answer) sayCall(c *provider.Call) {
	item, field := a.callItem(c)
	event := "response.function_call_arguments"
	if field == "input" {
		event = "response.custom_tool_call_input"
	}
	begun := maps.Clone(item)
	begun["status"], begun[field] = "in_progress", ""
	a.say("response.output_item.added", obj{"output_index": a.next, "item": begun})
	a.say(event+".delta", obj{"output_index": a.next, "item_id": item["id"], "delta": item[field]})
	a.say(event+".done", obj{"output_index": a.next, "item_id": item["id"], field: item[field], "name": item["name"]})
	a.finish(item)
}

func (a *Answer) responsesWhole(resp provider.Response) obj {
	for _, p := range a.left(resp) {
		switch p.Kind {
		case provider.PartText:
			status := "completed"
			if resp.Stop == provider.StopLength {
				status = "incomplete"
			}
			a.items = append(a.items, a.textItem(status, []any{outputText(p.Text)}))
		case provider.PartReasoning:
			a.items = append(a.items, a.reasoningItem(p))
		default:
			item, _ := a.callItem(p.Call)
			a.items = append(a.items, item)
		}
		a.next++
	}
	return a.finalResponse(resp)
}
