package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// alwaysMade are names that no person uses for work of their own: what package
// managers, virtual environments and caches make, and can make again. A folder
// without git seldom has a .gitignore that would say so.
var alwaysMade = []string{
	"node_modules/", "bower_components/", ".venv/", "venv/", "__pycache__/", "*.pyc", ".tox/", ".nox/", ".mypy_cache/", ".pytest_cache/",
	".ruff_cache/", ".gradle/", ".next/", ".nuxt/", ".svelte-kit/", ".turbo/", ".parcel-cache/", ".terraform/", ".dart_tool/",
	".direnv/", ".cache/", ".DS_Store", "Thumbs.db",
}

// madeBeside are folders with a plain name, which a person may well use: they are
// left out only beside the file of the tool that makes them.
var madeBeside = map[string][]string{
	"target": {"Cargo.toml", "pom.xml"},
	"dist":   {"package.json", "pyproject.toml", "setup.py"},
	"build":  {"pyproject.toml", "setup.py", "build.gradle", "build.gradle.kts", "CMakeLists.txt", "pubspec.yaml"},
}

// OpenShadow opens a folder without git, with a repository in gitDir, which lies
// outside it, in Relo's state, and is the same whenever the folder is opened; it
// is made when it is not there. Nothing is written into the folder but by Apply
// and Undo. Files keep their bytes: no line ends are translated. Refused with
// KindUnfit are folders that are too much to copy, a home folder and the like,
// and one that has repositories inside and nothing else; with KindBadName one
// that has a .git, and a gitDir that is not apart from the folder.
func OpenShadow(ctx context.Context, dir, gitDir string) (*Repo, error) {
	r, dir, err := start(ctx, dir)
	if err != nil {
		return nil, err
	}
	if dir, err = settled(dir); err != nil {
		return nil, err
	}
	if err := wholeHome(dir); err != nil {
		return nil, err
	}
	if gitDir, err = settled(gitDir); err != nil {
		return nil, err
	}
	if within(gitDir, dir) {
		return nil, unfit(dir, "it holds Relo's own state")
	}
	if within(dir, gitDir) {
		return nil, badName("a folder to work on", dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return nil, &Error{
			Kind: KindBadName, Doing: "open " + dir + " as a folder without git", Words: "it has a .git of its own",
			Hint: "look with `git status` what is wrong with it, or take the .git away",
		}
	}
	r.home, r.common, r.shadow = place{gitDir: gitDir, tree: dir}, gitDir, true
	if err := r.makeShadow(ctx); err != nil {
		return nil, fmt.Errorf("make a shadow repository for %s: %w", dir, err)
	}
	if err := r.measure(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// unfit says that a folder is too much, and what to do.
func unfit(dir, why string) error {
	return &Error{
		Kind: KindUnfit, Doing: "work in " + dir + ", a folder without git", Words: why,
		Hint: "choose a smaller folder with --repo, or run `git init` there, with a .gitignore for what is not to be carried",
	}
}

// wholeHome refuses a home folder, what is above it, and the top of a disk.
func wholeHome(dir string) error {
	if dir == filepath.Dir(dir) {
		return unfit(dir, "it is the whole disk")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil //nolint:nilerr // without a home there is none to refuse
	}
	if home, err = settled(home); err == nil && within(home, dir) {
		return unfit(dir, "it is a home folder, or holds one")
	}
	return nil
}

// makeShadow makes the repository, or what a crash left undone of it.
func (r *Repo) makeShadow(ctx context.Context) error {
	dir := r.home.gitDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := r.run(ctx, call{at: place{tree: dir}, plain: true, args: []string{"init", "--quiet", "--bare", "--template=", "--initial-branch=main", dir}}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "info"), 0o700); err != nil {
		return err
	}
	// Both count in its worktrees too.
	for name, text := range map[string]string{
		"exclude":    strings.Join(alwaysMade, "\n") + "\n",
		"attributes": "* -text -ident -filter -working-tree-encoding\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "info", name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// measure refuses a folder that is too much to carry.
func (r *Repo) measure(ctx context.Context) error {
	look, cancel := context.WithTimeout(ctx, shadowLook)
	defer cancel()
	own, err := r.ownDir()
	if err != nil {
		return err
	}
	res, err := r.run(look, call{
		at: r.home, index: filepath.Join(own, "no-index"), args: []string{"ls-files", "-z", "-o", "--exclude-standard"},
	})
	switch {
	case errors.Is(look.Err(), context.DeadlineExceeded) && ctx.Err() == nil:
		return unfit(r.home.tree, fmt.Sprintf("it takes longer than %s to look through", shadowLook))
	case Is(err, KindTooBig):
		return unfit(r.home.tree, "it has too many files")
	case err != nil:
		return fmt.Errorf("look through %s: %w", r.home.tree, err)
	}
	made := r.madeBy(r.home.tree)
	var nested []string
	files, bytes := 0, int64(0)
	for _, name := range fields(res.out) {
		if inner, is := strings.CutSuffix(name, "/"); is {
			nested = append(nested, inner)
			continue
		}
		if info, err := os.Lstat(filepath.Join(r.home.tree, filepath.FromSlash(name))); err == nil && !info.IsDir() && !made.has(name) {
			files++
			if info.Size() <= maxFile {
				bytes += info.Size()
			}
		}
	}
	return fits(r.home.tree, files, bytes, nested)
}

// fits is measure's rule.
func fits(dir string, files int, bytes int64, nested []string) error {
	switch {
	case files > maxShadowFiles:
		return unfit(dir, fmt.Sprintf("it has %d files, and Relo carries at most %d", files, maxShadowFiles))
	case bytes > maxShadowBytes:
		return unfit(dir, fmt.Sprintf("its files have %s, and Relo carries at most %s", sized(bytes), sized(maxShadowBytes)))
	case files == 0 && len(nested) > 0:
		return &Error{
			Kind: KindUnfit, Doing: "work in " + dir, Words: "it has no files of its own, only repositories inside: " + listed(nested),
			Hint: "choose one of them with --repo",
		}
	}
	return nil
}

// sized writes a number of bytes for a person.
func sized(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// emptyRoot is the commit that work without a history begins at: always the same one.
func (r *Repo) emptyRoot(ctx context.Context) (string, error) {
	tree, err := r.text(ctx, call{at: r.home, plain: true, args: []string{"mktree"}})
	if err != nil {
		return "", fmt.Errorf("make an empty beginning: %w", err)
	}
	return r.commitTree(ctx, newCommit{tree: tree, message: rootSubject + "\n", date: time.Unix(0, 0), relo: true})
}

// made finds folders that tools make in a working tree of a shadow repository.
type made struct {
	tree string
	dirs map[string]bool // nil: not a shadow repository, git's own rules are all
}

func (r *Repo) madeBy(tree string) made {
	if !r.shadow {
		return made{}
	}
	return made{tree: tree, dirs: map[string]bool{}}
}

// has reports whether a file lies in such a folder.
func (m made) has(name string) bool {
	if m.dirs == nil {
		return false
	}
	for i, c := range name {
		if c != '/' {
			continue
		}
		dir := name[:i]
		is, known := m.dirs[dir]
		if !known {
			is = m.look(dir)
			m.dirs[dir] = is
		}
		if is {
			return true
		}
	}
	return false
}

func (m made) look(dir string) bool {
	for _, by := range madeBeside[path.Base(dir)] {
		if _, err := os.Lstat(filepath.Join(m.tree, filepath.FromSlash(path.Dir(dir)), by)); err == nil {
			return true
		}
	}
	return false
}

// found lists what has found, and those of the names left out always that stand
// at the top.
func (m made) found() []string {
	if m.dirs == nil {
		return nil
	}
	var list []string
	for dir, is := range m.dirs {
		if is {
			list = append(list, dir)
		}
	}
	for _, pattern := range alwaysMade {
		name, folder := strings.CutSuffix(pattern, "/")
		if info, err := os.Lstat(filepath.Join(m.tree, name)); folder && err == nil && info.IsDir() {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
