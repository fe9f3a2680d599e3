package pngread

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// sets are folders of pictures that others made: the Go distribution's, which has the PNG suite, and x/image's.
func sets(tb testing.TB) []string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/image").Output()
	if err != nil {
		tb.Fatalf("where is golang.org/x/image: %v", err)
	}
	root, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src", "image")
	return []string{filepath.Join(src, "png", "testdata"), filepath.Join(src, "testdata"), strings.TrimSpace(string(out))}
}

func TestPublicSetsAreReadAsTheStandardDecoderDoes(t *testing.T) {
	t.Parallel()
	sound, refused, left := 0, 0, 0
	for _, dir := range sets(t) {
		err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(name) != ".png" {
				return err
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			switch opened, ok := differTwice(t, data); {
			case ok:
				sound++
			case opened:
				refused++
			default:
				left++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d sound, %d refused, %d left to the standard decoder (%s)", sound, refused, left, runtime.Version())
	if sound < 60 || refused < 3 || left < 3 {
		t.Errorf("%d sound, %d refused, %d left: the sets are not all there", sound, refused, left)
	}
}
