package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
)

// desk is a folder of settings that a test writes.
type desk struct {
	*settings
	t    *testing.T
	home string
	repo string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home, repo := t.TempDir(), t.TempDir()
	if real, err := filepath.EvalSymlinks(repo); err == nil {
		repo = real
	}
	e := Env{Getenv: func(n string) string { return map[string]string{"RELO_HOME": home, "HOME": home, "KEY": "k"}[n] }}
	d := &desk{settings: newSettings(e, zerolog.Nop()), t: t, home: home, repo: repo}
	d.shelf.renew = d.renew
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) mine(text string) { d.t.Helper(); d.write(filepath.Join(d.home, "relo.json"), text) }
func (d *desk) theirs(text string) {
	d.t.Helper()
	d.write(filepath.Join(d.repo, ".relo", "relo.json"), text)
}

const oneRung = `{"providers": {"a": {"api": "openai-chat", "url": "https://a.example/v1", "key": "env:KEY", "models": {"m": {}, "n": {}}}},
  "ladder": [{"model": "a/m"}], "primary": "a/m"}`

func TestAFolderIsReadAgainOnlyWhenItsFilesChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mine(oneRung)
	first, err := d.rules(t.Context(), d.repo)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := d.rules(t.Context(), d.repo); err != nil || same.Book != first.Book {
		t.Errorf("an unchanged folder was read again (%v)", err)
	}
	d.theirs(`{"primary": "a/n", "limits": {"rounds": 7}}`)
	theirs, err := d.rules(t.Context(), d.repo)
	if err != nil || theirs.Primary != "a/n" || theirs.Rounds != 7 {
		t.Errorf("with the project's file: %s, %d rounds (%v)", theirs.Primary, theirs.Rounds, err)
	}
	if other, err := d.rules(t.Context(), t.TempDir()); err != nil || other.Primary != "a/m" {
		t.Errorf("another folder: %s (%v)", other.Primary, err)
	}
	d.theirs(`{"primary": "b/x"}`)
	_, err = d.rules(t.Context(), d.repo)
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok || e.Code != protocol.CodeConfig || !strings.Contains(e.Message, "relo.json:1:") {
		t.Errorf("a fault is told as %v", err)
	}
	if first.Book == nil {
		t.Error("the rules of before are gone")
	}
}

func TestApprovedContentTakesEffectAndOtherContentWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mine(oneRung)
	d.theirs(`{"worktree": {"setup": "make deps"}}`)
	setup := func() string {
		cfg, _, err := d.of(d.repo)
		if err != nil {
			t.Fatal(err)
		}
		return cfg.Worktree.Setup
	}
	if got := setup(); got != "" {
		t.Errorf("before: %q", got)
	}
	seen, err := LookTrust(d.env, d.repo)
	if err != nil || seen.Worktree == nil || seen.Worktree.Setup != "make deps" || seen.Approved {
		t.Fatalf("%+v (%v)", seen, err)
	}
	if err := Approve(d.env, seen); err != nil {
		t.Fatal(err)
	}
	if got := setup(); got != "make deps" {
		t.Errorf("approved: %q", got)
	}
	d.theirs(`{"worktree": {"setup": "curl evil"}}`)
	if got := setup(); got != "" {
		t.Errorf("other content: %q", got)
	}
	if err := Approve(d.env, seen); err == nil {
		t.Error("what was shown before was approved for other content")
	}
	d.theirs(`{"worktree": {"setup": "make deps"}}`)
	if had, err := Revoke(d.env, d.repo); err != nil || !had || setup() != "" {
		t.Errorf("revoked: %v %v, setup %q", had, err, setup())
	}
}

