package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shadowBox is a folder without git. Its box has the shadow repository; the
// box's git commands do not work on it.
func shadowBox(t *testing.T, files map[string]string) *box {
	t.Helper()
	top := t.TempDir()
	b := &box{t: t, dir: filepath.Join(top, "my folder")}
	must(t, os.Mkdir(b.dir, 0o755))
	for name, text := range files {
		b.write(name, text)
	}
	b.shadow(filepath.Join(top, "state", "shadow"))
	return b
}

func (b *box) shadow(gitDir string) {
	b.t.Helper()
	repo, err := OpenShadow(b.t.Context(), b.dir, gitDir)
	must(b.t, err)
	b.repo, b.dir = repo, repo.Root()
}

// says checks a refusal: its kind, and words that the person reads.
func says(t *testing.T, err error, kind Kind, words ...string) {
	t.Helper()
	if !Is(err, kind) {
		t.Errorf("got %v, want kind %s", err, kind)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in: %v", w, err)
		}
	}
}

func TestAWholeJobInAFolderWithoutGit(t *testing.T) {
	t.Parallel()
	b := shadowBox(t, map[string]string{
		"a": nine, "AGENTS.md": "be kind", "crlf.txt": "1\r\n2\n", ".gitignore": "*.log\n", "x.log": "ignored",
		"node_modules/x/index.js": "x", "package.json": "{}", "dist/out.js": "made", "other/dist/mine": "kept", ".gitattributes": "* text=auto\n",
	})
	must(t, os.Symlink("a", filepath.Join(b.dir, "link")))
	before := b.files()
	base := b.snapshot("refs/relo/base/j1")
	if base.Head != "" || base.Dirty != 0 || len(base.Notes) != 1 || !strings.Contains(base.Notes[0], `"dist", "node_modules"`) {
		t.Errorf("%+v", base)
	}
	for name, want := range map[string]string{
		"a": nine, "crlf.txt": "1\r\n2\n", "x.log": "<none>", "node_modules/x/index.js": "<none>", "dist/out.js": "<none>",
		"other/dist/mine": "kept", "link": "a",
	} {
		if got := b.at(base.Commit, name); got != want {
			t.Errorf("the snapshot has %q as %s", got, name)
		}
	}
	one := b.attempt(base.Commit, "a1", func(dir string) {
		writeAt(t, dir, "a", strings.Replace(nine, "1", "one", 1))
		writeAt(t, dir, "new/file", "n")
		writeAt(t, dir, "dist/out.js", "built by the agent")
		if got := readAt(t, dir, "crlf.txt"); got != "1\r\n2\n" {
			t.Errorf("the worktree has %q", got)
		}
		if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "status", "--porcelain").Output(); err != nil || !strings.Contains(string(out), " M a") {
			t.Errorf("an agent's own git: %v %s", err, out)
		}
	})
	two := b.attempt(base.Commit, "a2", func(dir string) { writeAt(t, dir, "a", strings.Replace(nine, "9", "nine", 1)) })
	if len(one.Files) != 2 || one.Parent != base.Commit {
		t.Errorf("%+v", one)
	}
	b.merge(base.Commit, one, "a1")
	m := b.merge(base.Commit, two, "a2")
	if d := cmp.Diff(before, b.files()); d != "" {
		t.Errorf("the folder changed before the apply: %s", d)
	}
	text, err := b.repo.Map(t.Context(), base.Commit, MapLimits{})
	if err != nil || strings.Contains(text, "Last commits") || strings.Contains(text, "relo:") || !strings.Contains(text, "be kind") {
		t.Errorf("%v %s", err, text)
	}
	patch, _, err := b.repo.Diff(t.Context(), base.Commit, m.Commit, 1<<20)
	if err != nil || !strings.Contains(patch, "+nine") {
		t.Errorf("%v %s", err, patch)
	}
	b.write("a", strings.Replace(nine, "5", "five", 1))
	b.apply(base.Commit, m.Commit)
	if got := b.read("a"); got != "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n" || b.read("new/file") != "n" || b.read("dist/out.js") != "made" {
		t.Errorf("applied: %q", got)
	}
	_, err = b.repo.Undo(t.Context(), "j1")
	must(t, err)
	b.write("a", nine)
	if d := cmp.Diff(before, b.files()); d != "" {
		t.Errorf("after undo: %s", d)
	}
}

