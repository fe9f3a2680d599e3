package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/screen"
)

// paper is a stream that words are written on, by one writer at a time. It
// keeps the first error, so that a printed page needs one check at its end.
type paper struct {
	w      io.Writer
	colour bool // states are painted
	mute   bool // only what cannot be left out is written
	width  int  // of a terminal: lines break between words; 0: they are not broken

	mu   sync.Mutex
	err  error
	held *bytes.Buffer // while something else is on the terminal, words wait here
}

// hold keeps what is written until release.
func (p *paper) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = &bytes.Buffer{}
	}
}

// release writes what was held.
func (p *paper) release() {
	p.mu.Lock()
	held := p.held
	p.held = nil
	p.mu.Unlock()
	if held != nil && held.Len() > 0 {
		p.raw(held.String())
	}
}

// Write passes bytes on as they are.
func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		return p.held.Write(b)
	}
	n, err := p.w.Write(b)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("write the output: %w", err)
	}
	return n, err
}

// raw writes text as it is.
func (p *paper) raw(text string) { _, _ = p.Write([]byte(text)) } // the error is kept

// line writes one line for a person. What models and files say is in it, so
// nothing may steer the terminal.
func (p *paper) line(format string, args ...any) {
	if !p.mute {
		p.loud(format, args...)
	}
}

// loud writes a line that --quiet does not leave out.
func (p *paper) loud(format string, args ...any) {
	text := calm(fmt.Sprintf(format, args...))
	if p.width < minWidth {
		p.raw(text + "\n")
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		p.broken(line)
	}
}

// minWidth is the narrowest terminal for which lines are broken.
const minWidth = 20

// broken writes a line in pieces that fit; those behind the first stand below its words.
func (p *paper) broken(line string) {
	words := strings.TrimLeft(line, " ")
	indent := line[:min(len(line)-len(words), p.width/2)]
	for i, piece := range board.Wrap(words, p.width-len(indent)-2) {
		if i == 1 {
			indent += "  "
		}
		p.raw(indent + piece + "\n")
	}
}

// doc writes one JSON document on one line.
func (p *paper) doc(v any) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		p.mu.Lock()
		p.err = fmt.Errorf("encode the answer: %w", err)
		p.mu.Unlock()
		return
	}
	p.raw(b.String())
}

func calm(text string) string { return board.Calm(text) }

func flat(text string, n int) string { return board.Flat(text, n) }

// table writes rows in columns, without borders. A cell that begins with the
// word of a state is painted where colours are wanted.
func (p *paper) table(rows [][]string) {
	if p.mute {
		return
	}
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], board.Width(calm(cell)))
		}
	}
	for _, row := range rows {
		p.row(row, widths)
	}
}

// fitLast cuts the last column so that rows keep to one line of a terminal, as
// far as a few words are left of it.
func (p *paper) fitLast(rows [][]string) [][]string {
	last, before := len(rows[0])-1, 0
	for i := range last {
		width := 0
		for _, row := range rows {
			width = max(width, board.Width(calm(row[i])))
		}
		before += width + 2
	}
	if p.width < before+minWidth {
		return rows
	}
	for _, row := range rows {
		row[last] = board.Fit(calm(row[last]), p.width-before)
	}
	return rows
}

// row writes one row of a table. On a terminal the cells that do not fit stand
// below it.
func (p *paper) row(row []string, widths []int) {
	var b strings.Builder
	at, rest := 0, []string(nil)
	for i, cell := range row {
		cell = calm(cell)
		if at += widths[i] + 2; p.width >= minWidth && i > 0 && at-widths[i]-2+board.Width(cell) > p.width {
			rest = row[i:]
			break
		}
		b.WriteString(p.painted(cell) + strings.Repeat(" ", widths[i]-board.Width(cell)+2))
	}
	p.raw(strings.TrimRight(b.String(), " ") + "\n")
	if below := strings.TrimSpace(strings.Join(rest, "  ")); below != "" {
		p.broken(strings.Repeat(" ", belowIndent) + calm(below))
	}
}

// belowIndent sets what stands below a row apart from the next row.
const belowIndent = 6

func (p *paper) painted(cell string) string {
	if !p.colour {
		return cell
	}
	word, _, _ := strings.Cut(cell, ",")
	return screen.Paint(board.Line{{Text: cell, Tone: board.About(word).Tone}}, true)
}

// link writes words and a path as a line; a terminal opens the path when it is clicked.
func (p *paper) link(words, path string, terminal bool) {
	if !terminal {
		p.line("%s%s", words, path)
		return
	}
	at := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	p.raw(calm(words) + "\x1b]8;;" + at + "\x1b\\" + calm(path) + "\x1b]8;;\x1b\\\n")
}
