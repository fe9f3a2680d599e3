package picture

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// largerByOne is refused by its size, not by reading: it has no blocks to be read.
func largerByOne(t *testing.T) {
	dir, outside, roots := folder(t)
	write(t, filepath.Join(dir, "b.png"), pngOf(t, page(9, 9)))
	must(t, os.Truncate(filepath.Join(dir, "b.png"), maxBytes+1))
	refusedFile(t, New(Options{}), roots, "b.png", outside, TooLargeBytes)
	must(t, os.Truncate(filepath.Join(dir, "b.png"), maxBytes))
	shownFile(t, New(Options{}), roots, "b.png", 9)
}

func sparse(t *testing.T) {
	dir, outside, roots := folder(t)
	write(t, filepath.Join(dir, "s.png"), pngOf(t, page(9, 9)))
	if err := os.Truncate(filepath.Join(dir, "s.png"), 1<<40); err != nil {
		t.Skipf("not run: a file of 1 TiB, which this file system cannot have (%v); go test on ext4 or xfs runs it", err)
	}
	refusedFile(t, New(Options{}), roots, "s.png", outside, TooLargeBytes)
}

// meanwhile gives options under which f runs between the first look at the file and its
// reading: the question whether git tracks it is asked then, when it has two names.
func meanwhile(t *testing.T, path string, f func(n int)) Options {
	t.Helper()
	must(t, os.Link(path, path+".twin"))
	asked := 0
	return Options{Tracked: func(string) bool { f(asked); asked++; return true }}
}

