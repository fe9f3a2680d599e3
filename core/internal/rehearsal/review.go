package rehearsal

import (
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider/double"
)

// again is where a reviewer draws the card for itself; the workspace is thrown away.
const again = "out/again.bmp"

// reviewCard draws the card anew from the author's sources, to know that the
// picture is theirs, and looks for itself.
var reviewCard = []step{
	func(*scene) double.Reply {
		return do("I draw the card from the author's sources and see whether it is the picture that was handed in.",
			bash("sh render.sh "+again+" && cmp "+again+" "+Result+" && sh check.sh"))
	},
	func(*scene) double.Reply {
		return do("I look at the result beside the reference.", look(Reference, Result))
	},
	func(s *scene) double.Reply {
		b, differs, err := s.compare()
		switch {
		case err != nil:
			return unconfirmed(err.Error())
		case differs != "":
			return verdict("rework", "The card does not match the reference.", fmt.Sprintf("%s against %s: %s.", Result, Reference, differs))
		}
		return verdict("accept", fmt.Sprintf("I looked: the card and the reference agree in every pixel, and the button is %s. Drawn anew from the sources it is the same picture.", b))
	},
}

// reviewText runs the checks at the author's commit and holds the diff against
// what the task is to change.
var reviewText = []step{
	func(s *scene) double.Reply {
		task, _ := s.task()
		calls := []double.Call{bash(strings.Join(task.Checks, " && "))}
		for _, f := range task.Files {
			calls = append(calls, read(f))
		}
		return do("I run the checks and read what was written.", calls...)
	},
	func(s *scene) double.Reply {
		task, _ := s.task()
		_, diff, _ := strings.Cut(s.first, "\n## The diff\n")
		for _, f := range task.Files {
			if !strings.Contains(diff, f) {
				return verdict("rework", "Something is missing.", "The diff does not change "+f+", which the task asks for.")
			}
		}
		return verdict("accept", fmt.Sprintf("The diff changes %s, as the task asks. I ran the checks at this commit. %s", strings.Join(task.Files, " and "), said(s.output())))
	},
}
