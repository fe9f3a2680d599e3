package cli

import (
	"context"
	"errors"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func (s *shell) serveCmd() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Run the daemon in the foreground until a signal ends it", Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.serveHere(c.Context()) },
	}
}

func (s *shell) serveHere(ctx context.Context) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	s.note.line("warning: agents' commands are not confined yet: they run with your rights on this machine")
	err = s.serve(ctx, env, func(st protocol.StatusDoc) {
		if s.json {
			s.out.doc(st)
			return
		}
		s.note.line("relo %s serves: process %d, %s to go on with", st.Version, st.PID, count(st.Jobs, "job", "jobs"))
	})
	return calmEnd(ctx, err)
}

// calmEnd is for what runs until it is told to stop: then stopping is no error.
func calmEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

func (s *shell) workerCmd() *cobra.Command {
	var join string
	c := &cobra.Command{
		Use: "worker --join FILE", Short: "Work for a daemon", Hidden: true, Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if join == "" {
				return &usageError{words: "--join is missing", hint: "the daemon writes the file"}
			}
			env, err := s.env("")
			if err != nil {
				return err
			}
			return calmEnd(c.Context(), s.work(c.Context(), env, join))
		},
	}
	c.Flags().StringVar(&join, "join", "", "the file that lets a worker in")
	return c
}

func (s *shell) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: none,
		RunE: func(*cobra.Command, []string) error {
			s.version()
			return nil
		},
	}
}

func (s *shell) version() {
	if s.json {
		s.out.doc(map[string]string{"version": app.Version, "api": protocol.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
		return
	}
	s.out.line("relo %s (API %s, %s, %s/%s)", app.Version, protocol.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
