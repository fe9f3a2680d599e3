package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ownFolder is Relo's folder in a working tree; what lies in it is never staged.
const ownFolder = ".relo"

const gitlinkMode = "160000"

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
	var lines []string
	for _, e := range have {
		lines = append(lines, e.gone())
	}
	for _, e := range want {
		lines = append(lines, e.line())
	}
	return r.indexInfo(ctx, c, lines)
}
