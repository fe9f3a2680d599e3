package prompt

import (
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// What an agent is told of its own eyes (02-contracts §5). relo_image is never
// named to a model that does not have it.
const (
	seesWords = "View screenshots and references with relo_image, and compare the result with the reference before reporting a visual task done."

	unknownWords = "Relo does not know whether this model reads images; if none arrives, say that visual verification was unavailable."

	blindWords = "This model cannot see images; do not claim a visual match; report that visual verification was unavailable and " +
		"what a person or a vision model should check."

	describeWords = "relo_describe answers questions about a picture: ask it what you need to know, and say in your report that the answer was another model's."
)

// SightLines is what an agent is told about seeing. canDescribe says that some
// model may look for one that cannot see; it matters to that one only.
func SightLines(sight vision.Sight, canDescribe bool) string {
	lines := []string{seesWords}
	switch {
	case sight == vision.Unknown:
		lines = append(lines, unknownWords)
	case sight == vision.Blind && canDescribe:
		lines = []string{blindWords, describeWords}
	case sight == vision.Blind:
		lines = []string{blindWords}
	}
	return strings.Join(lines, "\n")
}

// sightBlock is the section of a prompt, with what fits a task that needs eyes.
func sightBlock(sight vision.Sight, canDescribe, needsEyes bool) string {
	words := "## Pictures\n" + SightLines(sight, canDescribe)
	if needsEyes {
		words += "\nThis task is judged by what it looks like. A native program is shot by the project's own flag or harness into a file inside the " +
			"workspace. Nothing describes a picture or reads its text before somebody asks."
	}
	return words
}
