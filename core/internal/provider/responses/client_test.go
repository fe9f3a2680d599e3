package responses

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	vendor "github.com/openai/openai-go/v3/responses"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/responses"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/providertest"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/vision"
)

func wire() providertest.Wire {
	return providertest.Wire{
		Name: double.WireResponses, Inside: true,
		New: func(baseURL string, key secret.Value, idle time.Duration) provider.Client {
			return New(Options{Provider: "double", BaseURL: baseURL, Key: key, Idle: idle})
		},
	}
}

func TestDialogues(t *testing.T) { providertest.Run(t, wire()) }

func TestDamagedReplies(t *testing.T) { providertest.RunDamage(t, wire()) }

func TestTheEndpointIsFound(t *testing.T) {
	for in, want := range map[string]string{
		"https://host/v1": "https://host/v1/responses", "https://host/v1/": "https://host/v1/responses",
		"https://host/v1/responses": "https://host/v1/responses", "https://host/openai?v=1": "https://host/openai/responses?v=1",
	} {
		if got := endpoint(in); got != want {
			t.Errorf("%s leads to %s, want %s", in, got, want)
		}
	}
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// dialogue is a round with a tool that shows a picture, as OpenAI's own client sends it.
func dialogue() vendor.ResponseNewParams {
	return vendor.ResponseNewParams{
		Model: "sees", Instructions: param.NewOpt("Role: worker"), Store: param.NewOpt(false), MaxOutputTokens: param.NewOpt[int64](99),
		Include: []vendor.ResponseIncludable{vendor.ResponseIncludableReasoningEncryptedContent},
		Tools:   []vendor.ToolUnionParam{vendor.ToolParamOfFunction("look", map[string]any{"type": "object"}, false)},
		Input: vendor.ResponseNewParamsInputUnion{OfInputItemList: vendor.ResponseInputParam{
			vendor.ResponseInputItemParamOfMessage(vendor.ResponseInputMessageContentListParam{vendor.ResponseInputContentParamOfInputText("look at it")}, "user"),
			vendor.ResponseInputItemParamOfFunctionCall(`{"path":"a"}`, "c1", "look"),
			{OfFunctionCallOutput: &vendor.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt("c1"), Output: vendor.ResponseInputItemFunctionCallOutputOutputUnionParam{
				OfResponseFunctionCallOutputItemArray: vendor.ResponseFunctionCallOutputItemListParam{
					{OfInputText: &vendor.ResponseInputTextContentParam{Text: "shown"}},
					{OfInputImage: &vendor.ResponseInputImageContentParam{ImageURL: param.NewOpt("data:image/png;base64," + pixel), Detail: "auto"}},
				},
			}}},
		}},
	}
}

// TestOurBodyIsWhatTheVendorsClientSends holds our JSON against theirs, value by value.
func TestOurBodyIsWhatTheVendorsClientSends(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	p := provider.Picture{Picture: vision.Picture{SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 1, Height: 1, Bytes: data}}
	body, receipts, err := codec.Encode(provider.Request{
		Model: "sees", System: "Role: worker", MaxTokens: 99, Tools: []provider.ToolSpec{{Name: "look", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look at it")}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartCall, Call: &provider.Call{ID: "c1", Name: "look", Args: json.RawMessage(`{"path":"a"}`)}}}},
			{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: "c1", Name: "look", Text: "shown", Pictures: []provider.Picture{p}}}}},
		},
	})
	if err != nil || len(receipts) != 1 || receipts[0].Place != "input[2].output[1]" {
		t.Fatalf("%v: %+v", err, receipts)
	}
	theirs, err := json.Marshal(dialogue())
	if err != nil {
		t.Fatal(err)
	}
	var a, b map[string]any
	if json.Unmarshal(theirs, &a) != nil || json.Unmarshal(body, &b) != nil {
		t.Fatal("no JSON")
	}
	delete(b, "stream") // theirs is set by the method that is called
	first, _ := a["input"].([]any)[0].(map[string]any)
	first["type"] = "message" // which theirs leaves out, as it may
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-theirs +ours):\n%s", diff)
	}
}

// TestTheVendorsClientUnderstandsTheDouble is what makes the double worth testing against.
func TestTheVendorsClientUnderstandsTheDouble(t *testing.T) {
	d := double.New(double.Options{Models: map[string]double.Model{"sees": {Sees: true}, "blind": {}}, Key: "k", Play: func(_ context.Context, turn double.Turn) double.Reply {
		last := turn.Entries[len(turn.Entries)-1]
		return double.Reply{Text: last.ResultOf + " showed " + last.Pictures[0].MediaType, Calls: []double.Call{{Name: "look", Args: map[string]any{"path": "b"}}}}
	}})
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	client := openai.NewClient(option.WithBaseURL(srv.URL+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
	check := func(how string, r vendor.Response) {
		t.Helper()
		calls := ""
		for _, o := range r.Output {
			if o.Type == "function_call" {
				calls += o.AsFunctionCall().Name + o.AsFunctionCall().Arguments
			}
		}
		if r.OutputText() != "look showed image/png" || calls != `look{"path":"b"}` || r.Status != "completed" || r.Usage.InputTokens <= 0 {
			t.Errorf("%s: %q %q %s %+v", how, r.OutputText(), calls, r.Status, r.Usage)
		}
	}
	whole, err := client.Responses.New(t.Context(), dialogue())
	if err != nil {
		t.Fatal(err)
	}
	check("whole", *whole)
	stream := client.Responses.NewStreaming(t.Context(), dialogue())
	var text string
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.completed":
			check("streamed", e.Response)
		}
	}
	if err := stream.Err(); err != nil || text != "look showed image/png" {
		t.Errorf("%v %q", err, text)
	}
	for name, change := range map[string]func(*vendor.ResponseNewParams){
		"a blind model":             func(p *vendor.ResponseNewParams) { p.Model = "blind" },
		"a call without its output": func(p *vendor.ResponseNewParams) { p.Input.OfInputItemList = p.Input.OfInputItemList[:2] },
	} {
		p := dialogue()
		change(&p)
		_, err := client.Responses.New(t.Context(), p)
		if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != http.StatusBadRequest || e.Message == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
