package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/config"
)

// What a newcomer copies must load.
func TestTheConfigInTheReadmeLoads(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repo(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```jsonc\n")
	block, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("README.md shows no config")
	}
	places := config.Places{Config: t.TempDir()}
	if err := os.WriteFile(places.File(), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Input{Places: places})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Ladder) == 0 || len(c.Providers) < 2 {
		t.Errorf("the config shows %d rungs and %d providers; a newcomer needs both", len(c.Ladder), len(c.Providers))
	}
}
