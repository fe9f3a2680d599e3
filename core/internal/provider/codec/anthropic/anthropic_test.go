package anthropic

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

func result(r provider.Result) provider.Message {
	return provider.Message{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &r}}}
}

// looked is a round of two results, one with a picture, and a person's words after them.
func looked() provider.Request {
	return provider.Request{Model: "m", System: "Role: worker", Messages: []provider.Message{
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look")}},
		{Role: provider.RoleAssistant, Parts: []provider.Part{
			{Kind: provider.PartReasoning, Text: "", Signature: "sig"},
			{Kind: provider.PartReasoning, Signature: redactedMark + "xyz"},
			{Kind: provider.PartReasoning, Text: "unsigned"},
			provider.Text("  "),
			{Kind: provider.PartCall, Call: &provider.Call{ID: "call_1", Name: "relo_image", Args: json.RawMessage(`{"path":"a.png"}`)}},
			{Kind: provider.PartCall, Call: &provider.Call{ID: "fn:2", Name: "read"}},
		}},
		result(provider.Result{ID: "call_1", Name: "relo_image", Text: "one", Pictures: []provider.Picture{picture("a.png")}}),
		result(provider.Result{ID: "fn:2", Name: "read", Text: "no", IsError: true}),
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("well?")}},
	}}
}

func TestEncode(t *testing.T) {
	body, receipts, err := Encode(looked())
	if err != nil {
		t.Fatal(err)
	}
	id := wireID("fn:2")
	if strings.Contains(id, ":") {
		t.Fatalf("id %q", id)
	}
	want := strings.NewReplacer("\n", "", "\t", "", "ID2", id).Replace(`{"model":"m","max_tokens":8192,
		"system":[{"type":"text","text":"Role: worker","cache_control":{"type":"ephemeral"}}],
		"messages":[
		{"role":"user","content":[{"type":"text","text":"look"}]},
		{"role":"assistant","content":[
			{"type":"thinking","thinking":"","signature":"sig"},
			{"type":"redacted_thinking","data":"xyz"},
			{"type":"tool_use","id":"call_1","name":"relo_image","input":{"path":"a.png"}},
			{"type":"tool_use","id":"ID2","name":"read","input":{}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"call_1","content":[
				{"type":"text","text":"one"},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"dGhlIGJ5dGVzIG9mIGEucG5n"}}]},
			{"type":"tool_result","tool_use_id":"ID2","content":[{"type":"text","text":"no"}],"is_error":true},
			{"type":"text","text":"well?","cache_control":{"type":"ephemeral"}}]}],
		"stream":true}`)
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Error(diff)
	}
	p := picture("a.png")
	if diff := cmp.Diff([]provider.Receipt{{
		SHA256: p.SHA256, Place: "messages[2].content[0].content[1]", Bytes: len(p.Bytes), MediaType: "image/png",
		Size: vision.Size{Width: 4, Height: 3}, View: p.View,
	}}, receipts); diff != "" {
		t.Error(diff)
	}
}

// stream feeds the lines and finishes.
func stream(lines ...string) (provider.Response, error) {
	d := NewDecoder(looked())
	for _, l := range lines {
		if _, err := d.Event("", []byte(l)); err != nil {
			return provider.Response{}, err
		}
	}
	return d.Finish()
}

const (
	start    = `{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":5,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":1}}}`
	openText = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	sayText  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`
	shut     = `{"type":"content_block_stop","index":0}`
	openCall = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}`
	halfCall = `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`
	restCall = `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}`
	stop     = `{"type":"message_stop"}`
)

func because(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":7}}`
}

