package toolbox

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/relo-dev/relo/core/internal/tool"
)

//go:embed ls.md
var lsWords string

const lsSchema = `{"type":"object","additionalProperties":false,"properties":{
"path":{"type":"string","description":"the folder, relative to the workspace; the workspace itself when absent"}}}`

type lsArgs struct {
	Path string `json:"path"`
}

func (b *Box) ls() tool.Tool {
	return newAct("ls", lsWords, lsSchema, func(_ context.Context, a lsArgs) tool.Result {
		name, err := b.rel(a.Path)
		if err != nil {
			return tool.Fail(err.Error())
		}
		entries, err := fs.ReadDir(b.root.FS(), filepath.ToSlash(name))
		if err != nil {
			return tool.Fail(words(name, err).Error())
		}
		if len(entries) == 0 {
			return tool.Result{Text: "(the folder is empty)"}
		}
		var out strings.Builder
		for i, e := range entries {
			if i == maxNames || out.Len() > maxAnswer {
				fmt.Fprintf(&out, "(%d more; use glob with a pattern)\n", len(entries)-i)
				break
			}
			out.WriteString(entryLine(e))
		}
		return tool.Result{Text: strings.ToValidUTF8(out.String(), "\uFFFD")}
	})
}

func entryLine(e fs.DirEntry) string {
	switch {
	case e.IsDir():
		return e.Name() + "/\n"
	case e.Type()&fs.ModeSymlink != 0:
		return e.Name() + " (link)\n"
	case !e.Type().IsRegular():
		return e.Name() + " (not a regular file)\n"
	}
	info, err := e.Info()
	if err != nil {
		return e.Name() + "\n" // gone since it was listed
	}
	return fmt.Sprintf("%s (%d bytes)\n", e.Name(), info.Size())
}
