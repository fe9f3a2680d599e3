package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Change is one path that differs between two commits.
type Change struct {
	Path    string `json:"path"`
	Status  string `json:"status"`        // added, modified, deleted, renamed
	Old     string `json:"old,omitempty"` // the former path of a renamed one
	Added   int    `json:"added"`         // lines; 0 for a binary file
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

var statusWords = map[byte]string{'A': "added", 'M': "modified", 'T': "modified", 'D': "deleted", 'R': "renamed", 'C': "added"}

// Changes lists what differs from one commit (or tree) to another, by path.
func (r *Repo) Changes(ctx context.Context, from, to string) ([]Change, error) {
	res, err := r.run(ctx, call{at: r.home, plain: true, args: []string{
		"-c", "core.bigFileThreshold=" + bigFile, "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-abbrev", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "--end-of-options", from, to,
	}})
	if err != nil {
		return nil, fmt.Errorf("list changes: %w", err)
	}
	return parseChanges(res.out)
}

// parseChanges reads --raw and --numstat with -z: first all raw records, then all counts.
func parseChanges(out []byte) ([]Change, error) {
	list, at := []Change{}, map[string]int{}
	parts := fields(out)
	next := func() (string, bool) {
		if len(parts) == 0 {
			return "", false
		}
		p := parts[0]
		parts = parts[1:]
		return p, true
	}
	for {
		head, ok := next()
		if !ok {
			return list, nil
		}
		if strings.HasPrefix(head, ":") {
			c, err := parseRaw(head, next)
			if err != nil {
				return nil, err
			}
			at[c.Path] = len(list)
			list = append(list, c)
			continue
		}
		counts := strings.SplitN(head, "\t", 3)
		if len(counts) != 3 {
			return nil, fmt.Errorf("list changes: %q is not understood", bound(head, 200))
		}
		name := counts[2]
		if name == "" { // a rename: the two names follow
			if _, ok = next(); ok {
				name, ok = next()
			}
		}
		i, known := at[name]
		if !ok || !known {
			return nil, fmt.Errorf("list changes: counts of unknown path %q", bound(name, 200))
		}
		list[i].Binary = counts[0] == "-"
		list[i].Added, list[i].Deleted = number(counts[0]), number(counts[1])
	}
}

// parseRaw reads ":oldmode newmode oldid newid status" and the one or two paths behind it.
func parseRaw(head string, next func() (string, bool)) (Change, error) {
	words := strings.Fields(head)
	name, ok := next()
	if len(words) != 5 || !ok {
		return Change{}, fmt.Errorf("list changes: %q is not understood", bound(head, 200))
	}
	c := Change{Path: name, Status: statusWords[words[4][0]]}
	if c.Status == "renamed" || words[4][0] == 'C' {
		to, ok := next()
		if !ok {
			return c, fmt.Errorf("list changes: no new name for %q", bound(name, 200))
		}
		c.Old, c.Path = name, to
	}
	if c.Status == "" {
		return c, fmt.Errorf("list changes: status %q is not understood", words[4])
	}
	return c, nil
}

// number is 0 for the dash of a binary file.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// Diff gives the patch as text, its first limit bytes up to a whole line.
func (r *Repo) Diff(ctx context.Context, from, to string, limit int) (patch string, truncated bool, err error) {
	if limit <= 0 {
		return "", true, nil
	}
	res, err := r.run(ctx, call{at: r.home, plain: true, limit: limit, cut: true, args: []string{
		"-c", "core.bigFileThreshold=" + bigFile, "diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
		"--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", from, to,
	}})
	if err != nil {
		return "", false, fmt.Errorf("diff: %w", err)
	}
	text := string(res.out)
	if res.cut {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	return strings.ToValidUTF8(text, "\uFFFD"), res.cut, nil
}
