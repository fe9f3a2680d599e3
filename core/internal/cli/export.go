package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
)

// exportDoors lead to what packs a job; tests open others.
type exportDoors struct {
	export func(context.Context, app.Env, *config.Config, string, app.ExportOptions) (app.ExportDoc, error)
}

func realExport() exportDoors { return exportDoors{app.Export} }

func (s *shell) exportCmd() *cobra.Command {
	var o app.ExportOptions
	c := &cobra.Command{
		Use: "export ID", Short: "Write one file about a job for a bug report; secrets are left out",
		Long: "Write one zip file with a job's events, costs, transcripts and the pictures that models were shown, and what doctor says.\n" +
			"Keys, tokens and passwords are left out, and pictures under pictures.never. Transcripts hold what agents read of your\n" +
			"files: look at it before you pass it on.",
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error { return s.exportJob(c.Context(), args[0], o) },
	}
	c.Flags().StringVar(&o.Out, "out", "", "the file to write (default: relo-ID.zip here)")
	c.Flags().BoolVar(&o.NoPictures, "no-pictures", false, "leave all pictures out")
	return c
}

func (s *shell) exportJob(ctx context.Context, id string, o app.ExportOptions) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	cfg, faulty, err := s.forgiving(env)
	if err != nil {
		return err
	}
	if faulty && !o.NoPictures { // what pictures.never keeps back is not known
		o.NoPictures = true
		s.note.loud("pictures are left out, and the keys it names are not looked for by value: they stand in the configuration with the fault")
	}
	doc, err := s.export(ctx, env, cfg, id, o)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	s.out.line("%s", doc.File)
	s.note.line("It holds: %s", holds(doc))
	for _, l := range doc.LeftOut {
		s.note.line("left out: %s", flat(l, 0))
	}
	for _, b := range doc.Blind {
		s.note.line("%s could not be read, so it was not looked for by its value", flat(b, 0))
	}
	s.note.line("Keys, tokens and passwords were replaced by [secret]. It still tells what agents read of your files: look at it before you pass it on.")
	return nil
}

// holds names what is in an export, with many of a kind as a number.
func holds(doc app.ExportDoc) string {
	var parts []string
	traces := 0
	for _, name := range doc.Holds {
		switch {
		case strings.HasPrefix(name, "traces/"):
			traces++
		case !strings.HasPrefix(name, "pictures/"):
			parts = append(parts, name)
		}
	}
	return strings.Join(append(parts, count(traces, "transcript", "transcripts"), count(doc.Pictures, "picture", "pictures")), ", ")
}
