package house

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// maxMap is the most lines of docs/architecture.md: a map that is not read in
// one go is not read.
const maxMap = 300

// checkMap finds packages that the map does not name and a map that is too long.
func checkMap(text string, pkgs []string) []string {
	var faults []string
	for _, p := range pkgs {
		if !strings.Contains(text, "`"+p+"`") {
			faults = append(faults, fmt.Sprintf("docs/architecture.md does not name `%s`", p))
		}
	}
	if n := strings.Count(text, "\n"); n >= maxMap {
		faults = append(faults, fmt.Sprintf("docs/architecture.md has %d lines, the ceiling is %d", n, maxMap))
	}
	return faults
}

var link = regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)

// checkLinks finds links between documents that lead nowhere.
func checkLinks(root fs.FS) ([]string, error) {
	var faults []string
	err := walk(root, func(name string) error {
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			to := path.Join(path.Dir(name), m[1])
			if _, err := fs.Stat(root, to); err != nil {
				faults = append(faults, fmt.Sprintf("%s links to %s, which is not there", name, m[1]))
			}
		}
		return nil
	})
	return faults, err
}

// decision is what every decision record holds, in this order.
var decision = regexp.MustCompile(`(?s)^# \d{4} .*\nStatus: .*\nDate: \d{4}-\d\d-\d\d\nGoes with: .*\n## Context\n.*\n## Decision\n.*\n## Consequences\n`)

// checkDecisions finds decision records that lack a part or share a number.
func checkDecisions(root fs.FS) ([]string, error) {
	names, err := fs.Glob(root, "docs/adr/*.md")
	if err != nil {
		return nil, err
	}
	var faults []string
	seen := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(path.Base(name), "-")
		if !decision.Match(text) || !strings.HasPrefix(string(text), "# "+number+" ") {
			faults = append(faults, name+" lacks its number, Status, Date, Goes with, Context, Decision or Consequences")
		}
		if other := seen[number]; other != "" {
			faults = append(faults, name+" has the number of "+other)
		}
		seen[number] = name
	}
	return faults, nil
}

func TestTheMapNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repo(t), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkMap(string(text), source(t).packages()))
}

func TestLinksLeadSomewhere(t *testing.T) {
	faults, err := checkLinks(os.DirFS(repo(t)))
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

func TestDecisionRecordsAreWhole(t *testing.T) {
	faults, err := checkDecisions(os.DirFS(repo(t)))
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

// A plain Go 1.26 builds this; a newer line would send people to fetch a toolchain.
func TestTheModuleAsksForGo126AndNoMore(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repo(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^go 1\.26(\.\d+)?$`).Match(text) {
		t.Error("the go line of go.mod does not begin with go 1.26")
	}
	if regexp.MustCompile(`(?m)^toolchain `).Match(text) {
		t.Error("go.mod asks for a toolchain")
	}
}

func TestTheDocumentRulesFindWhatBreaksThem(t *testing.T) {
	expect(t, checkMap("`bus`\n"+strings.Repeat("\n", maxMap), []string{"bus", "store"}), "`store`", "ceiling")
	root := fstest.MapFS{
		"docs/a.md":              {Data: []byte("[here](b.md#part) [web](https://example.com) [gone](c.md)")},
		"docs/b.md":              {},
		"docs/adr/0001-fine.md":  {Data: []byte("# 0001 Fine\n\nStatus: accepted\nDate: 2026-11-30\nGoes with: none\n\n## Context\n\nx\n\n## Decision\n\nx\n\n## Consequences\n\nx\n")},
		"docs/adr/0001-again.md": {Data: []byte("# 0002 Again\n")},
	}
	links, err := checkLinks(root)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, links, "c.md")
	decisions, err := checkDecisions(root)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, decisions, "0001-again.md lacks", "0001-fine.md has the number")
}
