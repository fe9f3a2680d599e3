package git

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func pointerOf(text string) pointer {
	sum := sha256.Sum256([]byte(text))
	return pointer{oid: hex.EncodeToString(sum[:]), size: int64(len(text))}
}

// withLFS has pointers committed; of those in stored, the local store has the
// contents. The person's own files are pointers, as without git-lfs.
func withLFS(t *testing.T, files, stored map[string]string) *box {
	t.Helper()
	all := map[string]string{".gitattributes": "*.png filter=lfs diff=lfs merge=lfs -text\n", "a.go": "a"}
	for name, text := range files {
		all[name] = pointerOf(text).text()
	}
	b := newBox(t, all)
	for _, text := range stored {
		b.store(text)
	}
	return b
}

func (b *box) store(text string) {
	b.t.Helper()
	p := pointerOf(text)
	writeAt(b.t, b.dir, filepath.Join(".git/lfs/objects", p.oid[:2], p.oid[2:4], p.oid), text)
}

func (b *box) stored(text string) bool { return b.repo.hasObject(pointerOf(text)) }

func TestFilesOfLFSAreRealInWorktreesAndPointersInCommits(t *testing.T) {
	t.Parallel()
	b := withLFS(t, map[string]string{"p.png": "PICTURE", "dir/q.png": "QUEER NAME", "gone.png": "GONE", "far.png": "FAR AWAY"},
		map[string]string{"p.png": "PICTURE", "dir/q.png": "QUEER NAME", "gone.png": "GONE"})
	s := b.snapshot("refs/relo/base/j1")
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"far.png"; run `+"`git lfs fetch`") || s.Dirty != 0 {
		t.Errorf("%+v", s)
	}
	dir := b.worktree(s.Commit)
	if readAt(t, dir, "p.png") != "PICTURE" || readAt(t, dir, "dir/q.png") != "QUEER NAME" || readAt(t, dir, "far.png") != pointerOf("FAR AWAY").text() {
		t.Error("the worktree is not filled as far as it can be")
	}
	if got := b.gitIn(dir, "status", "--porcelain"); got != "" {
		t.Errorf("an agent's status: %s", got)
	}
	hash := func() (string, string) {
		sum, pictures, err := b.repo.SourcesHash(t.Context(), dir)
		must(t, err)
		return sum, pictures["p.png"]
	}
	sum, id := hash()
	if again, same := hash(); again != sum || same != id || id != b.git("rev-parse", s.Commit+":p.png") {
		t.Error("filling confuses the hash")
	}
	if done := b.commitIn(dir, "a1"); len(done.Files) != 0 {
		t.Errorf("unchanged files came back changed: %+v", done)
	}
	writeAt(t, dir, "p.png", "PIXTURE") // of the same size
	writeAt(t, dir, "new.png", "NEW PICTURE")
	writeAt(t, dir, "empty.png", "")
	must(t, os.Remove(filepath.Join(dir, "gone.png")))
	must(t, os.Chmod(filepath.Join(dir, "dir/q.png"), 0o755))
	if _, other := hash(); other == id {
		t.Error("a changed picture has the same id")
	}
	if b.stored("NEW PICTURE") {
		t.Error("a hash alone must not fill the person's store")
	}
	done := b.commitIn(dir, "a1")
	for name, want := range map[string]string{
		"p.png": pointerOf("PIXTURE").text(), "new.png": pointerOf("NEW PICTURE").text(), "dir/q.png": pointerOf("QUEER NAME").text(),
		"gone.png": "<none>", "far.png": pointerOf("FAR AWAY").text(), "empty.png": "",
	} {
		if got := b.at(done.Commit, name); got != want {
			t.Errorf("%s is committed as %q", name, got)
		}
	}
	if len(done.Files) != 5 || !b.stored("PIXTURE") || !b.stored("NEW PICTURE") {
		t.Errorf("%+v, or objects are not in the store", done)
	}
	if again := b.commitIn(dir, "a1"); again.Tree != done.Tree {
		t.Error("a second commit differs")
	}
	b.apply(s.Commit, done.Commit)
	if b.read("p.png") != "PIXTURE" || b.read("new.png") != "NEW PICTURE" || b.read("gone.png") != "<none>" || b.read("far.png") != pointerOf("FAR AWAY").text() {
		t.Errorf("applied: %q %q", b.read("p.png"), b.read("new.png"))
	}
	if again := b.apply(s.Commit, done.Commit); len(again.Conflicts) != 0 || len(again.Files) != 5 {
		t.Errorf("applied again: %+v", again)
	}
	_, err := b.repo.Undo(t.Context(), "j1")
	must(t, err)
	if b.read("p.png") != "PICTURE" || b.read("new.png") != "<none>" || b.read("gone.png") != "GONE" {
		t.Errorf("undone: %q %q", b.read("p.png"), b.read("gone.png"))
	}
}

func TestAnAgentThatAddsRawBytesStillCommitsPointers(t *testing.T) {
	t.Parallel()
	b := withLFS(t, map[string]string{"p.png": "PICTURE"}, map[string]string{"p.png": "PICTURE"})
	dir := b.worktree("HEAD")
	writeAt(t, dir, "raw.png", "RAW BYTES")
	writeAt(t, dir, "p.png", "CHANGED")
	b.gitIn(dir, "update-index", "--no-assume-unchanged", "p.png")
	b.gitIn(dir, "add", "-A")
	b.gitIn(dir, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "an agent's")
	done := b.commitIn(dir, "a1")
	if b.at(done.Commit, "raw.png") != pointerOf("RAW BYTES").text() || b.at(done.Commit, "p.png") != pointerOf("CHANGED").text() || !b.stored("RAW BYTES") {
		t.Errorf("%q %q", b.at(done.Commit, "raw.png"), b.at(done.Commit, "p.png"))
	}
	must(t, os.RemoveAll(filepath.Join(dir, "p.png")))
	writeAt(t, dir, "p.png/now a folder", "x") // under git's mark that the file is unchanged
	done = b.commitIn(dir, "a1")
	if b.at(done.Commit, "p.png/now a folder") != "x" {
		t.Errorf("%+v", done.Files)
	}
}

func TestThePersonsOwnChangeOfAFileOfLFSIsCarriedAsAPointer(t *testing.T) {
	t.Parallel()
	b := withLFS(t, map[string]string{"p.png": "PICTURE"}, nil)
	b.write("p.png", "MY DRAWING")
	then := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(b.dir, "p.png"), then, then))
	for range 2 { // the second time from what is known
		s := b.snapshot("")
		if b.at(s.Commit, "p.png") != pointerOf("MY DRAWING").text() || !b.stored("MY DRAWING") || s.Dirty != 1 || len(s.Notes) != 0 {
			t.Errorf("%+v", s)
		}
		if dir := b.worktree(s.Commit); readAt(t, dir, "p.png") != "MY DRAWING" {
			t.Error("the worktree has it not")
		}
	}
	b.write("p.png", "YOU DREW IT")
	s := b.snapshot("")
	done := b.attempt(s.Commit, "a1", func(dir string) { writeAt(t, dir, "p.png", "AN AGENT'S") })
	b.write("p.png", "EDITED ONCE MORE")
	got, err := b.repo.Apply(t.Context(), ApplySpec{Job: "j1", Base: s.Commit, Head: done.Commit})
	if err != nil || len(got.Conflicts) != 1 || b.read("p.png") != "EDITED ONCE MORE" {
		t.Errorf("%v %+v", err, got)
	}
}

// With the real git-lfs: what it made is read, and what we make is pushed by it.
func TestTheRealLFSUnderstandsUs(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("not run: git-lfs is not installed; apt install git-lfs")
	}
	t.Parallel()
	b := newBox(t, map[string]string{"a": "a"})
	b.git("lfs", "install", "--local")
	b.write(".gitattributes", "*.png filter=lfs diff=lfs merge=lfs -text\n")
	b.write("p.png", "PICTURE")
	b.git("add", "-A")
	b.git("commit", "-qm", "with LFS")
	b.git("config", "filter.lfs.required", "true")
	s := b.snapshot("refs/relo/base/j1")
	if s.Dirty != 0 || len(s.Notes) != 0 {
		t.Errorf("%+v", s)
	}
	done := b.attempt(s.Commit, "a1", func(dir string) {
		if readAt(t, dir, "p.png") != "PICTURE" {
			t.Error("the worktree is not filled")
		}
		writeAt(t, dir, "p.png", "PAINTED OVER")
		writeAt(t, dir, "q.png", "ANOTHER")
	})
	b.apply(s.Commit, b.merge(s.Commit, done, "a1").Commit)
	if b.read("p.png") != "PAINTED OVER" || b.read("q.png") != "ANOTHER" {
		t.Errorf("applied: %q", b.read("p.png"))
	}
	b.git("add", "-A")
	if got := b.git("write-tree"); got != b.git("rev-parse", "relo/j1^{tree}") {
		t.Errorf("git-lfs adds another tree: %s", b.git("diff", "--cached", "relo/j1"))
	}
	b.git("lfs", "fsck", "--objects", "relo/j1")
	remote := filepath.Join(t.TempDir(), "remote.git")
	b.gitIn("", "init", "-q", "--bare", remote)
	b.git("remote", "add", "origin", "file://"+remote)
	b.git("lfs", "push", "origin", "relo/j1")
	if found, err := filepath.Glob(filepath.Join(remote, "lfs/objects/*/*/"+pointerOf("ANOTHER").oid)); err != nil || len(found) != 1 {
		t.Errorf("not pushed: %v %v", found, err)
	}
}
