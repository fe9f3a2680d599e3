package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/relo-dev/relo/core/internal/screen"
)

// asks reports whether a person can be asked something: both sides of the
// conversation are a terminal, and --no-input was not given.
func (s *shell) asks() bool { return !s.noInput && s.terminal(s.in) && s.terminal(s.note.w) }

// ask puts a question and gives the answer. No answer, as at the end of input, is "".
func (s *shell) ask(ctx context.Context, question string) (string, error) {
	s.note.raw(calm(question))
	line, err := screen.ReadLine(ctx, s.in)
	if errors.Is(err, io.EOF) {
		s.note.raw("\n")
		return "", nil
	}
	return strings.TrimSpace(line), err
}

// colours reports whether a stream is painted: never with --no-color or
// NO_COLOR, always with CLICOLOR_FORCE, else on a terminal that can.
func (s *shell) colours(stream any) bool {
	force := s.getenv("CLICOLOR_FORCE")
	switch {
	case s.noColor, s.getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case s.getenv("TERM") == "dumb", s.getenv("CLICOLOR") == "0", s.plainest():
		return false
	}
	return s.terminal(stream)
}

// plainest reports whether somebody has the screen read to them: nothing is
// drawn twice, and nothing is said by place or colour.
func (s *shell) plainest() bool {
	switch s.getenv("RELO_SCREEN_READER") {
	case "", "0", "false", "no":
		return s.reader
	}
	return true
}

// How a job's progress is shown.
const (
	progressAuto  = "auto"
	progressTTY   = "tty"
	progressPlain = "plain"
	progressNone  = "none"
)

// progressOf decides how progress is shown. Only a terminal on both sides has a
// live view.
func (s *shell) progressOf(flag string) (string, error) {
	live := s.files() && s.terminal(s.in) && s.terminal(s.note.w)
	switch flag {
	case progressAuto:
		switch {
		case s.quiet:
			return progressNone, nil
		case !live, s.json, s.noInput, s.plainest(), s.getenv("TERM") == "dumb":
			return progressPlain, nil
		}
		return progressTTY, nil
	case progressTTY:
		if !live || s.json {
			return "", &usageError{words: "--progress tty needs a terminal for stdin and stderr, and no --json", hint: "leave it out: relo finds out by itself"}
		}
		return flag, nil
	case progressPlain, progressNone:
		return flag, nil
	}
	return "", &usageError{words: "--progress " + flag + ": it is auto, tty, plain or none"}
}

// files reports whether the streams are files that a terminal can stand behind.
func (s *shell) files() bool {
	_, in := s.in.(*os.File)
	_, note := s.note.w.(*os.File)
	return in && note
}
