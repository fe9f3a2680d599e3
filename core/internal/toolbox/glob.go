package toolbox

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/relo-dev/relo/core/internal/tool"
)

//go:embed glob.md
var globWords string

const globSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
"pattern":{"type":"string","minLength":1,"description":"such as **/*.go or src/{a,b}/*.ts, relative to path"},
"path":{"type":"string","description":"the folder to look in; the workspace when absent"}}}`

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func (b *Box) glob() tool.Tool {
	return newAct("glob", globWords, globSchema, func(ctx context.Context, a globArgs) tool.Result {
		name, err := b.rel(a.Path)
		if err != nil {
			return tool.Fail(err.Error())
		}
		pattern := strings.TrimPrefix(filepath.ToSlash(a.Pattern), "./")
		if !doublestar.ValidatePattern(pattern) {
			return tool.Fail(fmt.Sprintf("pattern %q is not complete; pass one such as **/*.go", a.Pattern))
		}
		base := filepath.ToSlash(name)
		var found []string
		whole, err := b.walk(ctx, base, func(p string) bool {
			if doublestar.MatchUnvalidated(pattern, below(base, p)) {
				found = append(found, p)
			}
			return len(found) <= maxNames
		})
		switch {
		case err != nil:
			return tool.Fail(err.Error())
		case len(found) == 0 && whole:
			return tool.Result{Text: "no file matches " + a.Pattern}
		}
		return tool.Result{Text: strings.ToValidUTF8(listing(found, whole), "\uFFFD")}
	})
}

func listing(found []string, whole bool) string {
	var out strings.Builder
	for i, p := range found {
		if i == maxNames || out.Len() > maxAnswer {
			whole = false
			break
		}
		out.WriteString(p + "\n")
	}
	if !whole {
		out.WriteString("(there may be more; narrow the pattern or the path)\n")
	}
	return out.String()
}

// below is p without its base folder.
func below(base, p string) string {
	if base == "." {
		return p
	}
	return strings.TrimPrefix(strings.TrimPrefix(p, base), "/")
}

var errEnough = errors.New("enough")

// walk calls visit with the slash path of every regular file below base, in
// order, until visit says no. Links are not followed, .git is left out, and what
// cannot be read is passed over. whole is false when it stopped before the end.
func (b *Box) walk(ctx context.Context, base string, visit func(p string) bool) (whole bool, err error) {
	seen := 0
	err = fs.WalkDir(b.root.FS(), base, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == base:
			return words(p, err)
		case err != nil:
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case path.Base(p) == ".git" && p != base:
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if seen++; seen > maxWalk {
			return errEnough
		}
		if e.Type().IsRegular() && !visit(p) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return false, nil
	}
	return err == nil, err
}
