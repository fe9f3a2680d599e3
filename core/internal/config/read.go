package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// position says where a value stands and who set it.
type position struct {
	origin string // default, user, project, or the flag's or variable's name
	file   string
	line   int
	column int
}

// layer is one source of values.
type layer struct {
	values map[string]any
	at     map[string]position // every path that is set, objects and lists included
}

// walker turns parsed JSON into values, and everything that the table does not
// allow into faults.
type walker struct {
	rep     *report
	src     []byte
	at      position // of the whole; line and column are filled from offsets when src is set
	project bool
	layer   *layer
}

// parse reads JSON with comments into a layer. A file that is not JSON is one fault.
func parse(data []byte, at position, project bool, rep *report) *layer {
	l := &layer{values: map[string]any{}, at: map[string]position{}}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return l
	}
	w := &walker{rep: rep, src: data, at: at, project: project, layer: l}
	switch {
	case len(data) > maxFile:
		rep.add(at, "", fmt.Sprintf("the file has %d bytes, the limit is %d", len(data), maxFile), "")
		return l
	case tooDeep(data):
		rep.add(at, "", fmt.Sprintf("nested deeper than %d levels", maxDepth), "")
		return l
	}
	v, err := hujson.Parse(data)
	if err != nil {
		rep.add(syntaxAt(at, err), "", "not JSON with comments: "+syntaxWords(err), "")
		return l
	}
	if values, ok := w.walk(v, keys(), ""); ok {
		if m, ok := values.(map[string]any); ok {
			l.values = m
		}
	}
	return l
}

var syntaxLine = regexp.MustCompile(`line (\d+), column (\d+): `)

func syntaxAt(at position, err error) position {
	if m := syntaxLine.FindStringSubmatch(err.Error()); m != nil {
		at.line, _ = strconv.Atoi(m[1])
		at.column, _ = strconv.Atoi(m[2])
	}
	return at
}

func syntaxWords(err error) string {
	words := strings.TrimPrefix(err.Error(), "hujson: ")
	return syntaxLine.ReplaceAllString(words, "")
}

// tooDeep counts brackets outside strings; those in comments count too, which only
// refuses what nobody writes. The parser recurses, so this comes first.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '\n': // strings end with their line: a quote in a comment hides no more than that
			quoted = false
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// place gives where an offset is.
func (w *walker) place(offset int) position {
	at := w.at
	if w.src == nil {
		return at
	}
	before := w.src[:min(offset, len(w.src))]
	at.line = 1 + bytes.Count(before, []byte("\n"))
	at.column = 1 + len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return at
}

// jsonKinds are hujson's kinds in JSON Schema's words.
var jsonKinds = map[hujson.Kind]string{'n': "null", 'f': "boolean", 't': "boolean", '"': "string", '0': "number", '{': "object", '[': "array"}

// walk gives the value when it is allowed.
func (w *walker) walk(v hujson.Value, r *rule, path string) (any, bool) {
	at := w.place(v.StartOffset)
	w.layer.at[path] = at
	kind := jsonKinds[v.Value.Kind()]
	allowed := slices.Contains(r.kinds, kind) || (kind == "number" && slices.Contains(r.kinds, "integer"))
	if !allowed {
		w.rep.add(at, path, fmt.Sprintf("is %s, must be %s", a(kind), aList(r.kinds)), "")
		return nil, false
	}
	switch t := v.Value.(type) {
	case *hujson.Object:
		return w.object(t, r, path), true
	case *hujson.Array:
		list := make([]any, 0, len(t.Elements))
		for i, e := range t.Elements {
			if one, ok := w.walk(e, r.each, item(path, i)); ok {
				list = append(list, one)
			}
		}
		return list, true
	case hujson.Literal:
		return w.literal(t, r, path, at)
	}
	return nil, false
}

func (w *walker) object(o *hujson.Object, r *rule, path string) map[string]any {
	values := map[string]any{}
	for _, m := range o.Members {
		lit, _ := m.Name.Value.(hujson.Literal)
		name := lit.String()
		at, sub := w.place(m.Name.StartOffset), join(path, name)
		if _, twice := w.layer.at[sub]; twice {
			w.rep.add(at, sub, "is set twice", "remove one of them")
			continue
		}
		next := r.each
		if len(r.fields) > 0 {
			f, ok := r.field(name)
			if !ok {
				w.layer.at[sub] = at
				w.rep.add(at, sub, "is not a key that Relo knows", meant(name, r.names()))
				continue
			}
			if w.project && path == "" && f.project == never && name != "$schema" {
				w.layer.at[sub] = at
				w.rep.add(at, sub, "cannot be set by a project", "a project may set ladder, primary, routes, review, pictures, limits, worktree and previews; move it to your own relo.json")
				continue
			}
			next = f.rule
		}
		if one, ok := w.walk(m.Value, next, sub); ok {
			values[name] = one
		}
		if w.src != nil {
			w.layer.at[sub] = at // the key's line is where a person looks
		}
	}
	return values
}

func (w *walker) literal(l hujson.Literal, r *rule, path string, at position) (any, bool) {
	var v any
	if err := json.Unmarshal(l, &v); err != nil {
		w.rep.add(at, path, "is not a value: "+err.Error(), "")
		return nil, false
	}
	switch t := v.(type) {
	case string:
		if len(r.words) > 0 && !slices.Contains(r.words, t) {
			w.rep.add(at, path, fmt.Sprintf("%q is not allowed", short(t)), meant(t, r.words))
			return nil, false
		}
	case float64:
		if !w.number(t, r, path, at) {
			return nil, false
		}
	}
	if check := meanings[r.mean]; check != nil {
		if words, fix := check(v); words != "" {
			w.rep.add(at, path, words, fix)
			return nil, false
		}
	}
	return v, true
}

func (w *walker) number(n float64, r *rule, path string, at position) bool {
	if slices.Contains(r.kinds, "integer") && (n != math.Trunc(n)) {
		w.rep.add(at, path, fmt.Sprintf("%v is not a whole number", n), "")
		return false
	}
	if r.high > 0 && (n < r.low || n > r.high) {
		w.rep.add(at, path, fmt.Sprintf("%v is out of range", n), fmt.Sprintf("from %v to %v", r.low, int64(r.high)))
		return false
	}
	return true
}

func a(kind string) string {
	switch kind {
	case "null":
		return "null"
	case "object", "array", "integer":
		return "an " + kind
	}
	return "a " + kind
}

func aList(kinds []string) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = a(k)
	}
	return strings.Join(words, " or ")
}

// short keeps a stranger's words short in a message.
func short(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
