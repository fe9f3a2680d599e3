package outsiders

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pin is a server's list as it was approved: for each tool the hash of its name,
// description and schema.
type Pin struct {
	Tools map[string]string `json:"tools"`
}

// Pins are kept for the person.
type Pins interface {
	// Pin gives what was approved of a server; false: it was never used.
	Pin(server string) (Pin, bool)
	// Approve keeps a list at its first use.
	Approve(server string, p Pin) error
	// Propose keeps a changed list, which waits for the person's word.
	Propose(server string, p Pin) error
}

func pinOf(list []*mcp.Tool) Pin {
	p := Pin{Tools: map[string]string{}}
	for _, t := range list {
		text, err := json.Marshal([]any{t.Name, t.Title, t.Description, t.InputSchema})
		if err != nil {
			text = []byte(t.Name)
		}
		sum := sha256.Sum256(text)
		p.Tools[t.Name] = hex.EncodeToString(sum[:])
	}
	return p
}

// pinned holds a list against what was approved. Words say why the server's tools are not
// offered: a description that changed may say anything to an agent.
func (s *Set) pinned(server string, list []*mcp.Tool) string {
	now := pinOf(list)
	was, ok := s.o.Pins.Pin(server)
	if !ok {
		if err := s.o.Pins.Approve(server, now); err != nil {
			return fmt.Sprintf("the tools of %q are not offered: their list cannot be kept: %v", server, err)
		}
		return ""
	}
	changes := Changes(was, now)
	if changes == "" {
		return ""
	}
	words := fmt.Sprintf("the tools of %q are not offered: its list changed since you approved it (%s); relo trust --mcp %s approves it as it is now", server, changes, server)
	if err := s.o.Pins.Propose(server, now); err != nil {
		words += fmt.Sprintf(" (it cannot be kept: %v)", err)
	}
	return words
}

// Changes says what is new, changed and gone between two lists; empty: nothing.
func Changes(was, now Pin) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(now.Tools)) {
		switch old, ok := was.Tools[name]; {
		case !ok:
			parts = append(parts, "new: "+plain(name))
		case old != now.Tools[name]:
			parts = append(parts, "changed: "+plain(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was.Tools)) {
		if _, ok := now.Tools[name]; !ok {
			parts = append(parts, "gone: "+plain(name))
		}
	}
	return strings.Join(parts, ", ")
}
