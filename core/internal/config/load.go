package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Input is where a configuration comes from.
type Input struct {
	Places     Places
	ProjectDir string // its .relo/relo.json is read; empty: none
	Getenv     func(string) string
	Flags      map[string]string // by path, for example budget.perJob
	Trusted    string            // the ProjectHash that the person approved; empty: none
}

// variables are the settings that may come from the environment.
var variables = []struct{ name, path string }{
	{"RELO_BUDGET", "budget.perJob"},
	{"RELO_PRIMARY", "primary"},
	{"RELO_ENGINE", "engine"},
}

// Load reads all sources, the stronger over the weaker: flag, variable, project,
// person, default. The error is a *Faults with every fault at once. Without any
// file the defaults are the answer and Empty is set.
func Load(in Input) (*Config, error) {
	file := in.Places.File()
	data, err := readFile(func() (fs.File, error) { return os.Open(file) }) //nolint:gosec // the person's own file
	l := &loader{in: in, rep: &report{}}
	empty := errors.Is(err, fs.ErrNotExist)
	if err != nil && !empty {
		l.rep.add(position{file: file}, "", "cannot be read: "+err.Error(), "")
	}
	return l.load(data, empty)
}

type loader struct {
	in     Input
	rep    *report
	values map[string]any
	at     map[string]position
	cfg    *Config
}

// load merges the layers on top of the person's file.
func (l *loader) load(user []byte, empty bool) (*Config, error) {
	top := keys()
	l.cfg, l.values, l.at = &Config{Empty: empty}, map[string]any{}, map[string]position{}
	if d, ok := defaults(top).(map[string]any); ok {
		l.values = d
	}
	l.merge(parse(user, position{origin: "user", file: l.in.Places.File()}, false, l.rep), top)
	l.project(top)
	for _, v := range variables {
		if l.in.Getenv == nil {
			break
		}
		if text := l.in.Getenv(v.name); text != "" {
			l.text(v.path, text, position{origin: v.name, file: v.name})
		}
	}
	for _, path := range sortedKeys(l.in.Flags) {
		l.text(path, l.in.Flags[path], position{origin: "flag", file: "flag for " + path})
	}
	raw, err := json.Marshal(l.values)
	if err == nil {
		err = json.Unmarshal(raw, l.cfg)
	}
	if err != nil { // the walk lets nothing through that does not fit
		return nil, fmt.Errorf("configuration: %w", err)
	}
	l.cfg.fill()
	(&checker{rep: l.rep, cfg: l.cfg, at: l.at}).all()
	if err := l.rep.err(); err != nil {
		return nil, err
	}
	l.cfg.merged, l.cfg.origins = l.values, map[string]string{}
	for path, at := range l.at {
		l.cfg.origins[path] = at.words()
	}
	return l.cfg, nil
}

func (p position) words() string {
	if p.line > 0 {
		return fmt.Sprintf("%s (%s:%d)", p.origin, p.file, p.line)
	}
	return p.origin
}

// project reads the project's file: a stranger's until the person says otherwise.
func (l *loader) project(top *rule) {
	if l.in.ProjectDir == "" {
		return
	}
	at := position{origin: "project", file: filepath.Join(l.in.ProjectDir, ".relo", "relo.json")}
	root, err := os.OpenRoot(l.in.ProjectDir)
	if err != nil {
		return // no such folder, no such file
	}
	data, err := readFile(func() (fs.File, error) { return root.Open(".relo/relo.json") })
	err = errors.Join(err, root.Close())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.rep.add(at, "", "cannot be read: "+err.Error(), "")
		return
	}
	layer := parse(data, at, true, l.rep)
	l.lowerOnly(layer)
	l.gate(layer)
	l.addOnly(layer)
	l.merge(layer, top)
}

// lowerOnly takes out limits that the project would raise.
func (l *loader) lowerOnly(layer *layer) {
	wanted, _ := layer.values["limits"].(map[string]any)
	have, _ := l.values["limits"].(map[string]any)
	for _, name := range sortedKeys(wanted) {
		want, isNumber := wanted[name].(float64)
		most, known := have[name].(float64)
		if isNumber && known && want > most {
			path := join("limits", name)
			l.rep.add(layer.at[path], path, fmt.Sprintf("%v is more than yours, which is %v", want, most), "a project can only lower a limit")
		}
	}
}

