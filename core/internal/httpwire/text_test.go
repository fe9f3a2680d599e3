package httpwire

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestStrict(t *testing.T) {
	for in, ok := range map[string]bool{
		`{"a":1}`: true, ` {"a":{"a":[{"a":1},{"a":2}]},"b":"a"} `: true, "\xef\xbb\xbf{}": true, `{"other":1}`: true,
		`{"a":1,"a":2}`: false, `{"b":[{"x":{"y":1,"y":1}}]}`: false, `{"a":1} {}`: false, `{"a":1`: false, ``: false,
		`{"a":"text"}`: false, "{\"b\":\"\x00\"}": false, `{"b":["b","b"],"c":"b"}`: true, `{"\u0061":1,"a":1}`: false,
	} {
		var v struct{ A int }
		if in == ` {"a":{"a":[{"a":1},{"a":2}]},"b":"a"} ` {
			if err := once([]byte(in)); err != nil {
				t.Errorf("%q: %v", in, err)
			}
			continue
		}
		if err := Strict([]byte(in), &v); (err == nil) != ok || (err != nil && !errors.Is(err, ErrJSON)) {
			t.Errorf("%q: %v", in, err)
		}
	}
	for in, ok := range map[string]bool{
		`{}`: true, "\n{\"a\":[]}": true, `[]`: false, `"x"`: false, `null`: false, ``: false, `{"a":}`: false, `{"a":1}x`: false,
	} {
		if err := Object([]byte(in)); (err == nil) != ok {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzStrict(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `[{"x":{}},null,"a"]`, `{"a":{"b":[1,{"c":"d"}]}}`, `"\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var v any
		if err := Strict([]byte(in), &v); err != nil && !errors.Is(err, ErrJSON) {
			t.Fatal(err)
		}
	})
}

func TestReadComplaint(t *testing.T) {
	for _, row := range []struct{ provider, body, words, code string }{
		{"OpenAI", `{"error":{"message":"No.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, "No.", "model_not_found"},
		{"OpenAI without a code", `{"error":{"message":"No.","type":"invalid_request_error","code":null}}`, "No.", "invalid_request_error"},
		{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, "Overloaded", "overloaded_error"},
		{"Ollama", `{"error":"this model is missing data required for image input"}`, "this model is missing data required for image input", ""},
		{"Ollama's engine", `{"error":"{\"error\":{\"code\":400,\"message\":\"request (8889 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\"}}"}`, "request (8889 tokens) exceeds the available context size (4096 tokens), try increasing it", "400"},
		{"a string that only begins like one", `{"error":"{\"x\": no"}`, `{"x": no`, ""},
		{"an empty one in a string", `{"error":"{}"}`, "{}", ""},
		{"Mistral", `{"object":"error","message":"Image input is not enabled for this model","type":"invalid_request_error","code":"3051"}`, "Image input is not enabled for this model", "3051"},
		{"Zhipu", `{"error":{"code":"1210","message":"messages.content.type 参数非法"}}`, "messages.content.type 参数非法", "1210"},
		{"FastAPI", `{"detail":[{"loc":["body"],"msg":"field required"}]}`, "field required", ""},
		{"Gemini", `[{"error":{"code":400,"message":"Unable to process input image","status":"INVALID_ARGUMENT"}}]`, "Unable to process input image", "400"},
		{"OpenRouter", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"no images here"}}}`, "Provider returned error: no images here", "400"},
		{"text", "upstream \x1b[31mgone\u202e\n", "upstream [31mgone", ""},
		{"a page", "<html><title>Bad Gateway</title></html>", "an HTML page instead of an answer: Bad Gateway", ""},
		{"nothing", "", "(no words)", ""},
		{"an empty object", "{}", "{}", ""},
	} {
		got := ReadComplaint([]byte(row.body))
		if got.Words != row.words || got.Code != row.code {
			t.Errorf("%s: %+v", row.provider, got)
		}
	}
	long := ReadComplaint([]byte(strings.Repeat("ü", 5000)))
	if len(long.Words) > maxWords+len("…") || !utf8.ValidString(long.Words) {
		t.Errorf("%d bytes", len(long.Words))
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "", 0},
		{"Retry-After", "30", 30 * time.Second},
		{"Retry-After", " 1.5 ", 1500 * time.Millisecond},
		{"Retry-After", "-3", 0},
		{"Retry-After", "99999999999999999999", maxRetryAfter},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "Inf", maxRetryAfter},
		{"Retry-After", "soon", 0},
		{"Retry-After", "Thu, 01 Oct 2026 12:01:00 GMT", time.Minute},
		{"Retry-After", "Thu, 01 Oct 2026 11:00:00 GMT", 0},
		{"Retry-After", "Fri, 01 Oct 2027 12:00:00 GMT", maxRetryAfter},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		if got := RetryAfter(http.Header{row.name: {row.value}}, now); got != row.want {
			t.Errorf("%s: %q is %v, want %v", row.name, row.value, got, row.want)
		}
	}
}

func TestScrubber(t *testing.T) {
	s := Scrubber("sk-one/two+three\"", "", "abc", "Bearer sk-one/two+three\"-and-more")
	for in, want := range map[string]string{
		`the key sk-one/two+three" is bad`:          "the key [secret] is bad",
		`{"key":"sk-one/two+three\""}`:              `{"key":"[secret]"}`,
		"sk-one%2Ftwo%2Bthree%22":                   "[secret]",
		`x Bearer sk-one/two+three"-and-more y`:     "x [secret] y",
		"abc and Bearer are words, short and plain": "abc and Bearer are words, short and plain",
	} {
		if got := s.Replace(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	if !Confidential("X-Api-Key") || !Confidential("authorization") || Confidential("X-Title") {
		t.Error("which headers are confidential")
	}
}
