package toolbox

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/relo-dev/relo/core/internal/tool"
)

//go:embed read.md
var readWords string

const readSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},
"offset":{"type":"integer","minimum":1,"description":"the first line to give, counted from 1"},
"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"how many lines; 2000 when absent"}}}`

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

func (b *Box) read() tool.Tool {
	return newAct("read", readWords, readSchema, func(_ context.Context, a readArgs) tool.Result {
		name, err := b.rel(a.Path)
		if err != nil {
			return tool.Fail(err.Error())
		}
		data, _, err := b.load(name)
		if err != nil {
			return tool.Fail(err.Error())
		}
		shown := filepath.ToSlash(name)
		if kind := pictureKind(data); kind != "" {
			return tool.Result{Text: fmt.Sprintf("%s is a picture (%s, %d bytes), and read gives text only. "+
				"relo_image shows it, when you have that tool; otherwise relo_describe, when you have it, answers questions about it.",
				shown, kind, len(data))}
		}
		if bytes.HasPrefix(data, []byte("%PDF-")) {
			return readPDF(shown, data, a)
		}
		if isBinary(data) {
			return tool.Fail(fmt.Sprintf("%s is not text (%s, %d bytes); look into it with a program through bash (file, xxd, strings)",
				shown, http.DetectContentType(data), len(data)))
		}
		return tool.Result{Text: lines(shown, string(data), a)}
	})
}

// lines gives numbered lines from offset on, and says what it left out.
func lines(name, text string, a readArgs) string {
	if text == "" {
		return fmt.Sprintf("(%s is empty)", name)
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	first, limit := max(a.Offset, 1), a.Limit
	if limit == 0 {
		limit = maxLines
	}
	if first > len(all) {
		return fmt.Sprintf("(%s has %d lines; offset %d is past its end)", name, len(all), first)
	}
	var out strings.Builder
	next := first
	for next <= len(all) && next < first+limit && out.Len() < maxAnswer {
		fmt.Fprintf(&out, "%6d\t%s\n", next, cut(strings.TrimSuffix(all[next-1], "\r"), maxLine))
		next++
	}
	if next <= len(all) {
		fmt.Fprintf(&out, "(lines %d to %d of %d; go on with offset %d)\n", first, next-1, len(all), next)
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

// cut shortens a line to at most most characters and says so.
func cut(line string, most int) string {
	if len(line) <= most || utf8.RuneCountInString(line) <= most {
		return line
	}
	r := []rune(line)
	return fmt.Sprintf("%s… (%d more characters)", string(r[:most]), len(r)-most)
}

// isBinary looks for a zero byte at the beginning, as git does.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 }

// pictureKind names the kind of picture by its first bytes; empty: none.
func pictureKind(data []byte) string {
	kind, found := strings.CutPrefix(http.DetectContentType(data), "image/")
	if found {
		return strings.ToUpper(kind)
	}
	if len(data) < 12 {
		return ""
	}
	switch {
	case string(data[:4]) == "II*\x00" || string(data[:4]) == "MM\x00*":
		return "TIFF"
	case string(data[4:8]) == "ftyp" && strings.Contains("heic heix hevc mif1 msf1", string(data[8:12])):
		return "HEIC"
	case string(data[4:8]) == "ftyp" && strings.HasPrefix(string(data[8:12]), "avi"):
		return "AVIF"
	}
	return ""
}
