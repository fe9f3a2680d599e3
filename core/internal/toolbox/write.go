package toolbox

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/relo-dev/relo/core/internal/tool"
)

//go:embed write.md
var writeWords string

const writeSchema = `{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{
"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},
"content":{"type":"string","description":"the whole new content"}}}`

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (b *Box) write() tool.Tool {
	return newAct("write", writeWords, writeSchema, func(_ context.Context, a writeArgs) tool.Result {
		name, err := b.target(a.Path)
		if err != nil {
			return tool.Fail(err.Error())
		}
		fresh, err := b.save(name, []byte(a.Content))
		if err != nil {
			return tool.Fail(err.Error())
		}
		verb := "replaced"
		if fresh {
			verb = "created"
		}
		return tool.Result{Text: fmt.Sprintf("%s %s, %d bytes, %d lines", verb, filepath.ToSlash(name), len(a.Content), countLines(a.Content))}
	})
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// save puts content at name: beside it first, then renamed over it, so that a
// reader never sees half a file and a hard link to somewhere else is broken
// instead of written through. The mode of an existing file is kept.
func (b *Box) save(name string, content []byte) (fresh bool, err error) {
	if len(content) > maxWrite {
		return false, fmt.Errorf("%s would be larger than %d MiB; make it with a program through bash", name, maxWrite>>20)
	}
	mode := fs.FileMode(0)
	info, err := b.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fresh = true
		if err := b.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return false, words(filepath.Dir(name), err)
		}
	case err != nil:
		return false, words(name, err)
	case info.IsDir():
		return false, fmt.Errorf("%s is a folder; pass the path of a file", name)
	case info.Mode().IsRegular():
		mode = info.Mode().Perm()
	case info.Mode().Type() != fs.ModeSymlink: // a dangling link is replaced
		return false, fmt.Errorf("%s is not a regular file", name)
	}
	return fresh, b.replace(name, content, mode)
}

func (b *Box) replace(name string, content []byte, mode fs.FileMode) error {
	beside := filepath.Join(filepath.Dir(name), ".relo-write-"+rand.Text())
	f, err := b.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return words(name, err)
	}
	_, err = f.Write(content)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = b.root.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(words(name, err), b.root.Remove(beside))
	}
	return nil
}