func TestTheShelfFindsTheNewestModelAndKeepsTheOld(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mine(oneRung)
	ask := func(ref catalog.Ref) (catalog.Model, provider.Client) {
		t.Helper()
		m, ok := d.shelf.Model(ref)
		if !ok {
			t.Fatalf("%s is not found", ref)
		}
		c, err := d.shelf.Client(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return m, c
	}
	_, first := ask("a/m")
	if _, again := ask("a/n"); again.(keyed).Client != first.(keyed).Client {
		t.Error("a provider is dialled for each model")
	}
	d.mine(strings.Replace(oneRung, `"m": {}`, `"m": {"vision": true}`, 1))
	if m, c := ask("a/m"); m.Sight.Sight.String() != "yes" || c.(keyed).Client == first.(keyed).Client {
		t.Errorf("a changed row: sight %s", m.Sight.Sight)
	}
	d.mine(strings.NewReplacer(`"a"`, `"b"`, "a/m", "b/m").Replace(oneRung))
	ask("b/m")
	ask("a/m") // of a job that was made before
	d.mine("{")
	ask("b/m") // a fault takes nothing away
	if _, ok := d.shelf.Model("c/m"); ok {
		t.Error("a model of nobody is found")
	}
}

func TestARefusedKeyIsFetchedAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := filepath.Join(d.home, "key")
	d.write(file, "old")
	d.mine(strings.Replace(oneRung, "env:KEY", "file:"+file, 1))
	if _, ok := d.shelf.Model("a/m"); !ok {
		t.Fatal("not found")
	}
	first, err := d.shelf.Client(t.Context(), "a/m")
	if err != nil {
		t.Fatal(err)
	}
	d.shelf.forget("a")
	second, err := d.shelf.Client(t.Context(), "a/m")
	if err != nil || second.(keyed).Client == first.(keyed).Client {
		t.Errorf("the same client after a refusal (%v)", err)
	}
}

func TestADaemonDoesNotStartOnAGuess(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mine(`{"workers": {"local": "many"}}`)
	if _, err := startConfig(d.env); err == nil {
		t.Error("a faulty config was taken")
	}
	d.mine(`{"workers": {"local": 5}}`)
	if cfg, err := startConfig(d.env); err != nil || cfg.Workers.Local != 5 {
		t.Errorf("%+v %v", cfg, err)
	}
}

func TestAProjectsRootIsFoundFromBelow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	deep := filepath.Join(d.repo, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := projectDir(deep); got != deep {
		t.Errorf("without git: %s", got)
	}
	d.write(filepath.Join(d.repo, ".git"), "gitdir: elsewhere\n") // as in a worktree
	if got := projectDir(deep); got != d.repo {
		t.Errorf("below a root: %s", got)
	}
	if projectDir("") != "" {
		t.Error("no folder has a root")
	}
}

func TestTheDoctorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for free, state := range map[uint64]string{10 << 30: stateOK, 1 << 30: stateWarn, 100 << 20: stateFail} {
		if c := spaceCheck("space", "/d", free); c.State != state || (c.Fix == "") != (state == stateOK) {
			t.Errorf("%d bytes free: %+v", free, c)
		}
	}
	d := newDesk(t)
	row := func(name string) Check {
		t.Helper()
		for _, c := range Doctor(t.Context(), d.env, DoctorOptions{}) {
			if c.Name == name {
				return c
			}
		}
		t.Fatalf("there is no row %s", name)
		return Check{}
	}
	if c := row("config"); c.State != stateWarn || !strings.Contains(c.Fix, "relo config init") {
		t.Errorf("without a config: %+v", c)
	}
	d.mine("{\n \"budgt\": 1 }")
	if c := row("config"); c.State != stateFail || !strings.Contains(c.Words, "relo.json:2:") || c.Fix == "" {
		t.Errorf("a fault: %+v", c)
	}
	d.mine(strings.Replace(oneRung, "env:KEY", "env:NOT_SET", 1))
	if c := row("provider a"); c.State != stateFail || !strings.Contains(c.Words, "NOT_SET") || c.Fix == "" {
		t.Errorf("a missing key: %+v", c)
	}
	if c := row("sandbox"); c.State != stateWarn || !strings.Contains(c.Words, "not confined") {
		t.Errorf("%+v", c)
	}
	if c := row("record"); c.State != stateOK || !strings.Contains(c.Words, "none yet") {
		t.Errorf("%+v", c)
	}
	if c := row("git"); c.State != stateOK {
		t.Errorf("%+v", c)
	}
}

func TestALogIsFollowedAlsoWhenItWasCut(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.log")
	var got []string
	each := func(l string) { got = append(got, l) }
	at, err := more(name, 0, each)
	if err != nil || at != 0 {
		t.Fatalf("%d %v", at, err)
	}
	for _, step := range []struct{ text, want string }{
		{"one\ntwo\nhal", "one two"}, {"one\ntwo\nhalf\n", "half"}, {"one\ntwo\nhalf\n", ""}, {"new\n", "new"},
	} {
		got = nil
		if err := os.WriteFile(name, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if at, err = more(name, at, each); err != nil || strings.Join(got, " ") != step.want {
			t.Errorf("after %q: %q (%v)", step.text, got, err)
		}
	}
	if lines := tail(name, 0, 3); len(lines) != 1 || lines[0] != "new" {
		t.Errorf("the last lines: %q", lines)
	}
}
