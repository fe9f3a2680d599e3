package envelope

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/relo-dev/relo/core/internal/provider"
)

func openAI(d *desk) openai.Client {
	return openai.NewClient(option.WithBaseURL(d.URL+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
}

func chatParams(t *testing.T) openai.ChatCompletionNewParams {
	t.Helper()
	return openai.ChatCompletionNewParams{
		Model: "house/best",
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("be kind"),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart("what is it"),
				openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: dataURL(pngOf(t, 3, 2)), Detail: "high"}),
			}),
			{OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: "c1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "look", Arguments: `{"path":"x"}`}},
			}}}},
			openai.ToolMessage("seen", "c1"),
		},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "look", Description: param.NewOpt("looks"), Parameters: shared.FunctionParameters{"type": "object"},
		})},
		MaxCompletionTokens: param.NewOpt[int64](99),
		Temperature:         param.NewOpt(0.5),
		StreamOptions:       openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
}

func TestOpenAIsClientIsUnderstoodOnChat(t *testing.T) {
	d := newDesk(t, full)
	client := openAI(d)
	whole, err := client.Chat.Completions.New(t.Context(), chatParams(t))
	if err != nil {
		t.Fatal(err)
	}
	r := d.asked()
	same(t, "model", r.Model+" "+r.System, "house/best be kind")
	same(t, "tokens", r.MaxTokens, 99)
	same(t, "tools", r.Tools, []provider.ToolSpec{{Name: "look", Description: "looks", Schema: json.RawMessage(`{"type":"object"}`)}})
	p := r.Messages[0].Parts[1].Picture
	if len(r.Messages) != 3 || p == nil || p.Width != 3 || p.MediaType != "image/png" || p.View.ID != "messages[1].content[1]" || p.View.Path != "picture 1 of the request" {
		t.Fatalf("%+v", r.Messages)
	}
	same(t, "result", r.Messages[2].Parts[0].Result, &provider.Result{ID: "c1", Name: "look", Text: "seen"})
	checkChat(t, "whole", *whole)

	acc := openai.ChatCompletionAccumulator{}
	stream := client.Chat.Completions.NewStreaming(t.Context(), chatParams(t))
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Errorf("a chunk that the client cannot put to the others: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	checkChat(t, "streamed", acc.ChatCompletion)
}

func checkChat(t *testing.T, how string, c openai.ChatCompletion) {
	t.Helper()
	if len(c.Choices) != 1 {
		t.Fatalf("%s: %+v", how, c)
	}
	m := c.Choices[0].Message
	same(t, how+" text", m.Content, answerText)
	same(t, how+" finish", c.Choices[0].FinishReason, "tool_calls")
	same(t, how+" head", []any{c.ID, c.Model, c.Created}, []any{"chatcmpl-1", "house/best", int64(1_700_000_000)})
	if len(m.ToolCalls) != 2 {
		t.Fatalf("%s: %+v", how, m.ToolCalls)
	}
	f := m.ToolCalls[0].Function
	same(t, how+" call", []string{m.ToolCalls[0].ID, f.Name, f.Arguments}, []string{"call.1:x", "look", `{"path":"a b","n":1.50}`})
	same(t, how+" second call", []string{m.ToolCalls[1].ID, m.ToolCalls[1].Function.Arguments}, []string{"call_2", "{}"})
	same(t, how+" usage", []int64{c.Usage.PromptTokens, c.Usage.CompletionTokens, c.Usage.TotalTokens, c.Usage.PromptTokensDetails.CachedTokens}, []int64{100, 20, 120, 60})
}

func TestOpenAIsClientReadsFailures(t *testing.T) {
	for _, c := range []struct {
		s      script
		status int
		typ    string
	}{
		{script{kind: provider.KindBusy, status: 429, words: "too many"}, 429, "rate_limit_error"},
		{script{kind: provider.KindRefused, status: 400, words: "too many"}, 400, "invalid_request_error"},
		{script{kind: provider.KindCut, words: "too many"}, 502, "server_error"},
		{script{kind: provider.KindLarge, status: 200, words: "too many"}, 413, "invalid_request_error"},
	} {
		client := openAI(newDesk(t, c.s))
		_, err := client.Chat.Completions.New(t.Context(), chatParams(t))
		if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != c.status || e.Message != "too many" || e.Type != c.typ {
			t.Errorf("chat: %v, want %d %s", err, c.status, c.typ)
		}
		_, err = client.Responses.New(t.Context(), responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt("hi")}})
		if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != c.status || e.Message != "too many" || e.Type != c.typ {
			t.Errorf("responses: %v, want %d %s", err, c.status, c.typ)
		}
	}
	bad := chatParams(t)
	bad.N = param.NewOpt[int64](2)
	client := openAI(newDesk(t, plain))
	_, err := client.Chat.Completions.New(t.Context(), bad)
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != 400 || e.Param != "n" || !strings.Contains(e.Message, "set it to 1") {
		t.Errorf("%v", err)
	}
}

