package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func (s *shell) applyCmd() *cobra.Command {
	return &cobra.Command{
		Use: "apply ID", Short: "Bring a ready job's work to your files; a backup is kept first", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.apply(c.Context(), l, args[0]) })
		},
	}
}

func (s *shell) apply(ctx context.Context, l *link, id string) error {
	doc, err := l.Apply(context.WithoutCancel(ctx), id) // it is never left half done
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	s.applied(doc)
	return nil
}

func (s *shell) cancelCmd() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "cancel ID", Short: "End a job at once", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.cancel(c.Context(), l, args[0], reason) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "you cancelled it", "why, for the record")
	return c
}

func (s *shell) cancel(ctx context.Context, l *link, id, reason string) error {
	doc, err := l.Cancel(ctx, id, reason)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	s.out.line("job %s: Cancelled; %s says what was done", short(doc.Job), s.hint("show", doc.Job))
	return nil
}

func (s *shell) retryCmd() *cobra.Command {
	var f budgetFlag
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Give what waits for you or failed another attempt; ID is a job's or a task's",
		Long: "Give what waits for you or failed another attempt; ID is a job's or a task's.\n" +
			"Without a running daemon the work is done in this process, to its end.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return s.retry(c.Context(), protocol.Retry{ID: args[0], Budget: f.given})
		},
	}
	f.add(c, "the job's new bound in USD, what it cost so far included (default: the one it has)")
	return c
}

func (s *shell) retry(ctx context.Context, q protocol.Retry) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	cfg, err := s.load(env)
	if err != nil {
		return err
	}
	l, err := s.openToWork(ctx, env, cfg, runFlags{})
	if err != nil {
		return err
	}
	return errors.Join(s.retryOn(ctx, l, q), l.close())
}

func (s *shell) retryOn(ctx context.Context, l *link, q protocol.Retry) error {
	before, err := l.Resolve(ctx, q.ID)
	if err != nil {
		return err
	}
	doc, err := l.Show(ctx, before.Job)
	if err != nil {
		return err
	}
	done, err := l.Retry(ctx, q)
	if err != nil {
		return err
	}
	if l.here {
		v := newView(s, done.Job)
		v.quiet, v.until = doc.Seq, doc.Seq+1 // it comes to another end: the one that it had is no news
		return s.attend(ctx, l, v, false)
	}
	if s.json {
		s.out.doc(done)
		return nil
	}
	s.out.line("job %s goes on; %s follows it", short(done.Job), s.hint("watch", done.Job))
	return nil
}
