package house

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// wellKnown are methods whose name is the whole story: the standard library
// says what they do.
var wellKnown = []string{"Error", "String", "Unwrap", "Read", "Write", "Close", "ServeHTTP", "Len", "Less", "Swap"}

// vague are package names that say nothing about what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "misc", "base", "shared"}

// checkPromises finds packages without exactly one package comment, and names
// that promise nothing.
func checkPromises(t tree) []string {
	var faults []string
	for _, p := range t.packages() {
		var files, documented []string
		onlyTests := !slices.ContainsFunc(t.files, func(f file) bool { return f.pkg == p && !f.test })
		for _, f := range t.files {
			if f.pkg != p || (f.test && !onlyTests) {
				continue
			}
			files = append(files, f.name)
			if f.ast.Doc != nil {
				documented = append(documented, f.name)
			}
		}
		if len(documented) != 1 {
			faults = append(faults, fmt.Sprintf("%s has %d package comments in %d files, not one: %v", p, len(documented), len(files), documented))
		}
		if slices.Contains(vague, p[strings.LastIndex(p, "/")+1:]) {
			faults = append(faults, fmt.Sprintf("%s: a name that says nothing about what is inside", p))
		}
	}
	return faults
}

// checkExported finds exported names without a comment, and init functions.
func checkExported(t tree) []string {
	var faults []string
	for _, f := range t.files {
		if f.test || f.made {
			continue
		}
		for _, d := range f.ast.Decls {
			for _, n := range bare(d) {
				faults = append(faults, fmt.Sprintf("%s: exported %s has no comment", t.line(n.Pos()), n.Name))
			}
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				faults = append(faults, fmt.Sprintf("%s: init runs behind everybody's back; make it a call", t.line(fn.Pos())))
			}
		}
	}
	return faults
}

// bare gives the exported names of a declaration that have no comment.
func bare(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && !hidden(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		return bareSpecs(d)
	}
	return nil
}

func bareSpecs(d *ast.GenDecl) []*ast.Ident {
	var names []*ast.Ident
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
				names = append(names, s.Name)
			}
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
					names = append(names, n)
				}
			}
		}
	}
	return names
}

// hidden reports methods that nobody outside can reach by their type, and the
// well-known ones.
func hidden(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	switch g := t.(type) {
	case *ast.IndexExpr:
		t = g.X
	case *ast.IndexListExpr:
		t = g.X
	}
	id, ok := t.(*ast.Ident)
	return !ok || !id.IsExported() || slices.Contains(wellKnown, d.Name.Name)
}

func TestEveryPackageMakesOnePromise(t *testing.T) {
	report(t, checkPromises(source(t)))
}

func TestEveryExportedNameIsCommented(t *testing.T) {
	report(t, checkExported(source(t)))
}

func TestTheCommentRulesFindWhatBreaksThem(t *testing.T) {
	all := parsed(t, fstest.MapFS{
		"core/internal/mute/a.go":  {Data: []byte("package mute\n\nfunc F() {}\n\ntype T struct{}\n\nfunc (t *T) M() {}\n\nfunc (T) String() string { return \"\" }\n")},
		"core/internal/util/a.go":  {Data: []byte("// Package util is vague.\npackage util\n\nfunc init() {}\n\nconst C = 1\n\nvar V = 1 // V is said\n")},
		"core/internal/twice/a.go": {Data: []byte("// Package twice is here.\npackage twice\n")},
		"core/internal/twice/b.go": {Data: []byte("// Package twice is there.\npackage twice\n\n// The group is said.\nconst (\n\tA = 1\n\tB = 2\n)\n")},
	})
	expect(t, checkPromises(all), "mute has 0", "twice has 2", "util: a name")
	expect(t, checkExported(all), "exported F", "exported T", "exported M", "init runs", "exported C")
}
