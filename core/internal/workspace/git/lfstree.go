package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// filledFile, in git's folder for a working tree, lists the files of LFS whose
// contents are known: filled in by us, or read before.
const filledFile = "relo-lfs"

// settledTime is how old a file must be before its time and size may stand for
// its contents: file systems keep time in steps of up to two seconds (FAT).
const settledTime = 3 * time.Second

// never is a time that no file has.
const never = -1

// filled is one line: the file at path, with that size and time, is what the
// pointer with the id blob names.
type filled struct {
	pointer
	blob  string
	mtime int64 // nanoseconds
	path  string
}

func (r *Repo) readFilled(at place) (map[string]filled, error) {
	text, err := os.ReadFile(filepath.Join(at.gitDir, filledFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is known of LFS: %w", err)
	}
	known := map[string]filled{}
	for _, line := range fields(text) {
		words := strings.SplitN(line, " ", 5)
		if len(words) != 5 || len(words[0]) != 64 {
			return nil, fmt.Errorf("read what is known of LFS: %q is not understood", bound(line, 200))
		}
		size, err1 := strconv.ParseInt(words[2], 10, 64)
		mtime, err2 := strconv.ParseInt(words[3], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read what is known of LFS: %w", err)
		}
		known[words[4]] = filled{pointer: pointer{oid: words[0], size: size}, blob: words[1], mtime: mtime, path: words[4]}
	}
	return known, nil
}

// writeFilled replaces the list whole.
func (r *Repo) writeFilled(at place, list []filled) error {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s %s %d %d %s\x00", f.oid, f.blob, f.size, f.mtime, f.path)
	}
	temp, err := os.CreateTemp(at.gitDir, filledFile+"-*")
	if err != nil {
		return fmt.Errorf("note what is known of LFS: %w", err)
	}
	_, err = temp.WriteString(b.String())
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(at.gitDir, filledFile))
	}
	if err != nil {
		return fmt.Errorf("note what is known of LFS: %w", errors.Join(err, ignoreMissing(os.Remove(temp.Name()))))
	}
	return nil
}

// same reports whether info is still the file that was noted.
func (f filled) same(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == f.size && info.ModTime().UnixNano() == f.mtime
}

// cleaner turns files of LFS back into their pointers while staging.
type cleaner struct {
	repo    *Repo
	root    *os.Root
	known   map[string]filled
	index   map[string]entry
	keep    bool
	noModes bool // core.fileMode is off: the index keeps the recorded bit

	plain []string // what update-index takes as it is
	clear []string // index lines to set before
	lines []string // index lines to set after
	dirty []string // files to make a pointer of
	now   []filled // what is known afterwards
}

// cleanLFS takes the files of LFS out of the paths to stage and gives the index
// lines that stand for them; files over maxFile that are not of LFS go into note.
func (r *Repo) cleanLFS(ctx context.Context, c call, note *staged, paths []string, keep bool) (plain, lines []string, err error) {
	known, err := r.readFilled(c.at)
	if err != nil {
		return nil, nil, err
	}
	var lfs map[string]bool
	if len(known) > 0 || r.mayUseLFS(note.all, paths) {
		if lfs, err = r.lfsPaths(ctx, c, paths, false); err != nil {
			return nil, nil, err
		}
	}
	listed := make(map[string]bool, len(paths))
	small := make([]string, 0, len(paths))
	for _, p := range paths {
		listed[p] = true
		if !lfs[p] && tooBig(c.at.tree, p) {
			note.huge = append(note.huge, p)
		} else {
			small = append(small, p)
		}
	}
	if len(lfs) == 0 && len(known) == 0 {
		return small, nil, nil
	}
	k, err := r.cleaner(ctx, c, note.all, keep)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = k.root.Close() }()
	k.known = known
	for _, p := range small {
		k.sort(p, lfs[p])
	}
	for p := range known { // git does not list these, see fill
		if _, ok := k.index[p]; ok && !listed[p] {
			k.sort(p, true)
		}
	}
	if err := r.indexInfo(ctx, c, k.clear); err != nil {
		return nil, nil, err
	}
	if err := k.read(ctx, c); err != nil {
		return nil, nil, err
	}
	if keep {
		err = r.writeFilled(c.at, k.after())
	}
	return k.plain, k.lines, err
}

