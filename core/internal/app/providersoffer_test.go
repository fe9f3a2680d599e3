package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/found"
	"github.com/relo-dev/relo/core/internal/vision"
)

// bare is a machine with an environment of its own and nothing else on it.
func bare(t *testing.T, env map[string]string) Env {
	t.Helper()
	home := t.TempDir()
	return Env{Dir: t.TempDir(), Stderr: os.Stderr, Getenv: func(n string) string {
		if v, ok := env[n]; ok {
			return v
		}
		return map[string]string{"HOME": home, "RELO_HOME": filepath.Join(home, "relo"), "RELO_LOCAL_SERVERS": "none", "XDG_RUNTIME_DIR": home}[n]
	}}
}

// ollamaHere plays an Ollama with one model that codes, one that sees and a small one.
func ollamaHere(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		if err := r.Write(body); err != nil {
			t.Error(err)
		}
		switch {
		case r.URL.Path == "/api/tags":
			_, _ = w.Write([]byte(`{"models":[{"name":"qwen3-coder:30b","details":{"parameter_size":"30.5B"}},{"name":"qwen3-vl:8b","details":{"parameter_size":"8.8B"}},{"name":"nomic-embed-text:latest"}]}`))
		case r.URL.Path == "/api/show" && strings.Contains(body.String(), "coder"):
			_, _ = w.Write([]byte(`{"capabilities":["completion","tools"],"model_info":{"qwen3moe.context_length":262144}}`))
		case r.URL.Path == "/api/show" && strings.Contains(body.String(), "-vl"):
			_, _ = w.Write([]byte(`{"capabilities":["completion","tools","vision"],"model_info":{"qwen3vl.context_length":262144}}`))
		case r.URL.Path == "/api/show":
			_, _ = w.Write([]byte(`{"capabilities":["embedding"]}`))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// accept writes the offer and loads what was written.
func accept(t *testing.T, e Env, o Offer) *config.Config {
	t.Helper()
	if backup, err := AcceptOffer(e, o, false); err != nil || backup != "" {
		t.Fatalf("%q, %v\n%s", backup, err, o.Config)
	}
	cfg, err := Load(e)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.Config)
	}
	return cfg
}

func TestWhereNothingIsThereIsNothingToOffer(t *testing.T) {
	t.Parallel()
	o, err := FindOffer(t.Context(), bare(t, nil))
	if err != nil || o.Config != "" || len(o.Warnings) != 1 || o.Warnings[0].Words != NothingFound {
		t.Errorf("%v %+v", err, o)
	}
}

func TestOneKeyMakesALadderOfItsVendor(t *testing.T) {
	t.Parallel()
	e := bare(t, map[string]string{"ANTHROPIC_API_KEY": "sk-secret"})
	o, err := FindOffer(t.Context(), e)
	if err != nil || strings.Contains(o.Config, "sk-secret") {
		t.Fatalf("%v\n%s", err, o.Config)
	}
	cfg := accept(t, e, o)
	if p := cfg.Providers["anthropic"]; p.Key != "env:ANTHROPIC_API_KEY" || p.URL != "https://api.anthropic.com" || p.IsPrivate() {
		t.Errorf("%+v", p)
	}
	if len(cfg.Ladder) != 3 || cfg.Ladder[0].Difficulty != "easy" || cfg.Primary != "anthropic/claude-opus-5-5" || len(o.Warnings) != 0 {
		t.Errorf("%+v\n%s", o.Warnings, o.Config)
	}
}

