package house

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// banned are words that stay out of the repository, with the reason. They are
// written in two halves so that this file does not hold them.
var banned = []struct{ pattern, why string }{
	{`\bTO` + `DO\b`, "do it, or write it under what is not there yet"},
	{`\bFIX` + `ME\b`, "fix it, or write it under what is not there yet"},
	{`\bXX` + `X\b`, "say what is wrong in words"},
	{`/work` + `/(main|shared|\.)`, "a path of one machine"},
	{`/tmp` + `/(gg|glci|relo-)`, "a path of one machine"},
	{`/home` + `/[a-z]+/go/`, "a path of one machine"},
	{`(?i)registry\.np` + `mjs\.org`, "the host of a registry: clients know their own"},
	{`(?i)proxy\.gol` + `ang\.org`, "the host of a registry: clients know their own"},
	{`(?i)\bsum\.gol` + `ang\.org`, "the host of a registry: clients know their own"},
	{`(?i)\bpypi\.o` + `rg`, "the host of a registry: clients know their own"},
	{`(?i)\bas an a` + `i\b`, "speak of the program"},
	{`(?i)\bthe bri` + `ef says`, "give the reason itself"},
	{`(?i)co-author` + `ed-by`, "a trailer of a tool"},
}

// texts are the names and endings of files that people read.
var texts = []string{
	".go", ".md", ".txt", ".yml", ".yaml", ".ts", ".js", ".json", ".sh", ".txtar",
	"Makefile", "run", "go.mod", ".gitignore",
}

// checkWords finds banned words in one text.
func checkWords(name, text string) []string {
	var faults []string
	for _, b := range banned {
		if at := regexp.MustCompile(b.pattern).FindStringIndex(text); at != nil {
			line := strings.Count(text[:at[0]], "\n") + 1
			faults = append(faults, fmt.Sprintf("%s:%d: %q stays out: %s", name, line, text[at[0]:at[1]], b.why))
		}
	}
	return faults
}

// checkTexts finds banned words in every text of the tree.
func checkTexts(root fs.FS) ([]string, error) {
	var faults []string
	err := walk(root, func(name string) error {
		if !slices.Contains(texts, path.Ext(name)) && !slices.Contains(texts, path.Base(name)) {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		faults = append(faults, checkWords(name, string(text))...)
		return nil
	})
	return faults, err
}

func TestWordsThatStayOut(t *testing.T) {
	faults, err := checkTexts(os.DirFS(repo(t)))
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

func TestCommitSubjectsKeepTheSameWordsOut(t *testing.T) {
	// The repository may belong to another user than the one who runs the test.
	git := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "log", "--format=%h %s")
	git.Dir = repo(t)
	out, err := git.Output()
	if err != nil {
		t.Skip("not run: subjects of commits need a git clone; run make house in one: " + err.Error())
	}
	for row := range strings.Lines(string(out)) {
		report(t, checkWords("commit "+strings.TrimSpace(row), row))
	}
}

func TestTheWordRuleFindsWhatBreaksIt(t *testing.T) {
	faults, err := checkTexts(fstest.MapFS{
		"docs/a.md":           {Data: []byte("fine\nTO" + "DO: more\n")},
		"core/a.go":           {Data: []byte("package a // see /work" + "/main\n")},
		".ci/run":             {Data: []byte("# XX" + "X\n")},
		".git/config":         {Data: []byte("TO" + "DO\n")},
		"core/testdata/a.txt": {Data: []byte("TO" + "DO\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, faults, "say what is wrong", "path of one machine", "do it")
}
