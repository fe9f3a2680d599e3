package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Set writes one value into the person's file, which is made when there is none.
// valueJSON is JSON; where a string is expected it may stand without quotes.
// Comments stay. A value that adds a fault to the configuration is refused with
// *Faults and nothing is written.
func Set(places Places, path, valueJSON string) error {
	parts, err := split(path)
	if err != nil {
		return err
	}
	r, err := keys().at(parts)
	if err != nil {
		return fmt.Errorf("set %s: %w", path, err)
	}
	value, err := parseText(valueJSON, r)
	if err != nil {
		return fmt.Errorf("set %s: %q is not %s", path, short(valueJSON), aList(r.kinds))
	}
	value.Standardize()
	return edit(places, func(v *hujson.Value) error {
		for i := 1; i < len(parts); i++ {
			if v.Find(pointer(parts[:i])) == nil {
				if err := patch(v, "add", parts[:i], []byte("{}")); err != nil {
					return fmt.Errorf("set %s: %w", path, err)
				}
			}
		}
		return patch(v, "add", parts, bytes.TrimSpace(value.Pack()))
	})
}

// Unset takes a value out of the person's file; one that is not there is fine.
func Unset(places Places, path string) error {
	parts, err := split(path)
	if err != nil {
		return err
	}
	return edit(places, func(v *hujson.Value) error {
		if v.Find(pointer(parts)) == nil {
			return nil
		}
		return patch(v, "remove", parts, nil)
	})
}

func patch(v *hujson.Value, op string, parts []string, value json.RawMessage) error {
	raw, err := json.Marshal([]struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value,omitempty"`
	}{{op, pointer(parts), value}})
	if err != nil {
		return err
	}
	// "add" on a list inserts: an element that is there is replaced instead.
	if n := len(parts) - 1; op == "add" && n > 0 && isIndex(parts[n]) && v.Find(pointer(parts)) != nil {
		if above := v.Find(pointer(parts[:n])); above != nil && above.Value.Kind() == '[' {
			return patch(v, "replace", parts, value)
		}
	}
	return v.Patch(raw)
}

func isIndex(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// pointer is a JSON pointer (RFC 6901).
func pointer(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// edit changes the person's file: read, change, check, write.
func edit(places Places, change func(*hujson.Value) error) error {
	file := places.File()
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a link into a folder of dotfiles stays a link
	}
	old, err := readFile(func() (fs.File, error) { return os.Open(file) }) //nolint:gosec // the person's own file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", file, err)
	}
	before := faultsOf(places, old)
	text := old
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if len(text) > maxFile || tooDeep(text) {
		return &Faults{List: before}
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return &Faults{List: before}
	}
	tidy := v.Clone()
	tidy.Format()
	tidied := bytes.Equal(tidy.Pack(), text) || len(old) == 0
	if err := change(&v); err != nil {
		return err
	}
	if tidied { // a file in its own style keeps it
		v.Format()
	}
	now := v.Pack()
	var added []Fault
	for _, f := range faultsOf(places, now) {
		same := func(b Fault) bool { return b.Path == f.Path && b.Message == f.Message }
		if !slices.ContainsFunc(before, same) {
			added = append(added, f)
		}
	}
	if len(added) > 0 {
		return &Faults{List: added}
	}
	return replace(file, now)
}

func faultsOf(places Places, data []byte) []Fault {
	_, err := (&loader{in: Input{Places: places}, rep: &report{}}).load(data, false)
	list, _ := AsFaults(err)
	return list
}

// replace writes a file that is either the old or the new one, never half.
func replace(file string, data []byte) (err error) {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	f, err := os.CreateTemp(dir, ".relo-*.json") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", file, err), os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
