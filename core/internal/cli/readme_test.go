package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/config"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A newcomer who copies the config must be able to run a job: a model without
// a price is refused.
func TestEveryModelInTheReadmeHasAPrice(t *testing.T) {
	_, rest, _ := strings.Cut(readme(t), "```jsonc\n")
	block, _, _ := strings.Cut(rest, "```")
	places := config.Places{Config: t.TempDir()}
	if err := os.WriteFile(places.File(), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Input{Places: places})
	if err != nil {
		t.Fatal(err)
	}
	models := c.Models()
	if len(models) < 3 {
		t.Errorf("the config shows %d models", len(models))
	}
	for _, m := range models {
		provider, id := m.Split()
		if !c.Providers[provider].Models[id].Price.Known() {
			t.Errorf("%s has no price", m)
		}
	}
}

func TestTheReadmeNamesTheFlagsOfRun(t *testing.T) {
	text := readme(t)
	flags := regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z-]+)`).FindAllStringSubmatch((&scene{}).shell(nil, nil).runCmd().Flags().FlagUsages(), -1)
	if len(flags) < 10 {
		t.Fatalf("only the flags %v were found", flags)
	}
	for _, f := range flags {
		has(t, text, "`--"+f[1]+"`")
	}
}
