package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ownFolder is Relo's folder in a working tree; what lies in it is never staged.
const ownFolder = ".relo"

const gitlinkMode = "160000"

// staged says what a staging left out.
type staged struct {
	submodules []string // recorded as their index says, their files are not carried
	nested     []string // repositories inside the folder that are not submodules
}

// indexCall prepares calls on a private copy of an index, with the guard's
// listing made once for all of them.
func (r *Repo) indexCall(ctx context.Context, at place, from string) (call, error) {
	settings, err := r.guard(ctx, at)
	if err != nil {
		return call{}, err
	}
	index, err := r.privateIndex(from)
	return call{at: at, index: index, settings: settings}, err
}

// privateIndex copies an index into Relo's folder below the common git dir. The
// copy keeps the time of the original: git takes a file that is as young as the
// index for possibly changed, and a younger copy would hide such a change.
// A missing original makes an empty index.
func (r *Repo) privateIndex(from string) (name string, err error) {
	dir, err := r.ownDir()
	if err != nil {
		return "", err
	}
	to, err := os.CreateTemp(dir, "index-*")
	if err != nil {
		return "", fmt.Errorf("make a private index: %w", err)
	}
	defer func() {
		if cerr := to.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("make a private index: %w", cerr)
		}
	}()
	src, err := os.Open(from) //nolint:gosec // git's own file
	if errors.Is(err, fs.ErrNotExist) {
		return to.Name(), os.Remove(to.Name())
	}
	if err != nil {
		return "", fmt.Errorf("read the index: %w", err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	info, err := src.Stat()
	if err != nil {
		return "", fmt.Errorf("read the index: %w", err)
	}
	if _, err := io.Copy(to, src); err != nil {
		return "", fmt.Errorf("copy the index: %w", err)
	}
	if err := os.Chtimes(to.Name(), info.ModTime(), info.ModTime()); err != nil {
		return "", fmt.Errorf("copy the index: %w", err)
	}
	return to.Name(), nil
}

// dropIndex removes a private index and a lock that a killed git left beside it.
func dropIndex(name string) error {
	var errs []error
	for _, n := range []string{name, name + ".lock"} {
		if err := os.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r *Repo) ownDir() (string, error) {
	dir := filepath.Join(r.common, "relo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make Relo's folder in the git dir: %w", err)
	}
	return dir, nil
}

// stage brings a private index to what the working tree holds: changed, deleted
// and new files that are not ignored. Not staged: Relo's own folder, submodules
// and repositories inside the folder.
func (r *Repo) stage(ctx context.Context, c call) (staged, error) {
	var note staged
	refresh := c
	refresh.args, refresh.okay = []string{"update-index", "-q", "--ignore-submodules", "--refresh"}, []int{1}
	if _, err := r.run(ctx, refresh); err != nil {
		return note, fmt.Errorf("look at the files: %w", err)
	}
	entries, err := r.entries(ctx, c)
	if err != nil {
		return note, err
	}
	skip := map[string]bool{}
	var paths []string
	for _, e := range entries {
		if e.mode == gitlinkMode {
			skip[e.path] = true
			note.submodules = append(note.submodules, e.path)
		} else if e.stage != "0" {
			paths = append(paths, e.path)
		}
	}
	list := c
	list.args = []string{"ls-files", "-z", "-t", "-m", "-d", "-o", "--exclude-standard"}
	res, err := r.run(ctx, list)
	if err != nil {
		return note, fmt.Errorf("list changed files: %w", err)
	}
	added, above := map[string]bool{}, map[string]bool{}
	var changed []string
	for _, line := range fields(res.out) {
		tag, name, _ := strings.Cut(line, " ")
		switch {
		case own(name) || skip[name]:
		case strings.HasSuffix(name, "/"):
			note.nested = append(note.nested, strings.TrimSuffix(name, "/"))
		case tag == "?":
			added[name] = true
			for dir := path.Dir(name); dir != "." && !above[dir]; dir = path.Dir(dir) {
				above[dir] = true
			}
			paths = append(paths, name)
		default:
			changed = append(changed, name)
		}
	}
	for _, name := range changed {
		// When a folder became a file or a link, or a file a folder, adding the new removes the old.
		if !below(name, added) && !above[name] {
			paths = append(paths, name)
		}
	}
	if len(paths) == 0 {
		return note, nil
	}
	update := c
	update.args = []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}
	update.in = []byte(strings.Join(paths, "\x00") + "\x00")
	if _, err := r.run(ctx, update); err != nil {
		return note, fmt.Errorf("take the changed files: %w", err)
	}
	return note, nil
}

func own(name string) bool { return name == ownFolder || strings.HasPrefix(name, ownFolder+"/") }

// below reports whether some folder above name is in set.
func below(name string, set map[string]bool) bool {
	for i, c := range name {
		if c == '/' && set[name[:i]] {
			return true
		}
	}
	return false
}

// entry is one line of an index or a tree.
type entry struct{ mode, id, stage, path string }

// entries lists an index.
func (r *Repo) entries(ctx context.Context, c call, paths ...string) ([]entry, error) {
	c.args = append([]string{"ls-files", "-s", "-z", "--"}, paths...)
	res, err := r.run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("list the index: %w", err)
	}
	var list []entry
	for _, line := range fields(res.out) {
		head, name, ok := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("list the index: %q is not understood", bound(line, 200))
		}
		list = append(list, entry{mode: words[0], id: words[1], stage: words[2], path: name})
	}
	return list, nil
}

// treeEntries lists a tree with all its folders.
func (r *Repo) treeEntries(ctx context.Context, tree string, paths ...string) ([]entry, error) {
	args := append([]string{"ls-tree", "-r", "-z", "--full-tree", tree, "--"}, paths...)
	res, err := r.run(ctx, call{at: r.home, plain: true, args: args})
	if err != nil {
		return nil, fmt.Errorf("list a tree: %w", err)
	}
	var list []entry
	for _, line := range fields(res.out) {
		head, name, ok := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("list a tree: %q is not understood", bound(line, 200))
		}
		list = append(list, entry{mode: words[0], id: words[2], stage: "0", path: name})
	}
	return list, nil
}

// restoreOwn puts Relo's own folder in an index back to what base holds, for the
// case that an agent added it itself.
func (r *Repo) restoreOwn(ctx context.Context, c call, base string) error {
	have, err := r.entries(ctx, c, ownFolder)
	if err != nil {
		return err
	}
	want, err := r.treeEntries(ctx, base, ownFolder)
	if err != nil {
		return err
	}
	if len(have) == 0 && len(want) == 0 {
		return nil
	}
	var in strings.Builder
	for _, e := range have {
		fmt.Fprintf(&in, "0 %s\t%s\x00", strings.Repeat("0", len(e.id)), e.path)
	}
	for _, e := range want {
		fmt.Fprintf(&in, "%s %s 0\t%s\x00", e.mode, e.id, e.path)
	}
	c.args, c.in = []string{"update-index", "-z", "--replace", "--index-info"}, []byte(in.String())
	if _, err := r.run(ctx, c); err != nil {
		return fmt.Errorf("leave %s out: %w", ownFolder, err)
	}
	return nil
}
