package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// notRun is how every message of a skipped test begins; make check collects
// these and prints them last, so a skip is never silent.
const notRun = "not run:"

// sleepers are test files that may wait by the real clock, each with its reason.
var sleepers = map[string]string{
	"core/internal/toolbox/command_test.go": "polls for what a real child process did; no bubble's clock moves a process",
}

// checkSkips finds skips that do not say what was not run.
func checkSkips(t tree) []string {
	var faults []string
	for _, f := range t.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || (sel.Sel.Name != "Skip" && sel.Sel.Name != "Skipf" && sel.Sel.Name != "SkipNow") || !f.test {
				return true
			}
			if len(call.Args) == 0 || !strings.HasPrefix(leading(call.Args[0]), notRun) {
				faults = append(faults, fmt.Sprintf("%s: a skip's message begins with %q and says how to run it", t.line(call.Pos()), notRun))
			}
			return true
		})
	}
	return faults
}

// leading gives the text that a string expression is known to begin with.
func leading(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			if err == nil {
				return text
			}
		}
	case *ast.BinaryExpr:
		return leading(e.X)
	}
	return ""
}

// checkSleeps finds tests that wait by the real clock: time.Sleep in a test file
// outside of a synctest bubble. core/e2e watches real processes and may.
func checkSleeps(t tree, exempt map[string]string) []string {
	var faults []string
	for _, f := range t.files {
		if !f.test || f.pkg == "e2e" || exempt[f.name] != "" {
			continue
		}
		inBubble := map[ast.Node]bool{}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch {
			case isCall(call, "synctest", "Test"):
				ast.Inspect(call, func(in ast.Node) bool { inBubble[in] = true; return true })
			case isCall(call, "time", "Sleep") && !inBubble[call]:
				faults = append(faults, fmt.Sprintf("%s: time.Sleep outside of a synctest bubble", t.line(call.Pos())))
			}
			return true
		})
	}
	return faults
}

// isCall reports a call of pkg.name.
func isCall(call *ast.CallExpr, pkg, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

func TestSkipsAreLoud(t *testing.T) {
	report(t, checkSkips(source(t)))
}

func TestNobodyWaitsByTheRealClock(t *testing.T) {
	report(t, checkSleeps(source(t), sleepers))
}

func TestTheTestRulesFindWhatBreaksThem(t *testing.T) {
	all := parsed(t, fstest.MapFS{
		"core/internal/a/a_test.go": {Data: []byte(`package a

func TestA(t *testing.T) {
	t.Skip("not run: needs a browser; make e2e")
	t.Skip("not run: " + why)
	t.Skip("later")
	t.SkipNow()
	t.Skipf(format)
	synctest.Test(t, func(t *testing.T) { time.Sleep(time.Second) })
	time.Sleep(time.Second)
}
`)},
		"core/internal/a/b_test.go": {Data: []byte("package a\n\nfunc b() { time.Sleep(1) }\n")},
		"core/e2e/a_test.go":        {Data: []byte("package e2e\n\nfunc c() { time.Sleep(1) }\n")},
	})
	expect(t, checkSkips(all), "a_test.go:6", "a_test.go:7", "a_test.go:8")
	expect(t, checkSleeps(all, map[string]string{"core/internal/a/b_test.go": "planted"}), "a_test.go:10")
}
