package refusal

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// choiceWords find a list of what may stand somewhere: "expected one of `text`,
// `image`", "Supported values are: 'text'", "Input should be 'text'".
var choiceWords = sync.OnceValue(func() [3]*regexp.Regexp {
	return [3]*regexp.Regexp{
		regexp.MustCompile(`(?:expected(?: one of| tags?| values?| types?)*|(?:allowed|supported|valid|permitted|accepted)(?: content)? (?:values?|types?|tags?)(?: are| is)?|must be(?: one of)?|should be(?: one of)?|any of the expected tags|取值范围(?:为|是)?|可选值(?:为|是)?)[:： \[(]*((?:'[a-z_]+'|[a-z_]+)(?:(?:,? or |,? and |, ?|/|\|)(?:'[a-z_]+'|[a-z_]+))*)`),
		regexp.MustCompile(`[a-z_]+`),
		regexp.MustCompile(`image|picture|vision`),
	}
})

// choice reads a list of the parts that a message may have: one without a picture is
// a model that sees none, one with a picture in it says that ours has the wrong name.
// The words must speak of pictures at all.
func choice(class Class, s said) (found, bool) {
	re := choiceWords()
	if !re[2].MatchString(s.bare) {
		return found{}, false
	}
	for _, m := range re[0].FindAllStringSubmatchIndex(s.bare, -1) {
		names := re[1].FindAllString(s.bare[m[2]:m[3]], -1)
		if !slices.ContainsFunc(names, isText) {
			continue
		}
		image := slices.ContainsFunc(names, func(n string) bool { return re[2].MatchString(n) })
		misplaced := slices.Contains(names, "refusal") // an assistant's parts in OpenAI's API reference
		if (image || misplaced) != (class == Shape) || slices.ContainsFunc(names, isFormat) {
			continue
		}
		start := utf8.RuneCountInString(s.bare[:m[0]])
		return found{from: start, to: start + utf8.RuneCountInString(s.bare[m[0]:m[1]])}, true
	}
	return found{}, false
}

func isText(name string) bool { return name == "text" || name == "input_text" || name == "output_text" }

// isFormat is a list of how an answer may look, not of what a message may hold.
func isFormat(name string) bool { return strings.HasPrefix(name, "json") }
