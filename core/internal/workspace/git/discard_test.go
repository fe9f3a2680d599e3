package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAWorktreeGoesOnFromKeptWork(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": nine, "gone": "g", ".gitignore": "*.log\n"})
	base := b.snapshot("refs/relo/base/j1").Commit
	kept := b.attempt(base, "a1", func(dir string) {
		writeAt(t, dir, "a", strings.Replace(nine, "1", "one", 1))
		writeAt(t, dir, "new", "half done")
		must(t, os.Remove(filepath.Join(dir, "gone")))
	})
	dir := filepath.Join(t.TempDir(), "work")
	must(t, b.repo.AddWorktreeAt(t.Context(), dir, base, kept.Commit))
	if readAt(t, dir, "new") != "half done" || readAt(t, dir, "gone") != "<none>" || b.gitIn(dir, "rev-parse", "HEAD") != base {
		t.Error("not the kept files over the base")
	}
	if again := b.commitIn(dir, "a2"); again.Parent != base || again.Tree != kept.Tree || len(again.Files) != 3 {
		t.Errorf("%+v", again)
	}
	writeAt(t, dir, "new", "done")
	if done := b.commitIn(dir, "a2"); done.Parent != base || b.at(done.Commit, "new") != "done" || len(done.Files) != 3 {
		t.Errorf("%+v", done)
	}
	if err := b.repo.AddWorktreeAt(t.Context(), filepath.Join(t.TempDir(), "x"), base, "nothing"); !Is(err, KindNotFound) {
		t.Error(err)
	}
}

