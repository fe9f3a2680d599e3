package toolbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/tool"
)

// open makes a box over a fresh workspace with the given files.
func open(t *testing.T, o Options, files map[string]string) *Box {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	for name, content := range files {
		put(t, filepath.Join(o.Dir, name), content)
	}
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func put(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, b *Box, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.real, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// call runs one tool as the engine would.
func call(t *testing.T, b *Box, name, args string) tool.Result {
	t.Helper()
	return callWith(t.Context(), t, b, name, args)
}

func callWith(ctx context.Context, t *testing.T, b *Box, name, args string) tool.Result {
	t.Helper()
	for _, one := range b.Tools() {
		if one.Spec().Name == name {
			r, err := one.Run(ctx, "call", json.RawMessage(args))
			if err != nil && ctx.Err() == nil {
				t.Fatalf("%s %s: %v", name, args, err)
			}
			return r
		}
	}
	t.Fatalf("no tool %s", name)
	return tool.Result{}
}

func TestToolsAreTheContractsInOrder(t *testing.T) {
	for _, r := range []struct {
		readOnly bool
		want     string
	}{{false, "read write edit ls glob grep bash"}, {true, "read ls glob grep bash"}} {
		b := open(t, Options{ReadOnly: r.readOnly}, nil)
		var names []string
		for _, one := range b.Tools() {
			s := one.Spec()
			names = append(names, s.Name)
			var schema struct {
				Type  string
				Extra *bool `json:"additionalProperties"`
			}
			if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" || schema.Extra == nil || *schema.Extra {
				t.Errorf("%s: schema is not a strict object: %v", s.Name, err)
			}
			if s.Description == "" {
				t.Errorf("%s has no words", s.Name)
			}
		}
		if got := strings.Join(names, " "); got != r.want {
			t.Errorf("tools = %s, want %s", got, r.want)
		}
	}
}

func TestFileToolsAnswer(t *testing.T) {
	long := strings.Repeat("line\n", 2500)
	files := map[string]string{
		"a.txt": "one\ntwo\nthree\n", "sub/b.go": "package b // needle\n", "long.txt": long, "wide.txt": strings.Repeat("x", 5000),
		"data.bin": "a\x00b", "shot.txt": "\x89PNG\r\n\x1a\n0000", "empty": "", ".git/config": "needle", ".relo/attachments/n.txt": "note",
		"scan.pdf": "%PDF-1.4 nothing", "twice.txt": "a\nx\na\n", "crlf.txt": "one\r\ntwo\r\n", ".relo/relo.json": "{}",
	}
	rows := []struct {
		tool, args, want string
		fails            bool
		why              string
	}{
		{"read", `{"path":"a.txt"}`, "     1\tone\n     2\ttwo\n     3\tthree\n", false, "numbered lines"},
		{"read", `{"path":"a.txt","offset":2,"limit":1}`, "     2\ttwo\n(lines 2 to 2 of 3; go on with offset 3)", false, "a range"},
		{"read", `{"path":"a.txt","offset":9}`, "past its end", false, "behind the end"},
		{"read", `{"path":"long.txt"}`, "(lines 1 to 2000 of 2500; go on with offset 2001)", false, "bounded in lines"},
		{"read", `{"path":"wide.txt"}`, "(3000 more characters)", false, "bounded in width"},
		{"read", `{"path":"empty"}`, "is empty", false, "an empty file is said"},
		{"read", `{"path":"data.bin"}`, "is not text", true, "binary in words"},
		{"read", `{"path":"shot.txt"}`, "relo_image shows it", false, "a picture under any name"},
		{"read", `{"path":"scan.pdf"}`, "PDF", false, "a PDF"},
		{"read", `{"path":".relo/attachments/n.txt"}`, "note", false, "attachments are read"},
		{"read", `{"path":"none.txt"}`, "does not exist", true, "a missing file"},
		{"read", `{"path":"sub"}`, "is a folder; ls lists it", true, "a folder"},
		{"read", `{"path":"../x"}`, "outside the workspace", true, "dots do not lead out"},
		{"read", `{"path":"/etc/passwd"}`, "outside the workspace", true, "nor absolute paths"},
		{"read", `{"path":"a.txt","lines":3}`, "lines is not known here; pass path, limit, offset", true, "unknown arguments are said"},
		{"read", `{"path":"a.txt","offset":"2"}`, "pass a whole number", true, "wrong types are said"},
		{"read", `{}`, "path is missing", true, "missing ones too"},
		{"ls", `{}`, "a.txt (14 bytes)\n", false, "the workspace"},
		{"ls", `{"path":"sub"}`, "b.go", false, "a folder"},
		{"ls", `{"path":"a.txt"}`, "a.txt", true, "not a folder"},
		{"glob", `{"pattern":"**/*.go"}`, "sub/b.go\n", false, "across folders"},
		{"glob", `{"pattern":"*.go","path":"sub"}`, "sub/b.go\n", false, "in a folder"},
		{"glob", `{"pattern":"**/config"}`, "no file matches", false, ".git is left out"},
		{"glob", `{"pattern":"[a"}`, "is not complete", true, "a bad pattern"},
		{"grep", `{"pattern":"nee+dle"}`, "sub/b.go:1: package b // needle\n", false, "a match, and none in .git"},
		{"grep", `{"pattern":"t(wo|hree)","path":"a.txt"}`, "a.txt:2: two\na.txt:3: three\n", false, "one file"},
		{"grep", `{"pattern":"needle","glob":"*.txt"}`, "no line matches", false, "only some files"},
		{"grep", `{"pattern":"^line$"}`, "there may be more", false, "bounded"},
		{"grep", `{"pattern":"("}`, "not a regular expression", true, "a bad pattern"},
		{"grep", `{"pattern":"x","path":"none"}`, "does not exist", true, "a bad path"},
		{"edit", `{"path":"twice.txt","old":"a","new":"b"}`, "found 2 times in twice.txt (lines 1, 3)", true, "not unique"},
		{"edit", `{"path":"a.txt","old":"nine","new":"b"}`, "found 0 times", true, "not there"},
		{"edit", `{"path":"a.txt","old":"one two","new":"b"}`, "with other spaces", true, "nearly there"},
		{"edit", `{"path":"a.txt","old":"","new":"b"}`, "old is empty", true, "empty"},
		{"edit", `{"path":"a.txt","old":"one","new":"one"}`, "the same", true, "nothing to do"},
		{"edit", `{"path":"data.bin","old":"a","new":"b"}`, "not text", true, "binary"},
		{"write", `{"path":".git/config","content":""}`, "not for writing", true, "git's folder"},
		{"write", `{"path":"sub/.GIT/hooks/x","content":""}`, "not for writing", true, "in any case and depth"},
		{"write", `{"path":".relo/relo.json","content":""}`, "not for writing", true, "Relo's folder"},
		{"edit", `{"path":".relo/relo.json","old":"{}","new":"{1}"}`, "not for writing", true, "edit too"},
		{"write", `{"path":".vscode/tasks.json","content":""}`, "not for writing", true, "the editor's folder"},
		{"write", `{"path":"../x","content":""}`, "outside the workspace", true, "outside"},
		{"write", `{"path":".","content":""}`, "the workspace itself", true, "no file"},
		{"write", `{"path":"sub","content":""}`, "is a folder", true, "a folder"},
	}
	b := open(t, Options{}, files)
	for _, r := range rows {
		got := call(t, b, r.tool, r.args)
		if !strings.Contains(got.Text, r.want) || got.IsError != r.fails {
			t.Errorf("%s: %s %s = %q (error %v), want %q (error %v)", r.why, r.tool, r.args, got.Text, got.IsError, r.want, r.fails)
		}
		if len(got.Text) > maxAnswer+4*maxLine {
			t.Errorf("%s: answer of %d bytes", r.why, len(got.Text))
		}
	}
}

func TestWriteMakesParentsAndKeepsTheMode(t *testing.T) {
	b := open(t, Options{}, map[string]string{"run.sh": "old\n"})
	if err := os.Chmod(filepath.Join(b.real, "run.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	call(t, b, "write", `{"path":"run.sh","content":"new\n"}`)
	call(t, b, "edit", `{"path":"run.sh","old":"new","new":"newer"}`)
	call(t, b, "write", `{"path":"x/y/z.txt","content":"deep"}`)
	call(t, b, "write", `{"path":`+quoted(filepath.Join(b.options.Dir, "abs.txt"))+`,"content":"absolute"}`)
	info, err := os.Stat(filepath.Join(b.real, "run.sh"))
	if err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
	got := content(t, b, "run.sh") + content(t, b, "x/y/z.txt") + content(t, b, "abs.txt")
	if got != "newer\ndeepabsolute" {
		t.Errorf("got %q", got)
	}
	left, err := filepath.Glob(filepath.Join(b.real, ".relo-write-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestEditKeepsTheLineEndsOfTheFile(t *testing.T) {
	b := open(t, Options{}, map[string]string{"crlf.txt": "one\r\ntwo\r\nthree\r\n"})
	if r := call(t, b, "edit", `{"path":"crlf.txt","old":"one\ntwo","new":"1\n2"}`); r.IsError {
		t.Fatal(r.Text)
	}
	if got := content(t, b, "crlf.txt"); got != "1\r\n2\r\nthree\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestLinksDoNotLeadOutOrIntoGit(t *testing.T) {
	outsider := t.TempDir()
	put(t, filepath.Join(outsider, "secret"), "secret")
	b := open(t, Options{}, map[string]string{".git/hooks/pre-commit": "hook", "a.txt": "a"})
	links := map[string]string{"out": outsider, "file": filepath.Join(outsider, "secret"), "g": ".git", "in": "a.txt", "new": ".git/hooks/post-commit"}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(b.real, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(outsider, "secret"), filepath.Join(b.real, "hard")); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ tool, args string }{
		{"read", `{"path":"file"}`},
		{"read", `{"path":"out/secret"}`},
		{"ls", `{"path":"out"}`},
		{"write", `{"path":"out/x","content":"x"}`},
		{"write", `{"path":"file","content":"x"}`},
		{"edit", `{"path":"out/secret","old":"s","new":"x"}`},
		{"write", `{"path":"g/hooks/pre-commit","content":"x"}`},
		{"edit", `{"path":"g/hooks/pre-commit","old":"hook","new":"x"}`},
	} {
		if got := call(t, b, r.tool, r.args); !got.IsError || strings.Contains(got.Text, "secret\n") {
			t.Errorf("%s %s = %q, want a refusal", r.tool, r.args, got.Text)
		}
	}
	for _, r := range []struct{ args string }{{`{"pattern":"secret"}`}, {`{"pattern":"secret","path":"out"}`}} {
		if got := call(t, b, "grep", r.args); strings.Contains(got.Text, "secret\n") && !strings.HasPrefix(got.Text, "hard:") {
			t.Errorf("grep %s = %q", r.args, got.Text)
		}
	}
	for _, name := range []string{"in", "new", "hard"} {
		if got := call(t, b, "write", `{"path":"`+name+`","content":"changed"}`); got.IsError {
			t.Errorf("%s: %s", name, got.Text)
		}
	}
	if got := content(t, b, "a.txt"); got != "changed" {
		t.Errorf("a link inside is followed: %q", got)
	}
	if _, err := os.Stat(filepath.Join(b.real, ".git/hooks/post-commit")); err == nil {
		t.Error("a dangling link led into .git")
	}
	data, err := os.ReadFile(filepath.Join(outsider, "secret"))
	if err != nil || string(data) != "secret" {
		t.Errorf("a file outside changed through a hard link: %q %v", data, err)
	}
}
