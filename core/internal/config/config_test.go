package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// input makes the person's and the project's file; an empty text makes none.
func input(t *testing.T, user, project string) Input {
	t.Helper()
	home := t.TempDir()
	in := Input{
		Places:     FindPlaces(func(name string) string { return map[string]string{"RELO_HOME": home}[name] }),
		ProjectDir: t.TempDir(), Getenv: func(string) string { return "" },
	}
	if user != "" {
		must(t, os.WriteFile(in.Places.File(), []byte(user), 0o600))
	}
	if project != "" {
		must(t, os.Mkdir(filepath.Join(in.ProjectDir, ".relo"), 0o700))
		must(t, os.WriteFile(filepath.Join(in.ProjectDir, ".relo", "relo.json"), []byte(project), 0o600))
	}
	return in
}

// The example of the contract, with what this version's checks need.
const example = `{
  "$schema": "./relo.schema.json",
  "providers": {
    "anthropic": { "api": "anthropic", "key": "env:ANTHROPIC_API_KEY" },
    "my-proxy":  { "api": "openai-chat", "url": "https://proxy.example/v1", "key": "keyring:my-proxy", "private": false,
                   "headers": {}, "discover": true, "caFile": "", "insecure": false,
                   "models": { "glm-5": { "vision": false, "context": 200000, "maxOutput": 32000,
                                          "price": { "input": 0.6, "output": 2.2, "cached": 0.1 }, "tools": true } } },
    "here":      { "api": "ollama", "url": "http://127.0.0.1:11434" }
  },
  "ladder":  [ { "model": "here/qwen3-coder:30b", "difficulty": "easy" },   // weakest first
               { "model": ["my-proxy/glm-5", "anthropic/claude-haiku-5"], "difficulty": "normal" },
               { "model": "anthropic/claude-sonnet-5", "difficulty": "hard" } ],
  "primary": "anthropic/claude-opus-5",
  "routes":  { "vision": ["here/qwen3-vl:8b"], "planning": [], "review": [] },
  "engine":  "native",
  "engines": { "opencode": { "path": "" } },
  "acp":     { "gemini": { "command": ["gemini", "--acp"] } },
  "mcp":     { "figma": { "url": "https://mcp.example", "headers": {} }, "pg": { "command": ["mcp-pg"], "env": {"PGPASSWORD": "x"} } },
  "workers": { "local": 2, "labels": [], "leaseSeconds": 20 },
  "review":  { "auto": true },
  "budget":  { "perJob": 5.0, "perDay": null, "unknownPrice": "ask" },
  "limits":  { "attempts": 3, "rounds": 80, "taskMinutes": 30, "tasks": 60 },
  "pictures":{ "maxEdge": 1568, "keep": 3, "settleDoubt": true, "never": ["**/secrets/**"] },
  "previews":[ { "name": "web", "command": ["npm","run","dev","--","--port","{port}"], "ready": "/", "url": "" } ],
  "worktree":{ "copy": [], "setup": "" },
  "sandbox": { "mode": "auto", "network": ["example.com"] },
  "bus":     { "url": "", "creds": "", "listen": "127.0.0.1:0" },
  "keepDays": 14,
}`

func TestTheWholeExampleLoads(t *testing.T) {
	c, err := Load(input(t, example, ""))
	must(t, err)
	if d := cmp.Diff(Chain{"my-proxy/glm-5", "anthropic/claude-haiku-5"}, c.Ladder[1].Model); d != "" {
		t.Error(d)
	}
	p := c.Providers["my-proxy"].Models["glm-5"]
	if *p.Vision || p.Context != 200000 || *p.Price.Cached != 0.1 || !*p.Tools {
		t.Errorf("%+v", p)
	}
	if here := c.Providers["here"]; !here.IsPrivate() || c.Providers["my-proxy"].IsPrivate() || !here.Discovers() || here.Wire != "ollama" {
		t.Errorf("%+v", here)
	}
	if got := c.Models(); len(got) != 6 || got[5] != "here/qwen3-vl:8b" {
		t.Errorf("models %v", got)
	}
	if c.Sandbox.Network.All || c.Sandbox.Network.Hosts[0] != "example.com" || c.Budget.PerDay != nil || *c.Budget.PerJob != 5 {
		t.Errorf("%+v %+v", c.Sandbox, c.Budget)
	}
	for _, v := range c.Values() {
		if strings.Contains(v.Path, "PGPASSWORD") && string(v.Value) != `"[set]"` {
			t.Errorf("%s shows %s", v.Path, v.Value)
		}
	}
}

