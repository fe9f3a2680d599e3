package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotCarriesEveryKindOfChange(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{
		"kept": "k", "changed": "1", "staged": "1", "gone": "x", "ünï code": "u", "run.sh": "#!/bin/sh\n", ".gitignore": "*.log\n",
		"dir/deep": "d", "file": "f", "old name": "a long enough text to be seen as renamed\n",
	})
	b.write("changed", "2")
	b.write("staged", "2")
	b.git("add", "staged")
	b.write("staged", "3")
	b.write("new\nline", "n")
	b.write("debug.log", "ignored")
	b.write("bin", "a\x00b")
	must(t, os.Remove(filepath.Join(b.dir, "gone")))
	must(t, os.Chmod(filepath.Join(b.dir, "run.sh"), 0o755))
	must(t, os.Symlink("kept", filepath.Join(b.dir, "link")))
	must(t, os.Rename(filepath.Join(b.dir, "old name"), filepath.Join(b.dir, "new name")))
	must(t, os.RemoveAll(filepath.Join(b.dir, "dir")))
	must(t, os.Symlink("/etc", filepath.Join(b.dir, "dir")))
	must(t, os.Remove(filepath.Join(b.dir, "file")))
	b.write("file/inside", "i")
	before := b.untouched()
	s := b.snapshot("refs/relo/base/j1")
	if after := b.untouched(); after != before {
		t.Errorf("the person's repository changed:\n%s", cmp.Diff(before, after))
	}
	if got := b.git("rev-parse", "refs/relo/base/j1"); got != s.Commit || s.Commit == s.Head || b.git("rev-parse", s.Commit+"^") != s.Head {
		t.Errorf("ref %s, snapshot %+v", got, s)
	}
	changes, err := b.repo.Changes(t.Context(), s.Head, s.Commit)
	must(t, err)
	got := map[string]string{}
	for _, c := range changes {
		got[c.Path] = c.Status
		if c.Path == "bin" && !c.Binary || c.Path == "new name" && c.Old != "old name" || c.Path == "changed" && (c.Added != 1 || c.Deleted != 1) {
			t.Errorf("%+v", c)
		}
	}
	want := map[string]string{
		"changed": "modified", "staged": "modified", "new\nline": "added", "bin": "added", "gone": "deleted", "run.sh": "modified", "link": "added",
		"new name": "renamed", "dir/deep": "deleted", "dir": "added", "file": "deleted", "file/inside": "added",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b.at(s.Commit, "staged") != "3" || b.at(s.Commit, "new\nline") != "n" || b.at(s.Commit, "debug.log") != "<none>" || b.at(s.Commit, "link") != "kept" {
		t.Error("contents of the snapshot are wrong")
	}
	if s.Dirty != len(want) {
		t.Errorf("dirty %d, want %d", s.Dirty, len(want))
	}
}

func TestCleanSnapshotIsHead(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	if s := b.snapshot("refs/relo/base/j1"); s.Commit != s.Head || s.Dirty != 0 || b.git("rev-parse", "refs/relo/base/j1") != s.Head {
		t.Errorf("%+v", s)
	}
}

// A change of the same size in the same tick as the index is what git calls
// racily clean; a careless copy of the index hides it.
func TestSnapshotSeesAChangeOfTheSameTick(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "0000"})
	for i := range 12 {
		b.write("a", fmt.Sprintf("%04d", 2*i+1))
		b.git("add", "a")
		b.write("a", fmt.Sprintf("%04d", 2*i+2))
		if s := b.snapshot(""); b.at(s.Commit, "a") != fmt.Sprintf("%04d", 2*i+2) {
			t.Fatalf("round %d: the snapshot holds %s", i, b.at(s.Commit, "a"))
		}
	}
}

