package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (b *box) merge(base string, done Committed, id string) Merged {
	b.t.Helper()
	m, err := b.repo.Merge(b.t.Context(), MergeSpec{
		Branch: "refs/heads/relo/j1", Start: base, Base: base, Commit: done.Commit, Message: "merge " + id, Job: "j1", Task: "t1", Attempt: id,
	})
	must(b.t, err)
	return m
}

func TestMergeCleanThenAgainThenConflict(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b": "b"})
	base := b.git("rev-parse", "HEAD")
	before := b.untouched()
	one := b.attempt(base, "a1", func(dir string) { writeAt(t, dir, "a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n") })
	two := b.attempt(base, "a2", func(dir string) {
		writeAt(t, dir, "a", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
		writeAt(t, dir, "new", "n")
	})
	three := b.attempt(base, "a3", func(dir string) {
		writeAt(t, dir, "a", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n")
		must(t, os.Remove(filepath.Join(dir, "b")))
		writeAt(t, dir, "new", "other")
	})
	m1, m2 := b.merge(base, one, "a1"), b.merge(base, two, "a2")
	if b.at(m2.Commit, "a") != "one\n2\n3\n4\n5\n6\n7\n8\nnine\n" || b.at(m2.Commit, "new") != "n" {
		t.Errorf("merged: %q", b.at(m2.Commit, "a"))
	}
	if got := b.git("log", "--format=%P|%(trailers:key=Relo-Attempt,valueonly,separator=,)", base+"..relo/j1"); got != m1.Commit+"|a2\n"+base+"|a1" {
		t.Errorf("history: %s", got)
	}
	if again := b.merge(base, one, "a1"); !again.Already || again.Commit != m2.Commit {
		t.Errorf("again: %+v", again)
	}
	bad := b.merge(base, three, "a3")
	if d := cmp.Diff([]Conflict{{"a", "content"}, {"new", "add/add"}}, bad.Conflicts); d != "" {
		t.Error(d)
	}
	if b.git("rev-parse", "relo/j1") != m2.Commit {
		t.Error("a conflict moved the branch")
	}
	if after := b.untouched(); after != before {
		t.Error(cmp.Diff(before, after))
	}
}

func TestMergeOfDeletionAndChangeConflicts(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "1\n", "p": "x\x00y"})
	base := b.git("rev-parse", "HEAD")
	one := b.attempt(base, "a1", func(dir string) { writeAt(t, dir, "a", "2\n"); writeAt(t, dir, "p", "1\x00") })
	two := b.attempt(base, "a2", func(dir string) { must(t, os.Remove(filepath.Join(dir, "a"))); writeAt(t, dir, "p", "2\x00") })
	b.merge(base, one, "a1")
	got := b.merge(base, two, "a2").Conflicts
	if len(got) != 2 || got[0].Kind != "modify/delete" || got[1].Path != "p" {
		t.Errorf("%+v", got)
	}
}

func TestEightMergesAtOnceAllArrive(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	base := b.git("rev-parse", "HEAD")
	const n = 8
	var made [n]Committed
	for i := range n {
		made[i] = b.attempt(base, fmt.Sprint("a", i), func(dir string) { writeAt(t, dir, fmt.Sprint("f", i), "x") })
	}
	var wg sync.WaitGroup
	for i := range n + 2 { // two of them twice
		wg.Go(func() {
			repo, err := b.repo, error(nil)
			if i%2 == 0 { // half as if in another process, where no mutex helps
				repo, err = Open(t.Context(), b.dir)
			}
			if err == nil {
				_, err = repo.Merge(t.Context(), MergeSpec{
					Branch: "refs/heads/relo/j1", Start: base, Base: base, Commit: made[i%n].Commit, Job: "j1", Task: "t", Attempt: fmt.Sprint("a", i%n),
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(b.git("log", "--format=%s", base+"..relo/j1"), "relo: task t"); got != n {
		t.Errorf("%d commits, want %d", got, n)
	}
	if got := strings.Count(b.git("ls-tree", "--name-only", "relo/j1"), "f"); got != n {
		t.Errorf("%d files, want %d", got, n)
	}
}

func TestDiffAndMapAreBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"README.md": "# Hello\n" + strings.Repeat("words ", 4000), "AGENTS.md": "be kind", "main.go": "package main\n"}
	for i := range 400 {
		files[fmt.Sprintf("deep/%d/x/y/f%d.ts", i%20, i)] = "x\n"
	}
	b := newBox(t, files)
	b.write("big", strings.Repeat("line\n", 10000))
	s := b.snapshot("")
	patch, cut, err := b.repo.Diff(t.Context(), s.Head, s.Commit, 1000)
	if err != nil || !cut || len(patch) > 1000 || !strings.HasSuffix(patch, "\n") || !strings.HasPrefix(patch, "diff --git a/big b/big") {
		t.Errorf("%v %v %q", err, cut, patch)
	}
	if whole, cut, err := b.repo.Diff(t.Context(), s.Head, s.Commit, 1<<20); err != nil || cut || strings.Count(whole, "+line") != 10000 {
		t.Errorf("whole: %v %v", err, cut)
	}
	text, err := b.repo.Map(t.Context(), "HEAD", MapLimits{Lines: 30, Readme: 200})
	must(t, err)
	for _, want := range []string{"Files: 403", "TypeScript 400, Markdown 2, Go 1", "deep/ (400 files", "# Hello", "AGENTS.md:\nbe kind", "- first", "main.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(text) > 2000 {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
	if word, err := b.repo.Project(t.Context(), "HEAD"); err != nil || word != "AGENTS.md:\nbe kind" {
		t.Errorf("%q %v", word, err)
	}
}

// Each worker is a process with a Repo of its own: worktrees come and go at once.
func TestWorktreesOfEightWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	b, out := newBox(t, map[string]string{"a.txt": "a"}), t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r, err := Open(t.Context(), b.dir)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range 6 {
				path := filepath.Join(out, fmt.Sprintf("tree-%d-%d", i, k), "tree")
				if err := r.AddWorktree(t.Context(), path, "HEAD"); err != nil {
					t.Error(err)
				}
				if got, err := os.ReadFile(filepath.Join(path, "a.txt")); err != nil || string(got) != "a" {
					t.Errorf("the worktree holds %q (%v)", got, err)
				}
				if err := r.RemoveWorktree(t.Context(), path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
