package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the import path of the repository's root.
const module = "github.com/relo-dev/relo"

// file is one Go source file.
type file struct {
	name  string // slash path from the root of the repository
	pkg   string // the package's place as docs/floors.txt writes it
	test  bool   // ends in _test.go
	lines int
	made  bool // carries the mark of generated code
	ast   *ast.File
}

// tree is the Go source below core, parsed and not type-checked.
type tree struct {
	fset  *token.FileSet
	files []file
}

// place turns a folder into the name that docs/floors.txt uses: what is below
// core/internal without that prefix, anything else below core without "core/".
func place(dir string) string {
	if p, ok := strings.CutPrefix(dir, "core/internal/"); ok {
		return p
	}
	return strings.TrimPrefix(dir, "core/")
}

// skipped reports folders that hold no source of ours.
func skipped(dir string) bool {
	base := path.Base(dir)
	return base == "testdata" || base == "node_modules" || base == "bin" || base == "tmp" ||
		(base != "." && base != ".ci" && strings.HasPrefix(base, "."))
}

// walk calls visit for every file outside the skipped folders.
func walk(root fs.FS, visit func(name string) error) error {
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return visit(name)
	})
}

// load parses every Go file below core.
func load(root fs.FS) (tree, error) {
	t := tree{fset: token.NewFileSet()}
	err := walk(root, func(name string) error {
		if !strings.HasPrefix(name, "core/") || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		t.files = append(t.files, file{
			name: name, pkg: place(path.Dir(name)), test: strings.HasSuffix(name, "_test.go"),
			lines: bytes.Count(src, []byte("\n")), made: ast.IsGenerated(parsed), ast: parsed,
		})
		return nil
	})
	return t, err
}

// packages gives the places of all packages, sorted.
func (t tree) packages() []string {
	var all []string
	for _, f := range t.files {
		all = append(all, f.pkg)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// line gives file:line of a position, for a fault that somebody has to find.
func (t tree) line(p token.Pos) string {
	at := t.fset.Position(p)
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}

// imports gives the import paths of a file.
func (f file) imports() []string {
	var all []string
	for _, s := range f.ast.Imports {
		if p, err := strconv.Unquote(s.Path.Value); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// repo is the root of the repository that this test runs in.
func repo(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}

// source parses the repository that this test runs in.
func source(t *testing.T) tree {
	t.Helper()
	all, err := load(os.DirFS(repo(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(all.packages()) < 5 {
		t.Fatalf("found only %v: the walk is broken", all.packages())
	}
	return all
}

// report fails the test with every fault, one a line.
func report(t *testing.T, faults []string) {
	t.Helper()
	for _, f := range faults {
		t.Error(f)
	}
}

// expect checks that a rule finds what was planted for it: as many faults as
// words, each holding its word, in order.
func expect(t *testing.T, faults []string, words ...string) {
	t.Helper()
	if len(faults) != len(words) {
		t.Fatalf("got %d faults, want %d: %q", len(faults), len(words), faults)
	}
	for i, w := range words {
		if !strings.Contains(faults[i], w) {
			t.Errorf("fault %q does not say %q", faults[i], w)
		}
	}
}
