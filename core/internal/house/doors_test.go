package house

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// door says who may import an outside module.
type door struct {
	prefix string   // of the import path
	pkgs   []string // the packages that may
	from   int      // and every package from this floor up; 0: none by floor
	tests  bool     // test files everywhere may, and nothing else
	why    string
}

// anyFloor lets every package in: the module has no state and touches nothing outside.
const anyFloor = -1

// doors is the list of all outside modules. A module that is not here has no
// door, and an import of it is a fault. core/e2e stands outside of the house and
// may go through any door: it looks at the real thing from outside.
var doors = []door{
	{prefix: "github.com/nats-io/", pkgs: []string{"bus"}, why: "one bus: subjects, streams and credentials are decided in one place"},
	{prefix: "modernc.org/sqlite", pkgs: []string{"store"}, why: "one record, one writer"},
	{prefix: "golang.org/x/image", pkgs: []string{"vision/picture", "vision/resample"}, why: "pixels are decoded behind limits only; resample is measured against its kernel in tests"},
	{prefix: "github.com/klauspost/compress", pkgs: []string{"vision/pngwrite"}, why: "a faster deflate, for pixels only"},
	{prefix: "github.com/modelcontextprotocol/go-sdk", pkgs: []string{"hub", "outsiders"}, why: "agents come in through one, and go out to the person's servers through the other"},
	{prefix: "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream", pkgs: []string{"provider/codec/bedrock", "provider/double"}, why: "frames of Bedrock's stream, and their checksums"},
	{prefix: "github.com/aws/aws-sdk-go-v2/service", tests: true, why: "AWS's own client is what the wire is held against"},
	{prefix: "github.com/aws/", pkgs: []string{"provider/bedrock"}, why: "AWS's credentials and signatures"},
	{prefix: "github.com/openai/openai-go", tests: true, why: "the vendor's own client is what wire and proxy are held against"},
	{prefix: "github.com/anthropics/anthropic-sdk-go", tests: true, why: "the same"},
	{prefix: "google.golang.org/genai", tests: true, why: "the same"},
	{prefix: "github.com/looplab/fsm", pkgs: []string{"job"}, why: "the table of moves is data there, with no callbacks"},
	{prefix: "github.com/spf13/", pkgs: []string{"cli", "cmd/relogen"}, why: "flags and commands, and the pages that are drawn from them"},
	{prefix: "github.com/mattn/go-runewidth", pkgs: []string{"board"}, why: "how many columns a character takes is measured in one place"},
	{prefix: "github.com/muesli/cancelreader", pkgs: []string{"screen"}, why: "a read of keys that can be given up"},
	{prefix: "golang.org/x/term", pkgs: []string{"screen"}, why: "one place takes a terminal over"},
	{prefix: "github.com/tailscale/hujson", pkgs: []string{"config", "found"}, why: "comments survive when the program edits the file, and are read over in other programs' files"},
	{prefix: "github.com/zalando/go-keyring", pkgs: []string{"keyring"}, why: "keys are stored and read back in one place"},
	{prefix: "github.com/rs/zerolog", pkgs: []string{"logging"}, from: 3, why: "rules and nouns do not log"},
	{prefix: "github.com/bmatcuk/doublestar", pkgs: []string{"toolbox", "vision/picture"}, why: "globs with ** over an agent's files; the standard library has none"},
	{prefix: "github.com/google/uuid", pkgs: []string{"job"}, why: "one maker of ids: job.NewID"},
	{prefix: "golang.org/x/sync", from: 3, why: "goroutines belong to hands and conductors"},
	{prefix: "github.com/samber/lo", from: anyFloor, why: "pure functions over slices and maps"},
	{prefix: "github.com/google/go-cmp", tests: true, why: "compares in tests"},
	{prefix: "pgregory.net/rapid", tests: true, why: "draws inputs in tests"},
}

// outside reports whether an import path is neither the standard library's nor ours.
func outside(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return strings.Contains(first, ".") && imp != module && !strings.HasPrefix(imp, module+"/")
}

// opens reports whether a door lets a file in.
func (d door) opens(f file, floor int) bool {
	switch {
	case f.pkg == "e2e" || d.from == anyFloor:
		return true
	case d.tests:
		return f.test || floor == testFloor
	}
	return slices.Contains(d.pkgs, f.pkg) || (d.from > 0 && floor >= d.from)
}

// checkDoors finds imports of outside modules that go around their door.
func checkDoors(t tree, floors map[string]spot) []string {
	var faults []string
	for _, f := range t.files {
		for _, imp := range f.imports() {
			if !outside(imp) {
				continue
			}
			at := slices.IndexFunc(doors, func(d door) bool { return strings.HasPrefix(imp, d.prefix) })
			switch {
			case at < 0:
				faults = append(faults, fmt.Sprintf("%s imports %s, which has no door: choose one in doors_test.go", f.name, imp))
			case !doors[at].opens(f, floors[f.pkg].floor):
				faults = append(faults, fmt.Sprintf("%s imports %s past its door: %s", f.name, imp, doors[at].why))
			}
		}
	}
	return faults
}

func TestEveryOutsideModuleComesThroughItsDoor(t *testing.T) {
	report(t, checkDoors(source(t), houseFloors(t)))
}

func TestTheDoorRuleFindsWhatBreaksIt(t *testing.T) {
	floors := map[string]spot{"routing": {floor: 2}, "bus": {floor: 3}, "store": {floor: 3}, "e2e": {floor: testFloor}, "suite": {floor: testFloor}}
	tests := []struct {
		file, imports, fault string
	}{
		{"core/internal/bus/a.go", "github.com/nats-io/nats.go", ""},
		{"core/internal/bus/a_test.go", "github.com/nats-io/nats-server/v2/server", ""},
		{"core/e2e/a_test.go", "github.com/nats-io/nats.go", ""},
		{"core/internal/store/a.go", "github.com/rs/zerolog", ""},
		{"core/internal/routing/a_test.go", "pgregory.net/rapid", ""},
		{"core/internal/suite/a.go", "github.com/google/go-cmp/cmp", ""},
		{"core/internal/routing/a.go", "github.com/samber/lo", ""},
		{"core/internal/store/a.go", "github.com/nats-io/nats.go", "past its door"},
		{"core/internal/routing/a.go", "github.com/rs/zerolog", "past its door"},
		{"core/internal/routing/a.go", "pgregory.net/rapid", "past its door"},
		{"core/internal/bus/a.go", "example.com/new", "no door"},
	}
	for _, c := range tests {
		t.Run(c.file+" imports "+c.imports, func(t *testing.T) {
			all := parsed(t, fstest.MapFS{c.file: {Data: []byte("package p\n\nimport _ \"" + c.imports + "\"\n")}})
			if c.fault == "" {
				expect(t, checkDoors(all, floors))
			} else {
				expect(t, checkDoors(all, floors), c.fault)
			}
		})
	}
}
