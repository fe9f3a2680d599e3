package picture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Roots are the folders that a picture may lie in, asked in order: the agent's
// workspace, then the job's attachments. The caller closes them.
type Roots []*os.Root

// OpenRoots opens folders as roots.
func OpenRoots(dirs ...string) (Roots, error) {
	var roots Roots
	for _, dir := range dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, errors.Join(err, roots.Close())
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// Close closes every root.
func (r Roots) Close() error {
	var all error
	for _, root := range r {
		all = errors.Join(all, root.Close())
	}
	return all
}

// read finds the file in the roots and reads it once, or twice when it changed
// meanwhile. shown is its slash path below the root.
func (p *Preparer) read(ctx context.Context, roots Roots, name string) (shown string, data []byte, err error) {
	if err := checkName(name, runtime.GOOS); err != nil {
		return "", nil, err
	}
	inside := false
	for _, root := range roots {
		rel, ok := below(root.Name(), name)
		if !ok {
			continue
		}
		inside = true
		data, err = p.readFrom(ctx, root, rel)
		if refusal, ok := errors.AsType[*Error](err); ok && refusal.Code == ChangedWhileReading {
			data, err = p.readFrom(ctx, root, rel)
		}
		if refusal, ok := errors.AsType[*Error](err); ok && refusal.Code == NotFound {
			continue
		}
		if err != nil {
			return rel, nil, err
		}
		data, err = p.resolve(ctx, rel, data)
		return rel, data, err
	}
	if !inside {
		return "", nil, refuse(OutsideWorkspace, "the path leads out of the workspace; only files of the workspace and the job's attachments can be shown")
	}
	return "", nil, notFound(name)
}

func notFound(name string) *Error {
	return refuse(NotFound, "there is no file %q in the workspace or among the attachments; list the folder to find its name", name)
}

// checkName refuses what can be no path of a picture, before anything is opened.
func checkName(name, goos string) error {
	switch {
	case name == "" || strings.ContainsRune(name, 0):
		return refuse(NotFound, "%q is no file name; give a path below the workspace", name)
	case strings.Contains(name, "://") || strings.HasPrefix(name, "data:"):
		return refuse(NotFound, "%q is an address; only files of the workspace can be shown, save the picture there first", name)
	case strings.HasPrefix(name, "~"):
		return refuse(OutsideWorkspace, "a path with ~ leads to a home folder; only files of the workspace can be shown")
	case strings.HasSuffix(name, "/") || name == ".":
		return refuse(NotRegular, "%q names a folder; give the path of a picture", name)
	case goos == "windows" && windowsTrap(name):
		return refuse(NotRegular, "%q names a device, a stream or a share of Windows; give a plain path below the workspace", name)
	}
	return nil
}

// windowsTrap tells whether Windows would read the name as something other
// than the file it spells ("Naming Files, Paths, and Namespaces", Microsoft).
func windowsTrap(name string) bool {
	if strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, "//") {
		return true
	}
	rest := name
	if len(name) >= 2 && name[1] == ':' { // a drive, judged later by whether it lies inside
		rest = name[2:]
	}
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			continue
		}
		if strings.ContainsRune(part, ':') || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return true
		}
		stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
		stem = strings.TrimRight(stem, " ")
		switch stem {
		case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
			return true
		}
		if len(stem) > 3 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && strings.Contains("0123456789¹²³", stem[3:]) {
			return true
		}
	}
	return false
}

// below gives the slash path of name below dir, and whether it lies there.
func below(dir, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		rel := path.Clean(filepath.ToSlash(name))
		return rel, filepath.IsLocal(filepath.FromSlash(rel))
	}
	dirs := []string{dir}
	if abs, err := filepath.Abs(dir); err == nil {
		dirs = append(dirs, abs)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dirs = append(dirs, resolved)
	}
	for _, d := range dirs {
		if rel, err := filepath.Rel(d, name); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// readFrom opens rel without blocking, asks the opened file what it is, and
// reads it between two looks at its state.
func (p *Preparer) readFrom(ctx context.Context, root *os.Root, rel string) ([]byte, error) {
	if p.never(rel) {
		return nil, refuseNever(rel)
	}
	f, err := root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, openRefusal(rel, err)
	}
	defer func() { _ = f.Close() }() // read only: closing cannot lose anything
	before, err := f.Stat()
	if err != nil {
		return nil, openRefusal(rel, err)
	}
	fresh := time.Since(before.ModTime()) < freshly
	if err := p.checkOpened(root, rel, f, before); err != nil {
		return nil, err
	}
	// Room for the file and a last empty read, so that the buffer never grows.
	buf := bytes.NewBuffer(make([]byte, 0, before.Size()+bytes.MinRead))
	_, err = buf.ReadFrom(io.LimitReader(whileTime(ctx, f), p.opts.MaxBytes+1))
	data := buf.Bytes()
	if err != nil {
		if end := late(ctx); end != nil {
			return nil, end
		}
		return nil, refuse(ChangedWhileReading, "%q could not be read to its end: %s", rel, reason(err)).because(err)
	}
	if int64(len(data)) > p.opts.MaxBytes {
		return nil, refuseBytes(rel, p.opts.MaxBytes)
	}
	if fresh && !holds(ctx, f, data) {
		return nil, refuseChanged(rel, late(ctx))
	}
	after, err := f.Stat()
	if err != nil || changed(before, after) || int64(len(data)) != after.Size() {
		return nil, refuseChanged(rel, err)
	}
	return data, nil
}

