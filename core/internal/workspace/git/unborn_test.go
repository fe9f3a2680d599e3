package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unbornBox is a repository before its first commit.
func unbornBox(t *testing.T, files map[string]string) *box {
	t.Helper()
	b := newBox(t, nil)
	b.git("update-ref", "-d", "HEAD")
	for name, text := range files {
		b.write(name, text)
	}
	b.reopen()
	return b
}

func TestAWholeJobBeforeTheFirstCommit(t *testing.T) {
	t.Parallel()
	for why, files := range map[string]map[string]string{"with files": {"a": nine, "CLAUDE.md": "be kind"}, "with none": nil} {
		b := unbornBox(t, files)
		if files != nil {
			b.git("add", "a")
		}
		before, index := b.files(), b.git("ls-files", "-s")
		base := b.snapshot("refs/relo/base/j1")
		if base.Head != "" || base.Dirty != len(files) || len(base.Notes) != 0 {
			t.Errorf("%s: %+v", why, base)
		}
		done := b.attempt(base.Commit, "a1", func(dir string) {
			writeAt(t, dir, "a", strings.Replace(nine, "1", "one", 1))
			writeAt(t, dir, "n", "n")
		})
		m := b.merge(base.Commit, done, "a1")
		b.apply(base.Commit, m.Commit)
		if got := b.read("a"); !strings.HasPrefix(got, "one") || b.read("n") != "n" {
			t.Errorf("%s: %q", why, got)
		}
		if b.git("symbolic-ref", "HEAD") != "refs/heads/main" || b.git("ls-files", "-s") != index || strings.Contains(b.git("for-each-ref"), "heads/main") {
			t.Errorf("%s: HEAD is born, or the index changed", why)
		}
		word, err := b.repo.Project(t.Context(), base.Commit)
		if err != nil || (files != nil && word != "CLAUDE.md:\nbe kind") {
			t.Errorf("%s: %q %v", why, word, err)
		}
		_, err = b.repo.Undo(t.Context(), "j1")
		must(t, err)
		if d := cmp.Diff(before, b.files()); d != "" {
			t.Errorf("%s: after undo: %s", why, d)
		}
		// The person makes the first commit while the job goes on.
		b.write("later", "l")
		b.git("add", "-A")
		b.git("commit", "-qm", "first at last")
		b.apply(base.Commit, m.Commit)
		if s := b.snapshot(""); s.Head == "" || b.read("n") != "n" || b.read("later") != "l" {
			t.Errorf("%s: after the first commit: %+v", why, s)
		}
	}
}
