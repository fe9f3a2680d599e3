package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// notRun begins the message of every skip; the house's tests see to it.
const notRun = "not run:"

// maxLine is the longest line of go test that is read: a test that prints a
// whole picture in hex stays below it.
const maxLine = 8 << 20

// event is one line of go test -json; see "go doc test2json".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// key names one test, or a package when test is empty.
type key struct{ pkg, test string }

// summary is what a run of go test came to.
type summary struct {
	passed  int
	failed  []key
	skipped []skip
}

// skip is a test that was not run, and why.
type skip struct {
	key
	why string
}

// read follows go test -json. It prints what go test prints without -v: a line
// for each package, and everything that a failing test said.
func read(in io.Reader, out io.Writer) (summary, error) {
	var s summary
	said := map[key][]string{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			_, _ = fmt.Fprintln(out, lines.Text()) // go test speaks plainly when a build fails
			continue
		}
		k := key{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			s.hear(k, e, said, out)
			continue
		case "pass":
			if e.Test != "" {
				s.passed++
			}
		case "fail":
			s.failed = append(s.failed, k)
			_, _ = io.WriteString(out, strings.Join(said[k], ""))
		case "skip":
			if e.Test != "" {
				s.skipped = append(s.skipped, skip{k, reason(said[k])})
			}
		default:
			continue
		}
		delete(said, k)
	}
	return s, lines.Err()
}

// hear prints a package's result and the compiler's words at once, and keeps
// what a test says until its end is known.
func (s *summary) hear(k key, e event, said map[key][]string, out io.Writer) {
	switch {
	case e.Action == "build-output":
		_, _ = io.WriteString(out, e.Output)
	case k.test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t")):
		_, _ = io.WriteString(out, e.Output)
	case k.test == "" && (e.Output == "PASS\n" || e.Output == "FAIL\n" || strings.HasPrefix(e.Output, "?")):
	default:
		said[k] = append(said[k], e.Output)
	}
}

// reason finds the words of a skip in what the test said.
func reason(said []string) string {
	text := strings.Join(said, "")
	if _, why, ok := strings.Cut(text, notRun); ok {
		why, _, _ = strings.Cut(why, "\n--- SKIP")
		return strings.Join(strings.Fields(why), " ")
	}
	return "no reason given"
}

// tell prints the end: the counts, then loudly what was not run, one line a
// reason with the tests that gave it.
func (s *summary) tell(out io.Writer) {
	_, _ = fmt.Fprintf(out, "\n%d passed, %d failed, %d not run\n", s.passed, len(s.failed), len(s.skipped))
	for _, k := range s.failed {
		if k.test != "" {
			_, _ = fmt.Fprintf(out, "FAILED   %s %s\n", k.pkg, k.test)
		}
	}
	tests := map[string][]string{}
	var reasons []string
	for _, k := range s.skipped {
		if tests[k.why] == nil {
			reasons = append(reasons, k.why)
		}
		tests[k.why] = append(tests[k.why], k.test)
	}
	slices.Sort(reasons)
	for _, why := range reasons {
		_, _ = fmt.Fprintf(out, "NOT RUN  %s\n           %s\n", why, strings.Join(tests[why], " "))
	}
}