func TestASecondJobAndALaterOpeningOfAFolderWithoutGit(t *testing.T) {
	t.Parallel()
	b := shadowBox(t, map[string]string{"a": "a", "secret.env": "s"})
	one := b.snapshot("refs/relo/base/j1")
	if b.at(one.Commit, "secret.env") != "s" {
		t.Error("a file is missing")
	}
	b.write(".gitignore", "*.env\n")
	b.write("b", "b")
	b.shadow(b.repo.Dir())
	two := b.snapshot("refs/relo/base/j2")
	if b.at(two.Commit, "secret.env") != "<none>" || b.at(two.Commit, "b") != "b" || b.at(two.Commit, "a") != "a" {
		t.Error("the second snapshot is not the folder as it is now")
	}
	changes, err := b.repo.Changes(t.Context(), one.Commit, two.Commit)
	if err != nil || len(changes) != 3 {
		t.Errorf("%v %+v", err, changes)
	}
	if word, err := b.repo.Project(t.Context(), two.Commit); word != "" || err != nil {
		t.Errorf("%q %v", word, err)
	}
	for _, job := range []struct{ id, file string }{{"j1", "of one"}, {"j2", "of two"}} {
		base := "refs/relo/base/" + job.id
		done := b.attempt(base, job.id, func(dir string) { writeAt(t, dir, job.file, job.id) })
		applied, err := b.repo.Apply(t.Context(), ApplySpec{Job: job.id, Base: base, Head: done.Commit})
		if err != nil || len(applied.Files) != 1 || b.read(job.file) != job.id {
			t.Errorf("%s: %v %+v", job.id, err, applied)
		}
	}
	_, err = b.repo.Undo(t.Context(), "j1")
	must(t, err)
	if b.read("of one") != "<none>" || b.read("of two") != "j2" || b.read("secret.env") != "s" {
		t.Error("undoing one job touched another")
	}
	empty := shadowBox(t, nil)
	base := empty.snapshot("refs/relo/base/j1")
	done := empty.attempt(base.Commit, "a1", func(dir string) { writeAt(t, dir, "hello", "h") })
	empty.apply(base.Commit, empty.merge(base.Commit, done, "a1").Commit)
	if empty.read("hello") != "h" {
		t.Error("an empty folder got nothing")
	}
}

func TestFoldersThatAreTooMuchAreRefusedInWords(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	inside := filepath.Join(home, "projects")
	must(t, os.Mkdir(inside, 0o755))
	open := func(dir, gitDir string) error {
		_, err := OpenShadow(t.Context(), dir, gitDir)
		return err
	}
	says(t, open("/", state), KindUnfit, "the whole disk", "--repo", "git init")
	says(t, open(home, state), KindUnfit, "a home folder", "choose a smaller folder with --repo", "git init")
	says(t, open(filepath.Dir(home), state), KindUnfit, "a home folder")
	says(t, open(inside, filepath.Join(inside, "state")), KindUnfit, "Relo's own state")
	says(t, open(filepath.Join(inside, "nothing"), state), KindNoRepository, "no such folder")
	must(t, open(inside, filepath.Join(state, "one")))
	b := newBox(t, map[string]string{"a": "a"})
	says(t, open(b.dir, filepath.Join(state, "two")), KindBadName, "a .git of its own")
	b.gitIn("", "init", "-q", filepath.Join(inside, "app"))
	writeAt(t, inside, "app/x", "x")
	b.gitIn(filepath.Join(inside, "app"), "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x")
	says(t, open(inside, filepath.Join(state, "one")), KindUnfit, `only repositories inside: "app"`, "choose one of them with --repo")
	says(t, fits("/d", maxShadowFiles+1, 0, nil), KindUnfit, "100001 files, and Relo carries at most 100000", "git init")
	says(t, fits("/d", 1, maxShadowBytes+1<<30, nil), KindUnfit, "3.0 GiB", "2.0 GiB")
	must(t, fits("/d", maxShadowFiles, maxShadowBytes, []string{"x"}))
}
