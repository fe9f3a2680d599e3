package job

import (
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/vision"
)

// look makes a look from words: its role, then what is special about it.
func look(words string) Look {
	l := Look{How: HowPixels, Tree: "now", Fresh: true, Role: vision.Role(strings.Fields(words)[0])}
	for _, w := range strings.Fields(words)[1:] {
		switch w {
		case "before":
			l.Tree = "then"
		case "treeless":
			l.Tree = ""
		case "stale":
			l.Fresh = false
		case "dropped", "described":
			l.How = w
		}
	}
	return l
}

func TestJudge(t *testing.T) {
	code, prose := []FileChange{{Path: "a.css"}}, []FileChange{{Path: "README.md"}, {Path: "docs/notes.TXT"}}
	tests := []struct {
		looks  string // separated by commas
		files  []FileChange
		seen   Seen
		visual string
		words  string // a part of them; empty: the verdict carries
		why    string
	}{
		{"result", code, Seen{Result: 1, ResultAfterLastEdit: 1}, VisualChecked, "", "after the last edit"},
		{"", code, Seen{}, "", "no picture was looked at", "no look"},
		{"reference", code, Seen{Reference: 1}, "", "only the reference", "the reference only"},
		{"other", code, Seen{Other: 1}, "", "only the reference", "some other picture only"},
		{"result before", code, Seen{Result: 1}, "", "before the last edit", "the result before the last edit"},
		{"result stale", code, Seen{Result: 1}, "", "before the last edit", "a file from before the last edit, looked at after it"},
		{"result treeless", code, Seen{Result: 1}, "", "before the last edit", "a look that does not say what it saw"},
		{"result before, result", code, Seen{Result: 2, ResultAfterLastEdit: 1}, VisualChecked, "", "looked again"},
		{"reference, result", code, Seen{Reference: 1, Result: 1, ResultAfterLastEdit: 1}, VisualChecked, "", "compared"},
		{"result dropped", code, Seen{}, "", "no picture was looked at", "a picture that went as words is no look"},
		{"result described", code, Seen{}, "", "no picture was looked at", "a description is no look"},
		{"reference", prose, Seen{Reference: 1}, VisualChecked, "", "prose draws nothing: any look will do"},
		{"other", prose, Seen{Other: 1}, VisualChecked, "", "prose and another picture"},
		{"", prose, Seen{}, "", "no picture was looked at", "prose without a look"},
		{"reference dropped", prose, Seen{}, "", "no picture was looked at", "prose and a look that did not arrive"},
		{"reference", nil, Seen{Reference: 1}, VisualChecked, "", "nothing changed: any look will do"},
		{"reference", append(prose, code...), Seen{Reference: 1}, "", "only the reference", "one file that draws is enough to need the result"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			var looks []Look
			for w := range strings.SplitSeq(c.looks, ",") {
				if w = strings.TrimSpace(w); w != "" {
					looks = append(looks, look(w))
				}
			}
			e := Evidence{Vision: true, CouldSee: true, Looks: looks, Tree: "now", Files: c.files}
			seen, visual, words := Judge(e)
			if seen != c.seen || visual != c.visual {
				t.Errorf("seen %+v, %q; want %+v, %q", seen, visual, c.seen, c.visual)
			}
			if (words == "") != (c.words == "") || !strings.Contains(words, c.words) {
				t.Errorf("said %q, want %q", words, c.words)
			}
			e.CouldSee = false
			if _, visual, words := Judge(e); visual != VisualUnavailable || words != "" {
				t.Errorf("a blind model was asked for a look: %q %q", visual, words)
			}
			e.Vision, e.CouldSee = false, true
			if got, visual, words := Judge(e); visual != "" || words != "" || got != c.seen {
				t.Errorf("a task without eyes: %+v %q %q", got, visual, words)
			}
		})
	}
}

// Without a hash of the sources nothing can be said of freshness.
func TestNoTreeProvesNothing(t *testing.T) {
	l := look("result treeless")
	if seen, visual, words := Judge(Evidence{Vision: true, CouldSee: true, Looks: []Look{l}, Files: []FileChange{{Path: "a.go"}}}); seen.ResultAfterLastEdit != 0 || visual != "" || words == "" {
		t.Errorf("%+v %q %q", seen, visual, words)
	}
}