func TestWithoutAFileDefaultsHold(t *testing.T) {
	c, err := Load(input(t, "", ""))
	must(t, err)
	if !c.Empty || *c.Budget.PerJob != 5 || c.Budget.PerDay != nil || c.Budget.UnknownPrice != "ask" || c.Engine != "native" || c.KeepDays != 14 || !c.Review.Auto {
		t.Errorf("%+v", c)
	}
	if d := cmp.Diff(Limits{3, 80, 30, 60}, c.Limits); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Pictures{MaxEdge: 1568, Keep: 3, SettleDoubt: true}, c.Pictures); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Workers{Local: 2, LeaseSeconds: 20}, c.Workers); d != "" {
		t.Error(d)
	}
	if c.Sandbox.Mode != "auto" || c.Bus.Listen != "127.0.0.1:0" {
		t.Errorf("%+v %+v", c.Sandbox, c.Bus)
	}
	for _, text := range []string{"{}", "\ufeff{}", " \n", "// only words\n{}"} {
		if c, err := Load(input(t, text, "")); err != nil || c.Empty {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// badConfigs: every fault with its line, its path and a part of the words or of the fix.
var badConfigs = []struct {
	why, user, project string
	want               []string // line path: a part of the words or of the fix
}{
	{"not JSON", "{\n \"a\": ]\n}", "", []string{"2 : not JSON"}},
	{"a list", `[1]`, "", []string{"1 : is an array, must be an object"}},
	{"many kinds", `{
  "budgett": {},
  "budget": { "perJob": -1, "unknownPrice": "aks" },
  "engine": "natve",
  "limits": { "attempts": 0, "rounds": 2.5, "tasks": "60" },
  "workers": { "local": -1 },
  "keepDays": 1, "keepDays": 2
}`, "", []string{
		`2 budgett: did you mean "budget"?`, "3 budget.perJob: out of range", `3 budget.unknownPrice: did you mean "ask"?`,
		`4 engine: did you mean "native"?`, "5 limits.attempts: out of range", "5 limits.rounds: not a whole number",
		"5 limits.tasks: is a string, must be an integer", "6 workers.local: out of range", "7 keepDays: set twice",
	}},
	{"providers", `{ "providers": {
  "a": { "api": "anthropic", "key": "sk-ant-123456" },
  "b": { "api": "openai-chat" },
  "c": { "api": "openai-chat", "url": "http://proxy.example/v1" },
  "d": { "api": "ollma" },
  "e": { "url": "https://x.example" },
  "f": { "api": "openai-chat", "url": "ftp://x" },
  "g": { "api": "openai", "headers": { "Authorization": "Bearer sk-123456" } },
  "h": { "api": "vllm", "url": "http://192.168.1.5:8000/v1" },
  "i": { "api": "openai-chat", "url": "http://proxy.example/v1", "insecure": true },
  "j/k": { "api": "openai" },
  "l": { "api": "openai", "url": "https://me:sk-123456@x.example" },
  "m": { "api": "bedrock", "region": "us-east-1.evil.example/", "profile": "work" },
  "n": { "api": "bedrock", "region": "us-gov-west-1" },
  "o": { "api": "openai", "region": "us-east-1" }
} }`, "", []string{
		"2 providers.a.key: env:NAME", "3 providers.b: has no url", "4 providers.c.url: plain http", `5 providers.d.api: did you mean "ollama"?`,
		"6 providers.e: has no api", "7 providers.f.url: is not an address", "7 providers.f: has no url", "8 providers.g.headers.Authorization: must not hold the key itself",
		`11 providers["j/k"]: not a name`, "12 providers.l.url: name or password",
		"13 providers.m.region: is not an AWS region", "15 providers.o.region: is for bedrock alone",
	}},
	{"the ladder", `{ "providers": { "here": { "api": "ollama" } },
  "ladder": [
    { "model": "here/a", "difficulty": "easy" },
    { "model": ["here/b",
        "here/a"], "difficulty": "hrad" },
    { "model": "her/c" },
    { "model": "nonsense" },
    { "difficulty": "easy" } ],
  "primary": "there/x",
  "routes": { "vision": [ "here/v", "nowhere/v" ] } }`, "", []string{
		`5 ladder[1].difficulty: did you mean "hard"?`, "5 ladder[1].model[1]: ladder twice", `6 ladder[2].model: did you mean "here"?`,
		"7 ladder[3].model: not a model", "8 ladder[4]: names no model", `9 primary: not configured`, "10 routes.vision[1]: not configured",
	}},
	{"others", `{ "engine": "acp:gemnii", "acp": { "gemini": { "command": [] } },
  "mcp": { "x": {}, "y": { "url": "http://x.example" } },
  "bus": { "listen": "here", "url": "http://x" },
  "previews": [ { "command": ["x"] } ],
  "sandbox": { "mode": "on", "network": "yes" },
  "engines": { "vim": {} } }`, "", []string{
		`1 engine: did you mean "gemini"?`, "1 acp.gemini: no command", "2 mcp.x: either url or command", "2 mcp.y.url: plain http",
		"3 bus.listen: not an address", "3 bus.url: not an address", "4 previews[0]: no name",
		"5 sandbox.mode: one of", "5 sandbox.network: is a string, must be a boolean or an array", "6 engines.vim: not an engine",
	}},
	{"a project", `{ "limits": { "rounds": 50 } }`, `{
  "providers": { "evil": { "api": "openai-chat", "url": "https://evil.example" } },
  "budget": { "perJob": 1000 }, "mcp": {}, "sandbox": { "mode": "off" }, "bus": {}, "engine": "acp:x", "acp": {},
  "limits": { "rounds": 60, "attempts": 2 },
  "primary": "evil/x" }`, []string{
		"2 providers: cannot be set by a project", "3 budget: cannot be set by a project", "3 mcp: cannot be", "3 sandbox: cannot be", "3 bus: cannot be", "3 engine: cannot be",
		"3 acp: cannot be", "4 limits.rounds: only lower", "5 primary: not configured",
	}},
}

func TestEveryFaultAtOnceWithItsLine(t *testing.T) {
	for _, row := range badConfigs {
		_, err := Load(input(t, row.user, row.project))
		got, ok := AsFaults(err)
		if !ok {
			t.Errorf("%s: %v", row.why, err)
			continue
		}
		left := map[string]bool{}
		for _, f := range got {
			left[f.String()] = true
			if strings.Contains(f.String(), "123456") {
				t.Errorf("%s: a key is repeated: %s", row.why, f)
			}
			if f.File == "" || f.Column == 0 {
				t.Errorf("%s: no place: %+v", row.why, f)
			}
		}
		for _, want := range row.want {
			place, words, _ := strings.Cut(want, ": ")
			found := false
			for _, f := range got {
				if fmt.Sprintf("%d %s", f.Line, f.Path) == place && strings.Contains(f.String(), words) {
					found = true
					delete(left, f.String())
				}
			}
			if !found {
				t.Errorf("%s: no fault %q in\n%v", row.why, want, err)
			}
		}
		for f := range left {
			t.Errorf("%s: not expected: %s", row.why, f)
		}
	}
}

func TestOriginsAndOrder(t *testing.T) {
	in := input(t, `{ "providers": { "here": { "api": "ollama" } },
  "primary": "here/user", "budget": { "perJob": 3 }, "engine": "codex",
  "pictures": { "never": ["mine/**"], "keep": 5 },
  "ladder": [ { "model": "here/a" }, { "model": "here/b" } ] }`,
		`{ "primary": "here/project", "limits": { "rounds": 10 },
  "pictures": { "never": ["theirs/**"] }, "ladder": [ { "model": "here/c" } ] }`)
	env := map[string]string{"RELO_BUDGET": "2", "RELO_ENGINE": "claude"}
	in.Getenv = func(name string) string { return env[name] }
	in.Flags = map[string]string{"budget.perJob": "1.5"}
	c, err := Load(in)
	must(t, err)
	if *c.Budget.PerJob != 1.5 || c.Engine != "claude" || c.Primary != "here/project" || c.Limits.Rounds != 10 || len(c.Ladder) != 1 || c.Pictures.Keep != 5 {
		t.Errorf("%+v", c)
	}
	if d := cmp.Diff([]string{"theirs/**", "mine/**"}, c.Pictures.Never); d != "" {
		t.Errorf("a project took the person's own globs away: %s", d)
	}
	user, project := in.Places.File(), filepath.Join(in.ProjectDir, ".relo", "relo.json")
	for path, want := range map[string]string{
		"budget.perJob": "flag", "engine": "RELO_ENGINE", "primary": "project (" + project + ":1)", "limits.rounds": "project (" + project + ":1)",
		"limits.tasks": "default", "pictures.keep": "user (" + user + ":3)", "ladder[0].model": "project (" + project + ":2)",
		"ladder[1].model": "project (" + project + ":2)", "keepDays": "default", "providers.here.url": "default", "providers.here.api": "user (" + user + ":1)",
	} {
		if got := c.Origin(path); got != want {
			t.Errorf("%s comes from %s, want %s", path, got, want)
		}
	}
	env["RELO_BUDGET"], env["RELO_PRIMARY"] = "much", "nowhere/x"
	in.Flags = map[string]string{"limits.roundss": "3"}
	_, err = Load(in)
	faults, _ := AsFaults(err)
	if len(faults) != 3 || faults[0].File != "RELO_BUDGET" || !strings.Contains(err.Error(), "RELO_PRIMARY") || !strings.Contains(err.Error(), `did you mean "rounds"`) {
		t.Errorf("%v", err)
	}
}

func TestAProjectsCommandsWaitForThePerson(t *testing.T) {
	project := `{ "previews": [ { "name": "web", "command": ["evil"] } ], "worktree": { "setup": "evil" }, "review": { "auto": false } }`
	in := input(t, "", project)
	c, err := Load(in)
	must(t, err)
	if len(c.Previews) != 0 || c.Worktree.Setup != "" || c.Review.Auto || len(c.ProjectHash) != 64 || cmp.Diff([]string{"previews", "worktree"}, c.Waiting) != "" {
		t.Errorf("%+v", c)
	}
	in.Trusted = c.ProjectHash
	c, err = Load(in)
	must(t, err)
	if len(c.Previews) != 1 || c.Worktree.Setup != "evil" || len(c.Waiting) != 0 {
		t.Errorf("approved: %+v", c)
	}
	must(t, os.WriteFile(filepath.Join(in.ProjectDir, ".relo", "relo.json"), []byte(strings.ReplaceAll(project, `"evil"`, `"worse"`)), 0o600))
	c, err = Load(in)
	must(t, err)
	if len(c.Previews) != 0 || c.Worktree.Setup != "" {
		t.Errorf("the approval held for other content: %+v", c)
	}
}

func TestAProjectsFileCannotBeALinkOutside(t *testing.T) {
	in := input(t, "", "")
	secret := filepath.Join(t.TempDir(), "other.json")
	must(t, os.WriteFile(secret, []byte(`{"primary": "top/secret"}`), 0o600))
	must(t, os.Mkdir(filepath.Join(in.ProjectDir, ".relo"), 0o700))
	must(t, os.Symlink(secret, filepath.Join(in.ProjectDir, ".relo", "relo.json")))
	if _, err := Load(in); err == nil || strings.Contains(err.Error(), "top/secret") {
		t.Errorf("%v", err)
	}
}

func TestPresets(t *testing.T) {
	for _, api := range APIs() {
		p, _ := PresetOf(api)
		if w, ok := PresetOf(p.Wire); !ok || w.Wire != p.Wire {
			t.Errorf("%s: wire %q is not a wire", api, p.Wire)
		}
		if p.URL != "" {
			if words, _ := checkURL(p.URL, "https", "http"); words != "" || (strings.HasPrefix(p.URL, "http:") != p.Local) {
				t.Errorf("%s: %s %s", api, p.URL, words)
			}
		}
	}
	c, err := Load(input(t, `{ "providers": { "o": { "api": "openai" }, "p": { "api": "openai", "url": "https://other.example/v1" }, "d": { "api": "deepseek" },
		"v": { "api": "vllm", "url": "https://vllm.example/v1" }, "w": { "api": "vllm", "url": "http://10.1.2.3/v1" } } }`, ""))
	must(t, err)
	if c.Providers["o"].Key != "env:OPENAI_API_KEY" || c.Providers["o"].URL != "https://api.openai.com/v1" {
		t.Errorf("%+v", c.Providers["o"])
	}
	if c.Providers["p"].Key != "" {
		t.Error("a vendor's key goes to another address")
	}
	if c.Providers["d"].TakesPictures || !c.Providers["o"].TakesPictures || c.Providers["v"].IsPrivate() || !c.Providers["w"].IsPrivate() {
		t.Errorf("%+v", c.Providers)
	}
}

func TestSchemaKnowsEveryKeyOfTheExample(t *testing.T) {
	var s map[string]any
	must(t, json.Unmarshal(Schema(), &s))
	properties, _ := s["properties"].(map[string]any)
	for _, name := range keys().names() {
		if properties[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	raw, err := json.Marshal(Config{})
	must(t, err)
	var fields map[string]any
	must(t, json.Unmarshal(raw, &fields))
	for name := range fields {
		if properties[name] == nil {
			t.Errorf("Config has %s, the table does not", name)
		}
	}
	if len(fields) != len(keys().names()) {
		t.Errorf("%d fields, %d keys", len(fields), len(keys().names()))
	}
}

func TestPlaces(t *testing.T) {
	env := map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_RUNTIME_DIR": "/r", "XDG_CACHE_HOME": "relative"}
	get := func(name string) string { return env[name] }
	p := FindPlaces(get)
	if p.File() != "/c/relo/relo.json" || p.Run != "/r/relo" || p.Cache == "relative/relo" || !strings.HasPrefix(p.State, "/h/") {
		t.Errorf("%+v", p)
	}
	env["RELO_HOME"] = "/x"
	if d := cmp.Diff(Places{"/x", "/x/state", "/x/cache", "/x/run"}, FindPlaces(get)); d != "" {
		t.Error(d)
	}
	if p := systemPlaces("darwin", get); p.Config != "/h/Library/Application Support/relo" {
		t.Errorf("%+v", p)
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		example, `{"ladder":[{"model":["a/b","a/b"]}]}`, `{"providers":{"a":{"api":1}}}`, `{"a":{"b":[]}} //`, "[", strings.Repeat("[", 100),
		`{"limits":{"rounds":1e400}}`, `{"sandbox":{"network":["x"]}}`, `{"primary":"\u0000/\ud800"}`, `{"budget":{"perJob":null}}`, `{"mcp":{"":{"env":{"":""}}}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, project bool) {
		l := &loader{in: Input{Places: Places{Config: "/c"}}, rep: &report{}}
		if project {
			layer := parse(data, position{file: "p"}, true, l.rep)
			for name := range layer.values {
				if f, ok := keys().field(name); !ok || (f.project == never && name != "$schema") {
					t.Errorf("a project set %q", name)
				}
			}
			return
		}
		c, err := l.load(data, false)
		if err != nil {
			if list, ok := AsFaults(err); !ok || len(list) == 0 {
				t.Errorf("not faults: %v", err)
			}
			return
		}
		for _, m := range c.Models() {
			if p, id := m.Split(); c.Providers[p].API == "" || id == "" {
				t.Errorf("an unknown model passed: %q", m)
			}
		}
		for name, p := range c.Providers {
			if p.Key != "" && !reference(p.Key) {
				t.Errorf("%s: a literal key passed", name)
			}
		}
		c.Values()
	})
}
