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
func (p *paper) loud(format string, args ...any) { p.raw(calm(fmt.Sprintf(format, args...)) + "\n") }

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
		var b strings.Builder
		last := len(row) - 1
		for last >= 0 && row[last] == "" {
			last--
		}
		for i, cell := range row[:last+1] {
			cell = calm(cell)
			b.WriteString(p.painted(cell))
			if i < last {
				b.WriteString(strings.Repeat(" ", widths[i]-board.Width(cell)+2))
			}
		}
		p.raw(strings.TrimRight(b.String(), " ") + "\n")
	}
}

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
