package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's own name for contents, not a proof of anything
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// hands change files of the person's folder. Everything goes through a root, and
// no link is followed on the way to a file.
type hands struct {
	repo *Repo
	root *os.Root
	temp string // the name of the temporary file in each folder

	noModes func() (bool, error) // asked once at most
}

func (r *Repo) hands(ctx context.Context) (*hands, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	root, err := os.OpenRoot(r.home.tree)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	return &hands{
		repo: r, root: root, temp: ".relo-apply.tmp",
		noModes: sync.OnceValues(func() (bool, error) { return r.ignoresModes(ctx) }),
	}, nil
}

func (h *hands) close() { _ = h.root.Close() }

// checkPath refuses what git itself would refuse to check out: trees made by
// another program may hold such names.
func checkPath(name string) error {
	if strings.ContainsRune(name, 0) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return badName("a path to write", name)
	}
	for part := range strings.SplitSeq(name, "/") { // names that are not UTF-8 are names, too
		if part == "" || part == "." || part == ".." {
			return badName("a path to write", name)
		}
		low := strings.ToLower(part)
		if low == ".git" || strings.HasPrefix(low, "git~") || strings.HasPrefix(low, ".git ") || strings.HasPrefix(low, ".git.") || strings.HasPrefix(low, ".git:") {
			return badName("a path to write", name)
		}
	}
	return nil
}

// preflight looks at every step before the first is done. Edited ones hold
// neither the old nor the new contents; blocked ones have something where
// nothing should be.
func (h *hands) preflight(ctx context.Context, steps []step) (edited, blocked []string, err error) {
	gone := map[string]bool{}  // folders that lose files
	links := map[string]bool{} // links that become folders
	for _, s := range steps {
		links[s.path] = s.new.mode == absent && s.old.mode == "120000"
		for dir := path.Dir(s.path); s.new.mode == absent && dir != "."; dir = path.Dir(dir) {
			gone[dir] = true
		}
	}
	for _, s := range steps {
		link, err := h.linkAbove(s.path)
		if err != nil {
			return nil, nil, err
		}
		if link && s.new.mode != absent {
			if !below(s.path, links) {
				blocked = append(blocked, s.path)
			}
			continue
		}
		is, err := h.state(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case is == stateOld || is == stateNew:
		case s.old.mode == absent && is == stateFolder && gone[s.path]:
		case s.old.mode == absent:
			blocked = append(blocked, s.path)
		default:
			edited = append(edited, s.path)
		}
	}
	return edited, blocked, nil
}

// state is what a step finds at its path.
type state int

const (
	stateOther state = iota // neither old nor new
	stateOld
	stateNew
	stateFolder
)

func (h *hands) state(ctx context.Context, s step) (state, error) {
	info, err := h.look(s.path)
	if err != nil {
		return stateOther, err
	}
	if info != nil && info.IsDir() {
		if s.new.mode == absent {
			return stateNew, nil // the file is gone; the folder is another step's, or the person's
		}
		return stateFolder, nil
	}
	if same, err := h.holds(ctx, s.path, info, s.new); err != nil || same {
		return stateNew, err
	}
	if same, err := h.holds(ctx, s.path, info, s.old); err != nil || same {
		return stateOld, err
	}
	return stateOther, nil
}

// look gives nil without an error when nothing is there. What lies behind a link
// is not there, as for git.
func (h *hands) look(name string) (fs.FileInfo, error) {
	if link, err := h.linkAbove(name); err != nil || link {
		return nil, err
	}
	info, err := h.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %q: %w", name, err)
	}
	return info, nil
}

// linkAbove reports whether a folder of the path is a link.
func (h *hands) linkAbove(name string) (bool, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := h.root.Lstat(name[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("look at %q: %w", name[:i], err)
		case info.Mode()&fs.ModeSymlink != 0:
			return true, nil
		}
	}
	return false, nil
}

