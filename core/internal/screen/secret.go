package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// ErrGivenUp is a secret that was not typed to its end: Ctrl-C, or Ctrl-D on an
// empty line.
var ErrGivenUp = errors.New("nothing was typed")

// ReadSecret reads one line from a terminal without showing it. The terminal is as
// it was afterwards, also when ctx ends first. in must be a terminal.
func ReadSecret(ctx context.Context, in *os.File) (secret string, err error) {
	reader, err := cancelreader.NewReader(in)
	if err != nil {
		return "", fmt.Errorf("read keys: %w", err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(int(in.Fd()), before)) }()
	release := context.AfterFunc(ctx, func() { reader.Cancel() })
	defer release()
	secret, err = readSecret(reader)
	if errors.Is(err, cancelreader.ErrCanceled) {
		err = context.Cause(ctx)
	}
	return secret, err
}

// The keys that end or mend a line on a raw terminal.
const (
	keyInterrupt = 3
	keyEnd       = 4
	keyBack      = 8
	keyKill      = 21
	keyDelete    = 127
)

// readSecret reads bytes up to the end of the line.
func readSecret(in io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxLine {
		n, err := in.Read(one)
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				return "", ErrGivenUp
			}
			return "", err
		}
		switch c := one[0]; {
		case n == 0:
		case c == '\r' || c == '\n':
			return string(line), nil
		case c == keyInterrupt || c == keyEnd && len(line) == 0:
			return "", ErrGivenUp
		case c == keyBack || c == keyDelete:
			line = line[:max(len(line)-1, 0)]
		case c == keyKill:
			line = nil
		case c >= ' ':
			line = append(line, c)
		}
	}
	return "", fmt.Errorf("more than %d bytes were typed", maxLine)
}
