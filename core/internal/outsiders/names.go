package outsiders

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/provider"
)

// kept is a tool as the agent is told of it, and its own name.
type kept struct {
	spec provider.ToolSpec
	own  string
}

// fit makes a server's tools fit for every wire: prefixed names that none of the others has,
// plain descriptions, schemas of type object. left says what was left out.
func fit(server string, list []*mcp.Tool, taken map[string]bool) (all []kept, left []string) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) }) // the same names whatever the order
	for _, t := range list {
		if len(all) == maxTools {
			left = append(left, fmt.Sprintf("the tool server %q has %d tools; those behind the first %d are left out", server, len(list), maxTools))
			break
		}
		schema, err := json.Marshal(t.InputSchema)
		var shape struct {
			Type any `json:"type"`
		}
		if err != nil || json.Unmarshal(schema, &shape) != nil || shape.Type != "object" || len(schema) > maxSchema {
			left = append(left, fmt.Sprintf("the tool %s of %q is left out: its arguments are no object that a model can be told of", plain(t.Name), server))
			continue
		}
		name := unique(clean("mcp_"+server+"_"+t.Name), taken)
		all = append(all, kept{provider.ToolSpec{Name: name, Description: description(server, t), Schema: schema}, t.Name})
	}
	return all, left
}

// clean gives a name that every wire takes.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, name)
	if len(name) > maxName {
		return name[:maxName-9] + "_" + short(name)
	}
	return name
}

func unique(name string, taken map[string]bool) string {
	for n := 2; taken[name]; n++ {
		name = clean(fmt.Sprintf("%s_%d", strings.TrimSuffix(name, fmt.Sprintf("_%d", n-1)), n))
	}
	taken[name] = true
	return name
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// description says whose tool it is, in plain words.
func description(server string, t *mcp.Tool) string {
	words := strings.TrimSpace(t.Description)
	if words == "" {
		words = t.Title
	}
	words = fmt.Sprintf("A tool of the person's own server %q. %s", server, plain(words))
	if len(words) > maxDescription {
		words = strings.ToValidUTF8(words[:maxDescription], "") + "…"
	}
	return words
}

// plain takes out what a terminal or a reader could be misled by; lines are kept.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}