// holds reports whether the path holds what a tree's entry says.
func (h *hands) holds(ctx context.Context, name string, info fs.FileInfo, want side) (bool, error) {
	switch {
	case want.mode == absent || info == nil:
		return (want.mode == absent) == (info == nil), nil
	case want.mode == "120000":
		if info.Mode()&fs.ModeSymlink == 0 {
			return false, nil
		}
		target, err := h.root.Readlink(name)
		if err != nil {
			return false, fmt.Errorf("read link %q: %w", name, err)
		}
		got, err := blobID(strings.NewReader(target), int64(len(target)), len(want.id))
		return got == want.id, err
	case !info.Mode().IsRegular():
		return false, nil
	}
	if info.Mode()&0o100 != 0 != (want.mode == "100755") {
		if sameBits, err := h.noModes(); err != nil || !sameBits {
			return false, err
		}
	}
	if same, err := h.holdsBytes(name, info.Size(), want); err != nil || same {
		return same, err
	}
	// The bytes on disk may be git's translation of line ends.
	got, err := h.repo.text(ctx, call{at: h.repo.home, args: []string{"hash-object", "--path=" + name, "--", filepath.FromSlash(name)}})
	return got == want.id, err
}

// holdsBytes compares contents as they are, and with LFS's object where the entry
// is a pointer to one.
func (h *hands) holdsBytes(name string, size int64, want side) (same bool, err error) {
	f, err := h.root.Open(name)
	if err != nil {
		return false, fmt.Errorf("read %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	got := ""
	if want.lfs.oid != "" && want.lfs.size == size {
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return false, fmt.Errorf("read %q: %w", name, err)
		}
		if hex.EncodeToString(sum.Sum(nil)) == want.lfs.oid {
			return true, nil
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return false, fmt.Errorf("read %q: %w", name, err)
		}
	}
	if got, err = blobID(f, size, len(want.id)); err != nil {
		return false, fmt.Errorf("read %q: %w", name, err)
	}
	return got == want.id, nil
}

// ignoresModes reports whether core.fileMode is off: then git keeps the recorded
// bit whatever the file has.
func (r *Repo) ignoresModes(ctx context.Context) (bool, error) {
	res, err := r.run(ctx, call{at: r.home, plain: true, okay: []int{1}, args: []string{"config", "--type=bool", "core.fileMode"}})
	return strings.TrimSpace(string(res.out)) == "false", err
}

// blobID is git's name for contents: SHA-1, or SHA-256 in repositories with long ids.
func blobID(from io.Reader, size int64, width int) (string, error) {
	sum := sha1.New() //nolint:gosec // git's own name for contents
	if width == 2*sha256.Size {
		sum = sha256.New()
	}
	if _, err := fmt.Fprintf(sum, "blob %d\x00", size); err != nil {
		return "", err
	}
	if _, err := io.Copy(sum, from); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// write does the steps towards commit. Files are checked out into a folder of
// Relo first, so that line ends and bits are git's; then each is looked at, and
// put in place by a rename.
func (r *Repo) write(ctx context.Context, commit string, steps []step, job string) (err error) {
	dir, err := r.checkOut(ctx, commit, steps)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h, err := r.hands(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	h.temp = ".relo-apply-" + job + ".tmp"
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if r.beforeWrite != nil {
			r.beforeWrite(s.path)
		}
		h.clean(path.Dir(s.path))
		is, err := h.state(ctx, s)
		if err != nil {
			return err
		}
		if is == stateNew {
			continue
		}
		if is != stateOld {
			return edited(s.path)
		}
		if err := h.do(ctx, s, dir); err != nil {
			return err
		}
	}
	return nil
}

func edited(name string) error {
	return &Error{Kind: KindEdited, Doing: "write", Words: fmt.Sprintf("%q was edited meanwhile and is left as it is", name), Paths: []string{name}}
}

// clean removes a temporary file that a crash left.
func (h *hands) clean(dir string) {
	if info, err := h.look(path.Join(dir, h.temp)); err == nil && info != nil {
		_ = h.root.Remove(path.Join(dir, h.temp))
	}
}

// checkOut writes the new contents of the steps into a new folder.
func (r *Repo) checkOut(ctx context.Context, commit string, steps []step) (dir string, err error) {
	own, err := r.ownDir()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(own, "apply-*"); err != nil {
		return "", fmt.Errorf("make a folder to write from: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	var in strings.Builder
	for _, s := range steps {
		if s.new.mode != absent {
			in.WriteString(s.path + "\x00")
		}
	}
	if in.Len() == 0 {
		return dir, nil
	}
	c := call{at: r.home, index: filepath.Join(dir, "index")}
	c.args = []string{"read-tree", commit}
	if _, err := r.run(ctx, c); err != nil {
		return "", fmt.Errorf("read the result: %w", err)
	}
	c.args = []string{"checkout-index", "--quiet", "-z", "--stdin", "--prefix=" + filepath.ToSlash(dir) + "/files/"}
	c.in = []byte(in.String())
	if _, err := r.run(ctx, c); err != nil {
		return "", fmt.Errorf("write the result: %w", err)
	}
	return dir, r.fillSteps(ctx, c, steps, filepath.Join(dir, "files"))
}

// fillSteps puts the contents of LFS, as far as they are here, in the place of
// pointers that were checked out: the person sees files, as LFS would show them.
func (r *Repo) fillSteps(ctx context.Context, c call, steps []step, dir string) error {
	var paths []string
	for _, s := range steps {
		if s.new.lfs.oid != "" && r.hasObject(s.new.lfs) {
			paths = append(paths, s.path)
		}
	}
	if len(paths) == 0 || r.shadow {
		return nil
	}
	lfs, err := r.lfsPaths(ctx, c, paths, true)
	if err != nil || len(lfs) == 0 {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("fill files from LFS: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, s := range steps {
		if !lfs[s.path] {
			continue
		}
		name := filepath.FromSlash(s.path)
		if err := errors.Join(root.Remove(name), r.copyObject(root, name, s.new.lfs, 0o600)); err != nil {
			return fmt.Errorf("fill %q from LFS: %w", s.path, err)
		}
	}
	return nil
}

// do carries one step out.
func (h *hands) do(ctx context.Context, s step, dir string) error {
	if s.new.mode == absent {
		if err := h.root.Remove(s.path); err != nil {
			return fmt.Errorf("delete %q: %w", s.path, err)
		}
		h.dropEmpty(path.Dir(s.path))
		return nil
	}
	if link, err := h.linkAbove(s.path); err != nil || link {
		return errors.Join(err, edited(s.path))
	}
	if parent := path.Dir(s.path); parent != "." {
		if err := h.root.MkdirAll(parent, 0o777); err != nil {
			return fmt.Errorf("make the folder of %q: %w", s.path, err)
		}
	}
	temp := path.Join(path.Dir(s.path), h.temp)
	if err := h.fill(s, temp, filepath.Join(dir, "files", filepath.FromSlash(s.path))); err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", s.path, err), ignoreMissing(h.root.Remove(temp)))
	}
	if err := h.place(ctx, s, temp); err != nil {
		return errors.Join(err, ignoreMissing(h.root.Remove(temp)))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// dropEmpty removes folders that hold nothing any more, as git does.
func (h *hands) dropEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if h.root.Remove(dir) != nil {
			return
		}
	}
}

// fill makes the temporary file or link beside its place.
func (h *hands) fill(s step, temp, from string) error {
	if s.new.mode == "120000" {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return h.root.Symlink(target, temp)
	}
	perm := fs.FileMode(0o666) // less the person's umask
	if s.new.mode == "100755" {
		perm = 0o777
	}
	src, err := os.Open(from) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := h.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	old, err := h.root.Lstat(s.path)
	if err != nil || !old.Mode().IsRegular() {
		return ignoreMissing(err)
	}
	keep := old.Mode().Perm() &^ 0o111 // who may read it stays the person's choice
	if s.new.mode == "100755" {
		keep |= old.Mode().Perm() & 0o444 >> 2
	}
	return h.root.Chmod(temp, keep)
}

// place looks at the path for the last time and puts the temporary file there. A
// new file is linked into place, which never replaces anything.
func (h *hands) place(ctx context.Context, s step, temp string) error {
	is, err := h.state(ctx, s)
	if err != nil {
		return err
	}
	link, err := h.linkAbove(s.path)
	if err != nil {
		return err
	}
	if is != stateOld || link {
		return edited(s.path)
	}
	if s.old.mode == absent {
		err := h.root.Link(temp, s.path)
		if errors.Is(err, fs.ErrExist) {
			return edited(s.path)
		}
		if err == nil {
			return h.root.Remove(temp)
		} // a file system without links: the rename has to do
	}
	if err := h.root.Rename(temp, s.path); err != nil {
		return fmt.Errorf("put %q in place: %w", s.path, err)
	}
	return nil
}
