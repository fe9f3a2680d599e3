package screen

import (
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/board"
)

// sgr are the sequences of the tones with colours, and without.
var sgr = map[board.Tone][2]string{
	board.Bold: {"1", "1"}, board.Dim: {"2", ""}, board.Active: {"36", ""}, board.Good: {"32", ""}, board.Warn: {"33", ""},
	board.Bad: {"31", ""}, board.Selected: {"7", "7"},
}

// Paint writes a line with its tones. Colours are left out where they are not
// wanted; bold and reversed stay, since NO_COLOR speaks of colour only.
func Paint(l board.Line, colour bool) string {
	var b strings.Builder
	for _, s := range l {
		code := sgr[s.Tone][1]
		if colour {
			code = sgr[s.Tone][0]
		}
		if code == "" || s.Text == "" {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString("\x1b[" + code + "m" + s.Text + "\x1b[0m")
	}
	return b.String()
}

// paint gives what must be written so that a screen that shows rows shows
// lines, and the rows that it then has. What is behind a row is cleared, unless
// the row fills its width: a terminal would then clear its last character.
func paint(rows []string, lines []board.Line, width int, colour bool) (string, []string) {
	var b strings.Builder
	now := make([]string, max(len(lines), len(rows)))
	for i := range now {
		rest := "\x1b[K"
		if i < len(lines) {
			now[i] = Paint(lines[i], colour)
			if board.Width(lines[i].String()) >= width {
				rest = ""
			}
		}
		if i >= len(rows) || rows[i] != now[i] {
			fmt.Fprintf(&b, "\x1b[%d;1H%s%s", i+1, now[i], rest)
		}
	}
	return b.String(), now
}
