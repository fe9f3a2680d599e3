package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// join writes the path of a member: providers.here, or providers["a.b"].
func join(path, name string) string {
	switch {
	case !plainName.MatchString(name):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// split reads a path as join and item write it. Numbers in brackets come back as
// their digits. A plain name may hold anything but dots and brackets here, so
// that a person need not quote.
func split(path string) ([]string, error) {
	var parts []string
	rest := path
	for first := true; rest != ""; first = false {
		switch {
		case strings.HasPrefix(rest, `["`):
			quoted, err := strconv.QuotedPrefix(rest[1:])
			if err != nil || !strings.HasPrefix(rest[1+len(quoted):], "]") {
				return nil, fmt.Errorf("path %q: a bracket is not closed", path)
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("path %q: %w", path, err)
			}
			parts, rest = append(parts, name), rest[len(quoted)+2:]
		case rest[0] == '[':
			digits, after, ok := strings.Cut(rest[1:], "]")
			if n, err := strconv.Atoi(digits); !ok || err != nil || n < 0 {
				return nil, fmt.Errorf("path %q: in brackets stands a number or a quoted name", path)
			}
			parts, rest = append(parts, digits), after
		default:
			if !first {
				if rest[0] != '.' {
					return nil, fmt.Errorf("path %q: a dot is missing", path)
				}
				rest = rest[1:]
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, fmt.Errorf("path %q: a name is missing", path)
			}
			parts, rest = append(parts, rest[:end]), rest[end:]
		}
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("the path is empty")
	}
	return parts, nil
}

// Path writes a path of its parts, for Set and Unset: providers["a.b"].url.
func Path(parts ...string) string {
	path := ""
	for _, p := range parts {
		path = join(path, p)
	}
	return path
}

// at gives the rule of a path; the error names what is known instead.
func (r *rule) at(parts []string) (*rule, error) {
	for i, p := range parts {
		switch {
		case len(r.fields) > 0:
			f, ok := r.field(p)
			if !ok {
				return nil, fmt.Errorf("there is no key %q in %q (%s)", p, strings.Join(parts[:i], "."), meant(p, r.names()))
			}
			r = f.rule
		case r.each != nil:
			r = r.each
		default:
			return nil, fmt.Errorf("%q holds no keys", strings.Join(parts[:i], "."))
		}
	}
	return r, nil
}