func TestDecode(t *testing.T) {
	resp, err := stream(start, `{"type":"ping"}`, `{"type":"brand_new","index":9}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}`, shut,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"server_thing"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"odd_delta"}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"h"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"i"}}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"call_1","name":"read","input":{"whole":1}}}`,
		because("tool_use"), stop, "after the end",
	)
	if err != nil {
		t.Fatal(err)
	}
	in, out, cached := int64(100), int64(7), int64(90)
	want := provider.Response{
		Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
			{Kind: provider.PartReasoning, Text: "hm", Signature: "sig"},
			{Kind: provider.PartReasoning, Signature: redactedMark + "xyz"},
			provider.Text("hi"),
			// the transcript has a call_1 already
			{Kind: provider.PartCall, Call: &provider.Call{ID: "call_relo_3", Name: "read", Args: json.RawMessage(`{"whole":1}`)}},
		}},
		Stop: provider.StopCalls, RequestID: "msg_1",
		Usage: provider.Usage{TokensIn: &in, TokensOut: &out, TokensCached: &cached},
	}
	if diff := cmp.Diff(want, resp); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeEnds(t *testing.T) {
	for _, row := range []struct {
		why   string
		lines []string
		stop  provider.Stop
		kind  provider.Kind
	}{
		{"nothing came", nil, "", provider.KindCut},
		{"words, and no end", []string{start, openText, sayText, shut}, "", provider.KindCut},
		{"no message_stop, but nothing is open", []string{start, openText, sayText, shut, because("end_turn")}, provider.StopEnd, ""},
		{"no message_stop, and a call is open", []string{start, openCall, halfCall, restCall, because("tool_use")}, "", provider.KindCut},
		{"a call that is half", []string{start, openCall, halfCall, shut, because("tool_use"), stop}, "", provider.KindMalformed},
		{"a call that the limit cut", []string{start, openCall, halfCall, shut, because("max_tokens"), stop}, provider.StopLength, ""},
		{"a call without arguments", []string{start, openCall, shut, because("tool_use"), stop}, provider.StopCalls, ""},
		{"a refusal", []string{start, because("refusal"), stop}, provider.StopRefusal, ""},
		{"a reason to come", []string{start, because("pause_turn"), stop}, provider.StopOther, ""},
		{"a block that begins twice", []string{openText, openText}, "", provider.KindMalformed},
		{"a piece of no block", []string{sayText}, "", provider.KindMalformed},
		{"a piece after the end of its block", []string{openText, shut, sayText}, "", provider.KindMalformed},
		{"a block of nothing", []string{`{"type":"content_block_start","index":0}`}, "", provider.KindMalformed},
		{"a doubled field", []string{`{"type":"ping","type":"error"}`}, "", provider.KindMalformed},
		{"overloaded", []string{start, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, "", provider.KindBusy},
	} {
		resp, err := stream(row.lines...)
		if (row.kind == "" && err != nil) || (row.kind != "" && !provider.Is(err, row.kind)) || resp.Stop != row.stop {
			t.Errorf("%s: stop %q, %v", row.why, resp.Stop, err)
		}
	}
	d := NewDecoder(provider.Request{})
	if _, err := d.Event("error", []byte("plain words")); !provider.Is(err, provider.KindBusy) {
		t.Errorf("an error event that is no JSON: %v", err)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, lines := range [][]string{
		{start, openText, sayText, shut, because("end_turn"), stop},
		{start, openCall, halfCall, restCall, shut, because("tool_use"), stop},
		{openCall, halfCall, because("max_tokens"), stop},
		{`{"type":"error","error":{"type":"api_error"}}`},
		{`{"type":"content_block_start","index":-1,"content_block":{"type":"tool_use"}}`, because("tool_use"), stop},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, in string) {
		resp, err := stream(strings.Split(in, "\n")...)
		if err != nil {
			if !provider.Is(err, provider.KindMalformed) && !provider.Is(err, provider.KindCut) && !strings.Contains(in, "rror") {
				t.Fatal(err)
			}
			return
		}
		ids := map[string]bool{"call_1": true, "fn:2": true}
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
	})
}

// What another wire signed is no thinking of this one's: it would be refused.
func TestForeignSignaturesStayOut(t *testing.T) {
	r := provider.Request{Model: "m", Messages: []provider.Message{{Role: provider.RoleAssistant, Parts: []provider.Part{
		{Kind: provider.PartReasoning, Text: "hm", Signature: "chat:details:m\n[]"}, provider.Text("hi"),
	}}}}
	body, _, err := Encode(r)
	if err != nil || strings.Contains(string(body), "hm") || strings.Contains(string(body), "details") {
		t.Errorf("%s, %v", body, err)
	}
}
