package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/relo-dev/relo/core/internal/provider/double"
)

// program is somebody's agent, made with a vendor's own library: it sends a picture of the
// person and one of a tool, and streams the answer.
type program struct {
	name  string
	ask   func(ctx context.Context, p *proxied, model string) (said, error)
	wrong func(ctx context.Context, p *proxied) (status int, words string)
}

// said is what a program understood of an answer.
type said struct {
	text, call string
	tokens     int64
}

// proxied is a daemon with its proxy and a program's token.
type proxied struct {
	*world
	base, token string
	picture     string // base64
	stream      bool
}

func startProxy(t *testing.T, l lad, play *play) *proxied {
	t.Helper()
	w := newWorld(t, l, play)
	w.relo("daemon", "start").mustExit(t, 0)
	p := &proxied{world: w, picture: base64.StdEncoding.EncodeToString(drawing(t, 320, 200))}
	var doc struct{ URL, Token string }
	r := w.relo("proxy", "token", "add", "agent", "--json").mustExit(t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Token == "" || !strings.HasPrefix(doc.URL, "http://127.0.0.1:") {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	p.base, p.token = strings.TrimSuffix(doc.URL, "/v1"), doc.Token
	return p
}

func (p *proxied) openai() openai.Client {
	return openai.NewClient(option.WithBaseURL(p.base+"/v1"), option.WithAPIKey(p.token), option.WithMaxRetries(0))
}

func (p *proxied) dataURL() string { return "data:image/png;base64," + p.picture }

var programs = []program{
	{"openai-go chat", askChat, func(ctx context.Context, p *proxied) (int, string) {
		c := p.openai()
		_, err := c.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: "nobody/x", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}})
		return openaiError(err)
	}},
	{"openai-go responses", askResponses, func(ctx context.Context, p *proxied) (int, string) {
		c := p.openai()
		_, err := c.Responses.New(ctx, responses.ResponseNewParams{Model: "nobody/x", Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt("hi")}})
		return openaiError(err)
	}},
	{"anthropic-sdk-go", askMessages, func(ctx context.Context, p *proxied) (int, string) {
		c := p.anthropic()
		_, err := c.Messages.New(ctx, anthropic.MessageNewParams{Model: "nobody/x", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))}})
		if e, ok := errors.AsType[*anthropic.Error](err); ok {
			return e.StatusCode, e.Error()
		}
		return 0, fmt.Sprint(err)
	}},
	{"genai", askGemini, func(ctx context.Context, p *proxied) (int, string) {
		c, err := p.gemini(ctx)
		if err == nil {
			_, err = c.Models.GenerateContent(ctx, "nobody/x", genai.Text("hi"), nil)
		}
		if e, ok := errors.AsType[genai.APIError](err); ok {
			return e.Code, e.Message
		}
		return 0, fmt.Sprint(err)
	}},
}

func (p *proxied) gemini(ctx context.Context) (*genai.Client, error) {
	return genai.NewClient(ctx, &genai.ClientConfig{APIKey: p.token, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: p.base}})
}

func askGemini(ctx context.Context, p *proxied, model string) (said, error) {
	c, err := p.gemini(ctx)
	if err != nil {
		return said{}, err
	}
	raw, err := base64.StdEncoding.DecodeString(p.picture)
	if err != nil {
		return said{}, err
	}
	contents := []*genai.Content{{Role: genai.RoleUser, Parts: []*genai.Part{genai.NewPartFromText("what is it"), genai.NewPartFromBytes(raw, "image/png")}}}
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("be kind", genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "look", Parameters: &genai.Schema{Type: genai.TypeObject}}}}},
	}
	var out said
	take := func(r *genai.GenerateContentResponse) {
		for _, part := range r.Candidates[0].Content.Parts {
			out.text += part.Text
		}
		for _, call := range r.FunctionCalls() {
			text, _ := json.Marshal(call.Args)
			out.call += call.Name + string(text)
		}
		if r.UsageMetadata != nil {
			out.tokens = int64(r.UsageMetadata.PromptTokenCount)
		}
	}
	if !p.stream {
		r, err := c.Models.GenerateContent(ctx, model, contents, config)
		if err != nil {
			return said{}, err
		}
		take(r)
		return out, nil
	}
	for r, err := range c.Models.GenerateContentStream(ctx, model, contents, config) {
		if err != nil {
			return said{}, err
		}
		take(r)
	}
	return out, nil
}

func openaiError(err error) (int, string) {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return e.StatusCode, e.Message
	}
	return 0, fmt.Sprint(err)
}

