package found

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

// place looks at a home with files, an environment and no server.
func place(t *testing.T, env, files map[string]string) Place {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Place{
		Home: home, Agent: "relo/test", LookPath: func(name string) (string, error) { return "/bin/" + name, nil },
		Getenv: func(n string) string {
			if v, ok := env[n]; ok {
				return v
			}
			return map[string]string{whereVariable: "none"}[n]
		},
	}
}

func TestNothingIsFoundWhereNothingIs(t *testing.T) {
	t.Parallel()
	want := Report{Keys: []Key{}, Servers: []Server{}, Programs: []Program{}, Notes: []string{}}
	if d := cmp.Diff(want, Look(t.Context(), place(t, nil, nil))); d != "" {
		t.Error(d)
	}
}

func TestKeysAreFoundByNameAndNeverCopied(t *testing.T) {
	t.Parallel()
	r := Look(t.Context(), place(t, map[string]string{
		"OPENAI_API_KEY": "sk-secret-one", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "GOOGLE_API_KEY": "sk-secret-two",
		"GEMINI_API_KEY": "sk-secret-three", "MISTRAL_API_KEY": "  ", "SOMEBODY_API_KEY": "sk-secret-four",
	}, nil))
	want := []Key{{API: "openai", Variable: "OPENAI_API_KEY", URL: "http://127.0.0.1:9/v1", Base: "OPENAI_BASE_URL"}, {API: "gemini-openai", Variable: "GEMINI_API_KEY"}}
	if d := cmp.Diff(want, r.Keys); d != "" {
		t.Error(d)
	}
	if text := fmt.Sprintf("%+v", r); strings.Contains(text, "secret") {
		t.Errorf("a key was copied: %s", text)
	}
}

func TestOtherAgentsSettingsAreOfferedWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	p := place(t, nil, map[string]string{
		".config/opencode/opencode.jsonc": `{
			// comments stay readable
			"provider": {
				"proxy": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "https://proxy.example/v1", "apiKey": "{env:PROXY_KEY}"}},
				"local": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:9/v1"}},
				"typed": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "https://typed.example/v1", "apiKey": "sk-secret-typed"}},
			},
		}`,
		".local/share/opencode/auth.json": `{"openrouter": {"type": "api", "key": "sk-secret-open"}, "anthropic": {"type": "oauth", "refresh": "sk-secret-oauth"}, "a'; rm -rf ~": {"type": "api", "key": "sk-secret-x"}}`,
		".codex/config.toml": "model = \"x\"\n[model_providers.acme]\nname = \"Acme\"\nbase_url = \"https://acme.example/v1\"\nenv_key = \"ACME_KEY\"\n[other]\nbase_url = \"https://no.example\"\n" +
			"[model_providers.resp]\nbase_url = \"https://resp.example/v1\"\nwire_api = \"responses\"\n",
		".codex/auth.json":          `{"OPENAI_API_KEY": "sk-secret-codex", "tokens": {"access_token": "sk-secret-token"}}`,
		".claude/settings.json":     `{"apiKeyHelper": "pass show anthropic"}`,
		".claude/.credentials.json": `{"claudeAiOauth": {"accessToken": "sk-secret-claude"}}`,
		".gemini/.env":              "GEMINI_API_KEY=sk-secret-gemini\n",
		".gemini/oauth_creds.json":  `{"access_token": "sk-secret-google"}`,
	})
	r := Look(t.Context(), p)
	if text := fmt.Sprintf("%+v", r); strings.Contains(text, "secret") {
		t.Errorf("a secret was copied: %s", text)
	}
	var got []string
	for _, prog := range r.Programs {
		for _, o := range prog.Offers {
			got = append(got, fmt.Sprintf("%s|%s|%s|%s|%s|%s", prog.Name, o.Name, o.API, o.URL, strings.ReplaceAll(o.KeyRef, p.Home, "HOME"), o.Words))
		}
	}
	want := []string{
		"OpenCode|local|openai-chat|http://127.0.0.1:9/v1||a provider in OpenCode's settings, without a key there",
		"OpenCode|proxy|openai-chat|https://proxy.example/v1|env:PROXY_KEY|a provider in OpenCode's settings, its key in a variable",
		"OpenCode|typed|openai-chat|https://typed.example/v1||a key in OpenCode's settings; the file has comments, which jq does not read",
		"OpenCode|a'; rm -rf ~||||a key in OpenCode's auth.json; its name cannot be put into a command",
		"OpenCode|anthropic|anthropic|||a sign-in that belongs to OpenCode: Relo does not take it",
		`OpenCode|openrouter|openrouter||cmd:jq -r '.["openrouter"]["key"]' 'HOME/.local/share/opencode/auth.json'|a key in OpenCode's auth.json`,
		"Codex|acme|openai-chat|https://acme.example/v1|env:ACME_KEY|a provider in Codex's settings, its key in a variable",
		"Codex|resp||https://resp.example/v1||speaks OpenAI's Responses, which this version does not",
		`Codex|openai|openai||cmd:jq -r '.["OPENAI_API_KEY"]' 'HOME/.codex/auth.json'|a key in Codex's auth.json`,
		"Codex|chatgpt||||a sign-in that belongs to Codex: Relo does not take it",
		"Claude Code|anthropic|anthropic||cmd:pass show anthropic|the command that Claude Code asks for its key",
		"Claude Code|claude.ai||||a sign-in that belongs to Claude Code: Relo does not take it",
		`Gemini CLI|gemini|gemini-openai||cmd:sed -n 's/^GEMINI_API_KEY=//p' 'HOME/.gemini/.env'|a key in the Gemini CLI's .env`,
		"Gemini CLI|google||||a sign-in that belongs to the Gemini CLI: Relo does not take it",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	p.LookPath = func(string) (string, error) { return "", errors.New("not there") }
	for _, o := range openCode(p).Offers {
		if strings.Contains(o.KeyRef, "jq") {
			t.Errorf("jq is not there: %+v", o)
		}
	}
}