func TestAnAddressFromTheEnvironmentStandsInTheOffer(t *testing.T) {
	t.Parallel()
	e := bare(t, map[string]string{"ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
	o, err := FindOffer(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if p := accept(t, e, o).Providers["anthropic"]; p.URL != "http://127.0.0.1:9" || p.Key != "env:ANTHROPIC_API_KEY" {
		t.Errorf("%+v", p)
	}
}

func TestALocalServerMakesAPrivateLadder(t *testing.T) {
	t.Parallel()
	at := ollamaHere(t).URL
	e := bare(t, map[string]string{"OLLAMA_HOST": at, "RELO_LOCAL_SERVERS": "ollama=" + at})
	o, err := FindOffer(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	cfg := accept(t, e, o)
	p := cfg.Providers["ollama"]
	if p.URL != at || !p.IsPrivate() || cfg.Primary != "ollama/qwen3-coder:30b" || len(cfg.Ladder) != 2 || cfg.Ladder[0].Model[0] != "ollama/qwen3-vl:8b" || len(o.Warnings) != 0 {
		t.Errorf("%+v %v\n%s", p, o.Warnings, o.Config)
	}
	if m := e.knowledge().modelOf(cfg, "ollama/qwen3-vl:8b"); m.Sight.Sight != vision.Sees || m.Sight.Source != vision.Reported {
		t.Errorf("what the server reports is not its report: %+v", m.Sight)
	}
	if m := e.knowledge().modelOf(cfg, "ollama/qwen3-coder:30b"); m.Context != 262144 || !m.Tools || !m.Private {
		t.Errorf("%+v", m)
	}
}

func TestAnOfferDoesNotTouchAConfigurationThatIsThere(t *testing.T) {
	t.Parallel()
	e := bare(t, map[string]string{"MISTRAL_API_KEY": "k"})
	o, err := FindOffer(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	accept(t, e, o)
	before, err := os.ReadFile(o.File)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AcceptOffer(e, o, false); err == nil {
		t.Error("it was written over")
	}
	backup, err := AcceptOffer(e, o, true)
	kept, err2 := os.ReadFile(backup)
	if err != nil || err2 != nil || string(kept) != string(before) {
		t.Errorf("%q %v %v", backup, err, err2)
	}
}

// TestEveryOfferIsAConfiguration makes offers of all keys and all kinds of servers.
func TestEveryOfferIsAConfiguration(t *testing.T) {
	t.Parallel()
	for variable, api := range found.Variables() {
		preset, known := config.PresetOf(api)
		if !known || preset.KeyEnv == "" || preset.URL == "" || len(catalog.Vendor(api)) == 0 {
			t.Errorf("%s belongs to %s, which is %+v with %d known models", variable, api, preset, len(catalog.Vendor(api)))
		}
		e := bare(t, map[string]string{variable: "k"})
		o, err := FindOffer(context.Background(), e)
		if err != nil || o.Primary == "" || o.Config == "" {
			t.Errorf("%s: %v\n%s", variable, err, o.Config)
		}
	}
	for _, api := range []string{"ollama", "lmstudio", "llamacpp", "vllm"} {
		models := []found.Model{{ID: `odd "name"/with:30b`, Size: 30, Chat: true}, {ID: "no-chat"}}
		o, err := makeOffer(bare(t, nil), found.Report{Servers: []found.Server{{API: api, Name: api, URL: "http://127.0.0.1:7/v1", Models: models}}}, nil)
		if err != nil || o.Primary != api+`/odd "name"/with:30b` {
			t.Errorf("%s: %v\n%s", api, err, o.Config)
		}
	}
}

func TestNoToolsHasItsOwnWords(t *testing.T) {
	t.Parallel()
	models := []found.Model{{ID: "gemma3:27b", Size: 27, Chat: true, Tools: new(false)}}
	o, err := makeOffer(bare(t, nil), found.Report{Servers: []found.Server{{API: "ollama", Name: "Ollama", URL: "http://127.0.0.1:11434", Models: models}}}, nil)
	if err != nil || o.Config != "" || len(o.Warnings) != 1 || !strings.HasPrefix(o.Warnings[0].Words, "No model here can call tools.") {
		t.Errorf("%v %+v", err, o)
	}
}

func TestWhatOtherAgentsHoldComesInOnlyWhenItIsTaken(t *testing.T) {
	t.Parallel()
	e := bare(t, map[string]string{"OPENAI_API_KEY": "k"})
	home := e.Getenv("HOME")
	for name, text := range map[string]string{
		".claude/settings.json":           `{"apiKeyHelper": "pass show \"x\""}`,
		".config/opencode/opencode.json":  `{"provider": {"proxy": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "https://proxy.example/v1", "apiKey": "{env:PROXY_KEY}"}}}}`,
		".local/share/opencode/auth.json": `{"openai": {"type": "oauth"}}`,
	} {
		file := filepath.Join(home, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	o, err := FindOffer(t.Context(), e)
	if err != nil || len(o.Providers) != 1 || len(o.Found.Programs) != 2 {
		t.Fatalf("%v %+v", err, o)
	}
	var usable []found.Offered
	for _, p := range o.Found.Programs {
		for _, x := range p.Offers {
			if x.Usable() {
				usable = append(usable, x)
			}
		}
	}
	o, err = o.Take(e, usable)
	if err != nil {
		t.Fatal(err)
	}
	cfg := accept(t, e, o)
	if p := cfg.Providers["proxy"]; p.Key != "env:PROXY_KEY" || p.URL != "https://proxy.example/v1" {
		t.Errorf("%+v", cfg.Providers)
	}
	if p := cfg.Providers["anthropic"]; p.Key != `cmd:pass show "x"` {
		t.Errorf("%+v", cfg.Providers)
	}
	if cfg.Primary != "openai/gpt-6-astra" {
		t.Errorf("primary %s", cfg.Primary)
	}
}

func TestTheTextOfAnOffer(t *testing.T) {
	t.Parallel()
	r := found.Report{
		Keys: []found.Key{{API: "gemini-openai", Variable: "GEMINI_API_KEY"}},
		Servers: []found.Server{{API: "lmstudio", Name: "LM Studio", URL: "http://127.0.0.1:1234/v1", Models: []found.Model{
			{ID: "coder-30b", Size: 30, Chat: true, Tools: new(true), Context: 32768}, {ID: "embed", Chat: false},
		}}},
	}
	o, err := makeOffer(bare(t, nil), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `// Proposed by relo config init from what is on this machine. Change what you like:
// relo config schema prints what is allowed, relo providers test tries it.
{
  "providers": {
    // key in the variable GEMINI_API_KEY
    "gemini": { "api": "gemini-openai", "key": "env:GEMINI_API_KEY" },
    // LM Studio on this machine
    "lmstudio": { "api": "lmstudio", "private": true, "models": { // as LM Studio reports them
      "coder-30b": { "tools": true, "context": 32768 } } }
  },
  // weakest first; of two models in a rung the second is tried when the first fails
  "ladder": [
    { "model": "lmstudio/coder-30b", "difficulty": "easy" }, // images unknown, on this machine, 30 billion parameters
    { "model": "gemini/gemini-3.8-flash", "difficulty": "normal" }, // images, $0.75 in, $3.75 out a million tokens
    { "model": "gemini/gemini-3.1-pro-preview", "difficulty": "hard" } // images, $2 in, $12 out a million tokens
  ],
  "primary": "gemini/gemini-3.1-pro-preview"
}
`
	if d := cmp.Diff(want, o.Config); d != "" {
		t.Error(d)
	}
}
