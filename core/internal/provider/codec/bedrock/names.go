package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// toolConfig tells the tools. A transcript with calls needs one even when no tool is
// offered any more: "The toolConfig field must be defined when using toolUse and
// toolResult content blocks" (dify#17545); then the tools that were called are told,
// as ones that are gone.
func (e *encoder) toolConfig(offered []provider.ToolSpec) *toolConfig {
	var c toolConfig
	for _, t := range offered {
		object := t.Schema
		if len(object) == 0 {
			object = json.RawMessage(`{"type":"object"}`)
		}
		description := t.Description
		if strings.TrimSpace(description) == "" {
			description = "" // at least one character when it is there
		}
		c.Tools = append(c.Tools, tool{toolSpec{wireName(t.Name), description, schema{object}}})
	}
	if len(c.Tools) == 0 {
		slices.Sort(e.called)
		for _, name := range slices.Compact(e.called) {
			c.Tools = append(c.Tools, tool{toolSpec{name, "Not available any more; do not call it.", schema{json.RawMessage(`{"type":"object"}`)}}})
		}
	}
	if len(c.Tools) == 0 {
		return nil
	}
	return &c
}

// wireID gives the id of a call as the wire takes it ([a-zA-Z0-9_-]+, at most 64):
// the same for a call and its result. Other providers' ids hold dots and colons.
func wireID(id string) string {
	if id != "" && len(id) <= maxID && plain(id) {
		return id
	}
	return "call_" + digest(id)
}

// wireName gives a tool's name as the wire takes it (hermes-agent#90008): one that
// is not plain keeps its plain characters and gets a mark of its own, so that two
// never become one. Decoder gives the tool's own name back.
func wireName(name string) string {
	if name != "" && len(name) <= maxName && plain(name) {
		return name
	}
	kept := strings.Map(func(r rune) rune {
		if plain(string(r)) {
			return r
		}
		return '_'
	}, name)
	mark := "_" + digest(name)
	return kept[:min(len(kept), maxName-len(mark))] + mark
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:12])
}

func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// ownNames leads from the names on the wire to the tools' own, where they differ.
func ownNames(r provider.Request) map[string]string {
	own := map[string]string{}
	for _, t := range r.Tools {
		if w := wireName(t.Name); w != t.Name {
			own[w] = t.Name
		}
	}
	return own
}