func TestBrokenSettingsAreAsIfTheyWereNotThere(t *testing.T) {
	t.Parallel()
	p := place(t, nil, map[string]string{
		".config/opencode/opencode.json": "{{{", ".local/share/opencode/auth.json": "[1, 2]", ".codex/auth.json": "", ".claude/settings.json": `{"env": 7}`,
	})
	if r := Look(t.Context(), p); len(r.Programs) != 0 {
		t.Errorf("%+v", r.Programs)
	}
}

// server plays a model server by path; a body may depend on the model asked for.
func server(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "relo/test" {
			t.Errorf("it says it is %q", r.UserAgent())
		}
		key := r.URL.Path
		var body struct{ Model string }
		if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&body) == nil {
			key += " " + body.Model
		}
		text, ok := answers[key]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if text == "locked" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestLocalServersAreAskedInTheirOwnWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, api string
		answers  map[string]string
		want     []Model // nil: nobody is found
		notes    int
	}{
		{
			"Ollama tells size, sight, tools and context", "ollama", map[string]string{
				"/api/tags":                  `{"models":[{"name":"qwen3-coder:30b","details":{"parameter_size":"30.5B"}},{"name":"gemma3:27b","details":{"parameter_size":"27.4B"}},{"name":"nomic-embed-text","details":{"parameter_size":"137M"}},{"name":"old:7b"},{"name":"big:cloud","remote_host":"https://ollama.com"}]}`,
				"/api/show qwen3-coder:30b":  `{"capabilities":["completion","tools"],"model_info":{"qwen3moe.context_length":262144}}`,
				"/api/show gemma3:27b":       `{"capabilities":["completion","vision"],"parameters":"stop x\nnum_ctx   8192"}`,
				"/api/show nomic-embed-text": `{"capabilities":["embedding"]}`,
				"/api/show big:cloud":        `{"capabilities":["completion"]}`,
			}, []Model{
				{ID: "qwen3-coder:30b", Size: 30.5, Vision: vision.Blind, Tools: new(true), Context: 262144, Chat: true},
				{ID: "gemma3:27b", Size: 27.4, Vision: vision.Sees, Tools: new(false), Context: 8192, Chat: true},
				{ID: "nomic-embed-text", Size: .137, Vision: vision.Blind, Tools: new(false)},
				{ID: "old:7b", Size: 7, Chat: true},
			}, 2, // one runs elsewhere, of one nothing is said
		},
		{"Ollama without models is there", "ollama", map[string]string{"/api/tags": `{"models":[]}`}, []Model{}, 0},
		{
			"LM Studio, the older list", "lmstudio", map[string]string{
				"/api/v0/models": `{"data":[{"id":"qwen/qwen3-vl-8b","type":"vlm","max_context_length":262144,"loaded_context_length":4096,"capabilities":["tool_use"]},{"id":"embed","type":"embeddings"}]}`,
			}, []Model{{ID: "qwen/qwen3-vl-8b", Size: 8, Vision: vision.Sees, Tools: new(true), Context: 4096, Chat: true}, {ID: "embed"}}, 0,
		},
		{
			"LM Studio, the newer list", "lmstudio", map[string]string{
				"/api/v1/models": `{"models":[{"type":"llm","key":"google/gemma-3-4b","params_string":"4B","max_context_length":131072,"capabilities":{"vision":true,"trained_for_tool_use":false}}]}`,
			}, []Model{{ID: "google/gemma-3-4b", Size: 4, Vision: vision.Sees, Context: 131072, Chat: true}}, 0,
		},
		{
			"llama.cpp says what the loaded model can", "llamacpp", map[string]string{
				"/v1/models": `{"data":[{"id":"/m/x.gguf","owned_by":"llamacpp","meta":{"n_params":8190735360,"n_ctx_train":40960}}]}`,
				"/props":     `{"default_generation_settings":{"n_ctx":16384},"modalities":{"vision":true},"chat_template_caps":{"supports_tools":true}}`,
			}, []Model{{ID: "/m/x.gguf", Size: 8.19073536, Vision: vision.Sees, Tools: new(true), Context: 16384, Chat: true}}, 0,
		},
		{"somebody else on llama.cpp's port", "llamacpp", map[string]string{"/v1/models": `{"data":[{"id":"x","owned_by":"me"}]}`}, nil, 0},
		{"somebody else on LM Studio's port", "lmstudio", map[string]string{"/v1/models": `{"data":[{"id":"x"}]}`, "/api/v1/models": `{"data":[{"id":"x"}]}`}, nil, 0},
		{"a web server on llama.cpp's port", "llamacpp", map[string]string{"/v1/models": `<html>`}, nil, 0},
		{"vLLM", "vllm", map[string]string{"/v1/models": `{"data":[{"id":"Qwen/Qwen3-32B","owned_by":"vllm","max_model_len":32768}]}`}, []Model{{ID: "Qwen/Qwen3-32B", Size: 32, Context: 32768, Chat: true}}, 0},
		{"vLLM behind a key", "vllm", map[string]string{"/v1/models": "locked"}, []Model{}, 1},
		{"a locked web server is not llama.cpp", "llamacpp", map[string]string{"/v1/models": "locked"}, nil, 1},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			s := server(t, c.answers)
			r := Look(t.Context(), place(t, map[string]string{whereVariable: c.api + "=" + s.URL}, nil))
			var got []Model
			if len(r.Servers) == 1 {
				got = r.Servers[0].Models
			}
			if d := cmp.Diff(c.want, got); d != "" || len(r.Servers) > 1 {
				t.Errorf("%+v %s", r.Servers, d)
			}
			if len(r.Notes) != c.notes {
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
}

func TestOnlyThisMachineIsAsked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host, base string
		ok         bool
	}{
		{"127.0.0.1:5000", "http://127.0.0.1:5000", true},
		{"127.0.0.1", "http://127.0.0.1:11434", true},
		{":5000", "http://127.0.0.1:5000", true},
		{"0.0.0.0", "http://127.0.0.1:11434", true},
		{"0.0.0.0:5000", "http://127.0.0.1:5000", true},
		{"[::]:5000", "http://127.0.0.1:5000", true},
		{"[::1]:5000", "http://[::1]:5000", true},
		{"::1", "http://[::1]:11434", true},
		{"localhost:5000", "http://localhost:5000", true},
		{"http://127.0.0.1:5000/", "http://127.0.0.1:5000", true},
		{"https://127.0.0.1", "https://127.0.0.1:443", true},
		{"10.0.0.5:11434", "http://10.0.0.5:11434", false},
		{"gpu.example", "http://gpu.example:11434", false},
		{"http://127.0.0.1@evil.example:80", "", false},
		{"127.0.0.1.evil.example", "http://127.0.0.1.evil.example:11434", false},
	}
	for _, c := range tests {
		base := ollamaHost(c.host)
		ok := loopback(base)
		if ok != c.ok || c.base != "" && base != c.base {
			t.Errorf("%s: %s, %v", c.host, base, ok)
		}
	}
	p := place(t, map[string]string{"OLLAMA_HOST": "gpu.example", whereVariable: ""}, nil)
	spots, notes := p.spots()
	if len(spots) != len(usual)-1 || len(notes) != 1 || !strings.Contains(notes[0], "another machine") {
		t.Errorf("%v %q", spots, notes)
	}
	r := Look(t.Context(), place(t, map[string]string{whereVariable: "vllm=http://10.0.0.5:8000,other"}, nil))
	if len(r.Servers) != 0 || len(r.Notes) != 2 {
		t.Errorf("%+v", r)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://192.0.2.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := loopbackClient().Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, errNotLoopback) {
		t.Errorf("an address elsewhere was dialled: %v", err)
	}
}

func TestAServerThatNeverAnswersHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer s.Close()
	began := time.Now()
	r := Look(t.Context(), place(t, map[string]string{whereVariable: "ollama=" + s.URL + ",vllm=" + s.URL}, nil))
	if took := time.Since(began); len(r.Servers) != 0 || took > 2*lookTime {
		t.Errorf("%+v after %s", r.Servers, took)
	}
}
