package job

import (
	"path"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// prose lists file endings whose change draws nothing: a task that touches only
// these makes no picture, so that any look is enough for it.
var prose = []string{".md", ".markdown", ".txt", ".rst", ".adoc", ".csv", ".tsv"}

// MakesPicture reports whether a change of these files can alter what is seen.
func MakesPicture(files []FileChange) bool {
	return slices.ContainsFunc(files, func(f FileChange) bool {
		return !slices.Contains(prose, strings.ToLower(path.Ext(f.Path)))
	})
}

// proves reports whether the look shows the work as it was at the end: pixels
// reached a model, the sources were what they are now, and the picture's file
// was written after their last change.
func (l Look) proves(tree string) bool {
	return l.How == HowPixels && l.Role == vision.Result && l.Fresh && l.Tree != "" && l.Tree == tree
}

// Evidence is what is known when an attempt says that it is done.
type Evidence struct {
	Vision   bool // the task needs eyes
	CouldSee bool // pictures could reach the model: it sees, or nobody knows
	Looks    []Look
	Tree     string // hash of the sources at the end
	Files    []FileChange
}

// Judge counts the looks and says whether they carry a visual verdict. Words
// are empty when they do; else they say what is missing, for the agent and the
// person. A model that cannot see is never asked for a look: visual is then
// VisualUnavailable.
func Judge(e Evidence) (seen Seen, visual, words string) {
	for _, l := range e.Looks {
		if l.How != HowPixels {
			continue
		}
		switch l.Role {
		case vision.Reference:
			seen.Reference++
		case vision.Result:
			seen.Result++
			if l.proves(e.Tree) {
				seen.ResultAfterLastEdit++
			}
		case vision.Other:
			seen.Other++
		}
	}
	switch {
	case !e.Vision:
		return seen, "", ""
	case !e.CouldSee:
		return seen, VisualUnavailable, ""
	case seen.ResultAfterLastEdit > 0:
		return seen, VisualChecked, ""
	case !MakesPicture(e.Files) && seen.Reference+seen.Result+seen.Other > 0:
		return seen, VisualChecked, ""
	case seen.Result > 0:
		return seen, "", "the result was looked at only before the last edit; look at it again as it is now"
	case seen.Reference+seen.Other > 0:
		return seen, "", "only the reference was looked at; look at the result after the last edit"
	default:
		return seen, "", "no picture was looked at; look at the result after the last edit"
	}
}
