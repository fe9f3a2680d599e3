package house

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// testFloor is the floor of packages that only tests import.
const testFloor = -1

// edge is an import that the floors do not allow by themselves.
type edge struct{ from, to string }

// sideways are the imports on one floor that are wanted, each with its reason.
var sideways = map[edge]string{
	{"job", "vision"}:    "an event of the record names the picture that was looked at; vision is the word below all others",
	{"tool", "provider"}: "a tool's spec is the part of a request that offers it; both are nouns of floor 1",
}

// readFloors reads docs/floors.txt: a floor's number or T, then its packages.
func readFloors(text string) (map[string]int, error) {
	floors := map[string]int{}
	for row := range strings.Lines(text) {
		words := strings.Fields(row)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		floor := testFloor
		if words[0] != "T" {
			if len(words[0]) != 1 || words[0] < "0" || words[0] > "6" {
				return nil, fmt.Errorf("floor %q is not 0 to 6 or T", words[0])
			}
			floor = int(words[0][0] - '0')
		}
		for _, p := range words[1:] {
			if _, twice := floors[p]; twice {
				return nil, fmt.Errorf("%s stands on two floors", p)
			}
			floors[p] = floor
		}
	}
	return floors, nil
}

// checkFloors finds packages on no floor and imports that do not go down.
func checkFloors(t tree, floors map[string]int) []string {
	var faults []string
	for _, p := range t.packages() {
		if _, ok := floors[p]; !ok {
			faults = append(faults, fmt.Sprintf("%s is on no floor: name it in docs/floors.txt", p))
		}
	}
	for _, f := range t.files {
		for _, imp := range f.imports() {
			dir, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			if why := climbs(f, place(dir), floors); why != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s: %s", f.name, place(dir), why))
			}
		}
	}
	return faults
}

// climbs says why a file may not import a package of ours, or nothing.
func climbs(f file, to string, floors map[string]int) string {
	from, okFrom := floors[f.pkg]
	down, okTo := floors[to]
	switch {
	case !okFrom:
		return "" // already a fault of its own
	case !okTo:
		return "it is on no floor"
	case f.pkg == to || from == testFloor:
		return "" // an outside test of its own package; tests and what serves them may import everything
	case down == testFloor && !f.test:
		return "it is for tests only"
	case down == testFloor || strings.HasPrefix(f.pkg, to+"/") || sideways[edge{f.pkg, to}] != "":
		return ""
	case from >= 3 && from <= 5 && down >= 3:
		return fmt.Sprintf("floors 3, 4 and 5 meet only in app (%d to %d)", from, down)
	case down >= from:
		return fmt.Sprintf("imports go down (%d to %d)", from, down)
	}
	return ""
}

func houseFloors(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repo(t), "docs", "floors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	floors, err := readFloors(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return floors
}

func TestEveryPackageIsOnAFloorAndImportsGoDown(t *testing.T) {
	report(t, checkFloors(source(t), houseFloors(t)))
}

func TestTheFloorRuleFindsWhatBreaksIt(t *testing.T) {
	floors := map[string]int{
		"vision": 0, "provider": 1, "provider/codec/x": 1, "tool": 1, "routing": 2,
		"bus": 3, "store": 3, "api": 5, "app": 6, "suite": testFloor,
	}
	tests := []struct {
		file, imports, fault string
	}{
		{"core/internal/routing/a.go", "core/internal/vision", ""},
		{"core/internal/app/a.go", "core/internal/bus", ""},
		{"core/internal/provider/codec/x/a.go", "core/internal/provider", ""},
		{"core/internal/tool/a.go", "core/internal/provider", ""},
		{"core/internal/bus/a_test.go", "core/internal/suite", ""},
		{"core/internal/suite/a.go", "core/internal/app", ""},
		{"core/internal/vision/a.go", "core/internal/provider", "go down (0 to 1)"},
		{"core/internal/provider/a.go", "core/internal/tool", "go down (1 to 1)"},
		{"core/internal/bus/a.go", "core/internal/store", "meet only in app"},
		{"core/internal/api/a.go", "core/internal/bus", "meet only in app"},
		{"core/internal/api/a_test.go", "core/internal/bus", "meet only in app"},
		{"core/internal/bus/a.go", "core/internal/suite", "tests only"},
		{"core/internal/bus/a.go", "core/internal/lost", "on no floor"},
		{"core/internal/lost/a.go", "core/internal/vision", "lost is on no floor"},
	}
	for _, c := range tests {
		t.Run(c.file+" imports "+c.imports, func(t *testing.T) {
			all := parsed(t, fstest.MapFS{c.file: {Data: []byte("package p\n\nimport _ \"" + module + "/" + c.imports + "\"\n")}})
			if c.fault == "" {
				expect(t, checkFloors(all, floors))
			} else {
				expect(t, checkFloors(all, floors), c.fault)
			}
		})
	}
}

func TestAFloorsFileThatContradictsItselfIsRefused(t *testing.T) {
	for _, text := range []string{"0 a\n1 a\n", "7 a\n", "x a\n"} {
		if _, err := readFloors(text); err == nil {
			t.Errorf("%q was read without a fault", text)
		}
	}
}

// parsed loads a small tree that a test made up.
func parsed(t *testing.T, files fstest.MapFS) tree {
	t.Helper()
	all, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
