package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func (s *shell) pauseCmd() *cobra.Command {
	return &cobra.Command{
		Use: "pause ID", Short: "Let running steps of a job end, and begin no new ones",
		Long: "Pause a job: a tool call that runs is finished, no new one begins, later tasks are held.\n" +
			"Conversation and files are kept; relo resume goes on from there, also after a restart.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.pause(c.Context(), l, args[0]) })
		},
	}
}

func (s *shell) pause(ctx context.Context, l *link, id string) error {
	doc, err := l.Pause(ctx, id)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	s.out.line("job %s: Paused once its running steps have ended; %s goes on", short(doc.Job), s.hint("resume", doc.Job))
	return nil
}

func (s *shell) resumeCmd() *cobra.Command {
	var f budgetFlag
	c := &cobra.Command{
		Use: "resume ID", Short: "Let a paused job, or one that stopped at its budget, go on",
		Long: "Let a paused job go on from where it was, or with --budget one that stopped at its budget.\n" +
			"A daemon is started when none runs.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			q := protocol.Resume{ID: args[0], Budget: f.given}
			return s.working(c.Context(), func(l *link) error { return s.resume(c.Context(), l, q) })
		},
	}
	f.add(c, "the job's new bound in USD, what it cost so far included (default: the one it has)")
	return c
}

func (s *shell) resume(ctx context.Context, l *link, q protocol.Resume) error {
	doc, err := l.Resume(ctx, q)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	s.out.line("job %s goes on; %s follows it", short(doc.Job), s.hint("watch", doc.Job))
	return nil
}

// working opens the API where work is done, for one command.
func (s *shell) working(ctx context.Context, f func(*link) error) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	cfg, _, err := s.forgiving(env)
	if err != nil {
		return err
	}
	l, err := s.openToWork(ctx, env, cfg, runFlags{})
	if err != nil {
		return err
	}
	return errors.Join(f(l), l.close())
}

func (s *shell) sayCmd() *cobra.Command {
	return &cobra.Command{
		Use: `say ID "TEXT"`, Short: "Tell the agents of a job or a task something, or answer one; - reads stdin",
		Long: "Tell the agents of a job or a task something. Those that run hear it at their next safe point, the others\n" +
			"when they begin. A question of an agent is answered by it; a plan that waits is made again with it.",
		Args: exactly("ID", "TEXT"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.say(c.Context(), l, args[0], args[1]) })
		},
	}
}

func (s *shell) say(ctx context.Context, l *link, id, arg string) error {
	text, err := s.text(arg)
	if err != nil {
		return err
	}
	doc, err := l.Say(ctx, id, strings.TrimSpace(text))
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	s.out.line("%s; %s follows it", saidWords(doc), s.hint("watch", doc.Job))
	return nil
}

// saidWords say whom words reached.
func saidWords(doc protocol.SayDoc) string {
	var parts []string
	if doc.Answers != "" {
		parts = append(parts, fmt.Sprintf("it answers %q", flat(doc.Answers, titleRunes)))
	}
	if doc.Replans {
		parts = append(parts, "another plan is made with it")
	}
	if len(doc.Now) > 0 {
		parts = append(parts, "told at their next safe point: "+titles(doc.Now))
	}
	if len(doc.Later) > 0 {
		parts = append(parts, "told when they begin: "+titles(doc.Later))
	}
	if len(parts) == 0 {
		return "said, but nobody is left to hear it"
	}
	return "said; " + strings.Join(parts, "; ")
}

// mostNames is how many tasks a sentence names.
const mostNames = 5

func titles(list []string) string {
	rest := len(list) - mostNames
	if rest > 0 {
		list = list[:mostNames]
	}
	words := flat(strings.Join(list, ", "), reasonRunes)
	if rest > 0 {
		words += fmt.Sprintf(" and %d more", rest)
	}
	return words
}

func (s *shell) approveCmd() *cobra.Command {
	var edit bool
	var file string
	c := &cobra.Command{
		Use: "approve ID", Short: "Let a plan that waits begin, as it is or edited",
		Long: "Let a plan that waits begin. On a terminal the plan is shown and you are asked; --no-input and --json take it as it is.\n" +
			"--edit opens it in $VISUAL or $EDITOR as JSON with comments; --file takes one from a file, or from stdin as -.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if edit && file != "" {
				return &usageError{words: "--edit and --file: choose one"}
			}
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.approvePlan(c.Context(), l, args[0], edit, file) })
		},
	}
	c.Flags().BoolVar(&edit, "edit", false, "edit the plan first")
	c.Flags().StringVar(&file, "file", "", "a plan that takes the place of the one that waits; - reads stdin")
	c.Flags().BoolVar(&s.yes, "yes", false, "do not ask")
	return c
}

