package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/vision/picture"
)

// largePage is a PNG of the size of a 4K screen.
func largePage(t testing.TB) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 3840, 2160))
	for i := range m.Pix {
		m.Pix[i] = 255
		if i%4 != 3 && i/4%977 < 40 {
			m.Pix[i] = uint8(i / 4 % 256)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheProgramsOwnChildPreparesPictures(t *testing.T) {
	t.Parallel()
	data := largePage(t)
	var child *exec.Cmd
	kids := picture.NewChildren(func() (*exec.Cmd, error) {
		child = exec.Command(binary, app.PictureChild) //nolint:noctx // it is killed by its owner
		child.Env, child.Dir = []string{}, "/"
		return child, nil
	})
	defer kids.Close()
	with, meta, err := picture.New(picture.Options{Children: kids}).PrepareBytes(t.Context(), data, "a.png", picture.Params{})
	if err != nil || child == nil {
		t.Fatalf("%v, a child: %v", err, child != nil)
	}
	without, _, err := picture.New(picture.Options{}).PrepareBytes(t.Context(), data, "a.png", picture.Params{})
	if err != nil || with.SHA256 != without.SHA256 || meta.Sent.Width != picture.DefaultMaxEdge {
		t.Errorf("%v: the child gave %s, this process %s", err, with.SHA256, without.SHA256)
	}
	if runtime.GOOS != "linux" {
		return // what follows is read from /proc
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", child.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		for _, what := range []string{"Max data size", "Max cpu time", "Max file size", "Max core file size"} {
			if soft := strings.Fields(strings.TrimPrefix(line, what)); strings.HasPrefix(line, what) && soft[0] == "unlimited" {
				t.Errorf("the child has no limit: %s", line)
			}
		}
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", child.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", child.Process.Pid, f.Name()))
		if err == nil && strings.HasPrefix(to, "/") && to != "/dev/null" && !strings.HasPrefix(to, "/sys/fs/cgroup/") { // Go's runtime reads how many cores it has
			t.Errorf("the child holds %s", to)
		}
	}
}

func TestAPictureChildEndsWithItsInput(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{"nothing": "", "no frame": strings.Repeat("x", 100), "half a frame": "\x00\x00\x00\x02"} {
		cmd := exec.CommandContext(t.Context(), binary, app.PictureChild)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if (err == nil) != (in == "") || in != "" && len(out) == 0 {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
}

func TestRelosImageUsesAChildAndLeavesNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{})
	dir := t.TempDir()
	for name, data := range map[string][]byte{"large.png": largePage(t), "broken.png": largePage(t)[:20000]} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := w.relo("image", "--root", dir, "large.png", "broken.png", "--out", filepath.Join(dir, "out"))
	if r.exit != 1 || !strings.Contains(r.stdout, "1568x882") || !strings.Contains(r.stderr, "damaged") {
		t.Fatalf("%d\n%s\n%s", r.exit, r.stdout, r.stderr)
	}
	sent, err := os.ReadFile(filepath.Join(dir, "out", "large-0.png"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(sent))
	if err != nil || m.Bounds().Dx() != 1568 || color.NRGBAModel.Convert(m.At(700, 400)).(color.NRGBA).A != 255 {
		t.Errorf("%v", err)
	}
	links, err := filepath.Glob("/proc/[0-9]*/exe") // none on other systems
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		exe, err := os.Readlink(link)
		if err != nil || exe != binary {
			continue
		}
		words, err := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		state, gone := os.ReadFile(filepath.Join(filepath.Dir(link), "status"))
		// Other tests run beside this one; what nobody owns any more is left.
		if err == nil && gone == nil && bytes.Contains(words, []byte(app.PictureChild)) && bytes.Contains(state, []byte("\nPPid:\t1\n")) {
			t.Errorf("%s is left: %q", link, words)
		}
	}
}
