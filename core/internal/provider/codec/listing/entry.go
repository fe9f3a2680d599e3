package listing

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// fields is one object of a list, read field by field: one that has an odd type says
// nothing, and hides nothing of the others.
type fields map[string]json.RawMessage

func objectOf(raw json.RawMessage) fields {
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// at follows names into nested objects.
func (f fields) at(path string) json.RawMessage {
	for {
		name, rest, deeper := strings.Cut(path, ".")
		if !deeper {
			return f[name]
		}
		f, path = objectOf(f[name]), rest
	}
}

func (f fields) text(path string) string {
	var s string
	if json.Unmarshal(f.at(path), &s) != nil {
		return ""
	}
	return s
}

// number reads a number, also one written as a text; ok is false without one. What
// JSON cannot write again (NaN, infinity, as texts) is none.
func (f fields) number(path string) (n float64, ok bool) {
	raw := f.at(path)
	if json.Unmarshal(raw, &n) == nil && len(raw) > 0 && string(raw) != "null" {
		return n, true
	}
	if s := strings.TrimSpace(f.text(path)); s != "" {
		n, err := strconv.ParseFloat(s, 64)
		return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return 0, false
}

// tokens gives the first of some fields that holds a number of tokens.
func (f fields) tokens(paths ...string) int {
	for _, p := range paths {
		if n, ok := f.number(p); ok && n >= 1 && n <= maxTokens {
			return int(n)
		}
	}
	return 0
}

// yes reads a bool, or an object that says "supported".
func (f fields) yes(path string) (yes, said bool) {
	raw := f.at(path)
	if json.Unmarshal(raw, &yes) == nil && len(raw) > 0 && string(raw) != "null" {
		return yes, true
	}
	if inner := objectOf(raw); inner != nil && path != "supported" {
		return inner.yes("supported")
	}
	return false, false
}

// words reads a list of texts, in lower case; nil when there is none, or when one of
// them is no text: what such a list leaves out is not known.
func (f fields) words(path string) []string {
	var list []*string
	if json.Unmarshal(f.at(path), &list) != nil || len(list) == 0 {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, w := range list {
		if w == nil {
			return nil
		}
		out = append(out, strings.ToLower(*w))
	}
	return out
}

// verdict is what a field says of sight, and its name.
type verdict struct {
	sight vision.Sight
	field string
}

func says(yes bool, field string) verdict { return verdict{vision.Of(yes), field} }
