package picture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// quick bounds what is refused by its name or by what was opened: a tenth of a
// second is promised; a busy machine is given more.
const quick = time.Second

// refusedFile prepares a file that must be refused with the code, at once.
func refusedFile(t *testing.T, p *Preparer, roots Roots, name, outside string, codes ...Code) {
	t.Helper()
	begin := time.Now()
	pic, _, err := p.Prepare(t.Context(), roots, name, Params{})
	took := time.Since(begin)
	refusal, ok := errors.AsType[*Error](err)
	if !ok || !slices.Contains(codes, refusal.Code) {
		t.Errorf("%.60q: %v, want %v", name, err, codes)
		return
	}
	if len(pic.Bytes) > 0 || took > quick {
		t.Errorf("%.60q: pixels, or after %v", name, took)
	}
	if strings.Contains(refusal.Message, outside) || strings.ContainsFunc(refusal.Message, func(r rune) bool { return r < ' ' || r == 0x202e || r == 0xfffd }) {
		t.Errorf("%.60q: the words hold a folder outside or a character that controls: %s", name, refusal.Message)
	}
}

// shownFile prepares a file that must be shown, of this width.
func shownFile(t *testing.T, p *Preparer, roots Roots, name string, width int) vision.Meta {
	t.Helper()
	_, meta, err := p.Prepare(t.Context(), roots, name, Params{})
	if err != nil || meta.Source.Width != width {
		t.Errorf("%.60q: %v, %+v", name, err, meta)
	}
	return meta
}

func nameCases() []pictureCase {
	return []pictureCase{
		{name: "P77 a symbolic link from inside to inside", run: func(t *testing.T) {
			dir, _, roots := folder(t)
			for link, target := range map[string]string{"l.png": "a.png", "sub/up.png": "../a.png", "d": "sub", "chain.png": "l.png", "sub/deep": "../sub/../sub"} {
				must(t, os.Symlink(target, filepath.Join(dir, link)))
			}
			for name, width := range map[string]int{"l.png": 30, "sub/up.png": 30, "d/b.png": 31, "chain.png": 30, "d/up.png": 30, "sub/deep/b.png": 31} {
				shownFile(t, New(Options{}), roots, name, width)
				shownFile(t, New(Options{Never: []string{"x/**"}}), roots, name, width)
			}
		}},
		{name: "P78 a symbolic link that leads out, in a circle or nowhere", run: linksOut},
		{name: "P79 a parent folder that is swapped for a link while files are opened", run: func(t *testing.T) { renameRace(t, 5000) }},
		{name: "P80 a hard link to a file outside", run: func(t *testing.T) {
			dir, outside, roots := folder(t)
			must(t, os.Link(filepath.Join(outside, "secret.png"), filepath.Join(dir, "hard.png")))
			must(t, os.Symlink("hard.png", filepath.Join(dir, "soft.png")))
			for _, name := range []string{"hard.png", "soft.png", "./sub/../hard.png"} {
				refusedFile(t, New(Options{}), roots, name, outside, NotAllowed)
			}
			tracked := New(Options{Tracked: func(name string) bool { return name == "hard.png" }})
			shownFile(t, tracked, roots, "hard.png", 99)
			refusedFile(t, tracked, roots, "soft.png", outside, NotAllowed)
		}},
		{name: "P81 a pipe, with a writer and without", run: pipes},
		{name: "P82 a socket, a device, a folder", run: devices},
		{name: "P83 /proc and /dev", run: systemFiles},
	}
}

func linksOut(t *testing.T) {
	dir, outside, roots := folder(t)
	long := "l0.png"
	must(t, os.Symlink("a.png", filepath.Join(dir, long)))
	for i := 1; i < 300; i++ {
		next := fmt.Sprintf("l%d.png", i)
		must(t, os.Symlink(long, filepath.Join(dir, next)))
		long = next
	}
	for link, target := range map[string]string{
		"abs.png": filepath.Join(outside, "secret.png"), "up.png": "../" + filepath.Base(outside) + "/secret.png", "chain.png": "abs.png", "dir": outside, "updir": "..", "loop.png": "loop.png",
		"ping.png": "pong.png", "pong.png": "ping.png", "slash.png": filepath.Join(outside, "secret.png") + "/", "gone.png": "no/such.png", "self": ".", "root": "/", "deep.png": "sub/../../" + filepath.Base(outside) + "/secret.png",
		"inside-by-abs.png": filepath.Join(dir, "a.png"), // absolute links are refused wherever they lead: os.Root
	} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	for _, never := range [][]string{nil, {"x/**"}} {
		p := New(Options{Never: never})
		for _, name := range []string{"abs.png", "up.png", "chain.png", "dir/secret.png", "updir/" + filepath.Base(outside) + "/secret.png", "deep.png", "root/etc/passwd", "self/abs.png", "inside-by-abs.png"} {
			refusedFile(t, p, roots, name, outside, OutsideWorkspace)
		}
		for _, name := range []string{"loop.png", "ping.png", "gone.png", long} {
			refusedFile(t, p, roots, name, outside, NotFound)
		}
		// With a slash behind it a link is followed even where links are not (CVE-2026-39822).
		for _, name := range []string{"abs.png/", "dir/", "slash.png", "slash.png/", "loop.png/", "dir/secret.png/", "self/dir/secret.png/"} {
			refusedFile(t, p, roots, name, outside, OutsideWorkspace, NotFound, NotRegular)
		}
	}
}

