package double_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider/double"
)

func square(t *testing.T, edge int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, edge, edge))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestOllamaRefusesInItsWords(t *testing.T) {
	s := httptest.NewServer(double.New(double.Options{Models: map[string]double.Model{
		"qwen3-vl:8b": {Sees: true}, "qwen2.5vl:3b": {Sees: true}, "gemma3:270m": {NoTools: true},
	}}))
	defer s.Close()
	say := func(more string) string { return `{"role":"user","content":"hi"` + more + `}` }
	for _, row := range []struct {
		why, model, message, rest string
		status                    int
		words                     string
	}{
		{"a data URL", "qwen3-vl:8b", say(`,"images":["data:image/png;base64,AAAA"]`), "", 400, "illegal base64 data at input byte 4"},
		{"an id that nobody pulled", "nobody", say(""), "", 404, `model "nobody" not found, try pulling it first`},
		{"a picture to a model without eyes", "gemma3:270m", say(`,"images":["` + square(t, 40) + `"]`), "", 500, "this model is missing data required for image input"},
		{"tools to a model without them", "gemma3:270m", say(""), `,"tools":[{"type":"function","function":{"name":"x"}}]`, 400, "registry.ollama.ai/library/gemma3:270m does not support tools"},
		{"a small picture", "qwen3-vl:8b", say(`,"images":["` + square(t, 31) + `"]`), "", 500, "model runner has unexpectedly stopped"},
		{"one for the version before", "qwen2.5vl:3b", say(`,"images":["` + square(t, 27) + `"]`), "", 500, "model runner has unexpectedly stopped"},
		{"no picture at all", "qwen3-vl:8b", say(`,"images":["AAAA"]`), "", 500, "image: unknown format"},
		{"a role of its own", "qwen3-vl:8b", `{"role":"robot","content":""}`, "", 400, "invalid role: robot"},
		{"arguments as a string", "qwen3-vl:8b", `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"x","arguments":"{}"}}]}`, "", 400, "cannot unmarshal string"},
		{"too long a prompt, not to be cut", "qwen3-vl:8b", say(""), `,"truncate":false,"options":{"num_ctx":0}`, 400, "exceeds the available context size"},
		{"one not to be shifted", "qwen3-vl:8b", say(""), `,"shift":false,"options":{"num_ctx":0}`, 400, "the prompt is longer than the context length"},
		{"what is right", "qwen3-vl:8b", say(`,"images":["` + square(t, 32) + `"]`), `,"truncate":false`, 200, ""},
	} {
		body := `{"model":"` + row.model + `","messages":[` + row.message + `]` + row.rest + `}`
		resp, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(body)) //nolint:noctx // the test ends with it
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		var no struct{ Error string }
		if row.status != 200 && json.Unmarshal(said, &no) != nil {
			t.Errorf("%s: %s", row.why, said)
		}
		if err != nil || resp.StatusCode != row.status || !strings.Contains(no.Error, row.words) {
			t.Errorf("%s: %d %s, %v", row.why, resp.StatusCode, said, err)
		}
	}
}

// What does not fit is dropped from the front without a word, as the real one does when it is not told otherwise.
func TestOllamaCutsSilently(t *testing.T) {
	var turn double.Turn
	s := httptest.NewServer(double.New(double.Options{
		Models: map[string]double.Model{"m": {Sees: true}},
		Play:   func(_ context.Context, got double.Turn) double.Reply { turn = got; return double.Reply{Text: "ok"} },
	}))
	defer s.Close()
	long := strings.Repeat("x", 20_000)
	body := `{"model":"m","stream":false,"messages":[{"role":"user","content":"the task","images":["` + square(t, 40) + `"]},{"role":"user","content":"` + long + `"}]}`
	resp, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(body)) //nolint:noctx // the test ends with it
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 || len(turn.Entries) != 1 || turn.Entries[0].Text != long || len(turn.Pictures) != 0 {
		t.Errorf("%d, %d entries, %d pictures", resp.StatusCode, len(turn.Entries), len(turn.Pictures))
	}
}
