package toolbox

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/relo-dev/relo/core/internal/tool"
)

//go:embed grep.md
var grepWords string

const grepSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
"pattern":{"type":"string","minLength":1,"description":"a regular expression (Go, RE2); (?i) in front ignores case"},
"path":{"type":"string","description":"the file or folder to search; the workspace when absent"},
"glob":{"type":"string","minLength":1,"description":"only files whose name or path matches, such as *.go or src/**/*.ts"}}}`

type grepArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
}

func (b *Box) grep() tool.Tool {
	return newAct("grep", grepWords, grepSchema, func(ctx context.Context, a grepArgs) tool.Result {
		name, err := b.rel(a.Path)
		if err != nil {
			return tool.Fail(err.Error())
		}
		re, err := regexp.Compile(a.Pattern)
		if err != nil {
			return tool.Fail(fmt.Sprintf("pattern is not a regular expression: %v; escape what is meant literally with \\", err))
		}
		if a.Glob != "" && !doublestar.ValidatePattern(a.Glob) {
			return tool.Fail(fmt.Sprintf("glob %q is not complete; pass one such as *.go", a.Glob))
		}
		s := search{box: b, re: re, glob: a.Glob}
		whole, err := b.walk(ctx, filepath.ToSlash(name), s.visit)
		if err != nil {
			return tool.Fail(err.Error())
		}
		return tool.Result{Text: s.answer(whole)}
	})
}

// search collects the lines of one grep.
type search struct {
	box     *Box
	re      *regexp.Regexp
	glob    string
	out     strings.Builder
	hits    int
	skipped int // files that were too large
}

// visit searches one file and reports whether there is room for more.
func (s *search) visit(p string) bool {
	if s.glob != "" && !doublestar.MatchUnvalidated(s.glob, p) && !doublestar.MatchUnvalidated(s.glob, path.Base(p)) {
		return true
	}
	data, _, err := s.box.load(p)
	if err != nil {
		s.skipped++
		return true
	}
	if isBinary(data) {
		return true
	}
	for i, line := range strings.Split(string(data), "\n") {
		if !s.re.MatchString(line) {
			continue
		}
		if s.hits == maxHits || s.out.Len() > maxAnswer {
			return false
		}
		s.hits++
		fmt.Fprintf(&s.out, "%s:%d: %s\n", p, i+1, cut(strings.TrimSuffix(line, "\r"), maxHit))
	}
	return true
}

func (s *search) answer(whole bool) string {
	if s.hits == 0 {
		s.out.WriteString("no line matches\n")
	}
	if !whole {
		s.out.WriteString("(there may be more; narrow the pattern, the path or the glob)\n")
	}
	if s.skipped > 0 {
		fmt.Fprintf(&s.out, "(%d files were passed over: too large or not readable)\n", s.skipped)
	}
	return strings.ToValidUTF8(s.out.String(), "\uFFFD")
}
