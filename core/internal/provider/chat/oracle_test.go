package chat_test

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

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/chat"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/vision"
)

// OpenAI's own library is the oracle: what it sends is what ours sends for the same
// dialogue, and what the double answers it understands.

const oracleKey = "sk-oracle-key-0123"

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

// played is the double, and OpenAI's client of it.
func played(t *testing.T, play double.Player) (*double.Server, string, openai.Client) {
	t.Helper()
	d := double.New(double.Options{Key: oracleKey, Play: play, Models: map[string]double.Model{"gpt": {Sees: true}, "blind": {}}})
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return d, s.URL + "/v1", openai.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey(oracleKey), option.WithMaxRetries(0))
}

var readTool = openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
	Name: "read", Description: openai.String("reads"), Parameters: openai.FunctionParameters{"type": "object"},
})

func dataURL(p provider.Picture) openai.ChatCompletionContentPartUnionParam {
	return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
		URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString(p.Bytes),
	})
}

func TestOurBodyIsTheOraclesBody(t *testing.T) {
	d, base, oracle := played(t, nil)
	seen, made := shot(t, 40), shot(t, 50)
	ours := provider.Request{
		Model: "gpt", System: "Role: worker", MaxTokens: 500, CacheKey: "attempt-1",
		Tools: []provider.ToolSpec{{Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look"), provider.Show(seen)}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{
				provider.Text("I read."), {Kind: provider.PartCall, Call: &provider.Call{ID: "call_1", Name: "read", Args: json.RawMessage(`{"path":"<a>"}`)}},
			}},
			{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: "call_1", Name: "read", Text: "here", Pictures: []provider.Picture{made}}}}},
			{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("well?")}},
		},
	}
	if _, err := chat.NewAs(chat.Options{Provider: "played", BaseURL: base, Key: secret.New(oracleKey)}, "openai").Stream(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	said := openai.AssistantMessage("I read.")
	said.OfAssistant.ToolCalls = []openai.ChatCompletionMessageToolCallUnionParam{{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
		ID: "call_1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "read", Arguments: `{"path":"<a>"}`},
	}}}
	stream := oracle.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model: "gpt", MaxCompletionTokens: openai.Int(500), PromptCacheKey: openai.String("attempt-1"),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Tools:         []openai.ChatCompletionToolUnionParam{readTool},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("Role: worker"),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("look"), dataURL(seen)}),
			said,
			openai.ToolMessage("here", "call_1"),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart(provider.Introduce([]provider.Shown{{Tool: "read", Picture: &made}})), dataURL(made),
			}),
			openai.UserMessage("well?"),
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
}

func TestTheOracleUnderstandsTheDouble(t *testing.T) {
	reply := double.Reply{
		Text:  "Grüße, and a text that is long enough to come in pieces.",
		Calls: []double.Call{{ID: "c1", Name: "read", Args: map[string]any{"path": "a/b.go"}}, {ID: "c2", Name: "read"}},
	}
	var turn double.Turn
	_, _, oracle := played(t, func(_ context.Context, got double.Turn) double.Reply {
		turn = got
		return reply
	})
	params := openai.ChatCompletionNewParams{
		Model: "gpt", Tools: []openai.ChatCompletionToolUnionParam{readTool},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("look"), dataURL(shot(t, 40))}),
		},
	}
	check := func(c openai.ChatCompletion) {
		t.Helper()
		if len(c.Choices) != 1 || c.Usage.PromptTokens == 0 {
			t.Fatalf("%+v", c)
		}
		m := c.Choices[0].Message
		if m.Content != reply.Text || c.Choices[0].FinishReason != "tool_calls" || len(m.ToolCalls) != 2 ||
			m.ToolCalls[0].ID != "c1" || m.ToolCalls[0].Function.Arguments != `{"path":"a/b.go"}` || m.ToolCalls[1].Function.Arguments != "{}" {
			t.Errorf("%s", c.RawJSON())
		}
		if len(turn.Pictures) != 1 || turn.Pictures[0].Width != 40 {
			t.Errorf("the picture arrived as %+v", turn.Pictures)
		}
	}
	whole, err := oracle.Chat.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	check(*whole)
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := oracle.Chat.Completions.NewStreaming(t.Context(), params)
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatalf("a chunk that does not fit: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	check(acc.ChatCompletion)
}

func TestTheOracleReadsTheDoublesErrors(t *testing.T) {
	_, _, oracle := played(t, func(context.Context, double.Turn) double.Reply { return double.Reply{Status: 429} })
	ask := func(model string, parts ...openai.ChatCompletionContentPartUnionParam) *openai.Error {
		t.Helper()
		_, err := oracle.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
			Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(parts)},
		})
		e, ok := errors.AsType[*openai.Error](err)
		if !ok {
			t.Fatalf("%v", err)
		}
		return e
	}
	text := openai.TextContentPart("hi")
	for why, row := range map[string]struct {
		got    *openai.Error
		status int
		code   string
	}{
		"busy":                 {ask("gpt", text), 429, "rate_limit_exceeded"},
		"no such model":        {ask("nobody", text), 404, "model_not_found"},
		"a picture to a blind": {ask("blind", text, dataURL(shot(t, 40))), 400, ""},
	} {
		if row.got.StatusCode != row.status || row.got.Code != row.code || row.got.Message == "" {
			t.Errorf("%s: %d, code %q, %q", why, row.got.StatusCode, row.got.Code, row.got.Message)
		}
	}
}