func TestOpenAIsClientReadsAFailureInsideOfAStream(t *testing.T) {
	s := script{deltas: []string{"half"}, kind: provider.KindCut, words: "the stream broke"}
	client := openAI(newDesk(t, s))
	stream := client.Chat.Completions.NewStreaming(t.Context(), chatParams(t))
	text := ""
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text += c.Delta.Content
		}
	}
	if e, ok := errors.AsType[*ssestream.StreamError](stream.Err()); !ok || !strings.Contains(e.Message, s.words) || text != "half" {
		t.Errorf("%q, %v", text, stream.Err())
	}
	events := client.Responses.NewStreaming(t.Context(), responsesParams(t))
	text = ""
	for events.Next() {
		if e := events.Current(); e.Type == "response.output_text.delta" {
			text += e.Delta
		}
	}
	if e, ok := errors.AsType[*ssestream.StreamError](events.Err()); !ok || !strings.Contains(e.Message, s.words) || text != "half" {
		t.Errorf("%q, %v", text, events.Err())
	}
	// A client that wants the events gets both: the error and the response that failed.
	var kinds []string
	events = client.Responses.NewStreaming(t.Context(), responsesParams(t)).WithEventsMode()
	for events.Next() {
		e := events.Current()
		if kinds = append(kinds, e.Type); e.Type == "response.failed" && (e.Response.Error.Message != s.words || e.Response.Status != "failed") {
			t.Errorf("%s", e.RawJSON())
		}
		if e.Type == "error" && e.Message != s.words {
			t.Errorf("%s", e.RawJSON())
		}
	}
	if n := len(kinds); events.Err() != nil || n < 2 || kinds[n-2] != "error" || kinds[n-1] != "response.failed" {
		t.Errorf("%v %v", kinds, events.Err())
	}
}

func responsesParams(t *testing.T) responses.ResponseNewParams {
	t.Helper()
	picture := param.NewOpt(dataURL(pngOf(t, 3, 2)))
	call := responses.ResponseInputItemParamOfFunctionCall(`{"path":"x"}`, "c1", "look")
	result := responses.ResponseInputItemParamOfFunctionCallOutput(responses.ResponseFunctionCallOutputItemListParam{
		{OfInputText: &responses.ResponseInputTextContentParam{Text: "seen"}},
		{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: picture, Detail: "high"}},
	})
	result.OfFunctionCallOutput.CallID = param.NewOpt("c1")
	custom := responses.ToolParamOfCustom("patch")
	custom.OfCustom.Description = param.NewOpt("patches")
	look := responses.ToolParamOfFunction("look", map[string]any{"type": "object"}, false)
	return responses.ResponseNewParams{
		Model: "house/best", Instructions: param.NewOpt("be kind"), MaxOutputTokens: param.NewOpt[int64](99),
		Store: param.NewOpt(false), Include: []responses.ResponseIncludable{"reasoning.encrypted_content"}, PromptCacheKey: param.NewOpt("key"),
		Tools: []responses.ToolUnionParam{look, custom, responses.ToolParamOfNamespace("n", "mcp__relo", []responses.NamespaceToolToolUnionParam{
			{OfFunction: &responses.NamespaceToolToolFunctionParam{Name: "relo_image"}},
		})},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
				responses.ResponseInputContentParamOfInputText("what is it"),
				{OfInputImage: &responses.ResponseInputImageParam{ImageURL: picture, Detail: "auto"}},
			}, "user"),
			call, result,
		}},
	}
}

