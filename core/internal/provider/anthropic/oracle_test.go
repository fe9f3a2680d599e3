package anthropic_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"net/http/httptest"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Anthropic's own library is the oracle: what it sends is what ours sends for the same
// dialogue, and what the double answers it understands.

const oracleKey = "sk-ant-oracle-0123"

func shot(t *testing.T, edge int) provider.Picture {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, edge, edge))); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return provider.Picture{
		Picture: vision.Picture{SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: edge, Height: edge, Bytes: b.Bytes()},
		View:    vision.View{Path: "shot.png"},
	}
}

func played(t *testing.T, play double.Player) (*double.Server, string, sdk.Client) {
	t.Helper()
	d := double.New(double.Options{Key: oracleKey, Play: play, Models: map[string]double.Model{"claude": {Sees: true}, "blind": {}}})
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return d, s.URL, sdk.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey(oracleKey), option.WithMaxRetries(0))
}

func readTool() []sdk.ToolUnionParam {
	return []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{Name: "read", Description: sdk.String("reads"), InputSchema: sdk.ToolInputSchemaParam{Type: "object"}}}}
}

func encoded(p provider.Picture) string { return base64.StdEncoding.EncodeToString(p.Bytes) }

func inside(p provider.Picture) sdk.ToolResultBlockParamContentUnion {
	return sdk.ToolResultBlockParamContentUnion{OfImage: sdk.NewImageBlockBase64("image/png", encoded(p)).OfImage}
}

func dialogue(seen, made provider.Picture) provider.Request {
	return provider.Request{
		Model: "claude", System: "Role: worker", MaxTokens: 500,
		Tools: []provider.ToolSpec{{Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look"), provider.Show(seen)}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{
				provider.Text("I read."),
				{Kind: provider.PartCall, Call: &provider.Call{ID: "call_1", Name: "read", Args: json.RawMessage(`{"path":"<a>"}`)}},
				{Kind: provider.PartCall, Call: &provider.Call{ID: "call_2", Name: "read"}},
			}},
			{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: "call_1", Name: "read", Text: "here", Pictures: []provider.Picture{made}}}}},
			{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: "call_2", Name: "read", Text: "no", IsError: true}}}},
			{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("well?")}},
		},
	}
}

