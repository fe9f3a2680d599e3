package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/vision"
)

func (s *shell) modelsGuessCmd() *cobra.Command {
	return &cobra.Command{
		Use: "guess [ID]...", Short: "Guess from ids, or from stdin one a line, whether models see; asks nobody",
		RunE: func(_ *cobra.Command, args []string) error { return s.guess(args) },
	}
}

// guessDoc is one answer of models guess.
type guessDoc struct {
	ID     string `json:"id"`
	Vision string `json:"vision"` // yes, no, unknown, not-chat
	Family string `json:"family"`
}

const (
	// maxID is the longest line that can be an id.
	maxID = 64 << 10
	// guessBlock is how many answers are written at once: the columns of a list on
	// stdin fit within a block, and nobody waits for its end.
	guessBlock = 512
)

func (s *shell) guess(ids []string) error {
	from, failed := slices.Values(ids), error(nil)
	if len(ids) == 0 {
		if s.terminal(s.in) {
			return &usageError{words: "ID is missing", hint: "relo models guess ID..., or ids on stdin, one a line"}
		}
		from = s.stdinIDs(&failed)
	}
	block := make([]guessDoc, 0, guessBlock)
	said := 0
	flush := func() {
		if s.json {
			s.guessJSON(block, said == 0)
		} else {
			s.guessTable(block)
		}
		said, block = said+len(block), block[:0]
	}
	for id := range from {
		if block = append(block, guessOf(id)); len(block) == guessBlock {
			flush()
		}
	}
	if s.json && failed != nil && said == 0 {
		return failed // it is the document
	}
	flush()
	if !s.json {
		return failed
	}
	if failed == nil {
		s.out.raw("]}\n")
		return nil
	}
	doc, code := docOf(failed)
	s.out.raw(`],"error":` + jsonText(doc) + "}\n") // the list ends where stdin did
	s.note.loud("relo: %s", doc.Message)
	return ended(code)
}

// stdinIDs reads ids, one a line.
func (s *shell) stdinIDs(failed *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(s.in)
		lines.Buffer(nil, maxID)
		for lines.Scan() {
			if id := strings.TrimSpace(lines.Text()); id != "" && !yield(id) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			*failed = &usageError{words: fmt.Sprintf("the ids on stdin cannot be read: %v", err)}
		}
	}
}

func (s *shell) guessTable(block []guessDoc) {
	words := map[string]string{"yes": vision.Sees.Words(), "no": vision.Blind.Words(), "not-chat": "answers nobody"}
	var rows [][]string
	for _, d := range block {
		word := words[d.Vision]
		if word == "" {
			word = vision.Unknown.Words()
		}
		rows = append(rows, []string{flat(d.ID, 0), word, d.Family})
	}
	s.out.table(rows)
}

// guessJSON writes a block of the one document; first: its head too.
func (s *shell) guessJSON(block []guessDoc, first bool) {
	var b strings.Builder
	if first {
		b.WriteString(`{"models":[`)
	}
	for i, d := range block {
		if i > 0 || !first {
			b.WriteByte(',')
		}
		b.WriteString(jsonText(d))
	}
	s.out.raw(b.String())
}

// jsonText is a value as paper.doc writes it, without the end of the line.
func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func guessOf(id string) guessDoc {
	answer, chat := vision.Guess(id)
	d := guessDoc{ID: id, Vision: answer.Sight.String(), Family: answer.Detail}
	if !chat {
		d.Vision = "not-chat"
	}
	return d
}
