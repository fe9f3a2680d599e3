package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

func (s *shell) modelsWhyCmd() *cobra.Command {
	return &cobra.Command{
		Use: "why REF...", Short: "Say where the answer on a model's sight comes from, and how to change it", Args: refsMissing,
		Long: "Say of each model what every source says of its sight, strongest first, which of them counts, what follows\n" +
			"from it, and how to change it. Asks no provider.",
		RunE: func(c *cobra.Command, args []string) error {
			return s.askingModels(c.Context(), func(l *link) error { return s.modelsWhy(c.Context(), l, args) })
		},
	}
}

func (s *shell) modelsWhy(ctx context.Context, l *link, refs []string) error {
	models, err := namedModels(ctx, l, refs)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(protocol.ModelsDoc{Models: models})
		return nil
	}
	for i, m := range models {
		if i > 0 {
			s.out.raw("\n")
		}
		s.modelWhy(m)
	}
	return nil
}

// modelWhy tells one model: every source in order, what follows, and the ways out.
func (s *shell) modelWhy(m protocol.ModelDoc) {
	head := flat(m.Ref, 0) + ": " + m.Vision.Words()
	if m.VisionSource != "" {
		head += ", " + m.VisionSource.Words()
	}
	s.out.line("%s", head)
	var rows [][]string
	for _, source := range vision.Sources() {
		mark, says, detail := "", "says nothing", ""
		for _, a := range m.VisionSays {
			if a.Source != source {
				continue
			}
			if detail = flat(a.Detail, reasonRunes); a.Vision != vision.Unknown {
				says = a.Vision.Words()
			} else if detail != "" {
				says = "does not know"
			}
		}
		if source == m.VisionSource && m.Vision != vision.Unknown {
			mark = "counts"
		}
		rows = append(rows, []string{"  " + mark, source.Words(), says, detail})
	}
	s.out.table(rows)
	for _, words := range modelFollows(m) {
		s.out.line("  %s", words)
	}
	for _, words := range s.modelWays(m) {
		s.out.line("    %s", words)
	}
}

// modelFollows says what comes of the answer.
func modelFollows(m protocol.ModelDoc) []string {
	follows := "so pictures are sent to it"
	switch {
	case !m.Chat:
		follows = "it answers nobody, so no task is given to it"
	case m.Vision == vision.Blind:
		follows = "so it gets words instead of pictures"
	case m.Vision == vision.Unknown && m.Shown:
		follows = "nobody knows, so pictures are sent to it; when it refuses one, it gets words instead, and that is remembered until the daemon ends"
	case m.Vision == vision.Unknown:
		follows = "nobody knows, and its provider takes no pictures, so it gets words instead"
	}
	where := "it is on no rung of the ladder"
	if len(m.Rungs) > 0 {
		where = "it is on rung " + strings.ReplaceAll(rungWords(m), ",", " and ") + " of the ladder"
	}
	if !m.Configured {
		where = "the configuration does not name it"
	}
	lines := []string{follows, where}
	for _, note := range modelNotes(m) {
		if strings.HasPrefix(note, "not in") {
			lines = append(lines, "it is "+note)
		}
	}
	if m.ListRead == nil {
		lines = append(lines, "its provider's list was never read")
	}
	return lines
}

// modelWays are the commands that change the answer.
func (s *shell) modelWays(m protocol.ModelDoc) []string {
	set := func(sees string) string {
		return s.typed("config", "set", quoted(config.Path("providers", m.Provider, "models", m.ID, "vision")), sees)
	}
	var ways []string
	if m.VisionSource == vision.Refused {
		ways = append(ways, s.typed("models", "forget", quoted(m.Ref))+" forgets the refusal")
	}
	if m.ListRead == nil {
		ways = append(ways, s.typed("providers", "discover", quoted(m.Provider))+" reads its provider's list")
	}
	ways = append(ways, s.typed("models", "probe", quoted(m.Ref))+" shows it a tiny picture")
	if m.Vision != vision.Sees {
		ways = append(ways, set("true")+" says that it sees")
	}
	if m.Vision != vision.Blind {
		ways = append(ways, set("false")+" says that it does not")
	}
	return ways
}
