package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// maxFaults bounds what a model is told at once: more than this helps nobody.
const maxFaults = 20

// shape is the part of JSON Schema that Relo's own tools use.
type shape struct {
	Type       string            `json:"type"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	// Extra is read as "false unless said": an argument that nobody reads is a
	// misunderstanding that the model should hear of.
	Extra     bool     `json:"additionalProperties"`
	Items     *shape   `json:"items"`
	Enum      []string `json:"enum"`
	Minimum   *int64   `json:"minimum"`
	Maximum   *int64   `json:"maximum"`
	MinItems  *int     `json:"minItems"`
	MaxItems  *int     `json:"maxItems"`
	MinLength *int     `json:"minLength"`
	MaxLength *int     `json:"maxLength"`
}

// Check compares arguments with the schema that the model was given. It returns
// every fault as words that say what to pass; none means that they fit and can
// be decoded. Names are compared exactly, numbers are never read from strings,
// an integer is written without point and exponent, and null is not an absent
// value, but for a list that may be left out. It knows type, properties, required, additionalProperties, items, enum,
// minimum, maximum, minItems, maxItems, minLength and maxLength: enough for
// Relo's own tools, not for anyone's.
func Check(schema, args json.RawMessage) []string {
	var s shape
	if err := json.Unmarshal(schema, &s); err != nil {
		return []string{"this tool's schema cannot be read: " + err.Error()}
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return []string{"the arguments are not valid JSON; pass one JSON object"}
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return []string{"the arguments cannot be read: " + err.Error()}
	}
	faults := s.check("", v)
	if len(faults) > maxFaults {
		more := len(faults) - maxFaults
		faults = append(faults[:maxFaults], fmt.Sprintf("and %d more", more))
	}
	return faults
}

func (s *shape) check(at string, v any) []string {
	switch s.Type {
	case "object":
		return s.checkObject(at, v)
	case "array":
		return s.checkArray(at, v)
	case "integer":
		return s.checkInteger(at, v)
	case "boolean":
		if _, ok := v.(bool); !ok {
			return []string{wrong(at, v, "true or false")}
		}
	case "string":
		return s.checkString(at, v)
	}
	return nil
}

func (s *shape) checkObject(at string, v any) []string {
	m, ok := v.(map[string]any)
	if !ok {
		return []string{wrong(at, v, "an object with "+s.names())}
	}
	var faults []string
	for _, name := range s.Required {
		if _, there := m[name]; !there {
			faults = append(faults, fmt.Sprintf("%s is missing; pass %s", join(at, name), s.Properties[name].words()))
		}
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		p, known := s.Properties[name]
		switch {
		case known && m[name] == nil && p.Type == "array" && !slices.Contains(s.Required, name):
			// Models write null where they mean an empty list.
		case known:
			faults = append(faults, p.check(join(at, name), m[name])...)
		case !s.Extra:
			faults = append(faults, fmt.Sprintf("%s is not known here; pass %s", join(at, name), s.names()))
		}
	}
	return faults
}

func (s *shape) checkArray(at string, v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{wrong(at, v, s.words())}
	}
	if (s.MinItems != nil && len(list) < *s.MinItems) || (s.MaxItems != nil && len(list) > *s.MaxItems) {
		return []string{fmt.Sprintf("%s has %d entries; pass %s", name(at), len(list), s.words())}
	}
	var faults []string
	if s.Items != nil {
		for i, item := range list {
			faults = append(faults, s.Items.check(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	}
	return faults
}

func (s *shape) checkInteger(at string, v any) []string {
	n, ok := v.(json.Number)
	if !ok {
		return []string{wrong(at, v, s.words())}
	}
	i, err := n.Int64() // refuses a point, an exponent, and what does not fit
	if err != nil {
		return []string{wrong(at, v, s.words())}
	}
	if (s.Minimum != nil && i < *s.Minimum) || (s.Maximum != nil && i > *s.Maximum) {
		return []string{wrong(at, v, s.words())}
	}
	return nil
}

func (s *shape) checkString(at string, v any) []string {
	text, ok := v.(string)
	switch {
	case !ok:
		return []string{wrong(at, v, s.words())}
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		return []string{wrong(at, v, s.words())}
	case s.MinLength != nil && utf8.RuneCountInString(text) < *s.MinLength:
		return []string{fmt.Sprintf("%s is empty; pass %s", name(at), s.words())}
	case s.MaxLength != nil && utf8.RuneCountInString(text) > *s.MaxLength:
		return []string{fmt.Sprintf("%s is longer than %d characters", name(at), *s.MaxLength)}
	}
	return nil
}

// names lists the properties: the required ones first, then the rest by name.
func (s *shape) names() string {
	if len(s.Properties) == 0 {
		return "no arguments"
	}
	var rest []string
	for n := range s.Properties {
		if !slices.Contains(s.Required, n) {
			rest = append(rest, n)
		}
	}
	sort.Strings(rest)
	return strings.Join(append(slices.Clone(s.Required), rest...), ", ")
}

// words says what fits, for example "a whole number from 1 to 600".
func (s *shape) words() string {
	if s == nil {
		return "a value"
	}
	switch s.Type {
	case "integer":
		return "a whole number" + span(s.Minimum, s.Maximum)
	case "boolean":
		return "true or false"
	case "array":
		return "a list" + count(s.MinItems, s.MaxItems)
	case "object":
		return "an object with " + s.names()
	}
	if len(s.Enum) > 0 {
		return "one of " + strings.Join(s.Enum, ", ")
	}
	return "a string"
}

func span(low, high *int64) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf(" from %d to %d", *low, *high)
	case low != nil:
		return fmt.Sprintf(" of at least %d", *low)
	case high != nil:
		return fmt.Sprintf(" of at most %d", *high)
	}
	return ""
}

func count(low, high *int) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf(" of %d to %d entries", *low, *high)
	case low != nil:
		return fmt.Sprintf(" of at least %d entries", *low)
	case high != nil:
		return fmt.Sprintf(" of at most %d entries", *high)
	}
	return ""
}

func wrong(at string, v any, want string) string {
	return fmt.Sprintf("%s is %s; pass %s", name(at), quote(v), want)
}

// quote shows a value as the model wrote it, cut short.
func quote(v any) string {
	const most = 60
	b, err := json.Marshal(v)
	if err != nil {
		return "not readable"
	}
	if r := []rune(string(b)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(b)
}

func name(at string) string {
	if at == "" {
		return "the whole"
	}
	return at
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