// after is the list to keep. Files that carry git's mark stay on it even when
// their contents are not known any more, because git does not list them.
func (k *cleaner) after() []filled {
	has := map[string]bool{}
	for _, f := range k.now {
		has[f.path] = true
	}
	for p, f := range k.known {
		if _, ok := k.index[p]; ok && !has[p] {
			f.mtime = never
			k.now = append(k.now, f)
		}
	}
	return k.now
}

func (r *Repo) cleaner(ctx context.Context, c call, all []entry, keep bool) (*cleaner, error) {
	noModes, err := r.ignoresModes(ctx)
	if err != nil {
		return nil, err
	}
	k := &cleaner{repo: r, keep: keep, noModes: noModes, index: make(map[string]entry, len(all))}
	for _, e := range all {
		k.index[e.path] = e
	}
	if k.root, err = os.OpenRoot(c.at.tree); err != nil {
		return nil, fmt.Errorf("open the working tree: %w", err)
	}
	return k, nil
}

// sort decides about one path.
func (k *cleaner) sort(name string, lfs bool) {
	info, err := k.root.Lstat(filepath.FromSlash(name))
	old, tracked := k.index[name]
	f, noted := k.known[name]
	switch {
	case err != nil || !info.Mode().IsRegular() || !lfs:
		if tracked && noted {
			k.clear = append(k.clear, old.gone()) // else its mark hides the change from git
			if err != nil || info.IsDir() {
				return
			}
		}
		k.plain = append(k.plain, name)
	case noted && f.same(info) && tracked && old.id == f.blob && old.mode == k.mode(name, info) && (!k.keep || k.repo.hasObject(f.pointer)):
		k.now = append(k.now, f)
	default:
		k.dirty = append(k.dirty, name)
	}
}

// mode is what git would record for the file.
func (k *cleaner) mode(name string, info fs.FileInfo) string {
	if old, ok := k.index[name]; ok && k.noModes && strings.HasPrefix(old.mode, "100") {
		return old.mode
	}
	if info.Mode()&0o100 != 0 && !k.noModes {
		return "100755"
	}
	return "100644"
}

// read makes pointers of the files in dirty; those whose contents are known are
// not read again.
func (k *cleaner) read(ctx context.Context, c call) error {
	if len(k.dirty) == 0 {
		return nil
	}
	now := time.Now()
	found, texts := make([]filled, len(k.dirty)), make([]string, len(k.dirty))
	modes := make([]string, len(k.dirty))
	for i, name := range k.dirty {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		info, err := k.root.Lstat(filepath.FromSlash(name))
		if err != nil {
			return fmt.Errorf("look at %q: %w", name, err)
		}
		f, noted := k.known[name]
		if !noted || !f.same(info) || (k.keep && !k.repo.hasObject(f.pointer)) {
			f = filled{mtime: info.ModTime().UnixNano(), path: name}
			if f.pointer, err = k.repo.takeObject(k.root, filepath.FromSlash(name), k.keep); err != nil {
				return err
			}
		}
		found[i], texts[i], modes[i] = f, f.text(), k.mode(name, info)
		if f.size != info.Size() || now.Sub(info.ModTime()) < settledTime {
			found[i].path = "" // a pointer itself, or too young to be known by its time
		}
	}
	ids, err := k.repo.writeBlobs(ctx, c, texts)
	if err != nil {
		return err
	}
	for i, name := range k.dirty {
		k.lines = append(k.lines, entry{mode: modes[i], id: ids[i], path: name}.line())
		if found[i].blob = ids[i]; found[i].path != "" {
			k.now = append(k.now, found[i])
		}
	}
	return nil
}