// gate takes out what needs the person's approval of that very content.
func (l *loader) gate(layer *layer) {
	content := map[string]any{}
	for _, f := range keys().fields {
		if v, set := layer.values[f.name]; set && f.project == trust {
			content[f.name] = v
		}
	}
	if len(content) == 0 {
		return
	}
	raw, err := json.Marshal(content) // map keys come sorted, so equal content is equal bytes
	if err != nil {
		return
	}
	sum := sha256.Sum256(raw)
	l.cfg.ProjectHash = hex.EncodeToString(sum[:])
	if l.cfg.ProjectHash == l.in.Trusted {
		return
	}
	l.cfg.Waiting = sortedKeys(content)
	for _, name := range l.cfg.Waiting {
		delete(layer.values, name)
		dropBelow(layer.at, name)
	}
}

// addOnly keeps the person's own globs in pictures.never.
func (l *loader) addOnly(layer *layer) {
	theirs, _ := layer.values["pictures"].(map[string]any)
	mine, _ := l.values["pictures"].(map[string]any)
	more, set := theirs["never"].([]any)
	own, have := mine["never"].([]any)
	if set && have {
		theirs["never"] = append(slices.Clone(more), own...)
	}
}

// merge lays a layer over what there is. Objects and maps are joined key by key,
// everything else is replaced.
func (l *loader) merge(layer *layer, top *rule) {
	l.join(l.values, layer.values, top, "")
	for path, at := range layer.at {
		if path != "" {
			l.at[path] = at
		}
	}
}

func (l *loader) join(dst, src map[string]any, r *rule, path string) {
	for name, v := range src {
		next := r.each
		if f, ok := r.field(name); ok {
			next = f.rule
		}
		from, isMap := v.(map[string]any)
		into, wasMap := dst[name].(map[string]any)
		if isMap && wasMap {
			l.join(into, from, next, join(path, name))
			continue
		}
		dropBelow(l.at, join(path, name))
		dst[name] = v
	}
}

// dropBelow forgets where a replaced value and its parts stood.
func dropBelow(at map[string]position, path string) {
	maps.DeleteFunc(at, func(p string, _ position) bool {
		return p == path || strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[")
	})
}

// text sets one value from a flag or a variable.
func (l *loader) text(path, text string, at position) {
	parts, err := split(path)
	if err != nil {
		l.rep.add(at, path, err.Error(), "")
		return
	}
	r, err := keys().at(parts)
	if err != nil {
		l.rep.add(at, path, err.Error(), "")
		return
	}
	parsed, err := parseText(text, r)
	if err != nil {
		l.rep.add(at, path, fmt.Sprintf("%q is not %s", short(text), aList(r.kinds)), "")
		return
	}
	layer := &layer{values: map[string]any{}, at: map[string]position{}}
	w := &walker{rep: l.rep, at: at, layer: layer}
	v, ok := w.walk(parsed, r, path)
	if !ok {
		return
	}
	into := layer.values
	for _, p := range parts[:len(parts)-1] {
		next := map[string]any{}
		into[p], into = next, next
	}
	into[parts[len(parts)-1]] = v
	l.merge(layer, keys())
}

// parseText reads a value as a person types it: where a string is expected it needs
// no quotes.
func parseText(text string, r *rule) (hujson.Value, error) {
	if len(text) > maxFile || tooDeep([]byte(text)) {
		return hujson.Value{}, fmt.Errorf("too long or too deep")
	}
	v, err := hujson.Parse([]byte(text + "\n")) // the line's end closes a comment
	if slices.Contains(r.kinds, "string") && (err != nil || !slices.Contains(r.kinds, jsonKinds[v.Value.Kind()])) {
		return hujson.Value{Value: hujson.String(text)}, nil
	}
	return v, err
}

// defaults builds the table's default values.
func defaults(r *rule) any {
	if len(r.fields) == 0 {
		return r.byDflt
	}
	values := map[string]any{}
	for _, f := range r.fields {
		if v := defaults(f.rule); v != nil && v != "" {
			values[f.name] = v
		}
	}
	return values
}

// readFile reads a regular file up to one byte over the limit, which parse reports.
func readFile(open func() (fs.File, error)) (data []byte, err error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
