package git

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forked has a branch side that conflicts with main in a, and one, calm, that does not.
func forked(t *testing.T) *box {
	t.Helper()
	b := newBox(t, map[string]string{"a": "1\n", "b": nine})
	b.git("checkout", "-q", "-b", "side")
	b.write("a", "2\n")
	b.git("commit", "-qam", "side")
	b.git("checkout", "-q", "-b", "calm", "main")
	b.write("c", "c")
	b.git("add", "c")
	b.git("commit", "-qm", "calm")
	b.git("checkout", "-q", "main")
	b.write("a", "3\n")
	b.git("commit", "-qam", "main")
	return b
}

// tries runs a git command that may fail.
func (b *box) tries(args ...string) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir = b.dir
	cmd.Env = append(cmd.Environ(), "GIT_EDITOR=true")
	if out, err := cmd.CombinedOutput(); err != nil && len(out) == 0 {
		b.t.Fatal(err)
	}
}

func TestWhatThePersonHasUnderWayIsNamed(t *testing.T) {
	t.Parallel()
	b := forked(t)
	b.write("a", "4\n")
	b.git("commit", "-qam", "more")
	base := b.snapshot("refs/relo/base/j1").Commit
	done := b.attempt(base, "a1", func(dir string) { writeAt(t, dir, "b", "0\n"+nine) })
	for _, row := range []struct {
		start       []string
		name, ended string
	}{
		{[]string{"merge", "side"}, "a merge", "git merge --abort"},
		{[]string{"rebase", "side"}, "a rebase", "git rebase --abort"},
		{[]string{"rebase", "--apply", "side"}, "a rebase", "git rebase --abort"},
		{[]string{"cherry-pick", "side"}, "a cherry-pick", "git cherry-pick --abort"},
		{[]string{"revert", "HEAD~1"}, "a revert", "git revert --abort"},
	} {
		b.tries(row.start...)
		_, err := b.repo.Snapshot(t.Context(), "")
		says(t, err, KindInProgress, row.name+" is under way", `not resolved in "a"`, row.ended, "git add")
		before := b.files()
		_, err = b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: base, Head: done.Commit})
		says(t, err, KindInProgress, row.name+" is under way", "nothing was changed", row.ended, "then try again")
		_, err = b.repo.Undo(t.Context(), "j1")
		says(t, err, KindInProgress, row.name)
		if d := cmp.Diff(before, b.files()); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
		b.write("a", "resolved\n")
		b.git("add", "a")
		s := b.snapshot("refs/relo/base/j2")
		if len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0], row.name+" is under way") || b.at(s.Commit, "a") != "resolved\n" {
			t.Errorf("%s: resolved and not ended: %+v", row.name, s)
		}
		b.git(row.start[0], "--abort")
	}
	b.apply(base, done.Commit)
}

func TestConflictsOfAStashAreNamedWithoutAMerge(t *testing.T) {
	t.Parallel()
	b := forked(t)
	b.write("a", "mine\n")
	b.git("stash", "-q")
	b.write("a", "other\n")
	b.git("commit", "-qam", "other")
	b.tries("stash", "pop")
	_, err := b.repo.Snapshot(t.Context(), "")
	says(t, err, KindInProgress, `conflicts are not resolved in "a"`, "resolve them and `git add` the files, then start again")
	if strings.Contains(err.Error(), "under way") {
		t.Error(err)
	}
}

func TestABisectADetachedHeadAndASwitchedBranch(t *testing.T) {
	t.Parallel()
	b := forked(t)
	b.git("checkout", "-q", "--detach", "HEAD~1")
	b.write("b", strings.Replace(nine, "9", "NINE", 1))
	b.write("new", "staged")
	b.git("add", "new")
	b.write("loose", "untracked")
	s := b.snapshot("refs/relo/base/j1")
	if s.Dirty != 3 || len(s.Notes) != 0 || b.at(s.Commit, "new") != "staged" || b.at(s.Commit, "loose") != "untracked" {
		t.Errorf("detached and dirty: %+v", s)
	}
	done := b.attempt(s.Commit, "a1", func(dir string) { writeAt(t, dir, "b", strings.Replace(b.at(s.Commit, "b"), "1", "one", 1)) })
	b.git("add", "-A")
	b.git("commit", "-qm", "kept")
	b.git("checkout", "-q", "main") // the head moved, and another branch is checked out
	b.apply(s.Commit, done.Commit)
	if got := b.read("b"); got != strings.Replace(nine, "1", "one", 1) || b.read("a") != "3\n" {
		t.Errorf("on another branch: %q", got)
	}
	_, err := b.repo.Undo(t.Context(), "j1")
	must(t, err)
	b.git("bisect", "start")
	b.git("bisect", "bad")
	if s := b.snapshot(""); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "a bisect is under way") {
		t.Errorf("%+v", s)
	}
	_, err = b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: s.Commit, Head: done.Commit})
	says(t, err, KindInProgress, "git bisect reset")
	b.git("bisect", "reset")
	b.apply(s.Commit, done.Commit)
}
