package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

func (s *shell) modelsCmd() *cobra.Command {
	list := func(c *cobra.Command, _ []string) error {
		env, err := s.env("")
		if err != nil {
			return err
		}
		cfg, err := s.load(env) // its models are what is asked for, so a fault in it matters
		if err != nil {
			return err
		}
		return s.askingWith(c.Context(), env, cfg, app.Any, func(l *link) error { return s.models(c.Context(), l) })
	}
	c := &cobra.Command{
		Use: "models", Short: "The models of the configuration, and whether they see", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return group(c, args)
			}
			return list(c, args)
		},
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List the models of the configuration", Args: none, RunE: list},
		&cobra.Command{
			Use: "guess [ID]...", Short: "Guess from ids, or from stdin one a line, whether models see; asks nobody",
			RunE: func(_ *cobra.Command, args []string) error { return s.guess(args) },
		},
	)
	return c
}

func (s *shell) models(ctx context.Context, l *link) error {
	doc, err := l.Models(ctx, protocol.ModelsRequest{})
	if err != nil {
		return err
	}
	if s.json {
		if doc.Models == nil {
			doc.Models = []protocol.ModelDoc{}
		}
		s.out.doc(doc)
		return nil
	}
	if len(doc.Models) == 0 {
		s.note.line("no models are configured; relo config schema prints the keys, relo demo needs none")
		return nil
	}
	rows := [][]string{{"MODEL", "IMAGES", "FROM", "CONTEXT", "USD IN / OUT", "RUNG", ""}}
	for _, m := range doc.Models {
		rows = append(rows, modelRow(m))
	}
	s.out.table(rows)
	return nil
}

func modelRow(m protocol.ModelDoc) []string {
	from := m.VisionSource.Words()
	if m.VisionDetail != "" {
		from += " (" + flat(m.VisionDetail, titleRunes) + ")"
	}
	price := maybe(m.Price.Input) + " / " + maybe(m.Price.Output)
	if m.Price.Input == nil && m.Price.Output == nil {
		price = "unknown"
		if m.Private {
			price = "local"
		}
	}
	size := "unknown"
	if m.Context > 0 {
		size = strconv.Itoa(m.Context)
	}
	var rungs, notes []string
	for _, r := range m.Rungs {
		rungs = append(rungs, strconv.Itoa(r))
	}
	if m.Private {
		notes = append(notes, "private")
	}
	if !m.Chat {
		notes = append(notes, "answers nobody")
	}
	if !m.Tools {
		notes = append(notes, "no tools")
	}
	return []string{flat(m.Ref, 0), sightWord(m.Vision), from, size, price, strings.Join(rungs, ","), strings.Join(notes, ", ")}
}

// guessDoc is one answer of models guess.
type guessDoc struct {
	ID     string `json:"id"`
	Vision string `json:"vision"` // yes, no, unknown, not-chat
	Family string `json:"family"`
}

// maxID is the longest line that can be an id.
const maxID = 64 << 10

func (s *shell) guess(ids []string) error {
	if len(ids) == 0 {
		if s.terminal(s.in) {
			return &usageError{words: "ID is missing", hint: "relo models guess ID..., or ids on stdin, one a line"}
		}
		lines := bufio.NewScanner(s.in)
		lines.Buffer(nil, maxID)
		for lines.Scan() {
			if id := strings.TrimSpace(lines.Text()); id != "" {
				ids = append(ids, id)
			}
		}
		if err := lines.Err(); err != nil {
			return &usageError{words: fmt.Sprintf("the ids on stdin cannot be read: %v", err)}
		}
	}
	docs := []guessDoc{}
	for _, id := range ids {
		docs = append(docs, guessOf(id))
	}
	if s.json {
		s.out.doc(map[string]any{"models": docs})
		return nil
	}
	var rows [][]string
	for _, d := range docs {
		word := map[string]string{"yes": "images", "no": "text only", "not-chat": "answers nobody"}[d.Vision]
		if word == "" {
			word = "unknown"
		}
		rows = append(rows, []string{flat(d.ID, 0), word, d.Family})
	}
	s.out.table(rows)
	return nil
}

func guessOf(id string) guessDoc {
	answer, chat := vision.Guess(id)
	d := guessDoc{ID: id, Vision: answer.Sight.String(), Family: answer.Detail}
	if !chat {
		d.Vision = "not-chat"
	}
	return d
}
