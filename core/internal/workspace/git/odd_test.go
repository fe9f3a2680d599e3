package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// oddNames are names that a file may have and a program may stumble over.
var oddNames = []string{
	"new\nline", "\xff\xfe not utf-8", "-rf", "--help", "-", "dir\xff/-x", "tab\there", `back\slash`, `"quoted"`, "ünï", ":(top)x", "*.go", "a b", "%41",
	"#", "!x", " lead", "trail ", "$(touch evil)", "~",
}

func TestOddNamesBitsAndLinksComeThroughAWholeJob(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, n := range oddNames {
		files[n] = "1\n"
	}
	b := newBox(t, files)
	for _, n := range oddNames {
		b.write(n, "1\n2\n")
	}
	must(t, os.Symlink("-rf", filepath.Join(b.dir, "link\xff")))
	base := b.snapshot("refs/relo/base/j1")
	if base.Dirty != len(oddNames)+1 {
		t.Errorf("%d paths, want %d", base.Dirty, len(oddNames)+1)
	}
	done := b.attempt(base.Commit, "a1", func(dir string) {
		for _, n := range oddNames {
			if got := readAt(t, dir, n); got != "1\n2\n" {
				t.Errorf("%q holds %q", n, got)
			}
			writeAt(t, dir, n, "0\n1\n2\n")
			writeAt(t, dir, "more/"+n, "new")
			must(t, os.Chmod(filepath.Join(dir, n), 0o755))
		}
		must(t, os.Symlink("new\nline", filepath.Join(dir, "-link")))
	})
	m := b.merge(base.Commit, done, "a1")
	for _, call := range []func() error{
		func() error { _, err := b.repo.Map(t.Context(), m.Commit, MapLimits{}); return err },
		func() error { _, _, err := b.repo.Diff(t.Context(), base.Commit, m.Commit, 1<<20); return err },
		func() error { _, err := b.repo.Blob(t.Context(), m.Commit, "dir\xff/-x"); return err },
	} {
		must(t, call())
	}
	before := b.files()
	b.apply(base.Commit, m.Commit)
	for _, n := range oddNames {
		info, err := os.Stat(filepath.Join(b.dir, n))
		if b.read(n) != "0\n1\n2\n" || b.read("more/"+n) != "new" || err != nil || info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%q holds %q (%v)", n, b.read(n), err)
		}
	}
	if b.read("-link") != "-> new\nline" || b.read("link\xff") != "-> -rf" {
		t.Error("a link is lost")
	}
	_, err := b.repo.Undo(t.Context(), "j1")
	must(t, err)
	if d := cmp.Diff(before, b.files()); d != "" {
		t.Error(d)
	}
	if !slices.ContainsFunc(oddNames, func(n string) bool { return !utf8.ValidString(n) }) {
		t.Error("no name that is not UTF-8")
	}
}

// sparse makes a big file that takes no room.
func sparse(t *testing.T, name string, size int64) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	must(t, f.Truncate(size))
	must(t, f.Close())
}

