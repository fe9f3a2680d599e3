package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSetKeepsCommentsAndRefusesFaults(t *testing.T) {
	const before = `// mine
{
	// the one at home
	"providers": {"here": {"api": "ollama"}}, // trailing words
	"budget": {"perJob": 3 /* dollars */},
}
`
	in := input(t, before, "")
	file := in.Places.File()
	must(t, Set(in.Places, "budget.perJob", "4"))
	must(t, Set(in.Places, "primary", "here/x"))
	must(t, Set(in.Places, "providers.o.api", `"openai"`))
	must(t, Set(in.Places, "routes.vision", `["here/v"] // words`))
	must(t, Set(in.Places, `providers.here.models["qwen3:30b"].vision`, "true"))
	must(t, Set(in.Places, "ladder", `[{"model":"here/a"},{"model":"here/b"}]`))
	must(t, Set(in.Places, "ladder[1].model", "here/c"))
	text, err := os.ReadFile(file)
	must(t, err)
	for _, want := range []string{"// mine", "// the one at home", "// trailing words", "/* dollars */"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is lost:\n%s", want, text)
		}
	}
	c, err := Load(in)
	must(t, err)
	if *c.Budget.PerJob != 4 || c.Primary != "here/x" || c.Providers["o"].API != "openai" || !*c.Providers["here"].Models["qwen3:30b"].Vision ||
		len(c.Ladder) != 2 || c.Ladder[1].Model[0] != "here/c" {
		t.Errorf("%+v\n%s", c, text)
	}
	for path, value := range map[string]string{
		"budget.perJob": "-1", "primary": "nowhere/x", "providers.here.key": "sk-123", "nonsense": "1", "limits.rounds": "many",
		"budget.unknownPrice": "perhaps", "": "1", "budget": "3", "providers.o": "null",
	} {
		if err := Set(in.Places, path, value); err == nil {
			t.Errorf("set %s = %s went through", path, value)
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(text) {
		t.Errorf("a refused value changed the file (%v)", err)
	}
	must(t, Unset(in.Places, "budget.perJob"))
	must(t, Unset(in.Places, "budget.perJob"))
	if c, err := Load(in); err != nil || *c.Budget.PerJob != 5 {
		t.Errorf("after unset: %v", err)
	}
	if err := Unset(in.Places, "providers.here"); err == nil {
		t.Error("a provider that the ladder needs was removed")
	}
}

func TestSetMakesTheFileAndMendsABadOne(t *testing.T) {
	in := input(t, "", "")
	must(t, Set(in.Places, "workers.local", "4"))
	if info, err := os.Stat(in.Places.File()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	bad := input(t, `{"engine": "natve", "keepDays": -1}`, "")
	must(t, Set(bad.Places, "engine", "native")) // one fault is left, and it is not new
	if err := Set(bad.Places, "workers.local", "-4"); err == nil {
		t.Error("a new fault went through")
	}
	broken := input(t, `{"engine": `, "")
	if err := Set(broken.Places, "engine", "native"); err == nil {
		t.Error("a file that is not JSON was edited")
	}
}

func TestSetFollowsALinkOfDotfiles(t *testing.T) {
	in := input(t, "", "")
	real := filepath.Join(t.TempDir(), "dotfiles.json")
	must(t, os.WriteFile(real, []byte("{}"), 0o600))
	must(t, os.Symlink(real, in.Places.File()))
	must(t, Set(in.Places, "keepDays", "7"))
	if text, err := os.ReadFile(real); err != nil || !strings.Contains(string(text), "7") {
		t.Errorf("%s %v", text, err)
	}
	if info, err := os.Lstat(in.Places.File()); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

func TestPathsGoBothWays(t *testing.T) {
	for _, parts := range [][]string{{"a"}, {"a", "b-c"}, {"a", "x.y", "z"}, {"providers", "a/b", "models", `q"w[1]`}, {"a", ""}} {
		path := ""
		for _, p := range parts {
			path = join(path, p)
		}
		got, err := split(path)
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", parts) {
			t.Errorf("%q: %q %v", path, got, err)
		}
	}
	for _, bad := range []string{"", ".", "a.", "a..b", "a[", "a[x]", `a["x`, "a]b[", `a["x"]b`} {
		if got, err := split(bad); err == nil && bad != "a]b[" {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

func TestResolveKey(t *testing.T) {
	dir := t.TempDir()
	good, open := filepath.Join(dir, "good"), filepath.Join(dir, "open")
	must(t, os.WriteFile(good, []byte("from file\n"), 0o600))
	must(t, os.WriteFile(open, []byte("x"), 0o600))
	must(t, os.Chmod(open, 0o644))
	getenv := func(name string) string { return map[string]string{"KEY": " from env ", "HOME": dir}[name] }
	for _, row := range []struct{ ref, want, refusal string }{
		{"env:KEY", "from env", ""},
		{"file:" + good, "from file", ""},
		{"file:~/good", "from file", ""},
		{"cmd:printf 'from cmd\\nsecond line'", "from cmd", ""},
		{"", "", ""},
		{"env:NONE", "", "NONE is not set"},
		{"file:" + open, "", "chmod 600"},
		{"file:" + filepath.Join(dir, "none"), "", "there is no file"},
		{"file:relative", "", "not an absolute path"},
		{"cmd:exit 3", "", "failed"},
		{"cmd:true", "", "gave nothing"},
		{"cmd:yes | head -c 200000", "", "failed"},
		{"keyring:x", "", "use env:NAME, file:PATH or cmd:COMMAND"},
		{"sk-123456", "", "must be a reference"},
	} {
		got, err := ResolveKey(t.Context(), row.ref, getenv)
		if row.refusal == "" && (err != nil || got.Reveal() != row.want) {
			t.Errorf("%s: %q %v", row.ref, got.Reveal(), err)
		}
		if row.refusal != "" && (err == nil || !strings.Contains(err.Error(), row.refusal) || strings.Contains(err.Error(), "123456")) {
			t.Errorf("%s: %v", row.ref, err)
		}
	}
	began := time.Now()
	ctx, cancel := contextFor(t, 50*time.Millisecond)
	defer cancel()
	if _, err := ResolveKey(ctx, "cmd:exec sleep 30", getenv); err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("a hanging command: %v after %s", err, time.Since(began))
	}
}

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}