func refuseChanged(rel string, err error) *Error {
	return refuse(ChangedWhileReading, "%q was written while it was read; wait until it is complete and ask again", rel).because(err)
}

// changed tells whether a file was written between two looks at it.
func changed(before, after fs.FileInfo) bool {
	return after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || !sameState(before, after)
}

// holds reads the file again and tells whether it still holds data: two writes within
// one step of the file system's clock leave the same time behind.
func holds(ctx context.Context, f io.ReaderAt, data []byte) bool {
	again := make([]byte, min(chunk, len(data)+1))
	for at := 0; ; {
		if ctx.Err() != nil {
			return false
		}
		n, err := f.ReadAt(again, int64(at))
		if n > len(data)-at || !bytes.Equal(again[:n], data[at:at+n]) {
			return false
		}
		at += n
		if err != nil {
			return errors.Is(err, io.EOF) && at == len(data)
		}
	}
}

// checkOpened asks the opened file: regular, of one name, not too large, and
// not reached by a link to what is never shown.
func (p *Preparer) checkOpened(root *os.Root, rel string, f *os.File, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return refuse(NotRegular, "%q is %s, not a file; give the path of a picture", rel, kindOfMode(info.Mode()))
	}
	if systemView(f) {
		return refuse(NotRegular, "%q is a view into the running system, not a file; give the path of a picture", rel)
	}
	if info.Size() > p.opts.MaxBytes {
		return refuseBytes(rel, p.opts.MaxBytes)
	}
	if links(info) > 1 && !p.opts.Tracked(rel) {
		return refuse(NotAllowed, "%q is a hard link to a file that may lie elsewhere; copy the picture instead (in a job, one that git tracks is read)", rel)
	}
	if len(p.opts.Never) == 0 {
		return nil
	}
	target, err := follow(root, rel)
	if err != nil {
		return openRefusal(rel, err)
	}
	if p.never(target) {
		return refuseNever(rel)
	}
	there, err := root.Lstat(filepath.FromSlash(target))
	if err != nil || !os.SameFile(there, info) {
		return refuse(ChangedWhileReading, "%q was replaced while it was opened; ask again", rel).because(err)
	}
	return nil
}

// follow resolves the symbolic links of rel inside the root, so that a link
// cannot give a forbidden file another name.
func follow(root *os.Root, rel string) (string, error) {
	done, rest, jumps := ".", strings.Split(rel, "/"), 0
	for len(rest) > 0 {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		info, err := root.Lstat(filepath.FromSlash(next))
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if jumps++; jumps > maxLinks {
			return "", syscall.ELOOP
		}
		target, err := root.Readlink(filepath.FromSlash(next))
		if err != nil {
			return "", err
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return done, nil
}

// never tells whether a glob forbids the slash path. Case is ignored because
// some file systems ignore it too.
func (p *Preparer) never(name string) bool {
	name = strings.ToLower(path.Clean(filepath.ToSlash(name)))
	for _, glob := range p.opts.Never {
		if ok, err := doublestar.Match(strings.ToLower(glob), strings.TrimPrefix(name, "/")); ok || err != nil {
			return true
		}
	}
	return false
}

func refuseNever(name string) *Error {
	return refuse(NotAllowed, "%q is under a path that the person keeps from every model (pictures.never); work without it", name)
}

func refuseBytes(name string, limit int64) *Error {
	return refuse(TooLargeBytes, "%q is larger than %d MiB; make a smaller copy or cut out the part you need", name, limit>>20)
}

// openRefusal reads an error of the file system; its own words hold paths, so
// only the reason at its end is told.
func openRefusal(rel string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFound(rel).because(err)
	case strings.Contains(err.Error(), "escapes"): // os.Root's own sentinel is not exported
		return refuse(OutsideWorkspace, "%q leads out of the workspace; only files of the workspace and the job's attachments can be shown", rel).because(err)
	case errors.Is(err, fs.ErrPermission):
		return refuse(NotAllowed, "%q may not be read: %s", rel, reason(err)).because(err)
	case errors.Is(err, syscall.ENXIO): // a socket cannot be opened at all
		return refuse(NotRegular, "%q is a socket or a device, not a file; give the path of a picture", rel).because(err)
	}
	return refuse(NotFound, "%q cannot be opened: %s", rel, reason(err)).because(err)
}

func reason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return "the system gave no reason"
}

func kindOfMode(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// readerFunc is a reader made of a function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// chunk is how much a decoder gets before the clock is asked again.
const chunk = 64 << 10

// whileTime reads until the context ends. Decoders take no context, so the
// reader they pull from ends instead.
func whileTime(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(b[:min(len(b), chunk)])
	})
}
