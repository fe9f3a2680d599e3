package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const nine = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

func (b *box) apply(base, head string) Applied {
	b.t.Helper()
	done, err := b.repo.Apply(b.t.Context(), ApplySpec{Job: "j1", Base: base, Head: head})
	must(b.t, err)
	return done
}

// story is a job in a repository with uncommitted work: what it changed ends in head.
func story(t *testing.T) (b *box, base, head string) {
	t.Helper()
	b = newBox(t, map[string]string{
		"a": nine, "gone": "g", "run": "r", "dir/x": "x", "becomes": "file", "kept": "k", ".gitignore": "*.log\n", "old/y": "y\n",
	})
	b.write("kept", "the person's edit")
	b.write("mine", "untracked")
	base = b.snapshot("refs/relo/base/j1").Commit
	done := b.attempt(base, "a1", func(dir string) {
		writeAt(t, dir, "a", strings.Replace(nine, "1", "one", 1))
		writeAt(t, dir, "new/deep file", "n")
		must(t, os.Remove(filepath.Join(dir, "gone")))
		must(t, os.Chmod(filepath.Join(dir, "run"), 0o755))
		must(t, os.Symlink("kept", filepath.Join(dir, "link")))
		must(t, os.RemoveAll(filepath.Join(dir, "dir")))
		writeAt(t, dir, "dir", "now a file")
		must(t, os.Remove(filepath.Join(dir, "becomes")))
		writeAt(t, dir, "becomes/folder", "f")
		must(t, os.RemoveAll(filepath.Join(dir, "old")))
		must(t, os.Symlink("new", filepath.Join(dir, "old")))
	})
	return b, base, done.Commit
}

func (b *box) wantApplied() {
	b.t.Helper()
	for name, want := range map[string]string{
		"a": strings.Replace(nine, "1", "one", 1), "new/deep file": "n", "gone": "<none>", "link": "-> kept", "dir": "now a file",
		"becomes/folder": "f", "kept": "the person's edit", "mine": "untracked", "old": "-> new",
	} {
		if got := b.read(name); got != want {
			b.t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(b.dir, "run")); err != nil || info.Mode().Perm()&0o100 == 0 {
		b.t.Error("run is not executable")
	}
}

// files gives everything in the person's folder, git's own apart.
func (b *box) files() string {
	b.t.Helper()
	var all strings.Builder
	must(b.t, filepath.WalkDir(b.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		all.WriteString(name + " " + info.Mode().String())
		if !d.IsDir() {
			all.WriteString(" " + readAt(b.t, "", name))
		}
		all.WriteByte('\n')
		return err
	}))
	return all.String()
}

func TestApplyAndUndo(t *testing.T) {
	t.Parallel()
	b, base, head := story(t)
	index, before := b.git("ls-files", "-s"), b.files()
	done := b.apply(base, head)
	b.wantApplied()
	if len(done.Conflicts) != 0 || len(done.Files) < 9 || b.git("rev-parse", done.BackupRef+":kept") == "" {
		t.Errorf("%+v", done)
	}
	if b.git("ls-files", "-s") != index || b.git("symbolic-ref", "HEAD") != "refs/heads/main" {
		t.Error("the person's index or branch changed")
	}
	if again := b.apply(base, head); cmp.Diff(done, again) != "" {
		t.Errorf("applied again: %s", cmp.Diff(done, again))
	}
	_, err := b.repo.Undo(t.Context(), "j1")
	must(t, err)
	if d := cmp.Diff(before, b.files()); d != "" {
		t.Errorf("after undo: %s", d)
	}
	if _, err := b.repo.Undo(t.Context(), "j1"); !Is(err, KindNotFound) {
		t.Errorf("undo twice: %v", err)
	}
}

func TestApplyKeepsAnEditOfAnotherPartOfTheSameFile(t *testing.T) {
	t.Parallel()
	b, base, head := story(t)
	b.write("a", strings.Replace(nine, "9", "NINE", 1))
	b.apply(base, head)
	if got := b.read("a"); got != "one\n2\n3\n4\n5\n6\n7\n8\nNINE\n" {
		t.Errorf("%q", got)
	}
	_, err := b.repo.Undo(t.Context(), "j1")
	must(t, err)
	if got := b.read("a"); got != strings.Replace(nine, "9", "NINE", 1) {
		t.Errorf("undo lost the edit: %q", got)
	}
}

func TestAConflictChangesNothing(t *testing.T) {
	t.Parallel()
	for why, edit := range map[string]func(b *box){
		"same line":               func(b *box) { b.write("a", strings.Replace(nine, "1", "eins", 1)) },
		"a file where one is new": func(b *box) { b.write("new/deep file", "mine") },
		"an ignored file in the way": func(b *box) {
			b.write(".git/info/exclude", "/new\n")
			b.write("new/deep file", "precious and ignored")
		},
		"a folder of ignored files in the way": func(b *box) { b.write("link/x.log", "precious") },
	} {
		b, base, head := story(t)
		edit(b)
		before := b.files()
		done, err := b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: base, Head: head})
		if err != nil || len(done.Conflicts) == 0 || done.BackupRef != "" {
			t.Errorf("%s: %v %+v", why, err, done)
		}
		if d := cmp.Diff(before, b.files()); d != "" {
			t.Errorf("%s: %s", why, d)
		}
	}
}

