package house

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/job"
)

//go:generate go test -run TestGeneratedPagesAreCurrent -update .

var update = flag.Bool("update", false, "write the generated pages instead of comparing them")

// pages are the documents that are drawn from code.
var pages = map[string]func() string{
	"docs/task-states.md": job.Diagram,
}

func TestGeneratedPagesAreCurrent(t *testing.T) {
	for name, draw := range pages {
		at := filepath.Join(repo(t), filepath.FromSlash(name))
		want := draw()
		if *update {
			if err := os.WriteFile(at, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(at)
		if err != nil {
			t.Errorf("%v: run make generate", err)
			continue
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is old, run make generate (-code +page):\n%s", name, diff)
		}
	}
}
