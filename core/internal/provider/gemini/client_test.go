package gemini

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/gemini"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/providertest"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/vision"
)

func wire() providertest.Wire {
	return providertest.Wire{
		Name: double.WireGemini,
		New: func(baseURL string, key secret.Value, idle time.Duration) provider.Client {
			return New(Options{Provider: "double", BaseURL: baseURL, Key: key, Idle: idle})
		},
	}
}

func TestDialogues(t *testing.T) { providertest.Run(t, wire()) }

func TestDamagedReplies(t *testing.T) { providertest.RunDamage(t, wire()) }

func TestTheEndpointIsFound(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"", "gemini-3-pro"}:                     "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
		{"https://host/v1/", "gemini-2.5-pro"}:   "https://host/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		{"https://host/v1?x=1", "tunedModels/m"}: "https://host/v1/tunedModels/m:streamGenerateContent?alt=sse&x=1",
	} {
		if got := endpoint(in[0], in[1]); got != want {
			t.Errorf("%v leads to %s, want %s", in, got, want)
		}
	}
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func pixelBytes(t *testing.T) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOurBodyIsUnderstoodByTheVendorsTypes reads our JSON into the vendor's own types and
// writes it again: nothing of it may get lost.
func TestOurBodyIsUnderstoodByTheVendorsTypes(t *testing.T) {
	data := pixelBytes(t)
	sum := sha256.Sum256(data)
	p := provider.Picture{Picture: vision.Picture{SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 1, Height: 1, Bytes: data}}
	for model, place := range map[string]string{"gemini-3-pro-preview": "contents[2].parts[0].functionResponse.parts[0]", "gemini-2.5-flash": "contents[2].parts[2]"} {
		body, receipts, err := codec.Encode(provider.Request{
			Model: model, System: "Role: worker", MaxTokens: 99, Tools: []provider.ToolSpec{{Name: "look", Description: "looks", Schema: json.RawMessage(`{"type":"object"}`)}},
			Messages: []provider.Message{
				{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look at it")}},
				{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartCall, Call: &provider.Call{ID: "c1", Name: "look", Args: json.RawMessage(`{"path":"a"}`)}}}},
				{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: "c1", Name: "look", Text: "shown", Pictures: []provider.Picture{p}}}}},
			},
		})
		if err != nil || len(receipts) != 1 || receipts[0].Place != place {
			t.Fatalf("%s: %v: %+v", model, err, receipts)
		}
		// The documented stand-in is base64 for addresses, which their type does not read.
		body = bytes.ReplaceAll(body, []byte("skip_thought_signature_validator"), []byte("eA=="))
		var ours map[string]json.RawMessage
		var contents []*genai.Content
		if err := errors.Join(json.Unmarshal(body, &ours), json.Unmarshal(ours["contents"], &contents)); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(contents)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(again, &a) != nil || json.Unmarshal(ours["contents"], &b) != nil {
			t.Fatal("no JSON")
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s (-theirs +ours):\n%s", model, diff)
		}
	}
}

// TestTheVendorsClientUnderstandsTheDouble is what makes the double worth testing against.
func TestTheVendorsClientUnderstandsTheDouble(t *testing.T) {
	d := double.New(double.Options{Models: map[string]double.Model{"gemini-3-pro": {Sees: true}, "blind": {}}, Key: "k", Play: func(_ context.Context, turn double.Turn) double.Reply {
		last := turn.Entries[len(turn.Entries)-1]
		return double.Reply{Text: last.ResultOf + " showed " + last.Pictures[0].MediaType, Calls: []double.Call{{Name: "look", Args: map[string]any{"path": "b"}}}}
	}})
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	contents := func() []*genai.Content {
		return []*genai.Content{
			genai.NewContentFromText("look at it", genai.RoleUser),
			{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "look", Args: map[string]any{"path": "a"}}, ThoughtSignature: []byte("x")}}},
			{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
				ID: "c1", Name: "look", Response: map[string]any{"output": "shown"},
				Parts: []*genai.FunctionResponsePart{{InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", Data: pixelBytes(t)}}},
			}}}},
		}
	}
	text, calls := "", 0
	for chunk, err := range client.Models.GenerateContentStream(t.Context(), "gemini-3-pro", contents(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		text += chunk.Text()
		calls += len(chunk.FunctionCalls())
	}
	if text != "look showed image/png" || calls != 1 {
		t.Errorf("%q, %d calls", text, calls)
	}
	whole, err := client.Models.GenerateContent(t.Context(), "gemini-3-pro", contents(), nil)
	if err != nil || whole.Text() != text || len(whole.FunctionCalls()) != 1 || whole.UsageMetadata.PromptTokenCount <= 0 {
		t.Errorf("%v %+v", err, whole)
	}
	for name, change := range map[string]func(c []*genai.Content) (string, []*genai.Content){
		"a blind model":             func(c []*genai.Content) (string, []*genai.Content) { return "blind", c },
		"a call without its answer": func(c []*genai.Content) (string, []*genai.Content) { return "gemini-3-pro", c[:2] },
		"a call without its signature": func(c []*genai.Content) (string, []*genai.Content) {
			c[1].Parts[0].ThoughtSignature = nil
			return "gemini-3-pro", c
		},
	} {
		model, c := change(contents())
		_, err := client.Models.GenerateContent(t.Context(), model, c, nil)
		if e, ok := errors.AsType[genai.APIError](err); !ok || e.Code != 400 || e.Message == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
