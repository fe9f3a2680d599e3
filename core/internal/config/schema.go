package config

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Schema gives the JSON Schema of relo.json for editors. It is made from the same
// table that the loader checks with.
func Schema() []byte {
	s := schemaOf(keys())
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "relo.json"
	s["allowComments"], s["allowTrailingCommas"] = true, true
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprintf("the table of keys is not JSON: %v", err)) // a table of constants; a test encodes it
	}
	return b.Bytes()
}

func schemaOf(r *rule) map[string]any {
	s := map[string]any{}
	if r.doc != "" {
		s["description"] = r.doc
	}
	if len(r.kinds) == 1 {
		s["type"] = r.kinds[0]
	} else {
		s["type"] = r.kinds
	}
	if r.byDflt != nil && r.byDflt != "" {
		s["default"] = r.byDflt
	}
	if len(r.words) > 0 {
		s["enum"] = r.words
	}
	if r.high > 0 {
		s["minimum"], s["maximum"] = r.low, r.high
	}
	if r.mean == "key" {
		s["pattern"] = "^$|^(env|file|keyring|cmd):."
	}
	if len(r.fields) > 0 {
		properties := map[string]any{}
		for _, f := range r.fields {
			properties[f.name] = schemaOf(f.rule)
		}
		s["properties"], s["additionalProperties"] = properties, false
		return s
	}
	if r.each != nil {
		if r.kinds[0] == "object" {
			s["additionalProperties"] = schemaOf(r.each)
		} else {
			s["items"] = schemaOf(r.each)
		}
	}
	return s
}
