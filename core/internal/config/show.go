package config

import (
	"encoding/json"
	"strings"
)

// Value is one setting as `config show --origin` lists it.
type Value struct {
	Path   string          `json:"path"`
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"`
}

// Origin says who set the value at a path: flag, a variable's name, project, user
// or default, with file and line where there is one. A part of what was set as a
// whole has the origin of the whole.
func (c *Config) Origin(path string) string {
	for p := path; p != ""; p = parent(p) {
		if words, ok := c.origins[p]; ok && (p == path || !c.isObject(p)) {
			return words
		}
	}
	return "default"
}

// isObject reports whether a path holds an object, whose members have origins of
// their own: an unset member is a default.
func (c *Config) isObject(path string) bool {
	parts, err := split(path)
	if err != nil {
		return false
	}
	r, err := keys().at(parts)
	return err == nil && r.kinds[0] == "object"
}

// Values lists every setting with its origin, by path. What may be a secret
// (environment and headers of a server) is masked unless it is a reference.
func (c *Config) Values() []Value {
	var all []Value
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if m, ok := v.(map[string]any); ok && len(m) > 0 {
			for _, name := range sortedKeys(m) {
				walk(join(path, name), m[name])
			}
			return
		}
		if s, ok := v.(string); ok && maySecret(path) && !reference(s) {
			v = "[set]"
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return
		}
		all = append(all, Value{Path: path, Value: raw, Origin: c.Origin(path)})
	}
	walk("", c.merged)
	return all
}

func maySecret(path string) bool {
	above := parent(path)
	return strings.HasSuffix(above, ".headers") || strings.HasPrefix(path, "mcp") && strings.HasSuffix(above, ".env")
}
