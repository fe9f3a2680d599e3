package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

func picture(path string) provider.Picture {
	data := []byte("the bytes of " + path)
	sum := sha256.Sum256(data)
	return provider.Picture{
		Picture: vision.Picture{SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 4, Height: 3, Bytes: data},
		View:    vision.View{Path: path},
	}
}

// looked is a round in which a tool shows a picture, and a person says something after it.
func looked() provider.Request {
	return provider.Request{Model: "m", System: "Role: worker", MaxTokens: 9, Messages: []provider.Message{
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look")}},
		{Role: provider.RoleAssistant, Parts: []provider.Part{
			{Kind: provider.PartReasoning, Text: "hm"},
			{Kind: provider.PartCall, Call: &provider.Call{ID: "call_1", Name: "relo_image", Args: json.RawMessage(`{"path":"a.png"}`)}},
		}},
		{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{
			ID: "call_1", Name: "relo_image", Text: "one picture", Pictures: []provider.Picture{picture("a.png")},
		}}}},
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("well?")}},
	}}
}

type sent struct {
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
	Messages            []struct {
		Role             string
		Content          any
		ReasoningContent string                `json:"reasoning_content"`
		ToolCallID       string                `json:"tool_call_id"`
		ToolCalls        []struct{ ID string } `json:"tool_calls"`
	}
}

func encode(t *testing.T, r provider.Request, d Dialect) (sent, []provider.Receipt) {
	t.Helper()
	body, receipts, err := Encode(r, d)
	if err != nil {
		t.Fatal(err)
	}
	var s sent
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	return s, receipts
}

func roles(s sent) string {
	var all []string
	for _, m := range s.Messages {
		all = append(all, m.Role)
	}
	return strings.Join(all, " ")
}

func TestToolPictureFollowsInAUserMessage(t *testing.T) {
	s, receipts := encode(t, looked(), Dialect{})
	if got := roles(s); got != "system user assistant tool user user" {
		t.Fatalf("roles are %s", got)
	}
	parts, ok := s.Messages[4].Content.([]any)
	if !ok || len(parts) != 2 {
		t.Fatalf("content is %v", s.Messages[4].Content)
	}
	want := map[string]any{"type": "image_url", "image_url": map[string]any{
		"url": "data:image/png;base64,dGhlIGJ5dGVzIG9mIGEucG5n",
	}}
	if diff := cmp.Diff(any(want), parts[1]); diff != "" {
		t.Error(diff)
	}
	p := picture("a.png")
	if diff := cmp.Diff([]provider.Receipt{{
		SHA256: p.SHA256, Place: "messages[4].content[1]", Bytes: len(p.Bytes), MediaType: "image/png",
		Size: vision.Size{Width: 4, Height: 3}, View: p.View,
	}}, receipts); diff != "" {
		t.Error(diff)
	}
	if s.Messages[2].ReasoningContent != "" || s.MaxTokens != 9 || s.MaxCompletionTokens != 0 {
		t.Errorf("the common ground has extras: %+v", s)
	}
}

// stream feeds the lines and finishes.
func stream(lines ...string) (provider.Response, error) {
	d := NewDecoder(provider.Request{Model: "m", Messages: looked().Messages})
	for _, l := range lines {
		if _, err := d.Event("", []byte(l)); err != nil {
			return provider.Response{}, err
		}
	}
	return d.Finish()
}

const finishCalls = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`

func piece(json string) string { return `{"choices":[{"index":0,"delta":` + json + `}]}` }

func TestDecodeCalls(t *testing.T) {
	type made struct{ ID, Name, Args string }
	for _, row := range []struct {
		why   string
		lines []string
		want  []made
	}{
		{
			"pieces of two calls, interleaved",
			[]string{
				piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":""}},{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}]}`),
				piece(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"k\":"}}]}`),
				piece(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"1}"}}]}`),
			},
			[]made{{"a", "x", `{"k":1}`}, {"b", "y", `{}`}},
		},
		{
			"whole calls with the same index and ids of their own (Gemini's endpoint)",
			[]string{piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`), piece(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]}`)},
			[]made{{"a", "x", `{}`}, {"b", "y", `{}`}},
		},
		{
			"no index, arguments as an object, a name in every piece",
			[]string{piece(`{"tool_calls":[{"id":"a","function":{"name":"x","arguments":{"k":[1]}}}]}`), piece(`{"tool_calls":[{"function":{"name":"x"}}]}`)},
			[]made{{"a", "x", `{"k":[1]}`}},
		},
		{
			"an id that the transcript has already, and one that is missing, are replaced",
			[]string{piece(`{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"x"}},{"index":1,"function":{"name":"y"}}]}`)},
			[]made{{"call_relo_2", "x", `{}`}, {"call_relo_3", "y", `{}`}},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			resp, err := stream(append(row.lines, finishCalls, "[DONE]")...)
			if err != nil {
				t.Fatal(err)
			}
			var got []made
			for _, p := range resp.Message.Parts {
				got = append(got, made{p.Call.ID, p.Call.Name, string(p.Call.Args)})
			}
			if diff := cmp.Diff(row.want, got); diff != "" || resp.Stop != provider.StopCalls {
				t.Errorf("stop %q\n%s", resp.Stop, diff)
			}
		})
	}
}