func TestOpenAIsClientIsUnderstoodOnResponses(t *testing.T) {
	s := full
	s.resp.Message.Parts = append(s.resp.Message.Parts[:3:3],
		provider.Part{Kind: provider.PartCall, Call: &provider.Call{ID: "call_2", Name: "patch", Args: json.RawMessage(`{"input":"*** Begin\n"}`)}},
		provider.Part{Kind: provider.PartCall, Call: &provider.Call{ID: "call_3", Name: "mcp__relo__relo_image", Args: json.RawMessage(`{"paths":["a"]}`)}})
	d := newDesk(t, s)
	client := openAI(d)
	whole, err := client.Responses.New(t.Context(), responsesParams(t))
	if err != nil {
		t.Fatal(err)
	}
	r := d.asked()
	same(t, "head", []any{r.Model, r.System, r.MaxTokens, r.CacheKey}, []any{"house/best", "be kind", 99, "key"})
	var names []string
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	same(t, "tools", names, []string{"look", "patch", "mcp__relo__relo_image"})
	same(t, "call", r.Messages[1].Parts[0].Call, &provider.Call{ID: "c1", Name: "look", Args: json.RawMessage(`{"path":"x"}`)})
	res := r.Messages[2].Parts[0].Result
	if res.ID != "c1" || res.Name != "look" || res.Text != "seen" || len(res.Pictures) != 1 || res.Pictures[0].View.ID != "input[2].output[1]" {
		t.Errorf("%+v", res)
	}
	checkResponse(t, "whole", *whole, []string{"reasoning", "message", "function_call", "custom_tool_call", "function_call"})

	stream := client.Responses.NewStreaming(t.Context(), responsesParams(t))
	var last responses.Response
	text, items, next := "", []string{}, int64(0)
	for stream.Next() {
		e := stream.Current()
		if e.SequenceNumber != next {
			t.Errorf("event %d has the number %d", next, e.SequenceNumber)
		}
		next++
		switch e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.output_item.done":
			if int64(len(items)) != e.OutputIndex {
				t.Errorf("item %d is at %d", len(items), e.OutputIndex)
			}
			items = append(items, e.Item.Type)
		case "response.completed":
			last = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	want := []string{"message", "reasoning", "function_call", "custom_tool_call", "function_call"}
	same(t, "deltas", text, answerText)
	same(t, "items", items, want)
	checkResponse(t, "streamed", last, want)
}

func checkResponse(t *testing.T, how string, r responses.Response, order []string) {
	t.Helper()
	same(t, how+" text", r.OutputText(), answerText)
	same(t, how+" head", []any{r.ID, r.Model, string(r.Status), r.CreatedAt}, []any{"resp_1", "house/best", "completed", float64(1_700_000_000)})
	same(t, how+" usage", []int64{r.Usage.InputTokens, r.Usage.OutputTokens, r.Usage.TotalTokens, r.Usage.InputTokensDetails.CachedTokens}, []int64{100, 20, 120, 60})
	var kinds []string
	ids := map[string]bool{}
	for _, item := range r.Output {
		kinds = append(kinds, item.Type)
		if ids[item.ID] {
			t.Errorf("%s: two items have the id %s", how, item.ID)
		}
		ids[item.ID] = true
		switch item.CallID {
		case "call.1:x":
			same(t, how+" call", []string{item.Name, item.Arguments.OfString}, []string{"look", `{"path":"a b","n":1.50}`})
		case "call_2":
			same(t, how+" custom call", []string{item.Name, item.Input}, []string{"patch", "*** Begin\n"})
		case "call_3":
			same(t, how+" call in a namespace", []string{item.Namespace, item.Name}, []string{"mcp__relo", "relo_image"})
		}
		if item.Type == "reasoning" {
			same(t, how+" reasoning", []string{item.Summary[0].Text, item.EncryptedContent}, []string{"a thought", "sig=="})
		}
	}
	same(t, how+" order", kinds, order)
}

func TestWhatEndsAnAnswerEarlyIsSaid(t *testing.T) {
	for stop, want := range map[provider.Stop][3]string{
		provider.StopEnd:     {"stop", "completed", ""},
		provider.StopOther:   {"stop", "completed", ""},
		provider.StopLength:  {"length", "incomplete", "max_output_tokens"},
		provider.StopRefusal: {"content_filter", "incomplete", "content_filter"},
	} {
		s := plain
		s.resp.Stop = stop
		client := openAI(newDesk(t, s))
		c, err := client.Chat.Completions.New(t.Context(), chatParams(t))
		if err != nil || c.Choices[0].FinishReason != want[0] || c.Choices[0].Message.Content != "yes" || c.JSON.Usage.Valid() {
			t.Errorf("%s: %v %+v", stop, err, c)
		}
		r, err := client.Responses.New(t.Context(), responsesParams(t))
		if err != nil || string(r.Status) != want[1] || r.IncompleteDetails.Reason != want[2] || r.OutputText() != "yes" {
			t.Errorf("%s: %v %+v", stop, err, r)
		}
	}
}