func TestThreeWayNamesAConflictAndNestedRepositoriesAreNoted(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "1\n"})
	b.git("checkout", "-q", "-b", "side")
	b.write("a", "2\n")
	b.git("commit", "-qam", "side")
	b.git("checkout", "-q", "main")
	b.write("a", "3\n")
	b.git("commit", "-qam", "main")
	if err := b.repo.SetRef(t.Context(), "refs/relo/x", "side"); err != nil {
		t.Fatal(err)
	}
	_, conflicts, err := b.repo.threeWay(t.Context(), "HEAD~1", "HEAD", "side")
	must(t, err)
	if d := cmp.Diff([]Conflict{{"a", "content"}}, conflicts); d != "" {
		t.Error(d)
	}
	b.gitIn("", "init", "-q", filepath.Join(b.dir, "nested"))
	b.write("nested/x", "x")
	s := b.snapshot("")
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"nested"`) {
		t.Errorf("%+v", s)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a", "b": "b", ".gitignore": "out/\n"})
	head := b.git("rev-parse", "HEAD")
	dir := b.worktree(head)
	writeAt(t, dir, "a", "changed")
	writeAt(t, dir, "out/x", "ignored")
	writeAt(t, dir, ".relo/attachments/p.png", "picture")
	b.gitIn(dir, "-c", "user.name=M", "-c", "user.email=m@x", "commit", "-qam", "the agent's own commit")
	writeAt(t, dir, "c", "new")
	b.gitIn(dir, "add", "-f", ".relo") // an agent may add what it likes
	must(t, os.Remove(filepath.Join(dir, "b")))
	spec := CommitSpec{Message: "Do it\n\nRelo-Attempt: forged\n", Job: "j1", Task: "t1", Attempt: "a1", Date: time.Unix(1700000000, 0)}
	done, err := b.repo.Commit(t.Context(), dir, spec)
	must(t, err)
	if done.Parent != head || b.git("rev-parse", done.Commit+"^") != head || b.git("rev-parse", "refs/relo/attempt/a1") != done.Commit {
		t.Errorf("%+v", done)
	}
	var got []string
	for _, c := range done.Files {
		got = append(got, c.Status+" "+c.Path)
	}
	if d := cmp.Diff([]string{"modified a", "deleted b", "added c"}, got); d != "" {
		t.Error(d)
	}
	if got := b.git("log", "-1", "--format=%an <%ae> %at|%(trailers:key=Relo-Attempt,valueonly,separator=,)|%(trailers:key=Relo-Job,valueonly,separator=,)", done.Commit); got != "Ada <ada@example.com> 1700000000|a1|j1" {
		t.Error(got)
	}
	again, err := b.repo.Commit(t.Context(), dir, spec)
	if err != nil || again.Commit != done.Commit {
		t.Errorf("a second call gives %s, not %s (%v)", again.Commit, done.Commit, err)
	}
	if got := b.gitIn(dir, "status", "--porcelain"); !strings.Contains(got, "D b") {
		t.Errorf("the worktree was touched: %s", got)
	}
}

func TestAnEmptyDiffMakesNoCommit(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	done := b.attempt("HEAD", "a1", func(dir string) { writeAt(t, dir, ".relo/notes", "n") })
	if done.Commit != done.Parent || len(done.Files) != 0 {
		t.Errorf("%+v", done)
	}
}

func TestWithoutAnIdentityReloSigns(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	b.git("config", "--unset", "user.name")
	b.git("config", "--unset", "user.email")
	done := b.attempt("HEAD", "a1", func(dir string) { writeAt(t, dir, "n", "n") })
	if got := b.git("log", "-1", "--format=%an <%ae> %cn", done.Commit); got != "Relo <relo@localhost> Relo" {
		t.Error(got)
	}
}

func TestWorktreesComeAndGo(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	ctx := t.Context()
	for _, bad := range []string{b.dir, filepath.Join(b.dir, "w"), filepath.Dir(b.dir), filepath.Join(b.dir, ".git", "w")} {
		if err := b.repo.AddWorktree(ctx, bad, "HEAD"); !Is(err, KindBadName) {
			t.Errorf("add at %s: %v", bad, err)
		}
		if err := b.repo.RemoveWorktree(ctx, bad); !Is(err, KindBadName) {
			t.Errorf("remove %s: %v", bad, err)
		}
	}
	parent := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { errs[i] = b.repo.AddWorktree(ctx, filepath.Join(parent, fmt.Sprint(i), "same"), "HEAD") })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil || readAt(t, filepath.Join(parent, fmt.Sprint(i), "same"), "a") != "a" {
			t.Errorf("%d: %v", i, err)
		}
	}
	dir := filepath.Join(parent, "0", "same")
	if err := b.repo.AddWorktree(ctx, dir, "HEAD"); !Is(err, KindExists) {
		t.Errorf("add twice: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: /nowhere\n"), 0o600)) // an agent broke it
	must(t, os.MkdirAll(filepath.Join(dir, "ro", "sub"), 0o755))
	must(t, os.Chmod(filepath.Join(dir, "ro"), 0o555))
	for range 2 {
		if err := b.repo.RemoveWorktree(ctx, dir); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Error("the folder is still there")
	}
	if got := strings.Count(b.git("worktree", "list"), "\n"); got != 7 {
		t.Errorf("%d other worktrees, want 7", got)
	}
	stranger := t.TempDir()
	if err := b.repo.RemoveWorktree(ctx, stranger); !Is(err, KindNotFound) {
		t.Errorf("a stranger's folder: %v", err)
	}
}

func TestSourcesHash(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a.go": "a", "p.PNG": "1", ".gitignore": "out\n"})
	dir := b.worktree("HEAD")
	hash := func() (string, map[string]string) {
		t.Helper()
		sum, pictures, err := b.repo.SourcesHash(t.Context(), dir)
		must(t, err)
		return sum, pictures
	}
	first, pictures := hash()
	id := pictures["p.PNG"]
	same := func(why string, want bool) {
		t.Helper()
		sum, _ := hash()
		if (sum == first) != want {
			t.Errorf("%s: same hash %v, want %v", why, sum == first, want)
		}
		first = sum
	}
	same("nothing changed", true)
	writeAt(t, dir, "p.PNG", "2")
	writeAt(t, dir, "new.webp", "x")
	writeAt(t, dir, "out", "ignored")
	writeAt(t, dir, ".relo/x", "own")
	same("pictures, ignored files and Relo's own folder", true)
	if _, p := hash(); p["p.PNG"] == id || p["new.webp"] == "" || len(p) != 2 {
		t.Errorf("pictures %v", p)
	}
	writeAt(t, dir, "a.go", "b")
	same("a source changed", false)
	before := first
	writeAt(t, dir, "tmp/b.go", "b")
	same("a source is new", false)
	writeAt(t, dir, "tmp/.gitignore", "*\n")
	same("it became ignored", false)
	if first != before {
		t.Error("a file that became ignored still counts")
	}
	if got := b.gitIn(dir, "diff", "--cached", "--name-only"); got != "" {
		t.Errorf("the worktree's index changed: %s", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
