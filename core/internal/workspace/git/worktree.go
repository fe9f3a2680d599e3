package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// baseFile, in git's folder for a worktree, holds the commit that the worktree
// began at: an agent may commit by itself, and its work counts from here.
const baseFile = "relo-base"

// hashIndex, in the same place, is the index that SourcesHash keeps.
const hashIndex = "relo-index"

// AddWorktree checks commit out, detached, into the new folder path, which must
// lie outside the person's folder (KindBadName). KindExists when something is
// there already. No hook and no filter runs.
//
// Files of LFS and submodules are filled from what the person has on this
// machine; the others stay pointers and empty folders.
func (r *Repo) AddWorktree(ctx context.Context, path, commit string) error {
	return r.AddWorktreeAt(ctx, path, commit, commit)
}

// AddWorktreeAt is AddWorktree for work that goes on: the worktree begins at base,
// as Commit will have it, and holds the files of another commit, staged.
func (r *Repo) AddWorktreeAt(ctx context.Context, path, base, files string) error {
	path, err := r.outside(path)
	if err != nil {
		return err
	}
	id, err := r.Resolve(ctx, base)
	if err != nil {
		return err
	}
	if files == base {
		files = id
	} else if files, err = r.Resolve(ctx, files); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of worktrees: %w", err)
	}
	at, err := r.register(ctx, path, id)
	if err == nil { // the files are written outside the lock: that is what takes time
		err = r.checkOutAll(ctx, at, files)
	}
	if err == nil {
		err = hideOwn(path)
	}
	if Is(err, KindExists) {
		return err
	}
	if err != nil {
		return fmt.Errorf("add worktree %s: %w", path, errors.Join(err, r.sweep(context.WithoutCancel(ctx), path)))
	}
	return nil
}

// checkOutAll writes the files of a commit into a registered worktree.
func (r *Repo) checkOutAll(ctx context.Context, at place, files string) error {
	settings, err := r.guard(ctx, at)
	if err != nil {
		return err
	}
	c := call{at: at, settings: settings, args: []string{"read-tree", "--reset", "-u", files}}
	if _, err := r.run(ctx, c); err != nil {
		return err
	}
	all, err := r.entries(ctx, c)
	if err != nil {
		return err
	}
	if err := r.fill(ctx, c, all); err != nil {
		return err
	}
	return r.addModules(ctx, at, r.home.tree, gitlinks(all), maxModuleDepth)
}

// register makes the worktree known to git, without its files.
func (r *Repo) register(ctx context.Context, path, id string) (place, error) {
	unlock, err := r.lockTrees(ctx)
	if err != nil {
		return place{}, err
	}
	defer unlock()
	if _, err := os.Lstat(path); err == nil {
		return place{}, &Error{Kind: KindExists, Doing: "add a worktree", Words: path + " already exists"}
	}
	if _, err := r.run(ctx, call{at: r.home, args: []string{"worktree", "add", "--detach", "--force", "--quiet", "--no-checkout", path, id}}); err != nil {
		return place{}, err
	}
	at, err := r.placeOf(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(at.gitDir, baseFile), []byte(id+"\n"), 0o600)
	}
	return at, err
}

// hideOwn makes Relo's folder with an ignore file inside, so that an agent's own
// `git status` and `git add` do not see it. A repository that has something at
// that place keeps it.
func hideOwn(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if _, err := root.Lstat(ownFolder); err == nil {
		return nil
	}
	if err := root.Mkdir(ownFolder, 0o700); err != nil {
		return err
	}
	return root.WriteFile(ownFolder+"/.gitignore", []byte("*\n"), 0o600)
}

// RemoveWorktree deletes the folder and what git keeps about it. It may be
// repeated. A folder that is not a worktree of this repository, and the person's
// own, are refused.
func (r *Repo) RemoveWorktree(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	path, err := r.outside(path)
	if err != nil {
		return err
	}
	if err := r.sweep(ctx, path); err != nil {
		return fmt.Errorf("remove worktree %s: %w", path, err)
	}
	return nil
}

