package envelope

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/relo-dev/relo/core/internal/provider"
)

func claude(d *desk) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(d.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
}

func messagesParams(t *testing.T) anthropic.MessageNewParams {
	t.Helper()
	picture := anthropic.NewImageBlockBase64("image/png", b64(pngOf(t, 3, 2)))
	result := anthropic.NewToolResultBlock("toolu_1", "seen", true)
	result.OfToolResult.Content = append(result.OfToolResult.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: picture.OfImage})
	return anthropic.MessageNewParams{
		Model: "house/best", MaxTokens: 99,
		System: []anthropic.TextBlockParam{{Text: "be kind"}, {Text: "be short", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("what is it"), picture),
			anthropic.NewAssistantMessage(anthropic.NewThinkingBlock("sig==", "a thought"), anthropic.NewTextBlock("let me look"),
				anthropic.NewToolUseBlock("toolu_1", map[string]any{"path": "x"}, "look")),
			anthropic.NewUserMessage(result, anthropic.NewTextBlock("go on")),
		},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "look", Description: anthropic.String("looks"), InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{}},
		}}},
		Thinking: anthropic.ThinkingConfigParamOfEnabled(1024),
	}
}

func TestAnthropicsClientIsUnderstood(t *testing.T) {
	d := newDesk(t, full)
	client := claude(d)
	whole, err := client.Messages.New(t.Context(), messagesParams(t))
	if err != nil {
		t.Fatal(err)
	}
	r := d.asked()
	same(t, "head", []any{r.Model, r.System, r.MaxTokens, len(r.Tools)}, []any{"house/best", "be kind\n\nbe short", 99, 1})
	var roles []provider.Role
	for _, m := range r.Messages {
		roles = append(roles, m.Role)
	}
	same(t, "roles", roles, []provider.Role{"user", "assistant", "tool", "user"})
	same(t, "reasoning", r.Messages[1].Parts[0], provider.Part{Kind: provider.PartReasoning, Text: "a thought", Signature: "sig=="})
	same(t, "call", r.Messages[1].Parts[2].Call, &provider.Call{ID: "toolu_1", Name: "look", Args: json.RawMessage(`{"path":"x"}`)})
	res := r.Messages[2].Parts[0].Result
	if res.Name != "look" || res.Text != "seen" || !res.IsError || len(res.Pictures) != 1 || res.Pictures[0].View.ID != "messages[2].content[0].content[1]" {
		t.Errorf("%+v", res)
	}
	same(t, "after the result", r.Messages[3].Parts, []provider.Part{provider.Text("go on")})
	checkMessage(t, "whole", *whole, []string{"thinking", "text", "tool_use", "tool_use"})

	var acc anthropic.Message
	stream := client.Messages.NewStreaming(t.Context(), messagesParams(t))
	for stream.Next() {
		if err := acc.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	checkMessage(t, "streamed", acc, []string{"text", "thinking", "tool_use", "tool_use"})
}

func checkMessage(t *testing.T, how string, m anthropic.Message, order []string) {
	t.Helper()
	same(t, how+" head", []any{m.ID, m.Model, string(m.StopReason)}, []any{"msg_1", "house/best", "tool_use"})
	same(t, how+" usage", []int64{m.Usage.InputTokens, m.Usage.CacheReadInputTokens, m.Usage.OutputTokens}, []int64{40, 60, 20})
	var kinds []string
	for _, b := range m.Content {
		kinds = append(kinds, b.Type)
		switch b.Type {
		case "text":
			same(t, how+" text", b.Text, answerText)
		case "thinking":
			same(t, how+" thinking", []string{b.Thinking, b.Signature}, []string{"a thought", "sig=="})
		case "tool_use":
			want := map[string]string{"call.1:x": `look {"path":"a b","n":1.50}`, "call_2": `stop {}`}[b.ID]
			same(t, how+" call", b.Name+" "+string(b.Input), want)
		}
	}
	same(t, how+" order", kinds, order)
}

func TestAnthropicsClientReadsFailures(t *testing.T) {
	for _, c := range []struct {
		s      script
		status int
		typ    string
	}{
		{script{kind: provider.KindBusy, status: 529, words: "too many"}, 529, "overloaded_error"},
		{script{kind: provider.KindRefused, status: 400, words: "too many"}, 400, "invalid_request_error"},
		{script{kind: provider.KindLarge, words: "too many"}, 413, "request_too_large"},
		{script{kind: provider.KindKey, words: "too many"}, 403, "permission_error"},
		{script{kind: provider.KindMalformed, status: 200, words: "too many"}, 502, "api_error"},
	} {
		client := claude(newDesk(t, c.s))
		_, err := client.Messages.New(t.Context(), messagesParams(t))
		e, ok := errors.AsType[*anthropic.Error](err)
		if !ok || e.StatusCode != c.status || string(e.Type()) != c.typ || !strings.Contains(e.RawJSON(), `"too many"`) {
			t.Errorf("%v, want %d %s", err, c.status, c.typ)
		}
	}
	bad := messagesParams(t)
	bad.StopSequences = []string{"END"}
	client := claude(newDesk(t, plain))
	_, err := client.Messages.New(t.Context(), bad)
	if e, ok := errors.AsType[*anthropic.Error](err); !ok || e.StatusCode != 400 || !strings.Contains(e.RawJSON(), "stop_sequences") {
		t.Errorf("%v", err)
	}
}

func TestAnthropicsClientReadsAFailureInsideOfAStream(t *testing.T) {
	client := claude(newDesk(t, script{deltas: []string{"half"}, kind: provider.KindBusy, words: "come again"}))
	stream := client.Messages.NewStreaming(t.Context(), messagesParams(t))
	var acc anthropic.Message
	for stream.Next() {
		if err := acc.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	e, ok := errors.AsType[*anthropic.Error](stream.Err())
	if !ok || string(e.Type()) != "overloaded_error" || !strings.Contains(e.RawJSON(), "come again") || acc.Content[0].Text != "half" {
		t.Errorf("%v %+v", stream.Err(), acc.Content)
	}
}

func TestAnthropicsStopReasons(t *testing.T) {
	for stop, want := range map[provider.Stop]string{
		provider.StopEnd: "end_turn", provider.StopOther: "end_turn", provider.StopLength: "max_tokens", provider.StopRefusal: "refusal",
	} {
		s := plain
		s.resp.Stop = stop
		client := claude(newDesk(t, s))
		var acc anthropic.Message
		stream := client.Messages.NewStreaming(t.Context(), messagesParams(t))
		for stream.Next() {
			if err := acc.Accumulate(stream.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if stream.Err() != nil || string(acc.StopReason) != want || acc.Content[0].Text != "yes" {
			t.Errorf("%s: %v %+v", stop, stream.Err(), acc)
		}
	}
}
