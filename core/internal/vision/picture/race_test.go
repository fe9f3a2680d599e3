//go:build linux

package picture

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

// exchange swaps two names at once (renameat2(2) with RENAME_EXCHANGE).
func exchange(a, b string) error {
	const atFDCWD, renameExchange = -100, 2
	from, err := syscall.BytePtrFromString(a)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(b)
	if err != nil {
		return err
	}
	here := atFDCWD
	number := map[string]uintptr{"amd64": 316, "arm64": 276}[runtime.GOARCH]
	if number == 0 {
		return syscall.ENOSYS
	}
	if _, _, errno := syscall.Syscall6(number, uintptr(here), uintptr(unsafe.Pointer(from)), uintptr(here), uintptr(unsafe.Pointer(to)), renameExchange, 0); errno != 0 { //nolint:gosec // two names
		return errno
	}
	return nil
}

// renameRace opens a file again and again while its folder is swapped for a link that
// leads out, the file itself for a link, and a folder in the middle of the path; nothing of outside may be read.
func renameRace(t *testing.T, opens int) {
	t.Helper()
	dir, outside := t.TempDir(), t.TempDir()
	inside := pngOf(t, page(30, 20))
	secret := append(pngOf(t, page(99, 20)), "SECRET"...)
	for _, p := range []string{"p/q/a.png", "f.png"} {
		write(t, filepath.Join(dir, p), inside)
	}
	for _, p := range []string{"q/a.png", "a.png", "f.png"} {
		write(t, filepath.Join(outside, p), secret)
	}
	for link, target := range map[string]string{"p2": outside, "p/q2": outside, "f2.png": filepath.Join(outside, "f.png"), "p3": "../" + filepath.Base(outside)} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	if err := exchange(filepath.Join(dir, "p"), filepath.Join(dir, "p2")); errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		t.Skip("not run: the race of opens against renames needs renameat2 of Linux and a file system that swaps; go test on ext4, xfs, btrfs or tmpfs runs it")
	}
	ctx, stop := context.WithCancel(t.Context())
	var swapper sync.WaitGroup
	var swaps atomic.Int64
	swapper.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			pair := [][2]string{{"p", "p2"}, {"p/q", "p/q2"}, {"f.png", "f2.png"}, {"p", "p3"}}[i%4]
			if exchange(filepath.Join(dir, pair[0]), filepath.Join(dir, pair[1])) == nil {
				swaps.Add(1)
			}
		}
	})
	roots := open(t, dir)
	var shown, refused, leaked atomic.Int64
	var openers sync.WaitGroup
	for range 2 {
		openers.Go(func() {
			p := New(Options{Never: []string{"x/**"}})
			for i := range opens / 2 {
				if i%3 == 0 {
					p = New(Options{}) // without following links by hand
				}
				_, data, err := p.read(ctx, roots, []string{"p/q/a.png", "f.png", filepath.Join(dir, "p/q/a.png")}[i%3])
				switch {
				case err != nil:
					refused.Add(1)
				case bytes.Equal(data, inside):
					shown.Add(1)
				default:
					leaked.Add(1)
				}
				if err != nil && strings.Contains(err.Error(), outside) {
					t.Errorf("the words tell the folder outside: %v", err)
				}
			}
		})
	}
	openers.Wait()
	stop()
	swapper.Wait()
	t.Logf("%d opens against %d swaps: %d read, %d refused, %d from outside", opens, swaps.Load(), shown.Load(), refused.Load(), leaked.Load())
	if leaked.Load() > 0 || shown.Load() == 0 || refused.Load() == 0 || swaps.Load() == 0 {
		t.Error("bytes from outside, or no race")
	}
}

func TestSoakOpensAgainstRenames(t *testing.T) {
	if os.Getenv("RELO_SOAK") == "" {
		t.Skip("not run: 500,000 opens against renames; make soak runs them")
	}
	renameRace(t, 500_000)
}
