package picture

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// folder makes a workspace with a.png in it, beside a folder with a secret picture.
func folder(t *testing.T) (dir, outside string, roots Roots) {
	t.Helper()
	dir, outside = t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "a.png"), pngOf(t, page(30, 20)))
	write(t, filepath.Join(dir, "sub", "b.png"), pngOf(t, page(31, 20)))
	write(t, filepath.Join(outside, "secret.png"), pngOf(t, page(99, 20)))
	return dir, outside, open(t, dir)
}

func open(t *testing.T, dirs ...string) Roots {
	t.Helper()
	roots, err := OpenRoots(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := roots.Close(); err != nil {
			t.Error(err)
		}
	})
	return roots
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opened prepares a file that must be refused with the code, and looks that no folder is told.
func opened(t *testing.T, p *Preparer, roots Roots, code Code, name, outside string) {
	t.Helper()
	pic, meta, err := p.Prepare(t.Context(), roots, name, Params{})
	if refusal := wantCode(t, code, err, pic.Bytes, meta); strings.Contains(refusal.Message, outside) {
		t.Errorf("the message tells a path outside: %s", refusal.Message)
	}
}

func TestNamesThatLeadInside(t *testing.T) {
	dir, _, roots := folder(t)
	must(t, os.Symlink("../a.png", filepath.Join(dir, "sub", "link.png")))
	must(t, os.Symlink("sub", filepath.Join(dir, "dirlink")))
	odd := "odd\nname\u202e.png"
	write(t, filepath.Join(dir, odd), pngOf(t, page(8, 8)))
	for _, c := range []struct{ name, path string }{
		{"a.png", "a.png"},
		{"./a.png", "a.png"},
		{"sub/../a.png", "a.png"},
		{filepath.Join(dir, "a.png"), "a.png"},
		{"sub/link.png", "sub/link.png"},
		{"dirlink/b.png", "dirlink/b.png"},
		{dir + "/sub/../sub/b.png", "sub/b.png"},
		{odd, odd},
	} {
		_, meta, err := New(Options{Never: []string{"x/**"}}).Prepare(t.Context(), roots, c.name, Params{})
		if err != nil || meta.Path != c.path {
			t.Errorf("%q: %v, path %q", c.name, err, meta.Path)
		}
	}
}

func TestAttachmentsAreAskedSecond(t *testing.T) {
	dir, other, _ := folder(t)
	write(t, filepath.Join(other, "a.png"), pngOf(t, page(77, 20)))
	roots := open(t, dir, other)
	for name, width := range map[string]int{"a.png": 30, "secret.png": 99, filepath.Join(other, "secret.png"): 99} {
		_, meta, err := New(Options{}).Prepare(t.Context(), roots, name, Params{})
		if err != nil || meta.Source.Width != width {
			t.Errorf("%s: %v, %+v", name, err, meta)
		}
	}
}

