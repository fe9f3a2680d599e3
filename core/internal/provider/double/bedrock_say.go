package double

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// errorBody is an error as AWS's REST services send it; its type is in a header.
func (bedrockWire) errorBody(r *refusal) string {
	if r.body != "" {
		return r.body
	}
	return toJSON(map[string]any{"message": r.words})
}

// label gives every answer an id, and an error its type with the address of its name
// space behind a colon, as AWS does.
func (bedrockWire) label(h http.Header, rec *Record, no *refusal) {
	if h.Get("X-Amzn-Requestid") == "" {
		h.Set("X-Amzn-Requestid", fmt.Sprintf("d%07d-0000-4000-8000-000000000000", rec.N))
	}
	if no != nil && no.kind != "" {
		h.Set("X-Amzn-Errortype", no.kind+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	}
}

// usual: the types and words of ConverseStream's reference, "Errors"; 401 and 402 are
// a proxy's.
func (bedrockWire) usual(status int) *refusal {
	row, ok := bedrockWords[status]
	if !ok {
		row = bedrockWords[http.StatusInternalServerError]
	}
	return &refusal{status: status, kind: row[0], words: row[1]}
}

var bedrockWords = map[int][2]string{
	http.StatusBadRequest:            {"ValidationException", "The input fails to satisfy the constraints specified by Amazon Bedrock."},
	http.StatusUnauthorized:          {"UnrecognizedClientException", "The security token included in the request is invalid."},
	http.StatusPaymentRequired:       {"AccessDeniedException", "The account has no valid payment instrument."},
	http.StatusForbidden:             {"AccessDeniedException", "You don't have access to the model with the specified model ID."},
	http.StatusNotFound:              {"ResourceNotFoundException", "Could not resolve the foundation model from the provided model identifier."},
	http.StatusRequestTimeout:        {"ModelTimeoutException", "The request took too long to process. Processing time exceeded the model timeout length."},
	http.StatusRequestEntityTooLarge: {"RequestEntityTooLargeException", "The request is too large."},
	http.StatusFailedDependency:      {"ModelErrorException", "The system encountered an unexpected error during processing. Try your request again."},
	http.StatusTooManyRequests:       {"ThrottlingException", "Too many requests, please wait before trying again."},
	http.StatusInternalServerError:   {"InternalServerException", "The system encountered an unexpected error during processing. Try your request again."},
	http.StatusServiceUnavailable:    {"ServiceUnavailableException", "Bedrock is unable to process your request."},
}

func (bedrockWire) contentType() string { return "application/vnd.amazon.eventstream" }

// frame writes an event; one whose name ends in Exception is an exception.
func (bedrockWire) frame(e event) string {
	m := eventstream.Message{Payload: []byte(e.data)}
	kind, header := "event", ":event-type"
	if strings.HasSuffix(e.name, "Exception") {
		kind, header = "exception", ":exception-type"
	}
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	m.Headers.Set(header, eventstream.StringValue(e.name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		return "" // a name over 32 KiB: no player has one
	}
	return b.String()
}

// BedrockFrame writes an event, or an exception, as a frame of Bedrock's stream, for a
// Reply's Raw.
func BedrockFrame(name, data string) string {
	return bedrockWire{}.frame(event{name: name, data: data})
}

// keepAlive: Bedrock sends none; this is an event of a type that nobody knows, as AWS
// may add one.
func (w bedrockWire) keepAlive() string { return w.frame(event{name: "ping", data: "{}"}) }

func bedrockStop(r Reply) string {
	switch {
	case r.Length:
		return "max_tokens"
	case len(r.Calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

// bedrockUsage counts as Bedrock does: inputTokens leaves the cached ones out.
func bedrockUsage(a *asked, r Reply) map[string]any {
	in, out, cached := a.tokens(r)
	return map[string]any{
		"inputTokens": in - cached, "cacheReadInputTokens": cached, "cacheWriteInputTokens": 0, "outputTokens": out, "totalTokens": in + out,
	}
}

func (bedrockWire) callID(n, i int, c Call) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("tooluse_d%04d_%d", n, i)
}

func (w bedrockWire) whole(a *asked, r Reply) string {
	var content []any
	if r.Reasoning != "" {
		content = append(content, map[string]any{"reasoningContent": map[string]any{
			"reasoningText": map[string]any{"text": r.Reasoning, "signature": sign(r.Reasoning)},
		}})
	}
	if r.Text != "" {
		content = append(content, map[string]any{"text": r.Text})
	}
	for i, c := range r.Calls {
		content = append(content, map[string]any{"toolUse": map[string]any{
			"toolUseId": w.callID(a.turn.N, i, c), "name": c.Name, "input": json.RawMessage(c.arguments()),
		}})
	}
	m := map[string]any{
		"output":     map[string]any{"message": map[string]any{"role": "assistant", "content": content}},
		"stopReason": bedrockStop(r), "metrics": map[string]any{"latencyMs": 1},
	}
	if !r.NoUsage {
		m["usage"] = bedrockUsage(a, r)
	}
	return toJSON(m)
}

// events follows Bedrock's API reference, ConverseStreamOutput: text and reasoning
// have no contentBlockStart, and the usage comes after the end of the message.
func (w bedrockWire) events(a *asked, r Reply) (all []event, last int) {
	say := func(name string, fields map[string]any) { all = append(all, event{name, toJSON(fields)}) }
	if r.ErrorEvent != "" && r.Text == "" {
		return []event{{exceptionOf(r.ErrorEvent), r.ErrorEvent}}, 0
	}
	say("messageStart", map[string]any{"role": "assistant"})
	if r.ErrorEvent != "" {
		r.Calls = nil // it breaks off after the text
	}
	index := 0
	block := func(deltas []any) {
		for _, d := range deltas {
			say("contentBlockDelta", map[string]any{"contentBlockIndex": index, "delta": d, "p": "abcdefgh"[:1+len(all)%8]})
			last = len(all) - 1
		}
		say("contentBlockStop", map[string]any{"contentBlockIndex": index})
		index++
	}
	if r.Reasoning != "" {
		var deltas []any
		for _, p := range pieces(r.Reasoning) {
			deltas = append(deltas, map[string]any{"reasoningContent": map[string]any{"text": p}})
		}
		block(append(deltas, map[string]any{"reasoningContent": map[string]any{"signature": sign(r.Reasoning)}}))
	}
	if r.Text != "" {
		var deltas []any
		for _, p := range pieces(r.Text) {
			deltas = append(deltas, map[string]any{"text": p})
		}
		block(deltas)
	}
	for i, c := range r.Calls {
		say("contentBlockStart", map[string]any{"contentBlockIndex": index, "start": map[string]any{
			"toolUse": map[string]any{"toolUseId": w.callID(a.turn.N, i, c), "name": c.Name},
		}})
		var deltas []any
		for _, p := range pieces(c.arguments()) {
			deltas = append(deltas, map[string]any{"toolUse": map[string]any{"input": p}})
		}
		block(deltas)
	}
	if r.ErrorEvent != "" {
		return append(all, event{exceptionOf(r.ErrorEvent), r.ErrorEvent}), last
	}
	say("messageStop", map[string]any{"stopReason": bedrockStop(r)})
	if !r.NoUsage {
		say("metadata", map[string]any{"usage": bedrockUsage(a, r), "metrics": map[string]any{"latencyMs": 1}})
	}
	return all, last
}

// exceptionOf names the exception for a player's ErrorEvent: by its own __type, else by
// what the other wires' words for it mean.
func exceptionOf(body string) string {
	var e struct {
		Type  string `json:"__type"`
		Error struct {
			Type string `json:"type"`
			Code any    `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &e) == nil && e.Type != "" {
		return e.Type
	}
	switch {
	case e.Error.Type == "overloaded_error":
		return "serviceUnavailableException"
	case e.Error.Code == float64(http.StatusUnauthorized):
		return "accessDeniedException"
	case strings.HasPrefix(e.Error.Type, "invalid"):
		return "validationException"
	default:
		return "modelStreamErrorException"
	}
}