func askChat(ctx context.Context, p *proxied, model string) (said, error) {
	c := p.openai()
	params := openai.ChatCompletionNewParams{
		Model: model,
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("be kind"),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart("what is it"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: p.dataURL()}),
			}),
		},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "look", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{}},
		})},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	var whole openai.ChatCompletion
	if p.stream {
		var acc openai.ChatCompletionAccumulator
		s := c.Chat.Completions.NewStreaming(ctx, params)
		for s.Next() {
			acc.AddChunk(s.Current())
		}
		if err := s.Err(); err != nil {
			return said{}, err
		}
		whole = acc.ChatCompletion
	} else {
		params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
		got, err := c.Chat.Completions.New(ctx, params)
		if err != nil {
			return said{}, err
		}
		whole = *got
	}
	out := said{text: whole.Choices[0].Message.Content, tokens: whole.Usage.PromptTokens}
	for _, call := range whole.Choices[0].Message.ToolCalls {
		out.call += call.Function.Name + call.Function.Arguments
	}
	return out, nil
}

func askResponses(ctx context.Context, p *proxied, model string) (said, error) {
	c := p.openai()
	params := responses.ResponseNewParams{
		Model: model, Instructions: param.NewOpt("be kind"),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
				responses.ResponseInputContentParamOfInputText("what is it"),
				{OfInputImage: &responses.ResponseInputImageParam{ImageURL: param.NewOpt(p.dataURL()), Detail: "auto"}},
			}, "user"),
		}},
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("look", map[string]any{"type": "object", "properties": map[string]any{}}, false)},
	}
	var whole responses.Response
	if p.stream {
		s := c.Responses.NewStreaming(ctx, params)
		for s.Next() {
			if e := s.Current(); e.Type == "response.completed" {
				whole = e.Response
			}
		}
		if err := s.Err(); err != nil {
			return said{}, err
		}
	} else {
		got, err := c.Responses.New(ctx, params)
		if err != nil {
			return said{}, err
		}
		whole = *got
	}
	out := said{text: whole.OutputText(), tokens: whole.Usage.InputTokens}
	for _, item := range whole.Output {
		if item.Type == "function_call" {
			call := item.AsFunctionCall()
			out.call += call.Name + call.Arguments
		}
	}
	return out, nil
}

func (p *proxied) anthropic() anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithBaseURL(p.base), anthropicoption.WithAPIKey(p.token), anthropicoption.WithMaxRetries(0))
}

func askMessages(ctx context.Context, p *proxied, model string) (said, error) {
	c := p.anthropic()
	params := anthropic.MessageNewParams{
		Model: model, MaxTokens: 200, System: []anthropic.TextBlockParam{{Text: "be kind"}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("what is it"), anthropic.NewImageBlockBase64("image/png", p.picture))},
		Tools:    []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "look", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{}}}}},
	}
	var whole anthropic.Message
	if p.stream {
		s := c.Messages.NewStreaming(ctx, params)
		for s.Next() {
			if err := whole.Accumulate(s.Current()); err != nil {
				return said{}, err
			}
		}
		if err := s.Err(); err != nil {
			return said{}, err
		}
	} else {
		got, err := c.Messages.New(ctx, params)
		if err != nil {
			return said{}, err
		}
		whole = *got
	}
	var out said
	out.tokens = whole.Usage.InputTokens + whole.Usage.CacheReadInputTokens
	for _, b := range whole.Content {
		switch b.Type {
		case "text":
			out.text += b.Text
		case "tool_use":
			out.call += b.Name + string(b.Input)
		}
	}
	return out, nil
}

// looksAndCalls is a model that says what it was shown and calls a tool; one that looks for
// another says what is on the picture.
func looksAndCalls(ctx context.Context, t turn) double.Reply {
	if strings.Contains(t.System, "You look at one picture") {
		return double.Reply{Text: fmt.Sprintf("a drawing of %d by %d", t.Pictures[0].Width, t.Pictures[0].Height)}
	}
	if strings.Contains(t.System, "test of the connection") {
		return probed(ctx, t)
	}
	words := fmt.Sprintf("%s got %d pictures", t.Model, len(t.Pictures))
	for _, e := range t.Entries {
		if strings.Contains(e.Text, "a drawing of 320 by 200") {
			words += ", and words"
		}
	}
	return double.Reply{Text: words, Calls: []double.Call{{Name: "look", Args: map[string]any{"path": "x"}}}}
}

func (p *play) always(a act) *play {
	p.workers = map[string]act{"": a}
	return p
}