func TestNamesThatLeadElsewhere(t *testing.T) {
	dir, outside, roots := folder(t)
	link := func(target, name string) { must(t, os.Symlink(target, filepath.Join(dir, name))) }
	link(filepath.Join(outside, "secret.png"), "out.png")
	link("../"+filepath.Base(outside)+"/secret.png", "up.png")
	link("out.png", "chain.png")
	link(outside, "outdir")
	link("loop.png", "loop.png")
	link("/proc/self/environ", "env.png")
	p := New(Options{Never: []string{"x/**"}})
	for _, c := range []struct {
		name string
		code Code
	}{
		{"", NotFound},
		{".", NotRegular},
		{"..", OutsideWorkspace},
		{"~", OutsideWorkspace},
		{"~/a.png", OutsideWorkspace},
		{"file:///a.png", NotFound},
		{"https://example.com/a.png", NotFound},
		{"a\x00.png", NotFound},
		{"../secret.png", OutsideWorkspace},
		{filepath.Join(outside, "secret.png"), OutsideWorkspace},
		{"/proc/self/environ", OutsideWorkspace},
		{"/dev/stdin", OutsideWorkspace},
		{dir + "/../" + filepath.Base(outside) + "/secret.png", OutsideWorkspace},
		{"out.png", OutsideWorkspace},
		{"up.png", OutsideWorkspace},
		{"chain.png", OutsideWorkspace},
		{"outdir/secret.png", OutsideWorkspace},
		{"env.png", OutsideWorkspace},
		{"loop.png", NotFound},
		{"none.png", NotFound},
		{"a.png/", NotRegular},
		{"a.png/b.png", NotFound},
		{"sub", NotRegular},
		{strings.Repeat("n", 300), NotFound},
		{strings.Repeat("n/", 2100) + "a.png", NotFound},
	} {
		t.Run(c.name[:min(len(c.name), 40)], func(t *testing.T) {
			begin := time.Now()
			opened(t, p, roots, c.code, c.name, outside)
			if took := time.Since(begin); took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestHardLinksAreRefusedUnlessTracked(t *testing.T) {
	dir, outside, roots := folder(t)
	must(t, os.Link(filepath.Join(outside, "secret.png"), filepath.Join(dir, "hard.png")))
	opened(t, New(Options{}), roots, NotAllowed, "hard.png", outside)
	tracked := New(Options{Tracked: func(name string) bool { return name == "hard.png" }})
	if _, _, err := tracked.Prepare(t.Context(), roots, "hard.png", Params{}); err != nil {
		t.Error(err)
	}
}

func TestForbiddenPathsHaveNoOtherName(t *testing.T) {
	dir, outside, roots := folder(t)
	write(t, filepath.Join(dir, "secrets", "c.png"), pngOf(t, page(9, 9)))
	write(t, filepath.Join(dir, "deep", "secrets", "c.png"), pngOf(t, page(9, 9)))
	must(t, os.Symlink("secrets/c.png", filepath.Join(dir, "alias.png")))
	must(t, os.Symlink("deep/../secrets", filepath.Join(dir, "pub")))
	p := New(Options{Never: []string{"**/secrets/**"}})
	for _, name := range []string{"secrets/c.png", "deep/secrets/c.png", "sub/../secrets/c.png", "alias.png", "pub/c.png", filepath.Join(dir, "secrets/c.png")} {
		opened(t, p, roots, NotAllowed, name, outside)
	}
	if _, _, err := p.Prepare(t.Context(), roots, "a.png", Params{}); err != nil {
		t.Error(err)
	}
}

func TestTheSizeIsHeldBeforeReading(t *testing.T) {
	dir, outside, roots := folder(t)
	sparse := filepath.Join(dir, "sparse.png")
	write(t, sparse, nil)
	must(t, os.Truncate(sparse, 1<<40))
	opened(t, New(Options{}), roots, TooLargeBytes, "sparse.png", outside)
	data := pngOf(t, page(300, 200))
	exact := New(Options{MaxBytes: int64(len(data))})
	write(t, filepath.Join(dir, "c.png"), data)
	if _, _, err := exact.Prepare(t.Context(), roots, "c.png", Params{}); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "c.png"), append(data, 0))
	opened(t, exact, roots, TooLargeBytes, "c.png", outside)
	write(t, filepath.Join(dir, "full.png"), append(bytes.Clone(data), make([]byte, maxBytes-len(data))...))
	if _, _, err := New(Options{}).Prepare(t.Context(), roots, "full.png", Params{}); err != nil {
		t.Errorf("exactly 40 MiB: %v", err)
	}
}

func TestUnreadableFilesGiveTheReason(t *testing.T) {
	err := openRefusal("a.png", &fs.PathError{Op: "open", Path: "/somewhere/a.png", Err: syscall.EACCES})
	refusal := wantCode(t, NotAllowed, err, nil, vmeta)
	if !strings.Contains(refusal.Message, "permission denied") || strings.Contains(refusal.Message, "somewhere") {
		t.Error(refusal.Message)
	}
	refusal = wantCode(t, NotFound, openRefusal("a.png", &fs.PathError{Op: "open", Path: "/somewhere/a.png", Err: syscall.EIO}), nil, vmeta)
	if !strings.Contains(refusal.Message, "input/output error") {
		t.Error(refusal.Message)
	}
}

func TestAFileThatChangesIsReadOnceMoreThenRefused(t *testing.T) {
	dir, outside, roots := folder(t)
	path := filepath.Join(dir, "a.png")
	must(t, os.Link(path, filepath.Join(dir, "twin.png"))) // so that Tracked is asked, between the first look and the reading
	for writes, code := range map[int]Code{1: "", 2: ChangedWhileReading} {
		left := writes
		p := New(Options{Tracked: func(string) bool {
			if left--; left >= 0 {
				data, err := os.ReadFile(path)
				must(t, err)
				must(t, os.WriteFile(path, append(data, 'x'), 0o600))
			}
			return true
		}})
		if code != "" {
			opened(t, p, roots, code, "a.png", outside)
			continue
		}
		if _, meta, err := p.Prepare(t.Context(), roots, "a.png", Params{}); err != nil || meta.Source.Width != 30 {
			t.Errorf("changed once: %v, %+v", err, meta)
		}
	}
}

func TestWindowsNamesThatAreNoFiles(t *testing.T) {
	for _, name := range []string{
		"CON", "nul.png", "sub/COM1", "lpt9.txt", "a.png:stream", "a.png.", "a.png ", `\\?\C:\a.png`, `\\server\share\a.png`, "aux .png", `sub\CONIN$`,
	} {
		if err := checkName(name, "windows"); err == nil {
			t.Errorf("%q would be opened on Windows", name)
		}
	}
	for _, name := range []string{"console.png", "com.png", "comic.png", `C:\work\a.png`, "a.b.png", "sub/../a.png"} {
		if err := checkName(name, "windows"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := checkName("nul.png", "linux"); err != nil {
		t.Errorf("nul.png is a good name elsewhere: %v", err)
	}
}
