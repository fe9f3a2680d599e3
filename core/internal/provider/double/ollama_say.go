package double

import (
	"fmt"
	"strings"
	"time"
)

// ollamaContext is the context of a machine with little video memory, in tokens
// (Ollama's documentation, "Context length").
const ollamaContext = 4096

func (ollamaWire) frame(e event) string { return e.data + "\n" }
func (ollamaWire) contentType() string  { return "application/x-ndjson" }

func (ollamaWire) line(a *asked, message, rest string) string {
	at := time.Now().UTC().Format(time.RFC3339Nano)
	return `{"model":` + toJSON(a.turn.Model) + `,"created_at":"` + at + `","message":` + message + rest + `}`
}

func (ollamaWire) end(a *asked, r Reply) string {
	reason := "stop" // beside calls too
	if r.Length {
		reason = "length"
	}
	rest := `,"done":true,"done_reason":"` + reason + `","total_duration":1,"load_duration":1`
	if r.NoUsage {
		return rest
	}
	in, out, cached := a.tokens(r)
	if cached > 0 {
		rest += fmt.Sprintf(`,"prompt_eval_cached_count":%d`, cached)
	}
	return rest + fmt.Sprintf(`,"prompt_eval_count":%d,"prompt_eval_duration":1,"eval_count":%d,"eval_duration":1`, in, out)
}

// calls are whole: the server parses them itself, and gives none that the limit of
// tokens cut short. The arguments go out as the player has them, well formed or not.
func (ollamaWire) calls(a *asked, r Reply) (all []string) {
	if r.Length {
		return nil
	}
	for i, c := range r.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_d%04d_%d", a.turn.N, i)
		}
		all = append(all, fmt.Sprintf(`{"id":%s,"function":{"index":%d,"name":%s,"arguments":%s}}`, toJSON(id), i, toJSON(c.Name), c.arguments()))
	}
	return all
}

// events follows Ollama's documentation, "Streaming" and "Tool calling".
func (w ollamaWire) events(a *asked, r Reply) (all []event, last int) {
	say := func(message string) {
		all = append(all, event{data: w.line(a, message, `,"done":false`)})
		last = len(all) - 1
	}
	for _, p := range pieces(r.Reasoning) {
		say(toJSON(map[string]any{"role": "assistant", "content": "", "thinking": p}))
	}
	for _, p := range pieces(r.Text) {
		say(toJSON(map[string]any{"role": "assistant", "content": p}))
	}
	if r.ErrorEvent != "" {
		return append(all, event{data: r.ErrorEvent}), last
	}
	for _, c := range w.calls(a, r) {
		say(`{"role":"assistant","content":"","tool_calls":[` + c + `]}`)
	}
	return append(all, event{data: w.line(a, `{"role":"assistant","content":""}`, w.end(a, r))}), last
}

func (w ollamaWire) whole(a *asked, r Reply) string {
	message := `{"role":"assistant","content":` + toJSON(r.Text)
	if r.Reasoning != "" {
		message += `,"thinking":` + toJSON(r.Reasoning)
	}
	if calls := w.calls(a, r); len(calls) > 0 {
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return w.line(a, message+`}`, w.end(a, r))
}