func TestDecodeTolerates(t *testing.T) {
	resp, err := stream(
		`{"id":"x","object":"new.thing","choices":[{"index":1,"delta":{"content":"another choice"}}]}`,
		piece(`{"reasoning":"a","reasoning_content":null}`),
		piece(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}]},{"type":"text","text":"one "}]}`),
		piece(`{"content":null}`), piece(`{"content":"two"}`), "",
		`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":"many"}}`,
		`{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_cache_hit_tokens":8}}`,
		"[DONE]", "not json, but after the end",
	)
	if err != nil {
		t.Fatal(err)
	}
	in, out, cached := int64(12), int64(3), int64(8)
	want := provider.Response{
		Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
			{Kind: provider.PartReasoning, Text: "ab"}, provider.Text("one two"),
		}},
		Stop: provider.StopEnd, RequestID: "x",
		Usage: provider.Usage{TokensIn: &in, TokensOut: &out, TokensCached: &cached},
	}
	if diff := cmp.Diff(want, resp); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeEnds(t *testing.T) {
	callPiece := piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`)
	for _, row := range []struct {
		why   string
		lines []string
		stop  provider.Stop
		kind  provider.Kind
	}{
		{"nothing came", nil, "", provider.KindCut},
		{"words, and no end", []string{piece(`{"content":"x"}`)}, "", provider.KindCut},
		{"words, and only [DONE]", []string{piece(`{"content":"x"}`), "[DONE]"}, provider.StopOther, ""},
		{"a call, and only [DONE]", []string{callPiece, "[DONE]"}, "", provider.KindCut},
		{"a call that says stop", []string{callPiece, `{"choices":[{"index":0,"finish_reason":"stop"}]}`}, provider.StopCalls, ""},
		{"a filter", []string{`{"choices":[{"index":0,"finish_reason":"content_filter"}]}`}, provider.StopRefusal, ""},
		{"a refusal", []string{piece(`{"refusal":"I won't"}`), `{"choices":[{"index":0,"finish_reason":"stop"}]}`}, provider.StopRefusal, ""},
		{"a call without a name", []string{piece(`{"tool_calls":[{"index":0,"id":"a"}]}`), finishCalls}, "", provider.KindMalformed},
		{"a doubled field", []string{`{"id":"a","id":"b"}`}, "", provider.KindMalformed},
		{"a wrong type", []string{piece(`{"content":7}`)}, "", provider.KindMalformed},
		{"an error of ours to fix", []string{`{"error":{"message":"no","type":"invalid_request_error"}}`}, "", provider.KindRefused},
		{"an error that says nothing", []string{`{"error":{}}`}, "", provider.KindBusy},
	} {
		resp, err := stream(row.lines...)
		if (row.kind == "" && err != nil) || (row.kind != "" && !provider.Is(err, row.kind)) || resp.Stop != row.stop {
			t.Errorf("%s: stop %q, %v", row.why, resp.Stop, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{
		piece(`{"content":"x"}`) + "\n" + finishCalls + "\n[DONE]",
		piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}}]}`) + "\n" + finishCalls,
		piece(`{"tool_calls":[{"index":-1,"function":{"arguments":{}}},{"function":{"arguments":null}}]}`) + "\n" + finishCalls,
		piece(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.text","signature":"s","index":0}]}`) + "\n" + finishCalls,
		piece(`{"tool_calls":[{"id":"a","extra_content":{"google":{}},"function":{"name":"x"}}]}`) + "\n" + finishCalls,
		`{"error":{"code":429}}`, `{"choices":null,"usage":{"prompt_tokens":-1}}`, `[{"error":[[[[[[[[1]]]]]]]]}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) { decodesSafely(t, strings.Split(in, "\n")) })
}

// decodesSafely holds what is true of any stream: no panic, only our errors, and
// every call whole.
func decodesSafely(t *testing.T, lines []string) {
	resp, err := stream(lines...)
	if err != nil {
		if !provider.Is(err, provider.KindMalformed) && !provider.Is(err, provider.KindCut) && !strings.Contains(strings.Join(lines, ""), "rror") {
			t.Fatalf("%v", err)
		}
		return
	}
	ids := map[string]bool{"call_1": true}
	for _, p := range resp.Message.Parts {
		if p.Kind != provider.PartCall {
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(p.Call.Args, &object) != nil || object == nil || p.Call.Name == "" || ids[p.Call.ID] || p.Call.ID == "" {
			t.Fatalf("%+v", p.Call)
		}
		ids[p.Call.ID] = true
	}
}
