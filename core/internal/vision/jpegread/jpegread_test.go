package jpegread

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// publicFiles are the JPEGs that come with Go.
func publicFiles(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", "image", "testdata", "*.jpeg"))
	if err != nil || len(files) < 20 {
		tb.Fatalf("Go's own test pictures: %d, %v", len(files), err)
	}
	return files
}

func TestPublicFilesAsTheStandardDecoderHasThem(t *testing.T) {
	t.Parallel()
	ours := 0
	for _, f := range publicFiles(t) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if what, _ := differ(t.Context(), data, 1); what != "" {
			t.Errorf("%s: %s", filepath.Base(f), what)
		}
		if _, ok := Open(data); ok {
			ours++
		}
	}
	if ours < 10 {
		t.Errorf("only %d files are decoded here", ours)
	}
}
