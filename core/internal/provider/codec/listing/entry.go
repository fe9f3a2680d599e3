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

// levels of objects inside an entry are opened; the deepest that anybody uses are of
// Anthropic (capabilities.image_input.supported).
const levels = 2

// entryOf opens an object and those inside it, each once: what is in them stands under
// its path, "architecture.input_modalities". An entry is asked for some forty paths, and
// opening the way to each anew would make one of megabytes take seconds.
func entryOf(raw json.RawMessage) fields {
	f := objectOf(raw)
	if f == nil {
		return nil
	}
	out := make(fields, len(f))
	out.open(f, "", levels)
	return out
}

func (f fields) open(inner fields, prefix string, deeper int) {
	for name, raw := range inner {
		if strings.Contains(name, ".") { // it is no path, and must not pass for one
			continue
		}
		f[prefix+name] = raw
		if deeper > 0 {
			f.open(objectOf(raw), prefix+name+".", deeper-1)
		}
	}
}

// begins reports whether a value has one of these first characters: what cannot be of
// the wanted type is not read through.
func begins(raw json.RawMessage, with string) bool {
	return len(raw) > 0 && strings.IndexByte(with, raw[0]) >= 0
}

func objectOf(raw json.RawMessage) fields {
	var f fields
	if !begins(raw, "{") || json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

func (f fields) text(path string) string {
	raw := f[path]
	var s string
	if !begins(raw, `"`) || len(raw) > maxText || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// number reads a number, also one written as a text; ok is false without one. What
// JSON cannot write again (NaN, infinity, as texts) is none.
func (f fields) number(path string) (n float64, ok bool) {
	raw := f[path]
	if begins(raw, "-0123456789") && json.Unmarshal(raw, &n) == nil {
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
	raw := f[path]
	if begins(raw, "tf") && json.Unmarshal(raw, &yes) == nil {
		return yes, true
	}
	if inner := objectOf(raw); inner != nil && path != "supported" {
		return inner.yes("supported")
	}
	return false, false
}

// words reads a list of texts, in lower case; nil when there is none, or when one of
// them is no text or it is too long: what such a list leaves out is not known.
func (f fields) words(path string) []string {
	raw := f[path]
	var list []*string
	if !begins(raw, "[") || len(raw) > maxText || json.Unmarshal(raw, &list) != nil || len(list) == 0 {
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
