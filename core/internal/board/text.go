package board

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Calm takes out what would steer a terminal or turn the reading direction.
func Calm(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
}

// Flat makes one line of a text and cuts it at n runes; 0 cuts nothing.
func Flat(text string, n int) string {
	text = strings.Join(strings.Fields(Calm(text)), " ")
	if r := []rune(text); n > 0 && len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// measure counts columns alike on every machine: characters that are wide only in
// some locales count as narrow.
func measure() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// Width is how many columns of a terminal a text takes: 2 for each wide character.
func Width(text string) int { return measure().StringWidth(text) }

// Fit cuts a text to at most width columns; a cut one ends in an ellipsis. No
// half of a wide character is left.
func Fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return measure().Truncate(text, width, "…")
}

// Pad fits a text and fills it with blanks to just width columns.
func Pad(text string, width int) string {
	text = Fit(text, width)
	return text + strings.Repeat(" ", max(0, width-Width(text)))
}

// Wrap breaks a text into lines of at most width columns, between words where
// that is possible. Line breaks of the text stay.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		out = append(out, wrapLine(strings.ReplaceAll(line, "\t", "    "), width)...)
	}
	return out
}

func wrapLine(line string, width int) []string {
	var out []string
	for Width(line) > width {
		head := measure().Truncate(line, width, "")
		if head == "" { // a wide character in a single column
			return append(out, "…")
		}
		cut := len(head)
		if at := strings.LastIndexByte(head, ' '); at > 0 && strings.TrimSpace(head[:at]) != "" {
			cut = at
		}
		out = append(out, strings.TrimRight(line[:cut], " "))
		line = strings.TrimLeft(line[cut:], " ")
	}
	return append(out, line)
}
