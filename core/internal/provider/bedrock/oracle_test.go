package bedrock_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/bedrock"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/vision"
)

// The access key of every test here, marked so that it is found wherever it leaks.
const (
	accessID     = "AKIARELOTEST0000MARK"
	accessSecret = "relo/secret+0123456789/MARKED/abcdefghij"
	claudeID     = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	openaiID     = "us.openai.gpt-5"
	blindID      = "mistral.blind-v1:0"
)

// played serves Bedrock to signed requests.
func played(t *testing.T, play double.Player) (*double.Server, string) {
	t.Helper()
	d := double.New(double.Options{
		Key: accessID + ":" + accessSecret, Play: play,
		Models: map[string]double.Model{claudeID: {Sees: true}, openaiID: {Sees: true}, blindID: {}},
	})
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return d, s.URL
}

// oracle is AWS's own client of it.
func oracle(url, secret string) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		BaseEndpoint: aws.String(url), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(accessID, secret, ""),
	})
}

func drawn(t *testing.T, path string) provider.Picture {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 20, 10))); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return provider.Picture{
		Picture: vision.Picture{SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 20, Height: 10, Bytes: b.Bytes()},
		View:    vision.View{Path: path},
	}
}

// dialogue is a round with a tool's picture, as our transcript.
func dialogue(t *testing.T, model string) provider.Request {
	return provider.Request{
		Model: model, System: "Role: worker", MaxTokens: 500,
		Tools: []provider.ToolSpec{{Name: "relo_image", Description: "shows", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look"), provider.Show(drawn(t, "ref.png"))}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{
				provider.Text("I look."),
				{Kind: provider.PartCall, Call: &provider.Call{ID: "tooluse_1", Name: "relo_image", Args: json.RawMessage(`{"path":"a.png"}`)}},
			}},
			{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{
				ID: "tooluse_1", Name: "relo_image", Text: "here", Pictures: []provider.Picture{drawn(t, "a.png")}, IsError: true,
			}}}},
		},
	}
}

func shownBySDK(p provider.Picture) types.ImageBlock {
	return types.ImageBlock{Format: types.ImageFormatPng, Source: &types.ImageSourceMemberBytes{Value: p.Bytes}}
}

// inSDK is the same dialogue in AWS's own types.
func inSDK(t *testing.T, model string) *bedrockruntime.ConverseStreamInput {
	mark := types.CachePointBlock{Type: types.CachePointTypeDefault}
	return &bedrockruntime.ConverseStreamInput{
		ModelId:         aws.String(model),
		System:          []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: "Role: worker"}, &types.SystemContentBlockMemberCachePoint{Value: mark}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(500)},
		ToolConfig: &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name: aws.String("relo_image"), Description: aws.String("shows"),
			InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(map[string]any{"type": "object"})},
		}}}},
		Messages: []types.Message{
			{Role: types.ConversationRoleUser, Content: []types.ContentBlock{
				&types.ContentBlockMemberText{Value: "look"}, &types.ContentBlockMemberImage{Value: shownBySDK(drawn(t, "ref.png"))},
			}},
			{Role: types.ConversationRoleAssistant, Content: []types.ContentBlock{
				&types.ContentBlockMemberText{Value: "I look."},
				&types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
					ToolUseId: aws.String("tooluse_1"), Name: aws.String("relo_image"), Input: document.NewLazyDocument(map[string]any{"path": "a.png"}),
				}},
			}},
			{Role: types.ConversationRoleUser, Content: []types.ContentBlock{
				&types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
					ToolUseId: aws.String("tooluse_1"), Status: types.ToolResultStatusError,
					Content: []types.ToolResultContentBlock{
						&types.ToolResultContentBlockMemberText{Value: "here"}, &types.ToolResultContentBlockMemberImage{Value: shownBySDK(drawn(t, "a.png"))},
					},
				}},
				&types.ContentBlockMemberCachePoint{Value: mark},
			}},
		},
	}
}

