package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// fresh is a machine on which Relo was never used: no configuration, an environment
// of its own, and one repository.
type fresh struct {
	*world
	env []string
}

func newFresh(t *testing.T, env ...string) *fresh {
	t.Helper()
	w := (&world{t: t, home: t.TempDir()}).smallRepo()
	return &fresh{world: w, env: env}
}

// says runs the program with this machine's environment and wants an exit code and words.
func (f *fresh) says(exit int, words []string, args ...string) result {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), binary, args...)
	cmd.Env, cmd.Dir = append(f.environ(), f.env...), f.repo
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		f.t.Fatalf("relo %v: %v", args, err)
	}
	r := result{exit: exitOf(err), stdout: out.String(), stderr: errs.String()}
	r.mustExit(f.t, exit)
	for _, word := range words {
		if !strings.Contains(r.stdout+r.stderr, word) {
			f.t.Errorf("relo %v does not say %q:\n%s%s", args, word, tail(r.stdout), tail(r.stderr))
		}
	}
	if strings.Contains(r.stdout+r.stderr, "test-key") {
		f.t.Errorf("relo %v shows the key", args)
	}
	return r
}

// config is the file that a person would have; empty: none.
func (f *fresh) config() string {
	text, err := os.ReadFile(filepath.Join(f.home, "relo.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Fatal(err)
	}
	return string(text)
}

// ran checks that the last job was done by these models and that all of it has a price, or none.
func (f *fresh) ran(r result, models ...string) {
	f.t.Helper()
	events := r.events(f.t)
	if len(events) == 0 || events[len(events)-1].Kind != job.KindFinished {
		f.t.Fatalf("the job did not end: %s", tail(r.stdout))
	}
	for _, e := range events {
		if e.Model != "" && !slices.Contains(models, e.Model) {
			f.t.Errorf("%s took part", e.Model)
		}
	}
}

// With nothing on the machine every command says so, and what to do.
func TestAFirstRunWithNothing(t *testing.T) {
	t.Parallel()
	f := newFresh(t, "RELO_LOCAL_SERVERS=none")
	nothing := "No key was found in the environment, and no model server answers on this machine."
	f.says(2, []string{"there is no configuration yet", nothing, "relo providers add anthropic asks for a key", "relo demo needs nothing"}, "run", "one", "--standalone")
	f.says(2, []string{nothing}, "config", "init", "--yes")
	f.says(2, []string{"anthropic needs a key, and nobody can be asked for it here", "--key-stdin"}, "providers", "add", "anthropic")
	f.says(0, []string{nothing}, "providers", "discover")
	f.says(0, []string{"no providers are configured"}, "providers")
	f.says(2, []string{"nothing to test"}, "providers", "test")
	if f.config() != "" {
		t.Error("something was written")
	}
	r := f.says(0, nil, "providers", "discover", "--json")
	var doc struct{ Warnings []job.Reason }
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Warnings) != 1 || doc.Warnings[0].Code != "nothing-found" {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

// With one key in the environment: found, proposed, accepted, tried, used.
func TestAFirstRunWithOneKey(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"))}
	models := map[string]double.Model{"claude-haiku-4-5": {Sees: true}, "claude-sonnet-5": {Sees: true}, "claude-opus-5-5": {Sees: true}}
	dbl := httptest.NewServer(double.New(double.Options{Models: models, Key: "test-key", Play: p.answer}))
	t.Cleanup(dbl.Close)
	f := newFresh(t, "RELO_LOCAL_SERVERS=none", "ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL="+dbl.URL)
	f.says(2, []string{"there is no configuration yet; found here: anthropic. Nothing is used before you say so", "--yes accepts it"}, "run", "one", "--standalone")
	f.says(0, []string{"key in the variable ANTHROPIC_API_KEY"}, "providers", "discover")
	f.says(0, []string{`"key": "env:ANTHROPIC_API_KEY"`, dbl.URL, `"primary": "anthropic/claude-opus-5-5"`}, "config", "init", "--dry-run")
	f.says(2, []string{"nothing is written unasked", "--yes accepts the proposal"}, "config", "init", "--no-input")
	if f.config() != "" {
		t.Fatal("something was written unasked")
	}
	f.says(0, []string{"easy    anthropic/claude-haiku-4-5", "plans   anthropic/claude-opus-5-5", "wrote "}, "config", "init", "--yes")
	written := f.config()
	f.says(2, []string{"there is a configuration already", "--force"}, "config", "init", "--yes")
	f.says(0, []string{"reached", "key accepted", "3 models", "anthropic/claude-haiku-4-5: answered"}, "providers", "test")
	f.says(0, []string{"variable ANTHROPIC_API_KEY"}, "providers", "list")
	r := f.says(0, nil, "run", "one", "--standalone", "--json")
	f.ran(r, "anthropic/claude-haiku-4-5", "anthropic/claude-sonnet-5", "anthropic/claude-opus-5-5")
	costs := f.says(0, nil, "costs", "@last", "--json")
	if strings.Contains(costs.stdout, `"total":null`) || !strings.Contains(costs.stdout, `"total":`) {
		t.Errorf("the catalogue's prices do not count: %s", costs.stdout)
	}
	f.env[1] = "ANTHROPIC_API_KEY=sk-another-key"
	f.says(4, []string{"the key (env:ANTHROPIC_API_KEY) was refused", "put a key that anthropic accepts into the variable ANTHROPIC_API_KEY"}, "providers", "test")
	if f.config() != written {
		t.Error("the configuration changed by itself")
	}
}

// ollamaShaped is a server with Ollama's list, and the double behind its chat.
func ollamaShaped(t *testing.T, p *play) *httptest.Server {
	t.Helper()
	dbl := double.New(double.Options{Models: map[string]double.Model{"qwen3-coder:30b": {}, "qwen3-vl:32b": {Sees: true}}, Play: p.answer})
	mux := http.NewServeMux()
	mux.Handle("POST /api/chat", dbl)
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"models":[{"name":"qwen3-coder:30b","details":{"parameter_size":"30.5B"}},{"name":"qwen3-vl:32b","details":{"parameter_size":"33.4B"}}]}`))
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		can := `"completion","tools"`
		if json.NewDecoder(r.Body).Decode(&body) == nil && strings.Contains(body.Model, "-vl") {
			can += `,"vision"`
		}
		_, _ = w.Write([]byte(`{"capabilities":[` + can + `],"model_info":{"qwen3.context_length":131072}}`))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// With a local server: the whole is real without any key, and stays private.
func TestAFirstRunWithALocalServer(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"))}
	server := ollamaShaped(t, p)
	f := newFresh(t, "RELO_LOCAL_SERVERS=ollama", "OLLAMA_HOST="+strings.TrimPrefix(server.URL, "http://"))
	f.says(0, []string{"Ollama on this machine; 2 models", server.URL}, "providers", "discover")
	r := f.says(0, []string{"Proposed ladder", "ollama/qwen3-vl:32b (images, on this machine, 33.4 billion parameters)", "wrote "}, "run", "one", "--standalone", "--yes", "--private", "--json")
	f.ran(r, "ollama/qwen3-coder:30b", "ollama/qwen3-vl:32b")
	if !strings.Contains(f.config(), `"private": true`) {
		t.Errorf("%s", f.config())
	}
	f.says(0, []string{"no key is set, and the list did not ask for one", "2 models", "ollama/qwen3-vl:32b: answered"}, "providers", "test", "ollama")
}