func fileCases() []pictureCase {
	return []pictureCase{
		{name: "P85 a file that is replaced, written, cut or deleted meanwhile", run: changing},
		{name: "P86 a file that cannot be read", run: unreadable},
		{name: "P87 odd names", run: oddNames},
		// On Windows itself the same names are opened for real by the tests of the build for it.
		{name: "P88 names that Windows reads otherwise", run: func(t *testing.T) {
			for _, name := range []string{
				"CON", "con.png", "sub/NUL.png", "COM1", "com9.x.png", "LPT1 .png", "a.png:stream", "a.png::$DATA", "a.png.", "a.png ", "sub./a.png", `\\?\C:\x\a.png`, `\\.\pipe\x`, `\\server\share\a.png`, "//server/share/a.png", "CONOUT$", "AUX", "PRN.txt", "COM¹",
			} {
				refusal, ok := errors.AsType[*Error](checkName(name, "windows"))
				if !ok || refusal.Code != NotRegular {
					t.Errorf("%q would be opened: %v", name, refusal)
				}
			}
			for _, name := range []string{"console.png", "common/a.png", `C:\work\a.png`, "PROGRA~1/a.png", "a.b.c.png", "sub/../a.png", "COM.png", "COM10.png"} {
				if err := checkName(name, "windows"); err != nil {
					t.Errorf("%q: %v", name, err)
				}
			}
		}},
		{name: "P89 paths that are no paths, and those that lead inside", run: func(t *testing.T) {
			dir, outside, roots := folder(t)
			p := New(Options{})
			for name, code := range map[string]Code{
				"": NotFound, ".": NotRegular, "..": OutsideWorkspace, "~": OutsideWorkspace, "~/a.png": OutsideWorkspace, "~root/a.png": OutsideWorkspace, "file:///a.png": NotFound, "http://example.com/a.png": NotFound, "data:image/png;base64,x": NotFound,
				"./": NotRegular, "sub": NotRegular, "sub/": NotRegular, "sub/..": NotRegular, "../a.png": OutsideWorkspace, filepath.Join(outside, "secret.png"): OutsideWorkspace, "/": NotRegular, "/a.png": OutsideWorkspace, dir: NotRegular,
				dir + "/../" + filepath.Base(outside) + "/secret.png": OutsideWorkspace,
			} {
				refusedFile(t, p, roots, name, outside, code)
			}
			for _, name := range []string{"a.png", "./a.png", "sub/../a.png", "sub//../a.png", filepath.Join(dir, "a.png"), dir + "//a.png", dir + "/sub/../a.png", "no/such/../../a.png"} {
				if meta := shownFile(t, p, roots, name, 30); meta.Path != "a.png" {
					t.Errorf("%q is called %q", name, meta.Path)
				}
			}
		}},
		// That five paths and none are refused, and four of one decoded once, is package showing's.
		{name: "P90 one path four times", run: func(t *testing.T) {
			_, _, roots := folder(t)
			p := New(Options{})
			first := shownFile(t, p, roots, "a.png", 30)
			for range 3 {
				if again := shownFile(t, p, roots, "a.png", 30); again.SHA256 != first.SHA256 {
					t.Error("another picture")
				}
			}
		}},
	}
}

func unreadable(t *testing.T) {
	for errno, code := range map[syscall.Errno]Code{
		syscall.EACCES: NotAllowed, syscall.EPERM: NotAllowed, syscall.EIO: NotFound, syscall.ELOOP: NotFound, syscall.ENXIO: NotRegular, syscall.ENOENT: NotFound, syscall.EMFILE: NotFound,
	} {
		refusal, ok := errors.AsType[*Error](openRefusal("a.png", &fs.PathError{Op: "openat", Path: "/somewhere/else/a.png", Err: errno}))
		if !ok || refusal.Code != code || strings.Contains(refusal.Message, "somewhere") {
			t.Errorf("%v: %v", errno, refusal)
		}
		if says := errno.Error(); errno != syscall.ENOENT && errno != syscall.ENXIO && !strings.Contains(refusal.Message, says) {
			t.Errorf("%q does not give the system's reason, %q", refusal.Message, says)
		}
	}
	dir, outside, roots := folder(t)
	must(t, os.Chmod(filepath.Join(dir, "a.png"), 0))
	if os.Geteuid() == 0 {
		t.Log("not held: the superuser reads every file, so a mode of 000 is tried by its error alone")
		return
	}
	refusedFile(t, New(Options{}), roots, "a.png", outside, NotAllowed)
}

func oddNames(t *testing.T) {
	dir, outside, roots := folder(t)
	p := New(Options{})
	for _, name := range []string{
		"odd\nname.png", "bell\a.png", "back\u202egnp.a", "\xff\xfe\xfd.png", strings.Repeat("n", 251) + ".png", " leading.png", "trailing.png ", "-rf.png", "*.png", `a\b.png`, "é.png", "e\u0301.png", "%2e%2e.png", "a:b.png", "$(x).png", "\"quoted\".png", "'.png", "…/x.png", ".hidden.png", "...", "\u200b.png",
	} {
		write(t, filepath.Join(dir, name), pngOf(t, page(23, 9)))
		meta := shownFile(t, p, roots, name, 23)
		text, err := json.Marshal(meta)
		if err != nil || strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' }) {
			t.Errorf("%q is told as %s, %v", name, text, err)
		}
		refusedFile(t, New(Options{Never: []string{"**"}}), roots, name, outside, NotAllowed)
	}
	for name, code := range map[string]Code{
		"a\x00.png": NotFound, "\x00": NotFound, strings.Repeat("n", 256) + ".png": NotFound, strings.Repeat("n/", 2050) + "a.png": NotFound, strings.Repeat("n", 1<<20): NotFound, strings.Repeat("../", 2000) + "etc/passwd": OutsideWorkspace, "no\nsuch\u202e.png": NotFound, "\xff\xfe": NotFound,
	} {
		refusedFile(t, p, roots, name, outside, code)
	}
}
