package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func (s *shell) applyCmd() *cobra.Command {
	var undo, dry bool
	c := &cobra.Command{
		Use: "apply ID", Short: "Bring a ready job's work to your files; a backup is kept first",
		Long: "Bring a ready job's work to your files. What was there before is kept in a backup ref first,\n" +
			"and --undo brings it back.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			act := s.apply
			switch {
			case undo && dry:
				return &usageError{words: "--undo and --dry-run: choose one"}
			case undo:
				act = s.undo
			case dry:
				act = s.wouldApply
			}
			return s.asking(c.Context(), app.Any, func(l *link) error { return act(c.Context(), l, args[0]) })
		},
	}
	c.Flags().BoolVar(&undo, "undo", false, "take the last apply of the job back")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only list the files that would change")
	return c
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
	if !doc.Already {
		s.out.line("%s --undo takes it back", s.hint("apply", doc.Job))
	}
	return nil
}

func (s *shell) undo(ctx context.Context, l *link, id string) error {
	doc, err := l.Undo(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	s.out.line("Took the apply of job %s back: %s as before", short(doc.Job), count(len(doc.Files), "file is", "files are"))
	for _, f := range doc.Files {
		s.out.line("  %s", flat(f, 0))
	}
	s.out.line("%s applies it again", s.hint("apply", doc.Job))
	return nil
}

// wouldApply lists what an apply changes, and does nothing.
func (s *shell) wouldApply(ctx context.Context, l *link, id string) error {
	whole, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	doc, err := l.Diff(ctx, whole.ID)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	if len(doc.Files) == 0 {
		s.note.line("nothing would change")
		return nil
	}
	s.out.line("Would change in %s:", flat(whole.Repo, 0))
	s.stat(doc.Files)
	switch whole.Status {
	case job.Ready:
		s.out.line("%s does it", s.hint("apply", whole.ID))
	case job.Applied:
		s.note.line("it is applied already")
	default:
		s.note.line("it cannot be applied yet: %s", docState(whole))
	}
	return nil
}

func (s *shell) cancelCmd() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "cancel ID", Short: "End a job or a task at once",
		Long: "End a job or a task at once: its agents and what they started are stopped. Their work is kept;\n" +
			"relo retry goes on with it. Other jobs, and of a task the others of its job, are left alone.",
		Args: exactly("ID"),
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
	if doc.Task != "" {
		s.out.line("task %s: Cancelled; what needs it waits, %s gives it another attempt", doc.Task, s.command("retry", doc.Task))
		return nil
	}
	s.out.line("job %s: Cancelled; %s says what was done, %s opens it again", short(doc.Job), s.hint("show", doc.Job), s.hint("retry", doc.Job))
	return nil
}

func (s *shell) retryCmd() *cobra.Command {
	var budget budgetFlag
	var q protocol.Retry
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Give what waits for you, failed or was cancelled another attempt; ID is a job's or a task's",
		Long: "Give what waits for you, failed or was cancelled another attempt; ID is a job's or a task's.\n" +
			"An attempt that was interrupted goes on from its last point, unless --anew is given.\n" +
			"A daemon is started when none runs.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := budget.check(c); err != nil {
				return err
			}
			q.ID, q.Budget = args[0], budget.given
			return s.working(c.Context(), func(l *link) error { return s.retry(c.Context(), l, q) })
		},
	}
	budget.add(c, "the job's new bound in USD, what it cost so far included (default: the one it has)")
	c.Flags().StringVar(&q.Model, "model", "", "do the next attempts with this model, provider/id")
	c.Flags().BoolVar(&q.Anew, "anew", false, "begin afresh instead of going on from the last point")
	return c
}

func (s *shell) retry(ctx context.Context, l *link, q protocol.Retry) error {
	done, err := l.Retry(ctx, q)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(done)
		return nil
	}
	what := "job " + short(done.Job)
	if done.Task != "" {
		what = "task " + done.Task
	}
	from := "from its last point where there is one"
	if q.Anew {
		from = "anew"
	}
	if q.Model != "" {
		from += ", on " + flat(q.Model, titleRunes)
	}
	s.out.line("%s goes on, %s; %s follows it", what, from, s.hint("watch", done.Job))
	return nil
}

func progressFlag(c *cobra.Command, value *string) {
	c.Flags().StringVar(value, "progress", progressAuto, "how progress is shown: auto, tty (a live view), plain (lines) or none")
}
