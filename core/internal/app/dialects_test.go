package app

import (
	"testing"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/provider/codec/chat"
)

// Every dialect is reached by what a person writes into the config, and by its address.
func TestDialectsAreNamedAsInTheConfig(t *testing.T) {
	t.Parallel()
	for _, name := range chat.Names() {
		if p, ok := config.PresetOf(name); !ok || p.Wire != "openai-chat" {
			t.Errorf("no provider of the kind %q speaks this wire", name)
		} else if got := chat.Pick("", p.URL, "").Name; !p.Local && got != name {
			t.Errorf("the address of %s leads to the dialect %q", name, got)
		}
	}
}
