package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withModule has a submodule at "libs/in ner", which has one itself.
func withModule(t *testing.T) *box {
	t.Helper()
	deep := newBox(t, map[string]string{"d": "deep"})
	inner := newBox(t, map[string]string{"i": "i", "dir/x": "x"})
	inner.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", deep.dir, "deep")
	inner.git("commit", "-qm", "deep")
	b := newBox(t, map[string]string{"a": "a"})
	b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "libs/in ner")
	b.git("commit", "-qm", "submodule")
	b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
	return b
}

func (b *box) commitIn(dir, id string) Committed {
	b.t.Helper()
	done, err := b.repo.Commit(b.t.Context(), dir, CommitSpec{Message: "m", Job: "j1", Task: "t1", Attempt: id})
	must(b.t, err)
	return done
}

func TestSubmodulesAreThereAndTheirChangesAreNotCarried(t *testing.T) {
	t.Parallel()
	b := withModule(t)
	s := b.snapshot("refs/relo/base/j1")
	if len(s.Notes) != 0 || s.Dirty != 0 {
		t.Errorf("%+v", s)
	}
	dir := b.worktree(s.Commit)
	mod := filepath.Join(dir, "libs/in ner")
	if readAt(t, mod, "i") != "i" || readAt(t, mod, "dir/x") != "x" || readAt(t, mod, "deep/d") != "deep" {
		t.Error("files of the submodules are missing")
	}
	if got := b.gitIn(dir, "status", "--porcelain"); got != "" {
		t.Errorf("an agent's status: %s", got)
	}
	if got := b.gitIn(mod, "log", "--format=%s"); got != "deep\nfirst" {
		t.Errorf("an agent's log inside: %s", got)
	}
	first, _, err := b.repo.SourcesHash(t.Context(), dir)
	must(t, err)
	if done := b.commitIn(dir, "a1"); len(done.Files) != 0 || len(done.Notes) != 0 {
		t.Errorf("nothing was changed: %+v", done)
	}
	writeAt(t, mod, "i", "changed")
	writeAt(t, mod, "new", "n")
	writeAt(t, dir, "a", "changed too")
	done := b.commitIn(dir, "a1")
	want := []string{`changes inside submodule "libs/in ner" are not carried: "i", "new"; it is a repository of its own, change it there`}
	if d := cmp.Diff(want, done.Notes); d != "" || len(done.Files) != 1 {
		t.Errorf("%s %+v", d, done.Files)
	}
	b.gitIn(mod, "add", "-A")
	b.gitIn(mod, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "an agent's")
	b.gitIn(dir, "add", "-A") // which moves the gitlink in the worktree's index
	done = b.commitIn(dir, "a1")
	if len(done.Files) != 1 || len(done.Notes) != 1 || !strings.Contains(done.Notes[0], `new commits of "i", "new"`) {
		t.Errorf("%+v", done)
	}
	if b.git("ls-tree", done.Commit, "libs/") != b.git("ls-tree", s.Head, "libs/") {
		t.Error("the gitlink changed")
	}
	must(t, os.RemoveAll(mod))
	must(t, os.Symlink(b.dir, mod)) // a link to the person's own folder
	done = b.commitIn(dir, "a1")
	if len(done.Files) != 1 || len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "taken away or replaced") {
		t.Errorf("%+v", done)
	}
	if again, _, err := b.repo.SourcesHash(t.Context(), dir); err != nil || again == first {
		t.Errorf("the hash did not see the change: %v", err)
	}
	b.apply(s.Commit, done.Commit)
	must(t, b.repo.RemoveWorktree(t.Context(), dir))
	if b.read("libs/in ner/i") != "i" || b.read("a") != "changed too" || b.git("submodule", "status")[0] == '+' {
		t.Error("the person's submodule changed")
	}
}

func TestSubmodulesThatAreElsewhereDirtyOrNotThereAreNoted(t *testing.T) {
	t.Parallel()
	b := withModule(t)
	mod := filepath.Join(b.dir, "libs/in ner")
	b.gitIn(mod, "checkout", "-q", "HEAD~1")
	writeAt(t, mod, "i", "dirty")
	s := b.snapshot("")
	if len(s.Notes) != 2 || !strings.Contains(s.Notes[0], "is at commit") || !strings.Contains(s.Notes[0], "that is what the repository records") ||
		!strings.Contains(s.Notes[1], `uncommitted changes in submodule "libs/in ner" are not carried: "i"`) {
		t.Errorf("%q", s.Notes)
	}
	if dir := b.worktree(s.Commit); readAt(t, dir, "libs/in ner/i") != "i" || readAt(t, dir, "libs/in ner/deep/d") != "deep" {
		t.Error("the worktree has not what is recorded")
	}
	b.git("submodule", "--quiet", "deinit", "-f", "libs/in ner")
	s = b.snapshot("")
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"libs/in ner"; run `+"`git submodule update --init`") {
		t.Errorf("%q", s.Notes)
	}
	dir := b.worktree(s.Commit)
	writeAt(t, dir, "libs/in ner/written", "w")
	if done := b.commitIn(dir, "a1"); len(done.Files) != 0 || len(done.Notes) != 1 || !strings.Contains(done.Notes[0], `new files "written"`) {
		t.Errorf("%+v", done)
	}
}

// A `.git` file in the place of a submodule may name any repository of the person.
func TestASubmoduleCannotPointElsewhere(t *testing.T) {
	t.Parallel()
	private := newBox(t, map[string]string{"key": "secret"})
	b := newBox(t, map[string]string{"a": "a"})
	b.git("update-index", "--add", "--cacheinfo", "160000,"+private.git("rev-parse", "HEAD")+",mod")
	b.git("commit", "-qm", "a gitlink to somebody else's commit")
	b.write("mod/.git", "gitdir: "+private.dir+"/.git\n")
	s := b.snapshot("")
	dir := b.worktree(s.Commit)
	if readAt(t, dir, "mod/key") != "<none>" || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "not checked out here") {
		t.Errorf("%+v", s)
	}
}

func TestARepositoryThatAnAgentAddsIsNotCarried(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	dir := b.worktree("HEAD")
	b.gitIn("", "init", "-q", filepath.Join(dir, "vendored"))
	b.gitIn(filepath.Join(dir, "vendored"), "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
	b.gitIn(dir, "add", "-A")
	done := b.commitIn(dir, "a1")
	if len(done.Files) != 0 || len(done.Notes) != 1 || !strings.Contains(done.Notes[0], `repositories inside the folder are not carried: "vendored"`) {
		t.Errorf("%+v", done)
	}
}
