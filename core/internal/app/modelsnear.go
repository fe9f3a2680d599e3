package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/almanac"
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
)

// listedRefs names every model of the providers' lists, sorted.
func listedRefs(cfg *config.Config, page *almanac.Page) []catalog.Ref {
	var refs []catalog.Ref
	for name, p := range cfg.Providers {
		report, _ := page.Report(endpointOf(p))
		for _, m := range report.Models {
			refs = append(refs, catalog.Ref(name+"/"+m.ID))
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

// mayBe reports whether a ref can be a model's: the config names it, or the list of
// its provider does, or there is no list that would show that it is none.
func mayBe(cfg *config.Config, ref catalog.Ref, page *almanac.Page) bool {
	name, id := ref.Split()
	p, ok := cfg.Providers[name]
	if !ok || id == "" {
		return false
	}
	l, read := page.Listed(endpointOf(p), id)
	return l != nil || read.IsZero() || slices.Contains(allRefs(cfg), ref)
}

// UnknownModel is the error of a ref that is no model's; known are those that are.
func UnknownModel(ref string, known []string) error {
	hint := "relo models --all lists the models, relo models refresh asks the providers for theirs"
	if near := nearRefs(ref, known); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	words := fmt.Sprintf("neither the configuration nor its provider's list names the model %q", ref)
	if !strings.Contains(ref, "/") {
		words = fmt.Sprintf("%q is no model: they are named PROVIDER/ID", ref)
	}
	return usage(words, hint)
}

const (
	// nearMost is how many near misses are named.
	nearMost = 3
	// nearPart is the share of a ref's letters that may differ: a quarter.
	nearPart = 4
)

// nearRefs finds what was probably meant: refs whose id is the word, that hold it, or
// that are a few letters off; the nearest first.
func nearRefs(word string, known []string) []string {
	type miss struct {
		ref string
		far int
	}
	var near []miss
	low := strings.ToLower(word)
	_, id, _ := strings.Cut(low, "/")
	for _, k := range known {
		ref := strings.ToLower(k)
		_, its, _ := strings.Cut(ref, "/")
		far := -1
		switch {
		case its == low || its == id:
			far = 0
		case len(low) >= nearPart && strings.Contains(ref, low):
			far = 1
		case abs(len(ref)-len(low)) <= len(low)/nearPart:
			if d := letters(low, ref); d <= len(low)/nearPart {
				far = 1 + d
			}
		}
		if far >= 0 {
			near = append(near, miss{k, far})
		}
	}
	slices.SortFunc(near, func(a, b miss) int { return cmp.Or(a.far-b.far, strings.Compare(a.ref, b.ref)) })
	var refs []string
	for _, m := range near[:min(len(near), nearMost)] {
		refs = append(refs, m.ref)
	}
	return refs
}

func abs(n int) int { return max(n, -n) }

// letters is how many must be put in, left out or changed to make one word of another.
func letters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