func TestUnmergedIsWhatNoRefHas(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": nine, ".gitignore": "*.log\n"})
	base := b.snapshot("refs/relo/base/j1").Commit
	dir := b.worktree(base)
	want := func(why string, want bool) {
		t.Helper()
		if got, err := b.repo.Unmerged(t.Context(), dir); err != nil || got != want {
			t.Errorf("%s: %v %v", why, got, err)
		}
	}
	want("fresh", false)
	writeAt(t, dir, "x.log", "ignored")
	want("only ignored files", false)
	writeAt(t, dir, "a", strings.Replace(nine, "1", "one", 1))
	want("changed", true)
	b.gitIn(dir, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qam", "an agent's own commit")
	want("committed by the agent, on no branch", true)
	done := b.commitIn(dir, "a1")
	want("an attempt's ref has it", false)
	other := b.attempt(base, "a2", func(dir string) { writeAt(t, dir, "b", "b") })
	b.merge(base, other, "a2")
	b.merge(base, done, "a1")
	must(t, b.repo.DeleteRef(t.Context(), attemptRef("a1")))
	want("the branch has it among other work", false)
	writeAt(t, dir, "a", strings.Replace(nine, "1", "uno", 1))
	want("changed again", true)
	must(t, os.RemoveAll(dir))
	want("the folder is gone", false)
	if _, err := b.repo.Unmerged(t.Context(), b.dir); !Is(err, KindBadName) {
		t.Error(err)
	}
}

// finished makes a job that was merged and applied twice.
func finished(t *testing.T, b *box) (base, head string) {
	t.Helper()
	base = b.snapshot("refs/relo/base/j1").Commit
	one := b.attempt(base, "a1", func(dir string) { writeAt(t, dir, "one", "1") })
	m := b.merge(base, one, "a1")
	b.apply(base, m.Commit)
	two := b.attempt(m.Commit, "a2", func(dir string) { writeAt(t, dir, "two", "2") })
	m = b.merge(m.Commit, two, "a2")
	b.apply(base, m.Commit)
	return base, m.Commit
}

func TestDiscardLeavesNothingOfAJobAndAllOfAnother(t *testing.T) {
	t.Parallel()
	for why, b := range map[string]*box{
		"git": newBox(t, map[string]string{"a": "a"}), "no git": shadowBox(t, map[string]string{"a": "a"}),
	} {
		finished(t, b)
		must(t, b.repo.SetRef(t.Context(), "refs/relo/base/j2", "refs/relo/base/j1"))
		must(t, b.repo.SetRef(t.Context(), "refs/heads/relo/j11", "refs/relo/base/j1"))
		for range 2 {
			must(t, b.repo.Discard(t.Context(), "j1", []string{"a1", "a2"}))
		}
		refs, err := b.repo.text(t.Context(), call{at: b.repo.home, plain: true, args: []string{"for-each-ref", "--format=%(refname)", "refs/relo/", "refs/heads/relo/"}})
		if d := cmp.Diff("refs/heads/relo/j11\nrefs/relo/base/j2", refs); err != nil || d != "" {
			t.Errorf("%s: %v %s", why, err, d)
		}
		if b.read("one") != "1" || b.read("two") != "2" {
			t.Errorf("%s: what was applied went too", why)
		}
		_, err = b.repo.Undo(t.Context(), "j1")
		says(t, err, KindNotFound, "nothing of it is applied here")
	}
}

func TestDiscardNeverTakesWhatThePersonWorksOn(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	_, head := finished(t, b)
	discard := func() error { return b.repo.Discard(t.Context(), "j1", []string{"a1", "a2"}) }
	here := func(why string) {
		t.Helper()
		if b.git("rev-parse", "refs/heads/relo/j1") == "" || b.git("rev-parse", "refs/relo/base/j1") == "" {
			t.Errorf("%s: something was removed", why)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "my worktree")
	b.git("worktree", "add", "-q", elsewhere, "relo/j1")
	says(t, discard(), KindInUse, "its branch relo/j1 is checked out in "+elsewhere, "nothing was removed", "git switch")
	here("in another worktree")
	b.write("mine", "m")
	b.gitIn(elsewhere, "commit", "-q", "--allow-empty", "-m", "the person's own")
	b.gitIn(elsewhere, "checkout", "-q", "--detach")
	says(t, discard(), KindInUse, "which Relo did not make", "git branch <name> relo/j1")
	here("with a commit of the person's")
	b.git("branch", "keep", "relo/j1")
	must(t, discard())
	if b.git("rev-parse", "keep~1") != head {
		t.Error("the kept branch is wrong")
	}
}

func TestDiscardKeepsTheBackupOfAnInterruptedApply(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a", "z": "z"})
	base := b.snapshot("refs/relo/base/j1").Commit
	done := b.attempt(base, "a1", func(dir string) { writeAt(t, dir, "a", "b"); writeAt(t, dir, "z", "y") })
	b.repo.beforeWrite = func(path string) {
		if path == "z" {
			b.write("z", "edited")
		}
	}
	_, err := b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: base, Head: done.Commit})
	says(t, err, KindEdited, "refs/relo/backup/j1")
	says(t, b.repo.Discard(t.Context(), "j1", nil), KindInUse, "was interrupted", "apply it again or undo it")
	b.repo.beforeWrite = nil
	b.write("z", "z")
	_, err = b.repo.Undo(t.Context(), "j1")
	must(t, err)
	must(t, b.repo.Discard(t.Context(), "j1", nil))
	if b.read("a") != "a" || b.read("z") != "z" {
		t.Error("not undone")
	}
}

func TestUndoKeepsLaterEditsElsewhere(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": nine, "c": "c"}
	for why, b := range map[string]*box{"no commit": unbornBox(t, files), "no git": shadowBox(t, files)} {
		base := b.snapshot("refs/relo/base/j1").Commit
		done := b.attempt(base, "a1", func(dir string) {
			writeAt(t, dir, "a", strings.Replace(nine, "1", "one", 1))
			writeAt(t, dir, "new", "n")
			must(t, os.Remove(filepath.Join(dir, "c")))
		})
		b.apply(base, done.Commit)
		b.write("a", strings.Replace(b.read("a"), "9", "NINE", 1))
		b.write("later", "l")
		b.crashAt("c") // the last of the three
		files, err := b.repo.Undo(t.Context(), "j1")
		must(t, err)
		if b.read("a") != strings.Replace(nine, "9", "NINE", 1) || b.read("new") != "<none>" || b.read("c") != "c" || b.read("later") != "l" {
			t.Errorf("%s: %q %q %+v", why, b.read("a"), b.read("c"), files)
		}
	}
}

// crashAt lets an undo end in the middle.
func (b *box) crashAt(name string) {
	b.t.Helper()
	b.repo.beforeWrite = func(path string) {
		if path == name {
			panic("crash")
		}
	}
	defer func() {
		b.repo.beforeWrite = nil
		if recover() == nil {
			b.t.Error("no crash")
		}
	}()
	_, err := b.repo.Undo(b.t.Context(), "j1")
	must(b.t, err)
}