func signedClient(t *testing.T, url string) provider.Client {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", accessID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", accessSecret)
	t.Setenv("AWS_SESSION_TOKEN", "session-token-0123-MARKED")
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	c, err := bedrock.New(bedrock.Options{Provider: "played", BaseURL: url}, bedrock.AWS{Region: "us-east-1", Getenv: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func nowhere(string) string { return "" }

func TestWhatWeSendIsWhatAWSsOwnClientSends(t *testing.T) {
	d, url := played(t, nil)
	if _, err := signedClient(t, url).Stream(t.Context(), dialogue(t, claudeID), nil); err != nil {
		t.Fatal(err)
	}
	stream, err := oracle(url, accessSecret).ConverseStream(t.Context(), inSDK(t, claudeID))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.GetStream().Close() }()
	got := d.Requests()
	var ours, theirs any
	if err := errors.Join(json.Unmarshal(got[0].Body, &ours), json.Unmarshal(got[1].Body, &theirs)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Error(diff)
	}
	if got[0].Path != got[1].Path || len(got[0].Pictures) != 2 || got[0].Header.Get("Accept") == "" {
		t.Errorf("%s and %s", got[0].Path, got[1].Path)
	}
}

func TestAWSsOwnClientUnderstandsTheDouble(t *testing.T) {
	in := int64(100)
	_, url := played(t, func(context.Context, double.Turn) double.Reply {
		return double.Reply{
			Reasoning: "I think about it.", Text: "Here it comes, in pieces.", Usage: double.Usage{In: &in},
			Calls: []double.Call{{ID: "tooluse_9", Name: "relo_image", Args: map[string]any{"path": "b.png"}}},
		}
	})
	client := oracle(url, accessSecret)
	input := inSDK(t, claudeID)
	whole, err := client.Converse(t.Context(), &bedrockruntime.ConverseInput{
		ModelId: input.ModelId, Messages: input.Messages, System: input.System, ToolConfig: input.ToolConfig, InferenceConfig: input.InferenceConfig,
	})
	if err != nil {
		t.Fatal(err)
	}
	m := whole.Output.(*types.ConverseOutputMemberMessage).Value
	use, ok := m.Content[2].(*types.ContentBlockMemberToolUse)
	if !ok || *use.Value.ToolUseId != "tooluse_9" || whole.StopReason != types.StopReasonToolUse || *whole.Usage.InputTokens != 100 {
		t.Errorf("%+v", whole)
	}
	stream, err := client.ConverseStream(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	var text, args, thought strings.Builder
	var stop types.StopReason
	for e := range stream.GetStream().Events() {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch d := e.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				text.WriteString(d.Value)
			case *types.ContentBlockDeltaMemberToolUse:
				args.WriteString(*d.Value.Input)
			case *types.ContentBlockDeltaMemberReasoningContent:
				if r, ok := d.Value.(*types.ReasoningContentBlockDeltaMemberText); ok {
					thought.WriteString(r.Value)
				}
			}
		case *types.ConverseStreamOutputMemberMessageStop:
			stop = e.Value.StopReason
		}
	}
	if err := stream.GetStream().Err(); err != nil {
		t.Fatal(err)
	}
	if text.String() != "Here it comes, in pieces." || args.String() != `{"path":"b.png"}` || thought.String() != "I think about it." || stop != types.StopReasonToolUse {
		t.Errorf("%q, %q, %q, %q", text.String(), args.String(), thought.String(), stop)
	}
}

