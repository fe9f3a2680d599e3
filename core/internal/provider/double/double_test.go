package double_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider/double"
)

const key = "sk-double-0123456789"

func open(t *testing.T, o double.Options) (*double.Server, string) {
	t.Helper()
	o.Key = key
	o.Models = map[string]double.Model{
		"sees": {Sees: true}, "blind": {}, "other": {Refusal: double.Refusal{Status: 404, Body: `{"error":"No endpoints found that support image input"}`}},
	}
	d := double.New(o)
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	return d, server.URL
}

// send posts a body as the wire's clients do; the path chooses the wire.
func send(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func encoded(t *testing.T, mediaType string, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	img := image.NewPaletted(image.Rect(0, 0, width, height), palette.Plan9)
	var err error
	switch mediaType {
	case "image/png":
		err = png.Encode(&b, img)
	case "image/jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "image/gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

type rule struct {
	why, body string
	status    int
	words     string // empty: it is taken
}

func hold(t *testing.T, url string, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.why, func(t *testing.T) {
			status, body := send(t, url, r.body)
			var parsed struct {
				Error struct{ Message string }
			}
			if err := json.Unmarshal([]byte(body), &parsed); err != nil && r.words != "" && !strings.Contains(body, r.words) {
				t.Fatalf("%s: %v", body, err)
			}
			if status != r.status || (r.words != "" && !strings.Contains(body, r.words) && !strings.Contains(parsed.Error.Message, r.words)) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestChatRules(t *testing.T) {
	_, url := open(t, double.Options{})
	small := encoded(t, "image/png", 8, 8)
	say := func(messages string) string { return `{"model":"sees","messages":[` + messages + `]}` }
	show := func(model, dataURL string) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + dataURL + `"}}]}]}`
	}
	hello, calls := `{"role":"user","content":"hi"}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}]}`
	hold(t, url+"/v1/chat/completions", []rule{
		{"words", say(hello), 200, ""},
		{"a picture", show("sees", "data:image/png;base64,"+small), 200, ""},
		{"a gif", show("sees", "data:image/gif;base64,"+encoded(t, "image/gif", 3, 3)), 200, ""},
		{"a model that is not there", `{"model":"x","messages":[` + hello + `]}`, 404, "The model `x` does not exist"},
		{"no messages", `{"model":"sees","messages":[]}`, 400, "Invalid 'messages': empty array"},
		{"no JSON", `{`, 400, "could not parse"},
		{"a picture for a blind model", show("blind", "data:image/png;base64,"+small), 400, "Invalid content type. image_url is only supported by certain models"},
		{"a picture for a blind model of another provider", show("other", "data:image/png;base64,"+small), 404, "No endpoints found that support image input"},
		{
			"a picture in a tool's message", say(hello + `,` + calls + `,{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + small + `"}}]}`),
			400, "Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL",
		},
		{"a type of another wire", say(`{"role":"user","content":[{"type":"image"}]}`), 400, "Invalid value: 'image'. Supported values are: 'text' and 'image_url'"},
		{"a string for image_url", say(`{"role":"user","content":[{"type":"image_url","image_url":"data:"}]}`), 400, "expected an object, but got a string instead"},
		{"a broken data URL", show("sees", "data:image/png,"+small), 400, "Expected a valid URL"},
		{"broken base64", show("sees", "data:image/png;base64,!!!"), 400, "You uploaded an unsupported image"},
		{"a type that nobody reads", show("sees", "data:image/svg+xml;base64,"+small), 400, "You uploaded an unsupported image"},
		{"another type than it says", show("sees", "data:image/jpeg;base64,"+small), 400, "does not represent a valid image"},
		{"half a picture", show("sees", "data:image/png;base64,"+small[:len(small)/8*4]), 400, "does not represent a valid image"},
		{"calls without results", say(hello + `,` + calls + `,` + hello), 400, "The following tool_call_ids did not have response messages: a"},
		{"calls at the end without results", say(hello + `,` + calls), 400, "must be followed by tool messages responding to each 'tool_call_id'"},
		{"a result without a call", say(hello + `,{"role":"tool","tool_call_id":"a","content":"x"}`), 400, "must be a response to a preceeding message with 'tool_calls'"},
		{"an assistant of nothing", say(hello + `,{"role":"assistant","content":null}`), 400, "expected a string, got null"},
		{"an unknown role", say(`{"role":"robot","content":"x"}`), 400, "Invalid value: 'robot'"},
		{"an id that is too long", say(strings.Replace(hello+`,`+calls, `"id":"a"`, `"id":"`+strings.Repeat("a", 41)+`"`, 1)), 400, "Expected a string with maximum length 40, but got a string with length 41"},
		{"two tools of one name", `{"model":"sees","messages":[` + hello + `],"tools":[` + strings.Repeat(`{"type":"function","function":{"name":"x","parameters":{"type":"object"}}},`, 2) + `{}]}`, 400, "unique"},
		{"a tool whose schema is no object", `{"model":"sees","messages":[` + hello + `],"tools":[{"function":{"name":"x","parameters":{"type":"string"}}}]}`, 400, "Invalid schema for function 'x'"},
	})
}

func TestMessagesRules(t *testing.T) {
	_, url := open(t, double.Options{})
	small := encoded(t, "image/png", 8, 8)
	say := func(messages string) string {
		return `{"model":"sees","max_tokens":9,"messages":[` + messages + `]}`
	}
	block := func(mediaType, data string) string {
		return `{"type":"image","source":{"type":"base64","media_type":"` + mediaType + `","data":"` + data + `"}}`
	}
	show := func(mediaType, data string, n int) string {
		return say(`{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(block(mediaType, data)+",", n), ",") + `]}`)
	}
	hello, use := `{"role":"user","content":"hi"}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]}`
	answer := func(content string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + content + `]}]}`
	}
	heavy := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 4<<20)...))
	hold(t, url+"/v1/messages", []rule{
		{"words", say(hello), 200, ""},
		{"a picture in a result", say(hello + "," + use + "," + answer(block("image/png", small))), 200, ""},
		{"a jpeg", show("image/jpeg", encoded(t, "image/jpeg", 8, 8), 1), 200, ""},
		{"a model that is not there", `{"model":"x","max_tokens":9,"messages":[` + hello + `]}`, 404, "model: x"},
		{"no limit", `{"model":"sees","messages":[` + hello + `]}`, 400, "max_tokens: Field required"},
		{"no messages", say(""), 400, "at least one message is required"},
		{"the assistant begins", say(`{"role":"assistant","content":"hi"}`), 400, "first message must use the \"user\" role"},
		{"two of one role", say(hello + "," + hello), 400, "roles must alternate"},
		{"a role of another wire", say(`{"role":"system","content":"x"}`), 400, "Input should be 'user' or 'assistant'"},
		{"blank text", say(`{"role":"user","content":" "}`), 400, "must contain non-whitespace text"},
		{"no content", say(`{"role":"user","content":[]}`), 400, "must have non-empty content"},
		{"calls without results", say(hello + "," + use + "," + hello), 400, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a"},
		{"calls at the end without results", say(hello + "," + use), 400, "`tool_use` ids were found without"},
		{"text before a result", say(hello + "," + use + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"}]}`), 400, "`tool_use` ids were found without"},
		{"a result without a call", say(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`), 400, "unexpected `tool_use_id` found in `tool_result` blocks: a"},
		{"a result of another wire", say(hello + "," + use + "," + answer(`{"type":"image_url"}`)), 400, "Input tag 'image_url' found"},
		{"an id with a dot", strings.ReplaceAll(say(hello+","+use+","+answer("")), `"a"`, `"a.b"`), 400, "should match pattern '^[a-zA-Z0-9_-]+$'"},
		{"thinking that is not its own", say(hello + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"}]}`), 400, "Invalid `signature` in `thinking` block"},
		{"a media type that nobody reads", show("image/bmp", small, 1), 400, "media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"},
		{"another type than it says", show("image/jpeg", small, 1), 400, "specified using the image/jpeg media type, but the image appears to be a image/png image"},
		{"no picture at all", show("image/png", "AAAA", 1), 400, "Could not process image"},
		{"half a picture", show("image/png", small[:len(small)/8*4], 1), 400, "Could not process image"},
		{"too heavy", show("image/png", heavy, 1), 400, "image exceeds 5 MB maximum: "},
		{"too long an edge", show("image/png", encoded(t, "image/png", 8001, 1), 1), 400, "exceed max allowed size: 8000 pixels"},
		{"a long edge that is taken", show("image/png", encoded(t, "image/png", 8000, 1), 1), 200, ""},
		{"a long edge among many", show("image/png", encoded(t, "image/png", 2001, 1), 21), 400, "for many-image requests: 2000 pixels"},
		{"too many", show("image/png", small, 101), 400, "Too much media: 0 document pages + 101 images > 100"},
		{"a picture for a blind model", strings.Replace(show("image/png", small, 1), "sees", "blind", 1), 400, "this model does not support image input"},
		{"two tools of one name", strings.Replace(say(hello), `"messages"`, `"tools":[{"name":"x","input_schema":{"type":"object"}},{"name":"x","input_schema":{"type":"object"}}],"messages"`, 1), 400, "Tool names must be unique"},
		{"a tool whose schema is no object", strings.Replace(say(hello), `"messages"`, `"tools":[{"name":"x","input_schema":{"type":"array"}}],"messages"`, 1), 400, "input_schema.type: Input should be 'object'"},
	})
	if status, body := send(t, url+"/v1/messages", say(hello), "Anthropic-Version", ""); status != 400 || !strings.Contains(body, "anthropic-version: header is required") {
		t.Errorf("no version: %d %s", status, body)
	}
	if status, body := send(t, url+"/v1/messages", `"`+strings.Repeat("x", 33<<20)+`"`); status != 413 || !strings.Contains(body, "request_too_large") {
		t.Errorf("a request over 32 MB: %d %.200s", status, body)
	}
}