// At every step: the person edits the file in the last moment. The edit stays, the
// error names file and backup, and after they set it aside the apply completes.
func TestAnEditInTheLastMomentStays(t *testing.T) {
	t.Parallel()
	b, base, head := story(t)
	for _, name := range []string{"a", "gone", "run", "new/deep file"} {
		b.repo.beforeWrite = func(path string) {
			if path == name {
				b.write(name, "edited at the worst moment")
			}
		}
		_, err := b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: base, Head: head})
		if !Is(err, KindEdited) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "refs/relo/backup/j1") {
			t.Errorf("%s: %v", name, err)
		}
		if got := b.read(name); got != "edited at the worst moment" {
			t.Errorf("%s: the edit was lost: %q", name, got)
		}
		must(t, os.Remove(filepath.Join(b.dir, name)))
		if old := b.at("refs/relo/backup/j1", name); old != "<none>" {
			b.write(name, old)
		}
	}
	b.repo.beforeWrite = nil
	b.apply(base, head)
	b.wantApplied()
}

func TestACrashInTheMiddleIsCompletedOrUndone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		stop int
		undo bool
	}{{0, true}, {3, false}, {7, true}, {8, false}} {
		b, base, head := story(t)
		b.write("a", strings.Replace(nine, "9", "NINE", 1))
		before, n := b.files(), 0
		b.repo.beforeWrite = func(string) {
			if n++; n > row.stop {
				panic("crash")
			}
		}
		crashed := func() (crashed bool) {
			defer func() { crashed = recover() != nil }()
			_, err := b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: base, Head: head})
			must(t, err)
			return false
		}()
		if !crashed {
			t.Fatalf("only %d steps", n)
		}
		b.reopen()
		if row.undo {
			_, err := b.repo.Undo(t.Context(), "j1")
			must(t, err)
			if d := cmp.Diff(before, b.files()); d != "" {
				t.Errorf("crash at %d, undone: %s", row.stop, d)
			}
			continue
		}
		b.apply(base, head)
		if got := b.read("a"); got != "one\n2\n3\n4\n5\n6\n7\n8\nNINE\n" {
			t.Errorf("crash at %d: %q", row.stop, got)
		}
		b.write("a", strings.Replace(nine, "1", "one", 1))
		b.wantApplied()
		if got := b.at("refs/relo/backup/j1", "gone"); got != "g" {
			t.Errorf("crash at %d: the backup holds %q", row.stop, got)
		}
	}
}

func TestUndoRefusesFilesEditedSince(t *testing.T) {
	t.Parallel()
	b, base, head := story(t)
	b.apply(base, head)
	b.write("a", "edited since")
	before := b.files()
	_, err := b.repo.Undo(t.Context(), "j1")
	says(t, err, KindEdited, `edited since the apply: "a"`, "nothing was changed", "git show refs/relo/backup/j1:<file>")
	if d := cmp.Diff(before, b.files()); d != "" {
		t.Error(d)
	}
}

func TestASecondApplyKeepsTheFirstBackupAndBothAreUndone(t *testing.T) {
	t.Parallel()
	b, base, head := story(t)
	b.apply(base, head)
	more := b.attempt(head, "a2", func(dir string) { writeAt(t, dir, "second", "2") })
	b.apply(base, more.Commit)
	if b.read("second") != "2" {
		t.Error("the second result is missing")
	}
	if got := b.at("refs/relo/backup-old/j1/1", "gone"); got != "g" {
		t.Errorf("the first backup holds %q", got)
	}
	for _, want := range []struct{ second, gone string }{{"<none>", "<none>"}, {"<none>", "g"}} {
		_, err := b.repo.Undo(t.Context(), "j1")
		must(t, err)
		if b.read("second") != want.second || b.read("gone") != want.gone {
			t.Errorf("undone: %q %q, want %+v", b.read("second"), b.read("gone"), want)
		}
	}
	_, err := b.repo.Undo(t.Context(), "j1")
	says(t, err, KindNotFound, "nothing of it is applied here")
}

func TestApplyWithTranslatedLineEnds(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{"a.txt": "1\n2\n", ".gitattributes": "*.txt text eol=crlf\n"})
	b.write("a.txt", "1\r\n2\r\n")
	base := b.snapshot("").Commit
	done := b.attempt(base, "a1", func(dir string) { writeAt(t, dir, "a.txt", "1\r\n2\r\n3\r\n") })
	b.apply(base, done.Commit)
	if got := b.read("a.txt"); got != "1\r\n2\r\n3\r\n" {
		t.Errorf("%q", got)
	}
}

func TestPathsThatGitWouldNotCheckOutAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".git/config", "a/.GIT/hooks/x", "../x", "/x", "a//b", ".", "git~1/x", "", "a/../b", ".git./x"} {
		if err := checkPath(name); !Is(err, KindBadName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
