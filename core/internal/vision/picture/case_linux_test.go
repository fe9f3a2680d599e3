//go:build linux

package picture

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// pipes never hold up who opens them.
func pipes(t *testing.T) {
	dir, outside, roots := folder(t)
	must(t, syscall.Mkfifo(filepath.Join(dir, "alone.png"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(dir, "written.png"), 0o600))
	must(t, os.Symlink("alone.png", filepath.Join(dir, "link.png")))
	// A writer that has the pipe open and writes into it.
	both, err := os.OpenFile(filepath.Join(dir, "written.png"), os.O_RDWR|syscall.O_NONBLOCK, 0)
	must(t, err)
	_, err = both.Write(pngOf(t, page(9, 9)))
	must(t, err)
	for _, never := range [][]string{nil, {"x/**"}} {
		for _, name := range []string{"alone.png", "written.png", "link.png"} {
			refusedFile(t, New(Options{Never: never}), roots, name, outside, NotRegular)
		}
	}
	must(t, both.Close())
}

// devices are tried with twins of /dev/zero, /dev/null, a terminal and a disk, which only the superuser can make.
func devices(t *testing.T) {
	dir, outside, roots := folder(t)
	var lc net.ListenConfig
	sock, err := lc.Listen(t.Context(), "unix", filepath.Join(dir, "s.png"))
	must(t, err)
	refusedFile(t, New(Options{}), roots, "s.png", outside, NotRegular)
	must(t, sock.Close())
	must(t, os.Mkdir(filepath.Join(dir, "folder.png"), 0o700))
	refusedFile(t, New(Options{}), roots, "folder.png", outside, NotRegular)
	for name, d := range map[string]struct{ mode, number int }{
		"zero.png": {syscall.S_IFCHR, 1<<8 | 5}, "null.png": {syscall.S_IFCHR, 1<<8 | 3}, "tty.png": {syscall.S_IFCHR, 5 << 8}, "none.png": {syscall.S_IFCHR, 240<<8 | 7}, "disk.png": {syscall.S_IFBLK, 7<<8 | 77}, "full.png": {syscall.S_IFCHR, 1<<8 | 7},
	} {
		if err := syscall.Mknod(filepath.Join(dir, name), uint32(d.mode|0o600), d.number); err != nil {
			t.Skipf("not run: devices in a workspace, which only the superuser can make (%v); go test as root runs it", err)
		}
		refusedFile(t, New(Options{}), roots, name, outside, NotRegular, NotFound, NotAllowed)
	}
}

// systemFiles are outside whatever leads to them, and no files where a workspace holds them.
func systemFiles(t *testing.T) {
	dir, outside, roots := folder(t)
	targets := []string{"/proc/self/environ", "/proc/self/fd/0", "/dev/stdin", "/proc/self/root/etc/passwd", "/proc/self/cwd/picture.go", fmt.Sprintf("/proc/%d/maps", os.Getpid()), "/proc/self/exe", "/dev/zero", "/sys/kernel/uevent_seqnum"}
	for i, target := range targets {
		refusedFile(t, New(Options{}), roots, target, outside, OutsideWorkspace)
		link := fmt.Sprintf("l%d.png", i)
		must(t, os.Symlink(target, filepath.Join(dir, link)))
		refusedFile(t, New(Options{}), roots, link, outside, OutsideWorkspace)
	}
	proc := open(t, "/proc/self")
	for _, name := range []string{"environ", "maps", "cmdline", "mem", "cwd/picture.go", "root/etc/passwd", "fd/0", "exe", "task"} {
		refusedFile(t, New(Options{}), proc, name, "/nowhere", NotRegular, OutsideWorkspace, NotFound, NotAllowed)
	}
}

// TestOpeningLeavesNothingOpen looks at the open files of this process after many refusals of every sort.
func TestOpeningLeavesNothingOpen(t *testing.T) {
	dir, _, roots := folder(t)
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.png"), 0o600))
	must(t, os.Link(filepath.Join(dir, "sub", "b.png"), filepath.Join(dir, "hard.png")))
	names := []string{"a.png", "pipe.png", "hard.png", "sub", "none.png", "/etc/passwd"}
	count := func() int {
		runtime.GC()
		fds, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(fds)
	}
	work := func() {
		var all sync.WaitGroup
		for i := range 300 {
			all.Go(func() { _, _, _ = New(Options{}).Prepare(context.Background(), roots, names[i%len(names)], Params{}) })
		}
		all.Wait()
	}
	work()
	before := count()
	work()
	if after := count(); after > before+3 {
		t.Errorf("%d files are open, %d were", after, before)
	}
}
