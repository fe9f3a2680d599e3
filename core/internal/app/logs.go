package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

const (
	// logLook is how often a log is looked at for more.
	logLook = 200 * time.Millisecond
	// logPiece bounds one reading.
	logPiece = 256 << 10
)

// ReadLog gives the last lines of the daemon's log, JSON one a line, and with
// follow those to come until ctx ends. What the daemon said outside its log (a
// crash, a failed start) comes first, as plain lines.
func ReadLog(ctx context.Context, e Env, lines int, follow bool, each func(line string)) error {
	for _, l := range tail(e.logFile("daemon"), 0, lines) {
		each(l)
	}
	name := e.logFile("relo")
	at := int64(0)
	if info, err := os.Stat(name); err == nil {
		at = info.Size()
	}
	for _, l := range tail(name, 0, lines) {
		each(l)
	}
	if !follow {
		return nil
	}
	tick := time.NewTicker(logLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var err error
		if at, err = more(name, at, each); err != nil {
			return err
		}
	}
}

// more gives the whole lines behind an offset, and where they end. A log that
// became shorter was cut, and is read from its begin.
func more(name string, at int64, each func(string)) (int64, error) {
	f, err := os.Open(name) //nolint:gosec // Relo's own log
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return at, fmt.Errorf("read the log: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return at, fmt.Errorf("read the log: %w", err)
	}
	if info.Size() < at {
		at = 0
	}
	text, err := io.ReadAll(io.NewSectionReader(f, at, min(info.Size()-at, logPiece)))
	if err != nil {
		return at, fmt.Errorf("read the log: %w", err)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	for l := range bytes.Lines(text[:whole]) {
		each(string(bytes.TrimRight(l, "\r\n")))
	}
	return at + int64(whole), nil
}