// sweep is the removal itself. Git's own command would trust the `.git` file in
// the folder, which an agent may have changed; and a prune would also forget the
// person's worktrees on a drive that is not plugged in. The folder goes first:
// after a crash between the two, the next sweep still finds git's entry.
func (r *Repo) sweep(ctx context.Context, path string) error {
	at, err := r.placeOf(path)
	if Is(err, KindNotFound) {
		if _, serr := os.Lstat(path); errors.Is(serr, fs.ErrNotExist) {
			return nil
		}
		return &Error{Kind: KindNotFound, Doing: "remove a worktree", Words: path + " is not a worktree of this repository"}
	}
	if err != nil {
		return err
	}
	if err := removeAll(path); err != nil {
		return err
	}
	unlock, err := r.lockTrees(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(at.gitDir)
}

// removeAll also removes folders that were made read-only, as module caches are.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, oerr := os.OpenRoot(path)
	if oerr != nil {
		return errors.Join(err, oerr)
	}
	if err := errors.Join(openUp(root, "."), root.Close()); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// openUp makes every folder below name writable. It walks by hand: fs.WalkDir
// refuses names that are not UTF-8.
func openUp(root *os.Root, name string) error {
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	list, err := f.ReadDir(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	for _, d := range list {
		if d.IsDir() {
			if err := openUp(root, filepath.Join(name, d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// outside makes path absolute with its folder's links resolved, and refuses one
// that is the person's folder, in it or above it, or touches git's own.
func (r *Repo) outside(path string) (string, error) {
	abs, err := settled(path)
	if err != nil {
		return "", err
	}
	for _, fixed := range []string{r.home.tree, r.common, r.home.gitDir} {
		if within(abs, fixed) || within(fixed, abs) {
			return "", &Error{Kind: KindBadName, Doing: "use " + path + " as a worktree", Words: "it must lie outside " + fixed}
		}
	}
	return abs, nil
}

// settled resolves the links of as much of a path as exists.
func settled(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	rest := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find %s: %w", path, err)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// placeOf finds git's folder for a worktree from git's side, never through the
// `.git` file in the worktree. The person's own folder is found too.
func (r *Repo) placeOf(path string) (place, error) {
	path, err := settled(path)
	if err != nil {
		return place{}, err
	}
	if path == r.home.tree {
		return r.home, nil
	}
	list, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return place{}, fmt.Errorf("list worktrees: %w", err)
	}
	for _, d := range list {
		dir := filepath.Join(r.common, "worktrees", d.Name())
		text, err := readLine(filepath.Join(dir, "gitdir"))
		if err != nil {
			continue // being made or removed by somebody else
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		if filepath.Dir(filepath.Clean(text)) == path {
			return place{gitDir: dir, tree: path}, nil
		}
	}
	return place{}, &Error{Kind: KindNotFound, Doing: "find worktree " + path, Words: "not a worktree of this repository"}
}

func readLine(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if info.Size() > maxAdmin {
		return "", fmt.Errorf("%s is too long", name)
	}
	b, err := os.ReadFile(name) //nolint:gosec // git's own file
	return strings.TrimSpace(string(b)), err
}

// baseOf gives the commit a worktree began at.
func (r *Repo) baseOf(ctx context.Context, at place) (string, error) {
	id, err := readLine(filepath.Join(at.gitDir, baseFile))
	if errors.Is(err, fs.ErrNotExist) { // a crash between git's part and ours
		return r.text(ctx, call{at: at, plain: true, args: []string{"rev-parse", "--verify", "HEAD^{commit}"}})
	}
	if err != nil {
		return "", fmt.Errorf("base of worktree %s: %w", at.tree, err)
	}
	return r.Resolve(ctx, id)
}

func (r *Repo) indexOf(at place) string { return filepath.Join(at.gitDir, "index") }
