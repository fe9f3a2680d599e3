package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong, where, and what to do about it.
type Fault struct {
	File    string `json:"file"` // a path, or the flag's or variable's name
	Line    int    `json:"line"` // from 1; 0 when the value has no file
	Column  int    `json:"column"`
	Path    string `json:"path"` // for example providers.here.url
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// String gives file:line:column, the path, what is wrong and the fix, on one line.
func (f Fault) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	words := at + ": "
	if f.Path != "" {
		words += f.Path + ": "
	}
	words += f.Message
	if f.Fix != "" {
		words += " (" + f.Fix + ")"
	}
	return words
}

// Faults is the error of a bad configuration: every fault at once, in the order
// of the files.
type Faults struct{ List []Fault } //nolint:errname // it is the list itself, which callers show one by one

// Error gives one fault a line.
func (e *Faults) Error() string {
	lines := make([]string, len(e.List))
	for i, f := range e.List {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// AsFaults takes the faults out of an error.
func AsFaults(err error) ([]Fault, bool) {
	f, ok := errors.AsType[*Faults](err)
	if !ok {
		return nil, false
	}
	return f.List, true
}

// report collects faults.
type report struct{ list []Fault }

func (r *report) add(at position, path, message, fix string) {
	if len(r.list) < maxFaults {
		r.list = append(r.list, Fault{File: at.file, Line: at.line, Column: at.column, Path: path, Message: message, Fix: fix})
	}
}

func (r *report) err() error {
	if len(r.list) == 0 {
		return nil
	}
	list, order := slices.Clone(r.list), map[string]int{}
	for _, f := range list { // files keep the order in which they were read
		if _, known := order[f.File]; !known {
			order[f.File] = len(order)
		}
	}
	slices.SortStableFunc(list, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line))
	})
	return &Faults{List: list}
}

// nearest finds the known word that was probably meant; empty when none is near.
func nearest(word string, known []string) string {
	best, at := "", nearWords+1
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if d < at && d <= max(len(k)/2, 1) {
			best, at = k, d
		}
	}
	return best
}

// meant words the suggestion, or lists what there is.
func meant(word string, known []string) string {
	if n := nearest(word, known); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if len(known) == 0 {
		return "there is none yet"
	}
	return "one of: " + strings.Join(known, ", ")
}

// distance is Levenshtein's with swapped neighbours counted as one slip, over
// bytes, capped for long words.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return nearWords + 1
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
