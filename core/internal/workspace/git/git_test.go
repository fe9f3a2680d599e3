package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// box is a real repository in a temporary folder.
type box struct {
	t    *testing.T
	dir  string
	repo *Repo
}

var testHome string // also when a test sets another one

// TestMain keeps the configuration of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "relo-git-home-*")
	if err != nil {
		panic(err)
	}
	testHome = home
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": home} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if err := os.RemoveAll(home); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// newBox makes a repository with files committed; names end in their contents.
func newBox(t *testing.T, files map[string]string) *box {
	t.Helper()
	b := &box{t: t, dir: filepath.Join(t.TempDir(), "the repo")}
	b.copyFresh()
	for name, text := range files {
		b.write(name, text)
	}
	b.git("add", "-A")
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	b.reopen()
	return b
}

// fresh is a repository without a commit, made once: starting git is what takes
// the time in these tests.
var fresh = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(testHome, "fresh-*")
	if err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(context.Background(), "git", "init", "-q", "--template=", "-b", "main", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString("[user]\n\tname = Ada\n\temail = ada@example.com\n")
	return dir, errors.Join(err, f.Close())
})

func (b *box) copyFresh() {
	b.t.Helper()
	from, err := fresh()
	must(b.t, err)
	must(b.t, os.CopyFS(b.dir, os.DirFS(from)))
}

func (b *box) reopen() {
	b.t.Helper()
	repo, err := Open(b.t.Context(), b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	b.repo = repo
	b.dir = repo.Root()
}

func (b *box) git(args ...string) string { b.t.Helper(); return b.gitIn(b.dir, args...) }

func (b *box) gitIn(dir string, args ...string) string {
	b.t.Helper()
	if args[0] == "init" {
		dir = b.t.TempDir()
	}
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *box) write(name, text string) { b.t.Helper(); writeAt(b.t, b.dir, name, text) }

func writeAt(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b *box) read(name string) string { b.t.Helper(); return readAt(b.t, b.dir, name) }

// readAt gives "<none>" for a missing file and "-> target" for a link.
func readAt(t *testing.T, dir, name string) string {
	t.Helper()
	full := filepath.Join(dir, name)
	if target, err := os.Readlink(full); err == nil {
		return "-> " + target
	}
	text, err := os.ReadFile(full)
	if os.IsNotExist(err) {
		return "<none>"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *box) snapshot(ref string) Snapshot {
	b.t.Helper()
	s, err := b.repo.Snapshot(b.t.Context(), ref)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// worktree adds one at commit and gives its folder.
func (b *box) worktree(commit string) string {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "work")
	if err := b.repo.AddWorktree(b.t.Context(), dir, commit); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

// attempt commits what change makes of a worktree at base.
func (b *box) attempt(base, id string, change func(dir string)) Committed {
	b.t.Helper()
	dir := b.worktree(base)
	change(dir)
	done, err := b.repo.Commit(b.t.Context(), dir, CommitSpec{
		Message: "work of " + id, Job: "j1", Task: "t1", Attempt: id, Date: time.Unix(1700000000, 0),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.repo.RemoveWorktree(b.t.Context(), dir); err != nil {
		b.t.Fatal(err)
	}
	return done
}

func (b *box) at(commit, name string) string {
	b.t.Helper()
	text, err := b.repo.Blob(b.t.Context(), commit, name)
	if Is(err, KindNotFound) {
		return "<none>"
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// untouched gives what Relo must never change: HEAD, branch, index, status.
func (b *box) untouched() string {
	b.t.Helper()
	return b.git("rev-parse", "HEAD") + b.git("symbolic-ref", "HEAD") + b.git("ls-files", "-s") + b.git("status", "--porcelain", "--ignored")
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	b := newBox(t, map[string]string{"a": "a"})
	ctx := t.Context()
	broken, bare, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	b.gitIn("", "init", "-q", "-b", "main", broken)
	writeAt(t, broken, ".git/refs/heads/main", strings.Repeat("12", 20)+"\n")
	b.gitIn("", "init", "-q", "--bare", bare)
	b.gitIn("", "init", "-q", elsewhere)
	b.gitIn(elsewhere, "config", "core.worktree", b.dir)
	for _, row := range []struct {
		dir, why string
		kind     Kind
	}{
		{t.TempDir(), "no repository", KindNoRepository},
		{filepath.Join(b.dir, "nothing here"), "no folder", KindNoRepository},
		{broken, "HEAD is broken", KindNoCommits},
		{bare, "bare", KindNoWorktree},
		{elsewhere, "core.worktree leads into another folder", KindNoWorktree},
	} {
		if _, err := Open(ctx, row.dir); !Is(err, row.kind) {
			t.Errorf("%s: got %v, want kind %s", row.why, err, row.kind)
		}
	}
	writeAt(t, b.dir, "sub/x", "x")
	if r, err := Open(ctx, filepath.Join(b.dir, "sub")); err != nil || r.Root() != b.dir || r.Dir() != filepath.Join(b.dir, ".git") {
		t.Errorf("from a subfolder: %v %+v", err, r)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(ctx, b.dir); !Is(err, KindNoGit) {
		t.Errorf("without git: %v", err)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for words, ok := range map[string]bool{
		"git version 2.38.0": true, "git version 2.39.5 (Apple Git-154)": true, "git version 3.0": true,
		"git version 2.37.9": false, "git version 1.99": false, "hello": false,
	} {
		if err := checkVersion(words); (err == nil) != ok {
			t.Errorf("%s: %v", words, err)
		}
	}
}

func TestACancelledCallEndsSoon(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.repo.Snapshot(ctx, ""); err == nil {
		t.Error("a cancelled snapshot succeeded")
	}
}

func TestRefsAndPathsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	for _, ref := range []string{"refs/heads/main", "HEAD", "refs/relo/../heads/main", "refs/relo/x.lock", "refs/heads/relo/", "refs/relo/-a/b c", ""} {
		if err := b.repo.SetRef(t.Context(), ref, "HEAD"); !Is(err, KindBadName) {
			t.Errorf("SetRef %q: %v", ref, err)
		}
	}
	for _, name := range []string{"../a", "/etc/passwd", "", ".", "a/../../b"} {
		if _, err := b.repo.Blob(t.Context(), "HEAD", name); err == nil {
			t.Errorf("Blob %q succeeded", name)
		}
	}
	if err := b.repo.SetRef(t.Context(), "refs/relo/x/y", "HEAD"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.repo.DeleteRef(t.Context(), "refs/relo/x/y"); err != nil {
			t.Errorf("delete a ref, twice: %v", err)
		}
	}
	if !b.repo.Exists(t.Context(), "HEAD", "a") || b.repo.Exists(t.Context(), "HEAD", "b") || b.repo.Exists(t.Context(), "nope", "a") {
		t.Error("Exists is wrong")
	}
}
