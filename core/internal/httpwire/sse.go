package httpwire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Event is one server-sent event with data.
type Event struct {
	Name string // of the event line; empty: none
	Data []byte // the data lines, joined by line feeds; valid until the next call
	// Partial says that the stream ended without the blank line that closes an
	// event. Some servers leave it out; in a stream that broke, the data is half.
	Partial bool
}

// Events reads server-sent events as the WHATWG HTML standard says ("Server-sent
// events", 9.2.6): lines end in LF, CR or CRLF; comments, id and retry are passed over.
type Events struct {
	r      *bufio.Reader
	max    int
	line   []byte
	name   string
	data   bytes.Buffer
	some   bool // a data line was seen
	skipLF bool // the last line ended in CR
	began  bool
}

// Events reads the answer as a stream of server-sent events.
func (a *Answer) Events() *Events { return NewEvents(a, a.limits.Event) }

// EventsInto reads the answer as events and writes its bytes to w as they are read.
func (a *Answer) EventsInto(w io.Writer) *Events {
	return NewEvents(io.TeeReader(a, w), a.limits.Event)
}

// NewEvents reads events from r; one over limit bytes is ErrLarge. limit 0 is the default.
func NewEvents(r io.Reader, limit int) *Events {
	if limit <= 0 {
		limit = maxEvent
	}
	return &Events{r: bufio.NewReader(r), max: limit}
}

// Next gives the next event that has data. After the last it returns io.EOF;
// other errors are those of the reader.
func (e *Events) Next() (Event, error) {
	e.name, e.some = "", false
	e.data.Reset()
	for {
		ended, err := e.readLine()
		if err != nil {
			return Event{}, err
		}
		if len(e.line) == 0 {
			if e.some {
				return Event{Name: e.name, Data: e.data.Bytes(), Partial: ended}, nil
			}
			e.name = ""
		} else if err := e.field(); err != nil {
			return Event{}, err
		}
		if !ended {
			continue
		}
		if e.some {
			return Event{Name: e.name, Data: e.data.Bytes(), Partial: true}, nil
		}
		return Event{}, io.EOF
	}
}

// readLine fills e.line, without its end. ended says that the stream is over.
func (e *Events) readLine() (ended bool, err error) {
	e.line = e.line[:0]
	for {
		c, err := e.r.ReadByte()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			e.trimBOM()
			return true, nil
		}
		if err != nil {
			return false, err
		}
		skip := e.skipLF && c == '\n'
		e.skipLF = false
		switch {
		case skip:
		case c == '\n' || c == '\r':
			e.skipLF = c == '\r'
			e.trimBOM()
			return false, nil
		default:
			if len(e.line) >= e.max {
				return false, ErrLarge
			}
			e.line = append(e.line, c)
		}
	}
}

func (e *Events) trimBOM() {
	if !e.began {
		e.began = true
		e.line = bytes.TrimPrefix(e.line, bom)
	}
}

func (e *Events) field() error {
	name, value, _ := bytes.Cut(e.line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		if e.data.Len()+len(value)+1 > e.max {
			return ErrLarge
		}
		if e.some {
			e.data.WriteByte('\n')
		}
		e.some = true
		e.data.Write(value)
	}
	return nil
}