// TestTheDoubleRefusesAsBedrock: AWS's own client reads what the double says of a
// broken rule.
func TestTheDoubleRefusesAsBedrock(t *testing.T) {
	_, url := played(t, nil)
	images := func(n int) []types.ContentBlock {
		var all []types.ContentBlock
		for range n {
			all = append(all, &types.ContentBlockMemberImage{Value: shownBySDK(drawn(t, "x.png"))})
		}
		return all
	}
	photo := new(bytes.Buffer)
	if err := jpeg.Encode(photo, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	wide := new(bytes.Buffer)
	if err := png.Encode(wide, image.NewGray(image.Rect(0, 0, 8001, 1))); err != nil {
		t.Fatal(err)
	}
	picture := func(format types.ImageFormat, data []byte) func(*bedrockruntime.ConverseStreamInput) {
		return func(in *bedrockruntime.ConverseStreamInput) {
			in.Messages[0].Content[1] = &types.ContentBlockMemberImage{Value: types.ImageBlock{Format: format, Source: &types.ImageSourceMemberBytes{Value: data}}}
		}
	}
	for _, row := range []struct {
		why, model, code, words string
		change                  func(*bedrockruntime.ConverseStreamInput)
	}{
		{"a tool's picture of an OpenAI model", openaiID, "ValidationException", "support the image field for user messages", func(*bedrockruntime.ConverseStreamInput) {}},
		{"a blind model", blindID, "ValidationException", "support the image content block that you provided", func(*bedrockruntime.ConverseStreamInput) {}},
		{"no such model", "nobody.knows", "ValidationException", "model identifier is invalid", func(*bedrockruntime.ConverseStreamInput) {}},
		{"another format", claudeID, "ValidationException", "does not match the specified image format", picture(types.ImageFormatPng, photo.Bytes())},
		{"a format in capitals", claudeID, "ValidationException", "failed to satisfy constraint", picture("JPEG", photo.Bytes())},
		{"jpg", claudeID, "ValidationException", "messages.1.member.content.2.member.image.format", picture("jpg", photo.Bytes())},
		{"too wide", claudeID, "ValidationException", "8000 pixels", picture(types.ImageFormatPng, wide.Bytes())},
		{"too many bytes", claudeID, "ValidationException", "3.75 MB", picture(types.ImageFormatPng, make([]byte, 3932161))},
		{"no picture", claudeID, "ValidationException", "Could not process image", picture(types.ImageFormatPng, []byte("words"))},
		{"21 pictures", claudeID, "ValidationException", "Too much media", func(in *bedrockruntime.ConverseStreamInput) {
			in.Messages[0].Content = append(in.Messages[0].Content, images(19)...)
		}},
		{"blank text", claudeID, "ValidationException", "is blank", func(in *bedrockruntime.ConverseStreamInput) {
			in.Messages[0].Content[0] = &types.ContentBlockMemberText{Value: " "}
		}},
		{"one after another", claudeID, "ValidationException", "must alternate", func(in *bedrockruntime.ConverseStreamInput) {
			in.Messages = append(in.Messages, in.Messages[0])
		}},
		{"the assistant begins", claudeID, "ValidationException", "must start with a user message", func(in *bedrockruntime.ConverseStreamInput) { in.Messages = in.Messages[1:] }},
		{"a result too many", claudeID, "ValidationException", "exceeds the number of toolUse blocks", func(in *bedrockruntime.ConverseStreamInput) {
			in.Messages[2].Content = append(in.Messages[2].Content, in.Messages[2].Content[0])
		}},
		{"no result", claudeID, "ValidationException", "Expected toolResult blocks", func(in *bedrockruntime.ConverseStreamInput) {
			in.Messages[2].Content = in.Messages[0].Content
		}},
		{"no tools", claudeID, "ValidationException", "toolConfig field must be defined", func(in *bedrockruntime.ConverseStreamInput) { in.ToolConfig = nil }},
		{"an odd name", claudeID, "ValidationException", "regular expression pattern", func(in *bedrockruntime.ConverseStreamInput) {
			in.Messages[1].Content[1].(*types.ContentBlockMemberToolUse).Value.Name = aws.String("a.b")
		}},
	} {
		input := inSDK(t, row.model)
		row.change(input)
		_, err := oracle(url, accessSecret).ConverseStream(t.Context(), input)
		api, ok := errors.AsType[smithy.APIError](err)
		if !ok || api.ErrorCode() != row.code || !strings.Contains(api.ErrorMessage(), row.words) {
			t.Errorf("%s: %v", row.why, err)
		}
	}
	_, err := oracle(url, "another secret").ConverseStream(t.Context(), inSDK(t, claudeID))
	if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "UnrecognizedClientException" {
		t.Errorf("another secret: %v", err)
	}
}

func TestAnExceptionInTheStreamIsReadByBoth(t *testing.T) {
	_, url := played(t, func(context.Context, double.Turn) double.Reply {
		return double.Reply{Text: "some words", ErrorEvent: `{"__type":"throttlingException","message":"Too many tokens"}`}
	})
	stream, err := oracle(url, accessSecret).ConverseStream(t.Context(), inSDK(t, claudeID))
	if err != nil {
		t.Fatal(err)
	}
	for range stream.GetStream().Events() {
	}
	if _, ok := errors.AsType[*types.ThrottlingException](stream.GetStream().Err()); !ok {
		t.Errorf("AWS's own client: %v", stream.GetStream().Err())
	}
	_, err = signedClient(t, url).Stream(t.Context(), dialogue(t, claudeID), nil)
	if e, ok := errors.AsType[*provider.Error](err); !ok || e.Kind != provider.KindBusy || e.Code != "throttlingException" || e.Words != "Too many tokens" {
		t.Errorf("ours: %v", err)
	}
}
