package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// paper is a stream that words are written on, by one writer at a time. It
// keeps the first error, so that a printed page needs one check at its end.
type paper struct {
	w   io.Writer
	mu  sync.Mutex
	err error
}

// Write passes bytes on as they are.
func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
func (p *paper) line(format string, args ...any) { p.raw(calm(fmt.Sprintf(format, args...)) + "\n") }

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

// calm takes out what would steer a terminal or turn the reading direction.
func calm(text string) string {
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

// flat makes one line of a text and cuts it at n runes; 0 cuts nothing.
func flat(text string, n int) string {
	text = strings.Join(strings.Fields(calm(text)), " ")
	if r := []rune(text); n > 0 && len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// table writes rows in columns, without borders.
func (p *paper) table(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		p.line("%s", strings.TrimRight(b.String(), " "))
	}
}