func (s *shell) approvePlan(ctx context.Context, l *link, id string, edit bool, file string) error {
	var plan *protocol.PlanDoc
	if file != "" {
		read, err := s.planFile(file)
		if err != nil {
			return err
		}
		plan = read
	}
	doc, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	v := newView(s, doc.ID)
	switch {
	case doc.Status != job.AwaitingApproval:
		return &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("job %s has no plan that waits: %s", short(doc.ID), docState(doc)), Hint: s.hint("show", doc.ID)}
	case edit && (s.noInput || !s.terminal(s.in)):
		return &usageError{words: "--edit needs a terminal", hint: "pass the plan with --file"}
	case edit:
		return s.approveEdited(ctx, l, doc.ID)
	case plan == nil && !s.json && !s.yes && s.asks():
		again, err := s.askPlan(ctx, l, v)
		if err != nil || !again {
			return err
		}
		return s.approved(ctx, l, doc.ID)
	}
	if _, err := l.Approve(ctx, doc.ID, plan); err != nil {
		return err
	}
	return s.approved(ctx, l, doc.ID)
}

func (s *shell) approveEdited(ctx context.Context, l *link, id string) error {
	plan, err := l.Plan(ctx, id)
	if err != nil {
		return err
	}
	done, err := s.editPlan(ctx, l, id, plan)
	if err != nil {
		return err
	}
	if !done {
		return ended(exitPerson)
	}
	return s.approved(ctx, l, id)
}

// approved says what became of the job: begun, planned again, or ended.
func (s *shell) approved(ctx context.Context, l *link, id string) error {
	doc, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(protocol.Resolved{Job: doc.ID})
		return nil
	}
	switch {
	case l.here && doc.Status.Active():
		s.out.line("job %s: %s", short(doc.ID), idleState(doc.Status))
		s.note.line("%s", goOnWords)
	default:
		s.out.line("job %s: %s; %s follows it", short(doc.ID), docState(doc), s.hint("watch", doc.ID))
	}
	return nil
}

func (s *shell) discardCmd() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "discard ID", Short: "Throw a job's work away; asks when it is nowhere else",
		Long: "Throw a job's work away: its branch, its folders, its transcripts. Work that is not in your files is lost by it,\n" +
			"so on a terminal you are asked to type the job's id, and elsewhere --force is needed.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.discard(c.Context(), l, args[0], force) })
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also work that is nowhere else")
	return c
}

func (s *shell) discard(ctx context.Context, l *link, id string, force bool) error {
	doc, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	if !force && unapplied(doc) && s.asks() {
		if force, err = s.sure(ctx, doc); err != nil {
			return err
		}
		if !force {
			s.note.loud("nothing was discarded")
			return ended(exitPerson)
		}
	}
	done, err := l.Discard(context.WithoutCancel(ctx), doc.ID, force)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(done)
		return nil
	}
	s.out.line("job %s: Cancelled, discarded; %s", short(done.Job), removedWords(done.Removed))
	for _, r := range done.Removed {
		s.out.line("  %s", flat(r, 0))
	}
	return nil
}

func removedWords(removed []string) string {
	if len(removed) == 0 {
		return "there was nothing to remove"
	}
	return "removed:"
}

// unapplied reports whether a job holds work that is not in the person's files.
func unapplied(doc protocol.JobDoc) bool {
	if doc.Status == job.Applied || doc.Status == job.Discarded {
		return false
	}
	for _, t := range doc.Tasks {
		if t.Merged != "" || len(t.Attempts) > 0 {
			return true
		}
	}
	return false
}

// sure has the person type the job's id.
func (s *shell) sure(ctx context.Context, doc protocol.JobDoc) (bool, error) {
	s.note.loud("%s: %s. Its work is not in your files and would be lost.", flat(doc.Title, titleRunes), docState(doc))
	answer, err := s.ask(ctx, "Type the job's id "+short(doc.ID)+" to discard it: ")
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return answer != "" && len(answer) >= shortID && strings.HasPrefix(doc.ID, answer), err
}
