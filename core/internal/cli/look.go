package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/vision/picture"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

type lookFlags struct {
	root, region string
	private      bool
}

func (s *shell) lookCmd() *cobra.Command {
	var f lookFlags
	c := &cobra.Command{
		Use: `look PATH "QUESTION"`, Short: "Ask a model that sees about a picture",
		Long: "Ask a model that sees about a picture: one of routes.vision, else one that is known to see. The picture is prepared as\n" +
			"relo image does. It costs what that model costs; relo costs has it.",
		Args: exactly("PATH", `"QUESTION"`),
		RunE: func(c *cobra.Command, args []string) error { return s.look(c.Context(), f, args[0], args[1]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.root, "root", "", "the folder that the picture must lie in (default: the current folder)")
	fl.StringVar(&f.region, "region", "", "X,Y,W,H in pixels of the picture")
	fl.BoolVar(&f.private, "private", false, "ask only models on this person's own machines")
	return c
}

func (s *shell) look(ctx context.Context, f lookFlags, path, question string) error {
	params, err := imageFlags{region: f.region}.params()
	if err != nil {
		return err
	}
	env, cfg, err := s.seeing(f.root)
	if err != nil {
		return err
	}
	looked, err := s.lookAt(ctx, env, cfg, app.LookQuestion{Path: path, Region: params.Region, Question: question, Private: f.private})
	if e, ok := errors.AsType[*picture.Error](err); ok {
		return fmt.Errorf("%s: %s", flat(path, 0), e.Message)
	}
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(looked)
		return nil
	}
	s.out.line("%s", flatKeepIndent(looked.Words))
	s.note.line("%s", showing.Looked(looked.By, looked.Cost, path, looked.Meta))
	return nil
}
