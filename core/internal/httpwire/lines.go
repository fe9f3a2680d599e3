package httpwire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Lines reads a stream of JSON lines (application/x-ndjson): one document a line,
// blank lines passed over.
type Lines struct {
	r     *bufio.Reader
	max   int
	line  []byte
	began bool
}

// Lines reads the answer as a stream of JSON lines; one over Limits.Event bytes is ErrLarge.
func (a *Answer) Lines() *Lines { return NewLines(a, a.limits.Event) }

// NewLines reads lines from r; one over limit bytes is ErrLarge. limit 0 is the default.
func NewLines(r io.Reader, limit int) *Lines {
	if limit <= 0 {
		limit = maxEvent
	}
	return &Lines{r: bufio.NewReader(r), max: limit}
}

// Next gives the next line that is not blank, without its end; its data is valid until
// the next call. Partial says that the stream ended without a line feed: in a stream
// that broke, the data is half. After the last it returns io.EOF; other errors are
// those of the reader.
func (l *Lines) Next() (Event, error) {
	for {
		ended, err := l.read()
		if err != nil {
			return Event{}, err
		}
		if !l.began {
			l.began = true
			l.line = bytes.TrimPrefix(l.line, bom)
		}
		if data := bytes.TrimSpace(l.line); len(data) > 0 {
			return Event{Data: data, Partial: ended}, nil
		}
		if ended {
			return Event{}, io.EOF
		}
	}
}

// read fills l.line. ended says that the stream is over.
func (l *Lines) read() (ended bool, err error) {
	l.line = l.line[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.line = append(l.line, part...)
		if len(l.line) > l.max {
			return false, ErrLarge
		}
		switch {
		case err == nil:
			return false, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		default:
			return false, err
		}
	}
}
