package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// machine is a scene with a real configuration in an empty home.
func machine(t *testing.T, config string, env map[string]string) *scene {
	t.Helper()
	home := t.TempDir()
	all := map[string]string{"HOME": home, "RELO_HOME": home, "XDG_RUNTIME_DIR": home, "RELO_LOCAL_SERVERS": "none"}
	maps.Copy(all, env)
	c := &scene{dir: t.TempDir(), env: all}
	if config != "" {
		if err := os.WriteFile(filepath.Join(home, "relo.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// real runs one command line over the real configuration.
func (c *scene) real(ctx context.Context, args ...string) (exit int, stdout, stderr string) {
	c.sh = c.shell(nil, nil)
	c.sh.load = app.Load
	return c.run(ctx, args...)
}

func (c *scene) file(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.env["RELO_HOME"], "relo.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func TestAKeyOnTheCommandLineIsRefusedAndNotShown(t *testing.T) {
	t.Parallel()
	c := machine(t, "", nil)
	exit, stdout, stderr := c.real(t.Context(), "providers", "add", "openai", "--key", "sk-very-secret")
	exits(t, exit, exitUsage, stderr)
	has(t, stderr, "the key itself on a command line can be read by everybody on this machine", "--key-stdin")
	if strings.Contains(stdout+stderr, "sk-very-secret") || c.file(t) != "" {
		t.Errorf("it is shown or kept:\n%s%s%s", stdout, stderr, c.file(t))
	}
}

func TestProvidersAddWritesReferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why  string
		args []string
		want string // of the file; empty: refused
		says string
	}{
		{"a variable", []string{"my-proxy", "--api", "openai-chat", "--url", "https://proxy.example/v1", "--key-env", "PROXY_KEY"}, `"key": "env:PROXY_KEY"`, "variable PROXY_KEY"},
		{"a command", []string{"openai", "--key-cmd", "pass show openai"}, `"key": "cmd:pass show openai"`, "fetched from: a command"},
		{"a file", []string{"openai", "--key-file", "~/key"}, `"key": "file:~/key"`, "file ~/key"},
		{"a reference", []string{"openai", "--key", "keyring:mine"}, `"key": "keyring:mine"`, "keyring, as mine"},
		{"no key needed", []string{"ollama"}, `"api": "ollama"`, "added ollama"},
		{"private", []string{"box", "--api", "openai-chat", "--url", "https://box.example/v1", "--private"}, `"private": true`, "added box"},
		{"its usual variable is set", []string{"mistral"}, `"api": "mistral"`, "variable MISTRAL_API_KEY"},
		{"nobody to ask", []string{"openai"}, "", "openai needs a key, and nobody can be asked for it here"},
		{"two ways", []string{"openai", "--key-env", "A", "--key-stdin"}, "", "given in more than one way"},
		{"no such api", []string{"x", "--api", "opnai"}, "", "did you mean"},
		{"no name", nil, "", "NAME is missing"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			m := machine(t, "", map[string]string{"MISTRAL_API_KEY": "k"})
			exit, stdout, stderr := m.real(t.Context(), append([]string{"providers", "add"}, c.args...)...)
			has(t, stdout+stderr, c.says)
			if c.want == "" {
				exits(t, exit, exitUsage, stderr)
				return
			}
			exits(t, exit, exitDone, stderr)
			has(t, strings.ReplaceAll(m.file(t), `":"`, `": "`), c.want)
		})
	}
}

func TestAKeyFromStdinWithoutAKeyringSaysWhatToUse(t *testing.T) {
	t.Parallel()
	c := machine(t, "", nil)
	c.stdin = " sk-typed-key \n"
	exit, stdout, stderr := c.real(t.Context(), "providers", "add", "openai", "--key-stdin", "--json")
	exits(t, exit, exitKey, stderr)
	has(t, stderr, "there is no keyring here", "--key-env NAME", "--key-file PATH", "--key-cmd COMMAND")
	if lines := jsonLines(t, stdout); len(lines) != 1 || lines[0]["error"] == nil {
		t.Errorf("%s", stdout)
	}
	if strings.Contains(stdout+stderr+c.file(t), "sk-typed-key") {
		t.Error("the key is shown or kept")
	}
}

func TestProvidersTestSpeaksInExitCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why   string
		key   string
		reply double.Reply
		exit  int
		says  []string
	}{
		{"all is well", "sk-good", double.Reply{Text: "ready"}, exitDone, []string{"acme", "ok    reached", "ok    key accepted", "ok    1 model", "ok    acme/m: answered ("}},
		{"a wrong key", "sk-wrong", double.Reply{}, exitKey, []string{"fail  the key (env:ACME_KEY) was refused", "put a key that acme accepts into the variable ACME_KEY"}},
		{"no credit", "sk-good", double.Reply{Status: 402}, exitKey, []string{"ok    key accepted", "fail  acme/m: the key (env:ACME_KEY) is good, but its account has no credit", "add credit at the provider"}},
		{"no tools", "sk-good", double.Reply{Status: 400, ErrorBody: `{"error":"m does not support tools"}`}, exitError, []string{"fail  acme/m: m cannot call tools, and Relo's agents work with tools"}},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(double.New(double.Options{
				Models: map[string]double.Model{"m": {}}, Key: "sk-good", Play: func(context.Context, double.Turn) double.Reply { return c.reply },
			}))
			t.Cleanup(s.Close)
			config := fmt.Sprintf(`{"providers": {"acme": {"api": "openai-chat", "url": "%s/v1", "key": "env:ACME_KEY"}}, "ladder": [{"model": "acme/m"}], "primary": "acme/m"}`, s.URL)
			m := machine(t, config, map[string]string{"ACME_KEY": c.key})
			exit, stdout, stderr := m.real(t.Context(), "providers", "test")
			exits(t, exit, c.exit, stdout+stderr)
			has(t, stdout, c.says...)
			exit, stdout, stderr = m.real(t.Context(), "providers", "test", "acme", "--json")
			exits(t, exit, c.exit, stderr)
			var doc struct{ Providers []testedDoc }
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Providers) != 1 || doc.Providers[0].OK != (c.exit == exitDone) {
				t.Errorf("%v: %s", err, stdout)
			}
		})
	}
}

