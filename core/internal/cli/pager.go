package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/screen"
)

// paged prints a long text through the person's pager. Off a terminal, and for
// what fits on the screen, there is none.
func (s *shell) paged(ctx context.Context, write func(*paper) error) error {
	if !s.terminal(s.out.w) || s.noInput || s.plainest() {
		return write(s.out)
	}
	var text bytes.Buffer
	page := &paper{w: &text, colour: s.out.colour, width: s.out.width}
	if err := write(page); err != nil {
		s.out.raw(text.String())
		return err
	}
	command := cmp.Or(s.getenv("RELO_PAGER"), s.getenv("PAGER"), "less")
	if height := s.size(s.out.w).Height; height == 0 || bytes.Count(text.Bytes(), []byte("\n")) < height || command == "cat" {
		s.out.raw(text.String())
		return nil
	}
	if err := s.page(ctx, command, text.String()); err != nil {
		s.out.raw(text.String()) // no pager is no reason to keep it back
	}
	return nil
}

// widthOf is the width of a terminal; 0 for everything else.
func (s *shell) widthOf(stream any) int {
	if !s.terminal(stream) {
		return 0
	}
	return s.size(stream).Width
}

// sizeOf is the size of a terminal; zero for everything else.
func sizeOf(stream any) board.Size {
	f, ok := stream.(*os.File)
	if !ok {
		return board.Size{}
	}
	return screen.SizeOf(f)
}

// runPager shows a text with a pager. Its command may have flags.
func runPager(ctx context.Context, command, text string) error {
	words := strings.Fields(command)
	if len(words) == 0 {
		return errors.New("no pager is set")
	}
	// The pager takes Ctrl-C itself; it is not ended by ours.
	c := exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...) //nolint:gosec // the person's own pager
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), os.Stdout, os.Stderr
	c.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		c.Env = append(c.Env, "LESS=FRX")
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start the pager %s: %w", words[0], err)
	}
	_ = c.Wait() // left before the end, or by a signal: it was shown
	return nil
}
