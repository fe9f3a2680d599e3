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

	"github.com/relo-dev/relo/core/internal/screen"
)

// paged prints a long text through the person's pager. Off a terminal, and for
// what fits on the screen, there is none.
func (s *shell) paged(ctx context.Context, print func(*paper) error) error {
	if !s.terminal(s.out.w) || s.noInput || s.plainest() {
		return print(s.out)
	}
	var text bytes.Buffer
	page := &paper{w: &text, colour: s.out.colour}
	if err := print(page); err != nil {
		s.out.raw(text.String())
		return err
	}
	command := cmp.Or(s.getenv("RELO_PAGER"), s.getenv("PAGER"), "less")
	if bytes.Count(text.Bytes(), []byte("\n")) < s.rows() || command == "cat" {
		s.out.raw(text.String())
		return nil
	}
	if err := s.page(ctx, command, text.String()); err != nil {
		s.out.raw(text.String()) // no pager is no reason to keep it back
	}
	return nil
}

// rows is the height of the terminal.
func (s *shell) rows() int {
	f, ok := s.out.w.(*os.File)
	if !ok {
		return 0
	}
	return screen.SizeOf(f).Height
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