func TestOurBodyIsTheOraclesBody(t *testing.T) {
	seen, made := shot(t, 40), shot(t, 50)
	text := sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: "here"}}
	for place, results := range map[provider.Placement][]sdk.ContentBlockParamUnion{
		provider.PlaceInside: {
			{OfToolResult: &sdk.ToolResultBlockParam{ToolUseID: "call_1", Content: []sdk.ToolResultBlockParamContentUnion{text, inside(made)}}},
			sdk.NewToolResultBlock("call_2", "no", true),
		},
		provider.PlaceAfter: {
			{OfToolResult: &sdk.ToolResultBlockParam{ToolUseID: "call_1", Content: []sdk.ToolResultBlockParamContentUnion{text}}},
			sdk.NewToolResultBlock("call_2", "no", true),
			sdk.NewTextBlock(provider.Introduce([]provider.Shown{{Tool: "read", Picture: &made}})),
			sdk.NewImageBlockBase64("image/png", encoded(made)),
		},
	} {
		t.Run(string(place), func(t *testing.T) {
			d, base, oracle := played(t, nil)
			ours := dialogue(seen, made)
			ours.Placement = place
			if _, err := anthropic.New(anthropic.Options{Provider: "played", BaseURL: base, Key: secret.New(oracleKey)}).Stream(t.Context(), ours, nil); err != nil {
				t.Fatal(err)
			}
			last := sdk.NewTextBlock("well?")
			last.OfText.CacheControl = sdk.NewCacheControlEphemeralParam()
			stream := oracle.Messages.NewStreaming(t.Context(), sdk.MessageNewParams{
				Model: "claude", MaxTokens: 500, Tools: readTool(),
				System: []sdk.TextBlockParam{{Text: "Role: worker", CacheControl: sdk.NewCacheControlEphemeralParam()}},
				Messages: []sdk.MessageParam{
					sdk.NewUserMessage(sdk.NewTextBlock("look"), sdk.NewImageBlockBase64("image/png", encoded(seen))),
					sdk.NewAssistantMessage(
						sdk.NewTextBlock("I read."),
						sdk.NewToolUseBlock("call_1", map[string]any{"path": "<a>"}, "read"), sdk.NewToolUseBlock("call_2", map[string]any{}, "read"),
					),
					sdk.NewUserMessage(append(results, last)...),
				},
			})
			for stream.Next() {
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			var bodies [2]any
			for i, r := range d.Requests() {
				if err := json.Unmarshal(r.Body, &bodies[i]); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(bodies[1], bodies[0]); diff != "" {
				t.Errorf("the oracle's (-) and ours (+):\n%s", diff)
			}
		})
	}
}

func TestTheOracleUnderstandsTheDouble(t *testing.T) {
	reply := double.Reply{
		Reasoning: "First I think about it.", Text: "Grüße, and a text that is long enough to come in pieces.",
		Calls: []double.Call{{ID: "c1", Name: "read", Args: map[string]any{"path": "a/b.go"}}, {ID: "c2", Name: "read"}},
	}
	var turn double.Turn
	_, _, oracle := played(t, func(_ context.Context, got double.Turn) double.Reply {
		turn = got
		return reply
	})
	params := sdk.MessageNewParams{
		Model: "claude", MaxTokens: 500, Tools: readTool(),
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("look"), sdk.NewImageBlockBase64("image/png", encoded(shot(t, 40))))},
	}
	check := func(m sdk.Message) {
		t.Helper()
		if len(m.Content) != 4 || m.StopReason != "tool_use" || m.Usage.InputTokens == 0 || m.Usage.OutputTokens == 0 {
			t.Fatalf("%+v", m)
		}
		if m.Content[0].Thinking != reply.Reasoning || m.Content[0].Signature == "" || m.Content[1].Text != reply.Text ||
			m.Content[2].ID != "c1" || string(m.Content[2].Input) != `{"path":"a/b.go"}` || string(m.Content[3].Input) != "{}" {
			t.Errorf("%+v", m.Content)
		}
		if len(turn.Pictures) != 1 || turn.Pictures[0].Width != 40 {
			t.Errorf("the picture arrived as %+v", turn.Pictures)
		}
	}
	whole, err := oracle.Messages.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	check(*whole)
	stream := oracle.Messages.NewStreaming(t.Context(), params)
	var acc sdk.Message
	for stream.Next() {
		if err := acc.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	check(acc)
	// The thinking that came goes back as the library sends it, and the double takes it.
	params.Messages = append(params.Messages, acc.ToParam(), sdk.NewUserMessage(sdk.NewToolResultBlock("c1", "x", false), sdk.NewToolResultBlock("c2", "y", true)))
	if _, err := oracle.Messages.New(t.Context(), params); err != nil {
		t.Errorf("the next round: %v", err)
	}
}

func TestTheOracleReadsTheDoublesErrors(t *testing.T) {
	_, _, oracle := played(t, func(context.Context, double.Turn) double.Reply { return double.Reply{Status: 529} })
	ask := func(model string, blocks ...sdk.ContentBlockParamUnion) *sdk.Error {
		t.Helper()
		_, err := oracle.Messages.New(t.Context(), sdk.MessageNewParams{
			Model: model, MaxTokens: 9, Messages: []sdk.MessageParam{sdk.NewUserMessage(blocks...)},
		})
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok {
			t.Fatalf("%v", err)
		}
		return e
	}
	text := sdk.NewTextBlock("hi")
	for why, row := range map[string]struct {
		got    *sdk.Error
		status int
		kind   string
	}{
		"overloaded":           {ask("claude", text), 529, "overloaded_error"},
		"no such model":        {ask("nobody", text), 404, "not_found_error"},
		"a picture to a blind": {ask("blind", text, sdk.NewImageBlockBase64("image/png", encoded(shot(t, 40)))), 400, "invalid_request_error"},
	} {
		if row.got.StatusCode != row.status || string(row.got.Type()) != row.kind {
			t.Errorf("%s: %d, %q", why, row.got.StatusCode, row.got.Type())
		}
	}
}