// cleanAdded makes pointers of files of LFS that an agent added with a git that
// knows nothing of LFS: their contents stand in the index as they are.
func (r *Repo) cleanAdded(ctx context.Context, c call, all []entry, base string) error {
	if !r.mayUseLFS(all, nil) {
		return nil
	}
	ask := c
	ask.args = []string{"diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=AMT", "--end-of-options", base}
	res, err := r.run(ctx, ask)
	if err != nil {
		return fmt.Errorf("list what was added: %w", err)
	}
	ids := map[string]string{}
	var paths, blobs []string
	for parts := fields(res.out); len(parts) >= 2; parts = parts[2:] {
		if words := strings.Fields(parts[0]); len(words) == 5 && strings.HasPrefix(words[1], "100") {
			ids[parts[1]] = words[3]
			paths, blobs = append(paths, parts[1]), append(blobs, words[3])
		}
	}
	lfs, err := r.lfsPaths(ctx, c, paths, false)
	if err != nil || len(lfs) == 0 {
		return err
	}
	texts, err := r.smallBlobs(ctx, blobs)
	if err != nil {
		return err
	}
	k, err := r.cleaner(ctx, c, all, true)
	if err != nil {
		return err
	}
	defer func() { _ = k.root.Close() }()
	for _, p := range paths {
		text, small := texts[ids[p]]
		if _, ok := parsePointer(text); lfs[p] && !ok && (!small || len(text) > 0) {
			k.dirty = append(k.dirty, p)
		}
	}
	if err := k.read(ctx, c); err != nil {
		return err
	}
	return r.indexInfo(ctx, c, k.lines)
}

// fill gives the files of LFS in a fresh worktree their contents, as far as the
// local store has them. Git is told to take these files for unchanged: without
// LFS's own program, which never runs here, it would show an agent all of them
// as modified.
func (r *Repo) fill(ctx context.Context, c call, all []entry) (err error) {
	at := c.at
	list, err := r.pointers(ctx, c, all)
	if err != nil || len(list) == 0 {
		return err
	}
	root, err := os.OpenRoot(at.tree)
	if err != nil {
		return fmt.Errorf("open the worktree: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var done []filled
	var names []string
	left := int64(maxFill)
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if e.size > left || !r.hasObject(e.pointer) {
			continue // Snapshot has told the person
		}
		left -= e.size
		f, err := r.fillOne(root, e)
		if err != nil {
			return fmt.Errorf("fill %q from LFS: %w", e.path, err)
		}
		done, names = append(done, f), append(names, e.path)
	}
	if len(done) == 0 {
		return nil
	}
	if err := r.writeFilled(at, done); err != nil {
		return err
	}
	c.args, c.in = []string{"update-index", "--assume-unchanged", "-z", "--stdin"}, []byte(strings.Join(names, "\x00")+"\x00")
	_, err = r.run(ctx, c)
	return err
}

// fillOne puts an object's bytes in a pointer's place: a copy, because an agent
// may write into it. Its time lies back, so that a change in the next moment shows.
func (r *Repo) fillOne(root *os.Root, e lfsEntry) (filled, error) {
	name := filepath.FromSlash(e.path)
	perm := fs.FileMode(0o666)
	if e.mode == "100755" {
		perm = 0o777
	}
	if err := root.Remove(name); err != nil {
		return filled{}, err
	}
	if err := r.copyObject(root, name, e.pointer, perm); err != nil {
		return filled{}, err
	}
	then := time.Now().Add(-2 * settledTime)
	if err := root.Chtimes(name, then, then); err != nil {
		return filled{}, err
	}
	info, err := root.Lstat(name) // the file system keeps less than we said
	if err != nil {
		return filled{}, err
	}
	return filled{pointer: e.pointer, blob: e.id, mtime: info.ModTime().UnixNano(), path: e.path}, nil
}

// copyObject makes a new file with an object's bytes.
func (r *Repo) copyObject(root *os.Root, name string, p pointer, perm fs.FileMode) error {
	src, err := os.Open(r.lfsFile(p.oid))
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