func TestHugeFilesAreLeftOutAndNoted(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"tracked.bin": "small", "a": "a"})
	sparse(t, filepath.Join(b.dir, "huge.bin"), maxFile+1)
	sparse(t, filepath.Join(b.dir, "tracked.bin"), maxFile+1)
	sparse(t, filepath.Join(b.dir, "just fits.bin"), 30<<20)
	s := b.snapshot("refs/relo/base/j1")
	if s.Dirty != 1 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `more than 100 MiB are not carried as they are now: "tracked.bin", "huge.bin"`) && !strings.Contains(s.Notes[0], `"huge.bin", "tracked.bin"`) {
		t.Errorf("%+v", s)
	}
	if b.at(s.Commit, "tracked.bin") != "small" || b.at(s.Commit, "huge.bin") != "<none>" {
		t.Error("a huge file is carried")
	}
	done := b.attempt(s.Commit, "a1", func(dir string) {
		sparse(t, filepath.Join(dir, "made.bin"), maxFile+1)
		writeAt(t, dir, "tracked.bin", "the agent's")
		writeAt(t, dir, "huge.bin", "the agent's")
		writeAt(t, dir, "a", "b")
	})
	if len(done.Files) != 3 || len(done.Notes) != 1 || !strings.Contains(done.Notes[0], `"made.bin"`) {
		t.Errorf("%+v", done)
	}
	before, _ := os.Stat(filepath.Join(b.dir, "huge.bin"))
	got, err := b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: s.Commit, Head: done.Commit})
	if !Is(err, KindEdited) && len(got.Conflicts) == 0 {
		t.Errorf("huge files of the person would be written over: %v %+v", err, got)
	}
	if after, err := os.Stat(filepath.Join(b.dir, "huge.bin")); err != nil || after.Size() != before.Size() || b.read("a") != "a" {
		t.Errorf("something changed: %v", err)
	}
	changes, err := b.repo.Changes(t.Context(), s.Head, s.Commit)
	if err != nil || len(changes) != 1 || !changes[0].Binary {
		t.Errorf("%v %+v", err, changes)
	}
	patch, cut, err := b.repo.Diff(t.Context(), s.Head, s.Commit, 10_000)
	if err != nil || cut || !strings.Contains(patch, "Binary files") {
		t.Errorf("%v %v %.300q", err, cut, patch)
	}
}

func TestNamesThatDifferInCaseOnlyAreNoted(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"README": "1", "ReadMe": "2", "src/x": "x", "other": "o"})
	if s := b.snapshot(""); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"README", "ReadMe"`) {
		t.Errorf("%q", s.Notes)
	}
}

func TestLineEndsKeepTheirBytesWithAutocrlf(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	b.git("config", "core.autocrlf", "true")
	b.write("c.txt", "1\r\n2\r\n3\r\n")
	b.write("untouched.txt", "x\r\ny\r\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "crlf")
	s := b.snapshot("")
	if s.Dirty != 0 {
		t.Errorf("%+v", s)
	}
	done := b.attempt(s.Commit, "a1", func(dir string) {
		if got := readAt(t, dir, "c.txt"); got != "1\r\n2\r\n3\r\n" {
			t.Errorf("the worktree has %q", got)
		}
		writeAt(t, dir, "c.txt", "1\r\ntwo\r\n3\r\n")
	})
	if len(done.Files) != 1 || done.Files[0].Added != 1 || done.Files[0].Deleted != 1 {
		t.Errorf("%+v", done.Files)
	}
	b.apply(s.Commit, done.Commit)
	if b.read("c.txt") != "1\r\ntwo\r\n3\r\n" || b.read("untouched.txt") != "x\r\ny\r\n" || b.git("status", "--porcelain") != "M c.txt" {
		t.Errorf("%q %s", b.read("c.txt"), b.git("status", "--porcelain"))
	}
}

func TestManyFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 1500 {
		files[fmt.Sprintf("d%d/e%d/f%d.go", i%30, i%7, i)] = "x\n"
	}
	b := shadowBox(t, files)
	s := b.snapshot("refs/relo/base/j1")
	done := b.attempt(s.Commit, "a1", func(dir string) {
		for i := range 500 {
			writeAt(t, dir, fmt.Sprintf("d%d/e%d/f%d.go", i%30, i%7, i), "y\n")
		}
	})
	text, err := b.repo.Map(t.Context(), s.Commit, MapLimits{})
	if err != nil || len(done.Files) != 500 || !strings.Contains(text, "Files: 1500") || len(text) > 8000 {
		t.Errorf("%v %d files, map of %d bytes", err, len(done.Files), len(text))
	}
	if _, cut, err := b.repo.Diff(t.Context(), s.Commit, done.Commit, 5000); err != nil || !cut {
		t.Errorf("%v %v", err, cut)
	}
	for dir := range 5 { // most of the result is taken back, so that the apply stays short
		must(t, os.RemoveAll(filepath.Join(b.dir, fmt.Sprint("d", dir))))
	}
	if again := b.snapshot(""); again.Commit == s.Commit {
		t.Error("deleted folders are not seen")
	}
}
