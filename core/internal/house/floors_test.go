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

// spot is where a package stands: its floor, and its turn in the list, which
// counts on the floors where neighbours may lean on each other.
type spot struct{ floor, turn int }

// stacked are the floors on which a package may import those that stand before
// it in docs/floors.txt. On the others no two packages of a floor know each other.
var stacked = map[int]bool{0: true, 1: true, 2: true, 6: true}

// readFloors reads docs/floors.txt: a floor's number or T, then its packages.
func readFloors(text string) (map[string]spot, error) {
	floors := map[string]spot{}
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
			floors[p] = spot{floor, len(floors)}
		}
	}
	return floors, nil
}

// checkFloors finds packages on no floor and imports that do not go down.
func checkFloors(t tree, floors map[string]spot) []string {
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
func climbs(f file, to string, floors map[string]spot) string {
	from, okFrom := floors[f.pkg]
	down, okTo := floors[to]
	switch {
	case !okFrom:
		return "" // already a fault of its own
	case !okTo:
		return "it is on no floor"
	case f.pkg == to || from.floor == testFloor:
		return "" // an outside test of its own package; tests and what serves them may import everything
	case down.floor == testFloor && !f.test:
		return "it is for tests only"
	case down.floor == testFloor, strings.HasPrefix(f.pkg, to+"/"):
		return ""
	case from.floor >= 3 && from.floor <= 5 && down.floor >= 3:
		return fmt.Sprintf("floors 3, 4 and 5 meet only in app (%d to %d)", from.floor, down.floor)
	case from.floor == down.floor && stacked[from.floor] && down.turn < from.turn:
		return ""
	case down.floor >= from.floor:
		return fmt.Sprintf("imports go down (%d to %d)", from.floor, down.floor)
	}
	return ""
}

func houseFloors(t *testing.T) map[string]spot {
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
	floors, err := readFloors("# planted\n0 vision job\n1 provider provider/codec/x tool\n2 routing\n3 bus store\n5 api\n6 app\nT suite\n")
	if err != nil {
		t.Fatal(err)
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
		{"core/internal/job/a.go", "core/internal/vision", ""},
		{"core/internal/vision/a.go", "core/internal/job", "go down (0 to 0)"},
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
