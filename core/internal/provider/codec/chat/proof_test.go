package chat

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
)

func answered(t *testing.T, lines ...string) provider.Message {
	t.Helper()
	resp, err := stream(append(lines, "[DONE]")...)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Message
}

// again sends the message back to the model that made it, or to another.
func again(t *testing.T, m provider.Message, model string, d Dialect) map[string]any {
	t.Helper()
	m.Role = provider.RoleAssistant
	sent := body(t, provider.Request{Model: model, Messages: []provider.Message{m}}, d)
	message, ok := sent["messages"].([]any)[0].(map[string]any)
	if !ok {
		t.Fatalf("%v", sent)
	}
	return message
}

func decoded(t *testing.T, raw string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The pieces are those of agno#5802; the encrypted ones those of earendil-works/pi#260.
func TestReasoningDetailsGoBackAsTheyCame(t *testing.T) {
	m := answered(t,
		piece(`{"reasoning":"Let","reasoning_details":[{"type":"reasoning.text","text":"Let","format":"anthropic-claude-v1","index":0}]}`),
		piece(`{"reasoning":" me","reasoning_details":[{"type":"reasoning.text","text":" me","format":"anthropic-claude-v1","index":0}]}`),
		piece(`{"reasoning_details":[{"type":"reasoning.text","text":null,"signature":"Et8BCm","format":"anthropic-claude-v1","index":0}]}`),
		piece(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAA","id":"call_a","index":0},{"type":"reasoning.encrypted","data":"BBB","id":"call_b","index":0}]}`),
		piece(`{"reasoning_details":[{"type":"reasoning.text","text":"second","index":1}]}`),
		piece(`{"content":"hi"}`), `{"choices":[{"index":0,"finish_reason":"stop"}]}`,
	)
	if m.Parts[0].Kind != provider.PartReasoning || m.Parts[0].Text != "Let mesecond" {
		t.Fatalf("%+v", m.Parts[0])
	}
	want := decoded(t, `[{"type":"reasoning.text","text":"Let me","signature":"Et8BCm","format":"anthropic-claude-v1","index":0},
		{"type":"reasoning.encrypted","data":"AAA","id":"call_a","index":0},{"type":"reasoning.encrypted","data":"BBB","id":"call_b","index":0},
		{"type":"reasoning.text","text":"second","index":1}]`)
	openrouter := Pick("openrouter", "", "")
	sent := again(t, m, "m", openrouter)
	if diff := cmp.Diff(want, sent["reasoning_details"]); diff != "" || sent["reasoning_content"] != nil {
		t.Errorf("%v\n%s", sent["reasoning_content"], diff)
	}
	for why, other := range map[string]map[string]any{
		"another model": again(t, m, "other", openrouter), "another provider": again(t, m, "m", Dialect{}),
	} {
		if other["reasoning_details"] != nil || other["content"] != "hi" {
			t.Errorf("%s gets %v", why, other)
		}
	}
	if got := again(t, m, "m", Pick("deepseek", "", "")); got["reasoning_content"] != "Let mesecond" {
		t.Errorf("the words of it are lost where they are wanted: %v", got)
	}
}

func TestACallsProofGoesBack(t *testing.T) {
	m := answered(t, piece(`{"tool_calls":[{"id":"a","extra_content":{"google":{"thought_signature":"sig"}},"function":{"name":"x","arguments":"{}"}}]}`), finishCalls)
	sent := again(t, m, "m", Pick("gemini-openai", "", ""))
	want := decoded(t, `[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig"}}}]`)
	if diff := cmp.Diff(want, sent["tool_calls"]); diff != "" {
		t.Error(diff)
	}
	for why, other := range map[string]map[string]any{
		"another model": again(t, m, "other", Pick("gemini-openai", "", "")), "another provider": again(t, m, "m", Dialect{}),
	} {
		if diff := cmp.Diff(decoded(t, `[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}]`), other["tool_calls"]); diff != "" {
			t.Errorf("%s:\n%s", why, diff)
		}
	}
}

func TestDetailsAreBoundedAndStrict(t *testing.T) {
	var many []string
	for i := range maxDetails + 1 {
		many = append(many, piece(fmt.Sprintf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"A","index":%d}]}`, i)))
	}
	for why, lines := range map[string][]string{
		"too many": many, "no object": {piece(`{"reasoning_details":[7]}`)}, "a doubled field": {piece(`{"reasoning_details":[{"type":"a","type":"b"}]}`)},
	} {
		if _, err := stream(append(lines, finishCalls)...); !provider.Is(err, provider.KindMalformed) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// Where each provider puts its counts.
func TestUsageIsFoundWhereItIs(t *testing.T) {
	const stop = `"finish_reason":"stop"`
	for why, line := range map[string]string{
		"OpenAI":            `{"choices":[{"index":0,` + stop + `}],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":8}}}`,
		"DeepSeek":          `{"choices":[{"index":0,` + stop + `}],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_cache_hit_tokens":8}}`,
		"Moonshot":          `{"choices":[{"index":0,` + stop + `,"usage":{"prompt_tokens":12,"completion_tokens":3,"cached_tokens":8}}]}`,
		"Groq":              `{"choices":[{"index":0,` + stop + `}],"x_groq":{"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":8}}}}`,
		"a null beside one": `{"choices":[{"index":0,` + stop + `,"usage":null}],"x_groq":{"usage":null},"usage":{"prompt_tokens":12,"completion_tokens":3,"cached_tokens":8}}`,
	} {
		resp, err := stream(line)
		in, out, cached := int64(12), int64(3), int64(8)
		if diff := cmp.Diff(provider.Usage{TokensIn: &in, TokensOut: &out, TokensCached: &cached}, resp.Usage); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", why, err, diff)
		}
	}
}
