package toolbox

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/relo-dev/relo/core/internal/tool"
)

//go:embed edit.md
var editWords string

const editSchema = `{"type":"object","additionalProperties":false,"required":["path","old","new"],"properties":{
"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},
"old":{"type":"string","minLength":1,"description":"the text to replace, exactly as it stands in the file, without line numbers"},
"new":{"type":"string","description":"the text to put in its place"}}}`

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

func (b *Box) edit() tool.Tool {
	return newAct("edit", editWords, editSchema, func(_ context.Context, a editArgs) tool.Result {
		name, err := b.target(a.Path)
		if err != nil {
			return tool.Fail(err.Error())
		}
		data, _, err := b.load(name)
		if err != nil {
			return tool.Fail(err.Error())
		}
		shown := filepath.ToSlash(name)
		if isBinary(data) {
			return tool.Fail(shown + " is not text; make it with a program through bash")
		}
		text, fault := replaceOnce(shown, string(data), a.Old, a.New)
		if fault != "" {
			return tool.Fail(fault)
		}
		if _, err := b.save(name, []byte(text)); err != nil {
			return tool.Fail(err.Error())
		}
		line := 1 + strings.Count(text[:commonPrefix(text, string(data))], "\n")
		return tool.Result{Text: fmt.Sprintf("edited %s at line %d: %d lines became %d", shown, line, countLines(a.Old), countLines(a.New))}
	})
}

// replaceOnce replaces the only occurrence of old. The fault, when there is one,
// says how many there are and what to do.
func replaceOnce(name, text, old, new string) (out, fault string) {
	if old == new {
		return "", "old and new are the same; nothing to do"
	}
	if strings.Contains(text, "\r\n") && !strings.Contains(old, "\r\n") && strings.Contains(old, "\n") {
		// The model writes line ends as it was shown them; the file keeps its own.
		old, new = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(new, "\n", "\r\n")
	}
	switch n := strings.Count(text, old); n {
	case 1:
		return strings.Replace(text, old, new, 1), ""
	case 0:
		hint := "read the part again and copy it exactly"
		if strings.Contains(squeeze(text), squeeze(old)) {
			hint = "it is there with other spaces or line ends; " + hint
		}
		return "", fmt.Sprintf("old was found 0 times in %s; %s", name, hint)
	default:
		return "", fmt.Sprintf("old was found %d times in %s (lines %s); take more of the text around it so that it is the only one",
			n, name, places(text, old))
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// places lists the lines of the first occurrences.
func places(text, old string) string {
	const most = 8
	var list []string
	for at := 0; len(list) < most; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		list = append(list, fmt.Sprint(1+strings.Count(text[:at+i], "\n")))
		at += i + len(old)
	}
	return strings.Join(list, ", ")
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
