package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// node is what of a JSON schema is read here.
type node struct {
	Description string           `json:"description"`
	Type        any              `json:"type"`
	Default     any              `json:"default"`
	Enum        []string         `json:"enum"`
	Minimum     *float64         `json:"minimum"`
	Maximum     *float64         `json:"maximum"`
	Properties  map[string]*node `json:"properties"`
	Items       *node            `json:"items"`
	More        json.RawMessage  `json:"additionalProperties"` // false, or the schema of what has a name of the person's
}

// configPage is the reference of relo.json, from its schema.
func configPage(schema []byte) ([]byte, error) {
	var root node
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var b bytes.Buffer
	b.WriteString("# relo.json\n\n" + madeBy)
	b.WriteString("JSON with comments. Yours is `~/.config/relo/relo.json` or `$RELO_HOME/relo.json`, a project's `.relo/relo.json`. What holds and who set it:\n" +
		"`relo config show --origin`. Every fault is named at once, with file and line, and nothing starts. For editors:\n" +
		"[config.schema.json](config.schema.json), also printed by `relo config schema`.\n\n" +
		"`NAME` stands for a word of yours, `[]` for each entry of a list.\n\n| Key | Takes | Default | |\n|---|---|---|---|\n")
	rows(&b, "", &root)
	return b.Bytes(), nil
}

func rows(b *bytes.Buffer, path string, n *node) {
	if path != "" {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", path, takes(n), dflt(n.Default), plain.Replace(n.Description))
	}
	var names []string
	for name := range n.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	dot := strings.TrimPrefix(path+".", ".")
	for _, name := range names {
		rows(b, dot+name, n.Properties[name])
	}
	if n.Items != nil && (len(n.Items.Properties) > 0 || n.Items.Description != "") {
		rows(b, path+"[]", n.Items)
	}
	var each node
	if len(n.More) > 0 && n.More[0] == '{' && json.Unmarshal(n.More, &each) == nil {
		rows(b, dot+"NAME", &each)
	}
}

// plain keeps words from being read as Markdown or HTML.
var plain = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`)

// takes says what a key may hold.
func takes(n *node) string {
	words := ""
	switch t := n.Type.(type) {
	case string:
		words = t
	case []any:
		var kinds []string
		for _, k := range t {
			kinds = append(kinds, fmt.Sprint(k))
		}
		words = strings.Join(kinds, " or ")
	}
	if len(n.Enum) > 0 {
		words = "`" + strings.Join(n.Enum, "` `") + "`"
	}
	if n.Minimum != nil && n.Maximum != nil {
		words += fmt.Sprintf(" from %.0f to %.0f", *n.Minimum, *n.Maximum)
	}
	return words
}

func dflt(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return "`" + string(text) + "`"
}
