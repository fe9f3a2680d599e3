package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func (s *shell) modelsForgetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "forget [REF]...", Short: "Forget which models refused a picture; they are shown pictures again",
		Long: "Forget what the running daemon learned from refused pictures: of the models named, or of all. Such a refusal\n" +
			"counts more than every other source and ends with the daemon. Nothing that you set is changed.",
		RunE: func(c *cobra.Command, args []string) error { return s.modelsForget(c.Context(), args) },
	}
}

func (s *shell) modelsForget(ctx context.Context, refs []string) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	cfg, err := s.load(env)
	if err != nil {
		return err
	}
	if !s.running(env, cfg) {
		s.toldForgotten(protocol.ForgottenDoc{Forgotten: []protocol.ForgottenModel{}}, nil)
		s.note.line("no daemon is running, so there is nothing to forget: what is learned from refusals ends with the daemon")
		return nil
	}
	return s.askingWith(ctx, env, cfg, app.Any, func(l *link) error {
		if len(refs) > 0 {
			if _, err := namedModels(ctx, l, refs); err != nil {
				return err
			}
		}
		doc, err := l.ForgetRefusals(ctx, protocol.ForgetRequest{Refs: refs})
		if err != nil {
			return err
		}
		s.toldForgotten(doc, refs)
		if len(refs) == 0 && len(doc.Forgotten) == 0 {
			s.note.line("no model refused a picture since the daemon started")
		}
		return nil
	})
}

// toldForgotten prints what was forgotten, and of which named models nothing was known.
func (s *shell) toldForgotten(doc protocol.ForgottenDoc, refs []string) {
	if s.json {
		if doc.Forgotten == nil {
			doc.Forgotten = []protocol.ForgottenModel{}
		}
		s.out.doc(doc)
	}
	for _, m := range doc.Forgotten {
		if !s.json {
			s.out.line("%s", forgottenWords(m))
		}
	}
	for _, ref := range refs {
		if !slices.ContainsFunc(doc.Forgotten, func(m protocol.ForgottenModel) bool { return m.Ref == ref }) {
			s.note.line("%s refused no picture since the daemon started", flat(ref, 0))
		}
	}
}

func forgottenWords(m protocol.ForgottenModel) string {
	words := flat(m.Ref, 0) + ": its refusal is forgotten; now " + m.Vision.Vision.Words()
	if m.Vision.Source != "" {
		words += ", " + m.Vision.Source.Words()
	}
	return words
}