func TestKeyAndModels(t *testing.T) {
	d, url := open(t, double.Options{})
	for path, want := range map[string]string{"/v1/chat/completions": "invalid_api_key", "/v1/messages": "invalid x-api-key"} {
		status, body := send(t, url+path, `{}`, "Authorization", "Bearer wrong-key-wrong-key")
		if status != 401 || !strings.Contains(body, want) || strings.Contains(body, "wrong-key-wrong-key") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for version, want := range map[string]string{"": `"object":"list"`, "2023-06-01": `"has_more":false`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", key)
		req.Header.Set("Anthropic-Version", version)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !strings.Contains(string(b), want) || !strings.Contains(string(b), `"id":"blind"`) {
			t.Errorf("version %q: %s, %v", version, b, err)
		}
	}
	if n := len(d.Requests()); n != 4 {
		t.Errorf("%d requests were recorded", n)
	}
}

func TestAnswersWithoutAStream(t *testing.T) {
	_, url := open(t, double.Options{Play: func(_ context.Context, turn double.Turn) double.Reply {
		return double.Reply{Text: "role " + turn.Role, Calls: []double.Call{{Name: "x", Args: json.RawMessage(`{"a":1}`)}}}
	}})
	status, body := send(t, url+"/v1/chat/completions", `{"model":"sees","messages":[{"role":"system","content":"Role: primary\nx"},{"role":"user","content":"hi"}]}`)
	if status != 200 || !strings.Contains(body, `"content":"role primary"`) || !strings.Contains(body, `"finish_reason":"tool_calls"`) || !strings.Contains(body, `"prompt_tokens":`) {
		t.Errorf("%d %s", status, body)
	}
	status, body = send(t, url+"/v1/messages", `{"model":"sees","max_tokens":1,"system":"Role: reviewer","messages":[{"role":"user","content":"hi"}]}`)
	if status != 200 || !strings.Contains(body, `"text":"role reviewer"`) || !strings.Contains(body, `"input":{"a":1}`) || !strings.Contains(body, `"stop_reason":"tool_use"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestRecordsKeepTheNewestBodies(t *testing.T) {
	d, url := open(t, double.Options{Keep: 2})
	for i := range 4 {
		send(t, url+"/v1/chat/completions", fmt.Sprintf(`{"model":"sees","messages":[{"role":"user","content":"%d"}]}`, i))
	}
	for i, r := range d.Requests() {
		if (len(r.Body) > 0) != (i >= 2) || !r.Answered || r.N != i+1 || r.Model != "sees" || r.Done.Before(r.At) {
			t.Errorf("%d: %+v", i, r)
		}
	}
}

func TestAClientThatLeavesEndsTheTurn(t *testing.T) {
	ended := make(chan error, 1)
	d, url := open(t, double.Options{Play: func(ctx context.Context, _ double.Turn) double.Reply {
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
		case <-time.After(10 * time.Second):
			ended <- nil
		}
		return double.Reply{Delay: time.Hour}
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(`{"model":"sees","messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Fatal("it was answered")
	}
	if err := <-ended; err == nil {
		t.Error("the player was not told")
	}
	if r := d.Requests(); len(r) != 1 || r[0].Answered {
		t.Errorf("%+v", r)
	}
}
