package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeneratedPagesAreCurrent(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..", "..")
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v: run make generate", err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is old, run make generate (-code +page):\n%s", name, diff)
		}
	}
	old, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(manDir), "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range old {
		if all[manDir+"/"+filepath.Base(file)] == nil {
			t.Errorf("%s is of a command that is gone: run make generate", file)
		}
	}
}

func TestPagesAreTheSameEveryTime(t *testing.T) {
	first, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	second, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range first {
		if !bytes.Equal(text, second[name]) {
			t.Errorf("%s differs from run to run", name)
		}
		// A folder of the machine that the page was made on would show here.
		if home, err := os.UserHomeDir(); err == nil && len(home) > 1 && strings.Contains(string(text), home+"/") {
			t.Errorf("%s names %s", name, home)
		}
	}
}

func TestWhatIsGoneIsRemoved(t *testing.T) {
	root := t.TempDir()
	gone := filepath.Join(root, filepath.FromSlash(manDir), "relo-gone.1")
	if err := os.MkdirAll(filepath.Dir(gone), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(filepath.Join(root, "docs", "reference", "cli.md")); err != nil || !bytes.Contains(text, []byte("## relo run")) {
		t.Errorf("%v, %d bytes", err, len(text))
	}
}
