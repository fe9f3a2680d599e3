package found

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
)

// The usual ports are not the servers' own, so who answers there is looked at before
// it is called by a name.

// anybody is for paths that no other server has.
func anybody(discovery.Report) bool { return true }

// lmStudio tells it by a list of its own that says of each model what kind it is (its
// REST documentation); the OpenAI-shaped list, which anybody may have, is not enough.
func lmStudio(r discovery.Report) bool {
	return strings.HasPrefix(r.Shape, "/api/v") && !slices.ContainsFunc(r.Models, func(l provider.Listed) bool { return l.Chat == nil })
}

// owner tells a server by what it puts as the owner of its models: many programs
// listen on the ports of llama.cpp and vLLM, and have the same path.
func owner(name string) func(discovery.Report) bool {
	return func(r discovery.Report) bool { return len(r.Models) > 0 && slices.Equal(r.Owners, []string{name}) }
}

// here are the models of a server that run on this machine; of others, such as those
// of Ollama's cloud, it is said that they were left out.
func here(server string, list []provider.Listed) (models []Model, notes []string) {
	for _, l := range list {
		if l.Remote != "" {
			notes = append(notes, fmt.Sprintf("%s's %s runs at %s, not on this machine: it was left out", server, httpwire.Plain(l.ID), l.Remote))
			continue
		}
		models = append(models, Model{ID: l.ID, Size: l.Size, Vision: l.Sight, Tools: l.Tools, Context: l.Context, Chat: l.Chat == nil || *l.Chat})
	}
	return models, notes
}