func TestProgramsCallModelsThroughTheProxy(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.models["refuses"] = double.Model{}
	p := startProxy(t, l, (&play{}).always(looksAndCalls))
	p.edit(`"models": {"small"`, `"models": {"refuses": {"vision": true, "price": {"input": 1, "output": 2}}, "small"`)
	for _, prog := range programs {
		for _, stream := range []bool{false, true} {
			p.stream = stream
			for model, want := range map[string]string{
				"open/big": "big got 1 pictures", "anth/chief": "chief got 1 pictures", // over the program's own wire, or translated
				"open/small": "small got 0 pictures, and words", "anth/middle": "middle got 0 pictures, and words",
				"open/refuses": "refuses got 0 pictures, and words", // it refuses a picture and takes words
			} {
				got, err := prog.ask(t.Context(), p, model)
				if err != nil {
					t.Errorf("%s, %s, stream %v: %v", prog.name, model, stream, err)
					continue
				}
				if got.text != want || got.call != `look{"path":"x"}` || got.tokens <= 0 {
					t.Errorf("%s, %s, stream %v: %+v, want %q", prog.name, model, stream, got, want)
				}
			}
		}
		if status, words := prog.wrong(t.Context(), p); status != 404 || !strings.Contains(words, "nobody/x is not in Relo's config") {
			t.Errorf("%s: %d %q", prog.name, status, words)
		}
	}
	p.checkProxyRecord(t)
}

// checkProxyRecord holds the receipts and the ledger against what the double got.
func (p *proxied) checkProxyRecord(t *testing.T) {
	t.Helper()
	how := map[string]int{}
	p.wait("the receipts are noted", func() bool { // the last answer's a moment after it was handed over
		var got struct {
			Receipts []struct{ How, Model, SHA256 string }
		}
		p.get(t, "/v1/relo/receipts", &got)
		clear(how)
		for _, r := range got.Receipts {
			how[r.How]++
		}
		return len(got.Receipts) == 40
	})
	if how["pixels"] != 16 || how["described"] != 24 { // of 4 programs, streaming or not, 2 models that see and 3 that do not
		t.Errorf("receipts %v", how)
	}
	answered := 0
	for _, r := range p.dbl.Requests() {
		if r.Wire != "" {
			answered++
		}
	}
	var costs struct{ Rows []struct{ Requests int } }
	if err := json.Unmarshal([]byte(p.relo("costs", "--json").mustExit(t, 0).stdout), &costs); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, r := range costs.Rows {
		sum += r.Requests
	}
	if sum != answered {
		t.Errorf("relo costs has %d requests, the provider got %d", sum, answered)
	}
}

func (p *proxied) get(t *testing.T, path string, into any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if into != nil && resp.StatusCode == http.StatusOK {
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode
}

func TestAProxysTokenCountsAtOnceAndNoLonger(t *testing.T) {
	t.Parallel()
	p := startProxy(t, mixed(), (&play{}).always(looksAndCalls))
	if s := p.get(t, "/v1/models", nil); s != 200 {
		t.Errorf("with a token: %d", s)
	}
	p.relo("proxy", "token", "revoke", "agent").mustExit(t, 0)
	if s := p.get(t, "/v1/models", nil); s != 401 {
		t.Errorf("with one that was revoked: %d", s)
	}
	p.relo("proxy", "token", "revoke", "agent").mustExit(t, 2)
	old := p.base
	p.relo("daemon", "stop").mustExit(t, 0)
	p.relo("daemon", "start").mustExit(t, 0)
	if r := p.relo("proxy").mustExit(t, 0); strings.TrimSpace(r.stdout) != old+"/v1" {
		t.Errorf("the address changed from %s to %s", old, r.stdout)
	}
}

func TestAPersonAsksAboutAPicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), (&play{}).always(looksAndCalls))
	w.write(w.home+"/shot.png", string(drawing(t, 320, 200)))
	for _, running := range []bool{false, true} {
		if running {
			w.relo("daemon", "start").mustExit(t, 0)
		}
		r := w.relo("look", "shot.png", "What is it?", "--json").mustExit(t, 0)
		var doc struct {
			Words, By string
			Cost      *float64
		}
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Words != "a drawing of 320 by 200" || doc.By == "" || doc.Cost == nil {
			t.Errorf("running %v: %v %s", running, err, r.stdout)
		}
	}
	var costs struct {
		Rows []struct {
			Traffic  string
			Requests int
		}
	}
	if err := json.Unmarshal([]byte(w.relo("costs", "--json").mustExit(t, 0).stdout), &costs); err != nil || len(costs.Rows) != 1 || costs.Rows[0].Requests != 2 || costs.Rows[0].Traffic != "vision" {
		t.Errorf("%v %+v", err, costs)
	}
	w.relo("look", "gone.png", "What is it?").mustExit(t, 1)
	w.relo("look", "shot.png").mustExit(t, 2)
}
