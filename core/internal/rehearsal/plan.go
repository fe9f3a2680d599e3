package rehearsal

import "github.com/relo-dev/relo/core/internal/prompt"

// The tasks of the plan.
const (
	cardTask   = "match-card"
	usageTask  = "usage-page"
	fitsTask   = "fits-test"
	changeTask = "changelog"
)

// plan is what the Primary submits for the job.
func plan() prompt.Plan {
	return prompt.Plan{
		Summary: "Three tasks run at once: the card's look, which needs eyes, a page of documentation and a small test. " +
			"The changelog comes when they are merged. " + Words,
		Tasks: []prompt.PlanTask{
			{
				ID: cardTask, Title: "Make the card match the reference", Difficulty: "easy", Vision: true,
				Instructions: "The login card of this project should look like " + Reference + ". Look at the reference, find out how its button differs " +
					"from what card.conf says (colour, place and size), and change card.conf and nothing else. Draw the card anew with " +
					"`sh render.sh " + Result + "`; that file is part of the project. Look at the result and compare it with the reference: done means " +
					"that not one pixel differs.",
				Images: []string{Reference}, DependsOn: []string{}, Files: []string{"card.conf", Result}, Checks: []string{"sh check.sh"},
			},
			{
				ID: usageTask, Title: "Write a usage page", Difficulty: "easy",
				Instructions: "Write docs/usage.md for somebody who sees the project for the first time: how to draw the card, how to change it in " +
					"card.conf, how to check the project. Take the facts from README.md. Keep to what AGENTS.md says of pages.",
				Images: []string{}, DependsOn: []string{}, Files: []string{"docs/usage.md", "docs/index.md"}, Checks: []string{"sh check.sh"},
			},
			{
				ID: fitsTask, Title: "Test that the button fits on the card", Difficulty: "normal",
				Instructions: "render.sh draws a broken picture when the button of card.conf sticks out of the card. Add tests/fits.sh, a POSIX shell script " +
					"that reads card.conf (or the file named as its first argument) and exits with 1 and a sentence when the button does not lie " +
					"inside the card, whose edge is 15 pixels from the left and right and 8 from the top and bottom of the picture. Show that it " +
					"passes on card.conf and fails on a copy with a button of 500 pixels; leave no copy behind.",
				Images: []string{}, DependsOn: []string{}, Files: []string{"tests/fits.sh"}, Checks: []string{"sh check.sh", "sh tests/fits.sh"},
			},
			{
				ID: changeTask, Title: "Write the changelog line", Difficulty: "easy",
				Instructions: "The card, docs/usage.md and tests/fits.sh are merged when you begin. Add lines at the top of the list in CHANGELOG.md that say " +
					"what is new for a user; take the button's colour and size from card.conf as it is now. Run all checks over the whole.",
				Images: []string{}, DependsOn: []string{cardTask, usageTask, fitsTask}, Files: []string{"CHANGELOG.md"},
				Checks: []string{"sh check.sh", "sh tests/fits.sh"},
			},
		},
	}
}