func TestConfigInitNeverWritesUnaskedOrOver(t *testing.T) {
	t.Parallel()
	key := map[string]string{"MISTRAL_API_KEY": "k"}
	tests := []struct {
		why, config, stdin string
		terminal           bool
		args               []string
		exit               int
		written            bool
		says               string
	}{
		{"nobody to ask", "", "", false, nil, exitUsage, false, "--yes accepts the proposal"},
		{"--no-input on a terminal", "", "y\n", true, []string{"--no-input"}, exitUsage, false, "nothing is written unasked"},
		{"a person says no", "", "n\n", true, nil, exitPerson, false, "nothing was written"},
		{"a person says nothing", "", "", true, nil, exitPerson, false, "nothing was written"},
		{"a person says yes", "", "y\n", true, nil, exitDone, true, "wrote "},
		{"--yes", "", "", false, []string{"--yes"}, exitDone, true, "wrote "},
		{"only shown", "", "", false, []string{"--dry-run"}, exitDone, false, `"primary": "mistral/`},
		{"only shown, with a config", "{}", "", false, []string{"--dry-run"}, exitDone, false, `"primary": "mistral/`},
		{"a config is there", "// mine\n{}", "", false, []string{"--yes"}, exitUsage, false, "--force writes a new one and keeps the old beside it"},
		{"over a config", "// mine\n{}", "", false, []string{"--yes", "--force"}, exitDone, true, "the old one is "},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			m := machine(t, c.config, key)
			m.stdin, m.terminal = c.stdin, c.terminal
			exit, stdout, stderr := m.real(t.Context(), append([]string{"config", "init"}, c.args...)...)
			exits(t, exit, c.exit, stderr)
			has(t, stdout+stderr, c.says)
			if now := m.file(t); (now != c.config) != c.written {
				t.Errorf("the file is\n%s", now)
			}
			if c.config != "" && c.written {
				old, err := os.ReadFile(filepath.Join(m.env["RELO_HOME"], "relo.json.1.bak"))
				if err != nil || string(old) != c.config {
					t.Errorf("%v: %s", err, old)
				}
			}
		})
	}
}

func TestNobodyTypesAKeyForNothing(t *testing.T) {
	t.Parallel()
	c := machine(t, "", nil)
	c.terminal = true
	exit, _, stderr := c.real(t.Context(), "providers", "add", "openai")
	exits(t, exit, exitKey, stderr)
	has(t, stderr, "there is no keyring here", "--key-env NAME")
	if strings.Contains(stderr, "Key for openai") {
		t.Errorf("it was asked for all the same:\n%s", stderr)
	}
}

func TestTheFirstRunOffersAndGoesOnOnlyAfterAYes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why, stdin string
		terminal   bool
		args       []string
		exit       int
		written    bool
		says       string
	}{
		{"nobody to ask", "", false, nil, exitUsage, false, "found here: mistral. Nothing is used before you say so"},
		{"a person says no", "n\n", true, nil, exitPerson, false, "nothing was written"},
		{"a person says yes", "y\n", true, []string{"--approve", "never"}, exitDone, true, "and go on? [y/N] wrote "},
		{"--yes", "", false, []string{"--yes"}, exitDone, true, "plans   mistral/mistral-medium-latest"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			m := machine(t, "", map[string]string{"MISTRAL_API_KEY": "k"})
			m.stdin, m.terminal, m.line = c.stdin, c.terminal, story().ends(job.Ready, job.Finished{})
			exit, _, stderr := m.real(t.Context(), append([]string{"run", "x", "--standalone", "--progress", "plain"}, c.args...)...)
			exits(t, exit, c.exit, stderr)
			has(t, stderr, c.says)
			if (m.file(t) != "") != c.written || (len(m.line.calls()) > 0) != c.written {
				t.Errorf("wrote %q, asked %q", m.file(t), m.line.asked())
			}
		})
	}
}

func TestWhatOtherAgentsHoldIsAskedAboutOneByOne(t *testing.T) {
	t.Parallel()
	for answer, taken := range map[string]bool{"y\ny\n": true, "n\ny\n": false} {
		m := machine(t, "", map[string]string{"MISTRAL_API_KEY": "k"})
		dir := filepath.Join(m.env["HOME"], ".claude")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"apiKeyHelper": "pass anthropic"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		m.stdin, m.terminal = answer, true
		exit, _, stderr := m.real(t.Context(), "config", "init")
		exits(t, exit, exitDone, stderr)
		has(t, stderr, "Claude Code: anthropic (the command that Claude Code asks for its key). The key stays there")
		if strings.Contains(m.file(t), "cmd:pass anthropic") != taken {
			t.Errorf("answered %q:\n%s", answer, m.file(t))
		}
		exit, stdout, stderr := m.real(t.Context(), "providers", "discover")
		exits(t, exit, exitDone, stderr)
		has(t, stdout, "to use it: relo providers add anthropic --api anthropic --key 'cmd:pass anthropic'")
	}
}
