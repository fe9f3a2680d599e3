package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
)

type mcpFlags struct {
	root    string
	private bool
}

func (s *shell) mcpCmd() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use: "mcp", Short: "Offer the picture tools to any agent, over MCP on stdin and stdout",
		Long: "Offer the picture tools to any agent, over MCP on stdin and stdout: an agent's program starts it and speaks with it.\n" +
			"relo_image shows picture files of one folder, as relo image prepares them. relo_describe is offered where a model of the\n" +
			"configuration may look: routes.vision, else those that are known to see; it sends the picture there and costs what that\n" +
			"model costs. pictures.never, pictures.maxEdge and budget of the configuration hold. docs/mcp.md says how agents are told of it.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.mcp(c.Context(), f) },
	}
	c.Flags().StringVar(&f.root, "root", "", "the folder that pictures must lie in (default: the current folder)")
	c.Flags().BoolVar(&f.private, "private", false, "relo_describe asks only models on this person's own machines")
	return c
}

func (s *shell) mcp(ctx context.Context, f mcpFlags) error {
	s.json = false // stdout is the agent's: errors are words on stderr
	env, cfg, err := s.seeing(f.root)
	if err != nil {
		return err
	}
	server, err := app.OpenToolServer(env, cfg, f.private)
	if err != nil {
		return rootFault(env, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, standing(s.in), s.out.w) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(leaveAgent): // the process ends, and what is stuck with it
			return ctx.Err()
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return errors.Join(err, server.Close())
}

// leaveAgent is how long a signal waits for an agent that does not read what it is
// sent: its pipe is full, and a write to it ends only when it reads or goes.
const leaveAgent = time.Second

// standing gives in an end that Close brings about. A read of a process's standard
// input ends only with that input, so what reads it is left to the end of the process.
func standing(in io.Reader) io.ReadCloser {
	if c, ok := in.(io.ReadCloser); ok && in != os.Stdin {
		return c
	}
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		_ = w.CloseWithError(err) // a pipe's never fails
	}()
	return r
}

// seeing is the environment and the configuration of commands that prepare pictures
// below a root.
func (s *shell) seeing(root string) (app.Env, *config.Config, error) {
	env, err := s.env(root)
	if err != nil {
		return env, nil, err
	}
	cfg, err := s.load(env) // pictures.never holds here too
	return env, cfg, err
}

func rootFault(env app.Env, err error) error {
	return &usageError{words: fmt.Sprintf("--root %s cannot be opened: %v", env.Dir, cause(err))}
}
