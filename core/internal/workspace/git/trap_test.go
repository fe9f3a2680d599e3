package git

import (
	"os"
	"path/filepath"
	"testing"
)

// Every way a repository can name a program: none of them runs in a whole job.
func TestAHostileRepositoryRunsNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]string{
		"a.txt": nine, "b.txt": "b\n", "p.png": "1\x00",
		".gitattributes": "* filter=evil diff=evil merge=evil\n*.txt -text\n",
	})
	canary := filepath.Join(t.TempDir(), "canary")
	program := filepath.Join(t.TempDir(), "evil.sh")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $* <- $(tr '\\\\0' ' ' < /proc/$PPID/cmdline)\" >> '"+canary+"'\ncat\n"), 0o700))
	hooks := filepath.Join(b.dir, ".git", "hooks")
	must(t, os.MkdirAll(hooks, 0o755))
	for _, name := range []string{
		"post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change", "commit-msg", "post-merge",
		"prepare-commit-msg", "fsmonitor-watchman", "pre-auto-gc", "post-rewrite", "update", "pre-merge-commit",
	} {
		must(t, os.Symlink(program, filepath.Join(hooks, name)))
	}
	base := b.repo // opened before the traps are set, as in a repository that turns
	for key, value := range map[string]string{
		"core.hooksPath": hooks, "core.fsmonitor": program, "core.pager": program, "core.editor": program, "core.sshCommand": program,
		"core.askPass": program, "core.gitProxy": program, "core.alternateRefsCommand": program, "credential.helper": program,
		"diff.external": program, "diff.evil.command": program, "diff.evil.textconv": program, "merge.evil.driver": program + " %A",
		"filter.evil.clean": program, "filter.evil.smudge": program, "filter.evil.required": "true", "gpg.program": program,
		"commit.gpgSign": "true", "log.showSignature": "true", "alias.diff-tree": "!" + program, "alias.log": "!" + program,
		"alias.merge-tree": "!" + program, "pager.log": program, "sequence.editor": program, "interactive.diffFilter": program,
		"gc.auto": "1", "trailer.evil.command": program, "protocol.ext.allow": "always", "remote.evil.url": "ext::" + program,
		"extensions.partialClone": "evil", "remote.evil.promisor": "true", "core.repositoryFormatVersion": "1", "submodule.recurse": "true",
	} {
		b.git("config", key, value)
	}
	b.write(".git/included", "[filter \"more\"]\n\tclean = "+program+"\n\tprocess = "+program+"\n")
	b.git("config", "include.path", "included")
	b.write(".gitattributes", "* filter=evil diff=evil merge=evil\nb.txt filter=more\n")
	must(t, os.RemoveAll(canary)) // the set-up itself may have woken it
	// The trap must be a real one, else this test proves nothing.
	if out := b.git("diff", "--ext-diff"); out == "" {
		t.Log("git printed nothing; the canary decides")
	}
	if _, err := os.Stat(canary); err != nil {
		t.Fatal("the traps do not work at all")
	}
	must(t, os.Remove(canary))

	for _, again := range []bool{false, true} {
		b.repo = base
		if again {
			b.reopen()
		}
		b.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=", "update-ref", "-d", "refs/heads/relo/j1")
		must(t, ignoreMissing(os.Remove(canary)))
		b.wholeJob()
		if text, err := os.ReadFile(canary); err == nil {
			t.Fatalf("reopened %v: these ran:\n%s", again, text)
		}
	}
}

// wholeJob calls everything once.
func (b *box) wholeJob() {
	b.t.Helper()
	t, ctx := b.t, b.t.Context()
	b.write("a.txt", "0\n"+nine)
	b.write("b.txt", "bb\n")
	start := b.snapshot("refs/relo/base/j1").Commit
	one := b.attempt(start, "a1", func(dir string) {
		writeAt(t, dir, "a.txt", "0\n1\n2\n3\n4\nfive\n6\n7\n8\n9\n")
		_, _, err := b.repo.SourcesHash(ctx, dir)
		must(t, err)
	})
	two := b.attempt(start, "a2", func(dir string) { writeAt(t, dir, "a.txt", "0\n1\n2\n3\n4\n5\n6\n7\n8\nnine\n") })
	b.merge(start, one, "a1")
	m := b.merge(start, two, "a2")
	if len(m.Conflicts) != 0 || b.at(m.Commit, "a.txt") != "0\n1\n2\n3\n4\nfive\n6\n7\n8\nnine\n" {
		t.Errorf("a file with a merge driver: %+v %q", m, b.at(m.Commit, "a.txt"))
	}
	_, _, err := b.repo.Diff(ctx, start, m.Commit, 1<<16)
	must(t, err)
	_, err = b.repo.Map(ctx, "HEAD", MapLimits{})
	must(t, err)
	b.write("b.txt", "bbb\n")
	b.apply(start, m.Commit)
	_, err = b.repo.Undo(ctx, "j1")
	must(t, err)
	// A missing object must not be fetched either.
	if _, err := b.repo.Blob(ctx, "0123456789012345678901234567890123456789", "x"); err == nil {
		t.Error("a missing object was found")
	}
}

func TestEnvironmentCannotRedirect(t *testing.T) {
	b := newBox(t, map[string]string{"a": "a"})
	other := newBox(t, map[string]string{"b": "b"})
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	t.Setenv("GIT_EXTERNAL_DIFF", "false")
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.bare=true'")
	repo, err := Open(t.Context(), b.dir)
	must(t, err)
	if repo.Root() != b.dir || !repo.Exists(t.Context(), "HEAD", "a") {
		t.Errorf("root %s", repo.Root())
	}
}
