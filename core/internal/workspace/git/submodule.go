package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// realFolder reports whether every folder down to name is one, and no link.
func realFolder(tree, name string) bool {
	at := tree
	for part := range strings.SplitSeq(name, "/") {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// storeOf finds the git folder of a submodule that the person has checked out at
// name in tree. One outside the repository's own git folder and the submodule is
// not followed: a `.git` file could name any repository of the person.
func (r *Repo) storeOf(tree, name string) (place, bool) {
	if checkPath(name) != nil || !realFolder(tree, name) {
		return place{}, false
	}
	at := place{tree: filepath.Join(tree, filepath.FromSlash(name))}
	link := filepath.Join(at.tree, ".git")
	info, err := os.Lstat(link)
	switch {
	case err != nil:
		return place{}, false
	case info.IsDir():
		at.gitDir = link
	case info.Mode().IsRegular():
		text, err := readLine(link)
		to, ok := strings.CutPrefix(text, "gitdir: ")
		if err != nil || !ok {
			return place{}, false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(at.tree, to)
		}
		if at.gitDir, err = filepath.EvalSymlinks(to); err != nil || !r.inModules(at.gitDir) {
			return place{}, false
		}
	default:
		return place{}, false
	}
	if info, err := os.Lstat(filepath.Join(at.gitDir, "objects")); err != nil || !info.IsDir() {
		return place{}, false
	}
	return at, true
}

func (r *Repo) inModules(dir string) bool {
	for _, top := range []string{r.common, r.home.gitDir} {
		if within(dir, filepath.Join(top, "modules")) {
			return true
		}
	}
	return false
}

// moduleDir is the git folder of a worktree's submodule.
func moduleDir(at place, name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(at.gitDir, "relo-modules", hex.EncodeToString(sum[:8]))
}

// addModules fills the submodules of a fresh worktree with the commits that its
// index names, out of the person's own stores; home is where the person has the
// same repository checked out. What is not there stays empty: Snapshot has told.
func (r *Repo) addModules(ctx context.Context, at place, home string, links []entry, depth int) error {
	for _, l := range links {
		store, ok := r.storeOf(home, l.path)
		if !ok || depth <= 0 || !r.hasCommit(ctx, store, l.id) {
			continue
		}
		to, err := r.addModule(ctx, at, store, l)
		if err != nil {
			return fmt.Errorf("fill submodule %q: %w", l.path, err)
		}
		inner, err := r.entries(ctx, call{at: to})
		if err != nil {
			return err
		}
		if err := r.addModules(ctx, to, store.tree, gitlinks(inner), depth-1); err != nil {
			return err
		}
	}
	return nil
}

func gitlinks(all []entry) []entry {
	var list []entry
	for _, e := range all {
		if e.mode == gitlinkMode && e.stage == "0" {
			list = append(list, e)
		}
	}
	return list
}

func (r *Repo) hasCommit(ctx context.Context, at place, id string) bool {
	res, err := r.run(ctx, call{at: at, plain: true, okay: []int{1, 128}, args: []string{"cat-file", "-e", id + "^{commit}"}})
	return err == nil && res.code == 0
}

// addModule makes one submodule: a git folder of its own, inside the worktree's,
// that borrows the objects of the person's.
func (r *Repo) addModule(ctx context.Context, at, store place, l entry) (place, error) {
	to := place{gitDir: moduleDir(at, l.path), tree: filepath.Join(at.tree, filepath.FromSlash(l.path))}
	if !realFolder(at.tree, l.path) {
		return to, fmt.Errorf("its folder is not there")
	}
	format := "sha1"
	if len(l.id) == 2*sha256.Size {
		format = "sha256"
	}
	if _, err := r.run(ctx, call{at: place{tree: at.tree}, plain: true, args: []string{
		"init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--object-format=" + format, to.gitDir,
	}}); err != nil {
		return to, err
	}
	for name, text := range map[string]string{
		filepath.Join(to.gitDir, "objects", "info", "alternates"): alternateLine(filepath.Join(store.gitDir, "objects")) + "\n",
		filepath.Join(to.tree, ".git"):                            "gitdir: " + to.gitDir + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return to, err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return to, err
		}
	}
	if text, err := os.ReadFile(filepath.Join(store.gitDir, "shallow")); err == nil {
		if err := os.WriteFile(filepath.Join(to.gitDir, "shallow"), text, 0o600); err != nil { //nolint:gosec // both are git folders, named above
			return to, err
		}
	}
	for _, args := range [][]string{
		{"config", "core.bare", "false"},
		{"config", "core.worktree", to.tree},
		{"update-ref", "--no-deref", "HEAD", l.id},
		{"read-tree", "--reset", "-u", l.id},
	} {
		if _, err := r.run(ctx, call{at: to, args: args}); err != nil {
			return to, err
		}
	}
	return to, nil
}

// alternateLine writes a path into a file of alternates, where a name that begins
// with a quote or holds a newline stands in quotes.
func alternateLine(dir string) string {
	if !strings.HasPrefix(dir, `"`) && !strings.Contains(dir, "\n") {
		return dir
	}
	return `"` + quoter.Replace(dir) + `"`
}

// moduleNotes tells how the person's submodules reach the worktrees.
func (r *Repo) moduleNotes(ctx context.Context, links []entry) ([]string, error) {
	var list, missing []string
	for _, l := range links {
		store, ok := r.storeOf(r.home.tree, l.path)
		if !ok || !r.hasCommit(ctx, store, l.id) {
			missing = append(missing, l.path)
			continue
		}
		head, err := r.text(ctx, call{at: store, plain: true, args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
		if err != nil {
			head = "none"
		}
		if head != l.id {
			list = append(list, fmt.Sprintf("submodule %q is at commit %.10s here, and at %.10s in the workspaces: that is what the repository records", l.path, head, l.id))
		}
		files, err := r.moduleChanges(ctx, store)
		if err != nil {
			return nil, err
		}
		if len(files) > 0 {
			list = append(list, fmt.Sprintf("uncommitted changes in submodule %q are not carried: %s", l.path, listed(files)))
		}
	}
	if len(missing) > 0 {
		list = append(list, "submodules that are not checked out here are empty in the workspaces: "+listed(missing)+
			"; run `git submodule update --init` for their files")
	}
	return list, nil
}

// moduleChanges lists what differs from the commit that is checked out.
func (r *Repo) moduleChanges(ctx context.Context, at place) ([]string, error) {
	res, err := r.run(ctx, call{at: at, args: []string{
		"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all",
	}})
	if err != nil {
		return nil, fmt.Errorf("look at submodule %s: %w", at.tree, err)
	}
	var files []string
	for _, line := range fields(res.out) {
		if len(line) > 3 {
			files = append(files, line[3:])
		}
	}
	return files, nil
}

// keepLinks puts the submodules in a worktree's index back to the commits that
// base names, and drops what an agent added as one: nobody else has its commits.
// The notes say what is not carried.
func (r *Repo) keepLinks(ctx context.Context, c call, note *staged, base string) ([]string, error) {
	if len(note.links) == 0 {
		return nil, nil
	}
	paths := make([]string, len(note.links))
	for i, l := range note.links {
		paths[i] = l.path
	}
	list, err := r.treeEntries(ctx, base, paths...)
	if err != nil {
		return nil, err
	}
	was := map[string]entry{}
	for _, e := range gitlinks(list) {
		was[e.path] = e
	}
	var lines, notes []string
	for _, l := range note.links {
		old, known := was[l.path]
		if !known {
			lines = append(lines, l.gone())
			note.nested = append(note.nested, l.path)
			continue
		}
		if l.id != old.id {
			lines = append(lines, old.line())
		}
		words, err := r.moduleWork(ctx, c.at, old)
		if err != nil {
			return nil, err
		}
		if words == "" && l.id != old.id {
			words = "its commit"
		}
		if words != "" {
			notes = append(notes, fmt.Sprintf("changes inside submodule %q are not carried: %s; it is a repository of its own, change it there", l.path, words))
		}
	}
	return notes, r.indexInfo(ctx, c, lines)
}

// moduleWork says in words what an agent changed inside a submodule.
func (r *Repo) moduleWork(ctx context.Context, at place, l entry) (string, error) {
	dir := filepath.Join(at.tree, filepath.FromSlash(l.path))
	module := place{gitDir: moduleDir(at, l.path), tree: dir}
	filled := true
	if _, err := os.Lstat(module.gitDir); errors.Is(err, fs.ErrNotExist) {
		filled = false
	}
	if !realFolder(at.tree, l.path) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) && !filled {
			return "", nil
		}
		return "its folder was taken away or replaced", nil
	}
	if !filled {
		inside, err := os.ReadDir(dir)
		if err != nil || len(inside) == 0 {
			return "", err
		}
		var names []string
		for _, d := range inside {
			names = append(names, d.Name())
		}
		return "new files " + listed(names), nil
	}
	files, err := r.moduleChanges(ctx, module)
	if err != nil {
		return "", err
	}
	head, err := r.text(ctx, call{at: module, plain: true, args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
	if err != nil || head != l.id {
		more, derr := r.text(ctx, call{at: module, plain: true, args: []string{"diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--end-of-options", l.id, "HEAD"}})
		if derr == nil {
			files = append(fields([]byte(more)), files...)
		}
		return "new commits of " + listed(files), nil
	}
	if len(files) == 0 {
		return "", nil
	}
	return listed(files), nil
}
