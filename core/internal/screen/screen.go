// Package screen shows lines on a terminal and reads its keys: it takes the
// terminal over, writes only the rows that changed, and gives the terminal back
// as it was. What the lines say and what a key means is not its business.
package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"

	"github.com/relo-dev/relo/core/internal/board"
)

// Screen is a terminal that was taken over.
type Screen struct {
	in, out *os.File
	colour  bool
	before  *term.State
	keys    chan string
	reader  cancelreader.CancelReader
	done    sync.WaitGroup
	stop    context.CancelFunc

	rows []string // as they stand on the terminal
	size board.Size
}

const (
	// enter takes the other screen of the terminal, hides the cursor, keeps long
	// rows from wrapping and marks pasted text.
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[2J"
	leave = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
	// begin and end hold the terminal's picture still while rows are written;
	// terminals that do not know them pass over them.
	begin = "\x1b[?2026h"
	end   = "\x1b[?2026l"
)

// Open takes over the terminal of in and out. It must be closed.
func Open(in, out *os.File, colour bool) (*Screen, error) {
	reader, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the terminal over: %w", err), reader.Close())
	}
	s := &Screen{in: in, out: out, colour: colour, before: before, keys: make(chan string), reader: reader}
	if _, err := io.WriteString(out, enter); err != nil {
		return nil, errors.Join(fmt.Errorf("write to the terminal: %w", err), term.Restore(int(in.Fd()), before), reader.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(func() { s.read(ctx) })
	return s, nil
}

// Keys gives one key after the other: a character, a name of package board, or
// a pasted text.
func (s *Screen) Keys() <-chan string { return s.keys }

// Close gives the terminal back as it was.
func (s *Screen) Close() error {
	s.stop()
	s.reader.Cancel()
	s.done.Wait()
	_, werr := io.WriteString(s.out, leave)
	return errors.Join(werr, term.Restore(int(s.in.Fd()), s.before), s.reader.Close())
}

// smallest is the size that is taken when the terminal does not tell its own.
var smallest = board.Size{Width: 80, Height: 24}

// Size asks the terminal how large it is now.
func (s *Screen) Size() board.Size { return SizeOf(s.out) }

// SizeOf asks a terminal how large it is.
func SizeOf(f *os.File) board.Size {
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w < 1 || h < 1 {
		return smallest
	}
	return board.Size{Width: w, Height: h}
}

// IsTerminal reports whether a person sits before a file.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Draw shows lines from the top; only rows that changed are written.
func (s *Screen) Draw(lines []board.Line, size board.Size) error {
	clear := ""
	if size != s.size {
		clear, s.rows, s.size = "\x1b[2J", nil, size
	}
	text, rows := paint(s.rows, lines, size.Width, s.colour)
	if text == "" && clear == "" {
		return nil
	}
	s.rows = rows
	if _, err := io.WriteString(s.out, begin+clear+text+end); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// maxPaste is the longest piece that is read at once; more comes with the next.
const maxPaste = 4096

func (s *Screen) read(ctx context.Context) {
	defer close(s.keys)
	var d decoder
	buf := make([]byte, maxPaste)
	for {
		n, err := s.reader.Read(buf)
		for _, k := range d.feed(buf[:n]) {
			select {
			case s.keys <- k:
			case <-ctx.Done():
				return
			}
		}
		if err != nil || ctx.Err() != nil {
			return
		}
	}
}

// maxLine is the longest line that a person answers with.
const maxLine = 64 << 10

// ReadLine reads one line without its end, byte by byte so that nothing behind
// it is taken. It ends early with the cause of ctx; io.EOF is the end of input
// before a line.
func ReadLine(ctx context.Context, in io.Reader) (string, error) {
	if f, ok := in.(*os.File); ok {
		if r, err := cancelreader.NewReader(f); err == nil {
			release := context.AfterFunc(ctx, func() { r.Cancel() })
			line, err := readLine(r)
			release()
			if errors.Is(err, cancelreader.ErrCanceled) {
				err = context.Cause(ctx)
			}
			return line, errors.Join(err, r.Close())
		}
	}
	return readLine(in)
}

func readLine(in io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := in.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return string(line), nil
		case n == 1 && one[0] != '\r':
			line = append(line, one[0])
		}
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			return "", err
		}
		if err != nil {
			return string(line), nil
		}
		if len(line) > maxLine {
			return "", errors.New("the line is too long")
		}
	}
}