func growing(t *testing.T) {
	dir, outside, roots := folder(t)
	path := filepath.Join(dir, "a.png")
	o := meanwhile(t, path, func(int) { must(t, os.Truncate(path, maxBytes+1<<20)) })
	opened(t, New(o), roots, TooLargeBytes, "a.png", outside)
	// One that never stops growing: its reader stops at the limit.
	path = filepath.Join(dir, "sub", "b.png")
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for more := make([]byte, 4096); ctx.Err() == nil; {
			if info, err := f.Stat(); err != nil || info.Size() > 4<<20 {
				err = errors.Join(err, f.Truncate(100))
				if err != nil {
					t.Error(err)
				}
			}
			if _, err := f.Write(more); err != nil {
				t.Error(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 200 {
		_, data, err := New(Options{MaxBytes: 1 << 20}).read(ctx, roots, "sub/b.png")
		if e, ok := errors.AsType[*Error](err); err == nil && len(data) > 1<<20 || err != nil && (!ok || e.Code != TooLargeBytes && e.Code != ChangedWhileReading) {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
	}
	stop()
	writer.Wait()
}

// changing does each thing that can be done to a file between the look at it and the end of its reading.
func changing(t *testing.T) {
	for why, c := range map[string]struct {
		do    func(path string, n int) error
		once  Code // when it is done once only; empty: shown
		again Code // when it is done each time
	}{
		"longer":   {func(p string, n int) error { return os.Truncate(p, int64(5000+n)) }, "", ChangedWhileReading},
		"cut":      {func(p string, n int) error { return os.Truncate(p, int64(60-n)) }, Corrupt, ChangedWhileReading},
		"emptied":  {func(p string, n int) error { return errors.Join(os.Truncate(p, int64(9)), os.Truncate(p, 0)) }, ZeroSize, ChangedWhileReading},
		"deleted":  {func(p string, n int) error { return os.RemoveAll(p) }, NotFound, NotFound},
		"replaced": {func(p string, n int) error { return replace(p) }, "", ""},
		"rewritten with the same bytes": {func(p string, n int) error {
			data, err := os.ReadFile(p)
			return errors.Join(err, os.WriteFile(p, data, 0o600), os.Chtimes(p, time.Time{}, time.Unix(int64(1e9+n), 0)))
		}, "", ChangedWhileReading},
	} {
		for _, times := range []int{1, 9} {
			dir, _, roots := folder(t)
			path := filepath.Join(dir, "a.png")
			o := meanwhile(t, path, func(n int) {
				if n < times {
					must(t, c.do(path, n))
				}
			})
			pic, meta, err := New(o).Prepare(t.Context(), roots, "a.png", Params{})
			want := c.once
			if times > 1 {
				want = c.again
			}
			if want == "" {
				if err != nil || meta.Source.Width != 30 {
					t.Errorf("%s %d times: %v, %+v", why, times, err, meta)
				}
				continue
			}
			refuses(why+" "+strconv.Itoa(times), nil, want).judge(t, pic, vision.Meta{}, err)
		}
	}
	torn(t)
}

// replace puts another file of the same bytes in its place.
func replace(path string) error {
	data, err := os.ReadFile(path)
	return errors.Join(err, os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path))
}

// torn writes a file again and again, in place and all of one byte, while it is read. A reading
// may give a mixture only when the writer stood still in the midst of it for as long as two readings take.
func torn(t *testing.T) {
	dir, _, roots := folder(t)
	path := filepath.Join(dir, "a.png")
	const size, times = 256 << 10, 300
	write(t, path, make([]byte, size))
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for i := byte(0); ctx.Err() == nil; i++ {
			if _, err := f.WriteAt(bytes.Repeat([]byte{i}, size), 0); err != nil {
				t.Error(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	p, mixtures := New(Options{}), 0
	for range times {
		_, data, err := p.read(ctx, roots, "a.png")
		if err == nil && !bytes.Equal(data[1:], data[:len(data)-1]) {
			mixtures++
		}
	}
	stop()
	writer.Wait()
	if t.Logf("%d readings of a file that is being written, %d mixtures", times, mixtures); mixtures > times/20 {
		t.Errorf("%d of %d readings gave a mixture of two writings", mixtures, times)
	}
}

// TestASecondReadingFindsWhatAClockDoesNotShow holds the two ways in which a write without a new
// time is found: the system's own time of any change, and reading again.
func TestASecondReadingFindsWhatAClockDoesNotShow(t *testing.T) {
	data := bytes.Repeat([]byte("picture"), 30_000)
	for why, there := range map[string][]byte{
		"longer": append(bytes.Clone(data), 0), "shorter": data[:len(data)-1], "empty": nil, "another last byte": append(bytes.Clone(data[:len(data)-1]), 'x'), "another first byte": append([]byte("P"), data[1:]...),
	} {
		if holds(t.Context(), bytes.NewReader(there), data) {
			t.Errorf("%s: not found", why)
		}
	}
	if !holds(t.Context(), bytes.NewReader(data), data) || !holds(t.Context(), bytes.NewReader(nil), nil) {
		t.Error("the same bytes are not the same")
	}
	dir, outside, roots := folder(t)
	path := filepath.Join(dir, "a.png")
	long := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, long, long))
	o := meanwhile(t, path, func(int) {
		first, err := os.Stat(path)
		must(t, err)
		for again := first; sameState(first, again) && runtime.GOOS == "linux"; { // until the clock of the file system has stepped
			must(t, errors.Join(replaceBytes(path), os.Chtimes(path, long, long)))
			again, err = os.Stat(path)
			must(t, err)
		}
	})
	if runtime.GOOS == "linux" {
		refusedFile(t, New(o), roots, "a.png", outside, ChangedWhileReading)
	}
}

// replaceBytes writes a file's own bytes over it.
func replaceBytes(path string) error {
	data, err := os.ReadFile(path)
	return errors.Join(err, os.WriteFile(path, data, 0o600))
}

// lfsPointers are resolved from the store of the repository, also from a worktree of it.
func lfsPointers(t *testing.T) {
	dir, outside, _ := folder(t)
	git := func(at string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", at, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v, %s", args, err, out)
		}
	}
	git(dir, "init", "-q")
	git(dir, "commit", "-q", "--allow-empty", "-m", "x")
	tree := filepath.Join(t.TempDir(), "tree")
	git(dir, "worktree", "add", "-q", tree)
	object := pngOf(t, page(55, 20))
	oid := sum(object)
	store := func(oid string, data []byte) {
		write(t, filepath.Join(dir, ".git", "lfs", "objects", oid[:2], oid[2:4], oid), data)
	}
	pointer := func(oid string, size int) []byte {
		return []byte(lfsVersion + "oid sha256:" + oid + "\nsize " + strconv.Itoa(size) + "\n")
	}
	store(oid, object)
	spoilt, short, linked, gone := strings.Repeat("1", 64), strings.Repeat("2", 64), strings.Repeat("3", 64), strings.Repeat("4", 64)
	store(spoilt, object)
	store(short, object[:50])
	write(t, filepath.Join(dir, ".git", "lfs", "objects", "33", "33", "x"), nil)
	must(t, os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(dir, ".git", "lfs", "objects", "33", "33", linked)))
	for _, at := range []string{dir, tree} {
		for name, data := range map[string][]byte{
			"good.png": pointer(oid, len(object)), "spoilt.png": pointer(spoilt, len(object)), "short.png": pointer(short, len(object)), "linked.png": pointer(linked, len(object)), "gone.png": pointer(gone, 77),
			"other-size.png": pointer(oid, len(object)+1), "huge.png": pointer(oid, 1<<40),
		} {
			write(t, filepath.Join(at, name), data)
		}
		roots, p := open(t, at), New(Options{LFS: LFSStore(at)})
		shownFile(t, p, roots, "good.png", 55)
		for name, code := range map[string]Code{
			"spoilt.png": Corrupt, "short.png": UnsupportedKind, "linked.png": UnsupportedKind, "gone.png": UnsupportedKind, "other-size.png": UnsupportedKind, "huge.png": TooLargeBytes,
		} {
			refusedFile(t, p, roots, name, outside, code)
		}
		refusedFile(t, New(Options{}), roots, "good.png", outside, UnsupportedKind)
		refusedFile(t, New(Options{LFS: LFSStore(at), Never: []string{"good.*"}}), roots, "good.png", outside, NotAllowed)
	}
	if LFSStore(filepath.Join(dir, "sub")) == nil || LFSStore(outside) != nil {
		t.Error("a repository is found from its folders, and from nowhere else")
	}
	broken := New(Options{LFS: func(context.Context, string, int64) ([]byte, error) { return nil, fs.ErrPermission }})
	refusedFile(t, broken, open(t, dir), "good.png", outside, UnsupportedKind)
}
