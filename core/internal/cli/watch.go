package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func (s *shell) watchCmd() *cobra.Command {
	var noFollow bool
	var progress string
	c := &cobra.Command{
		Use: "watch [ID]", Short: "Replay a job from its start and follow it to its end", Args: atMostOne("ID"),
		Long: "Replay a job from its start and follow it to its end. On a terminal a job that goes on has a live view.\n" +
			"Leaving it never ends the job.",
		RunE: func(c *cobra.Command, args []string) error {
			progress, err := s.progressOf(progress)
			if err != nil {
				return err
			}
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.watch(c.Context(), l, orLast(args), progress, noFollow) })
		},
	}
	c.Flags().BoolVar(&noFollow, "no-follow", false, "replay what there is, and end")
	progressFlag(c, &progress)
	return c
}

func (s *shell) watch(ctx context.Context, l *link, id, progress string, noFollow bool) error {
	doc, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	v := newView(s, doc.ID)
	v.until, v.progress, v.here = doc.Seq, progress, l.here
	running := outcomeCode(doc.Status, doc.End) == exitRunning || doc.Status == job.AwaitingApproval
	idle := l.here && running // nobody works on it, so what is there is all that comes
	if noFollow || idle || !running {
		if v.progress == progressTTY {
			v.progress = progressPlain // there is nothing to look at live
		}
		v.brief = noFollow || idle
	}
	v.learn(ctx, l)
	if err := v.see(ctx, l); err != nil {
		code := signalCode(ctx)
		byKey := ctx.Err() == nil || l.here
		if !byKey && code == exitInterrupt && s.terminal(s.note.w) {
			s.afterSignal()
			return s.goesOn(v, code)
		}
		if ctx.Err() != nil {
			return err
		}
		return s.left(ctx, l, v, stay{}, err)
	}
	if idle && !noFollow && doc.Status != job.AwaitingApproval {
		return &protocol.Error{
			Code: protocol.CodeUnreachable, Message: fmt.Sprintf("%s, but no daemon is running, so nobody works on it", docState(doc)),
			Hint: goOnWords, Retryable: true,
		}
	}
	if !s.json {
		doc, costs, err := s.whole(ctx, l, v.id)
		if err != nil {
			return err
		}
		s.result(doc, costs, nil, idle)
	}
	return ended(outcomeCode(v.state.Status, v.state.End))
}
