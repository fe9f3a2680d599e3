package cli

import (
	"context"
	"fmt"
	"mime"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

func (s *shell) picturesCmd() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "pictures [ID]", Short: "List every picture that a model was shown, with the exact bytes on demand",
		Long: "List every picture that a model was shown in a job or a task, or that was left out of a request: whose, which file,\n" +
			"how large it was sent, its bytes' SHA-256, by which model, and whether it shows the work as it was at the end.\n" +
			"--out writes the bytes as they were sent.",
		Args: atMostOne("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.pictures(c.Context(), l, orLast(args), out) })
		},
	}
	c.Flags().StringVar(&out, "out", "", "a folder for the bytes that were sent")
	return c
}

// lookDoc is one picture of pictures --json; File is where --out wrote it.
type lookDoc struct {
	Task    string `json:"task"`
	Title   string `json:"title"`
	Attempt string `json:"attempt"`
	Number  int    `json:"number"`
	job.Look
	File string `json:"file,omitempty"`
}

// looksDoc is the document of pictures.
type looksDoc struct {
	Job      string    `json:"job"`
	Pictures []lookDoc `json:"pictures"`
}

func (s *shell) pictures(ctx context.Context, l *link, id, out string) error {
	r, err := l.Resolve(ctx, id)
	if err != nil {
		return err
	}
	doc, err := l.Show(ctx, r.Job)
	if err != nil {
		return err
	}
	list := looksDoc{Job: doc.ID, Pictures: looksOf(doc, r.Task)}
	if out != "" {
		if err := s.writePictures(ctx, l, list.Pictures, out); err != nil {
			return err
		}
	}
	switch {
	case s.json:
		s.out.doc(list)
	case len(list.Pictures) == 0:
		s.note.line("no model was shown a picture")
	default:
		s.pictureTable(list.Pictures)
	}
	return nil
}

func looksOf(doc protocol.JobDoc, task string) []lookDoc {
	looks := []lookDoc{}
	for _, t := range doc.Tasks {
		if task != "" && t.ID != task {
			continue
		}
		for _, a := range t.Attempts {
			for _, l := range a.Looks {
				looks = append(looks, lookDoc{Task: t.ID, Title: t.Title, Attempt: a.ID, Number: a.Number, Look: l})
			}
		}
	}
	return looks
}

func (s *shell) pictureTable(looks []lookDoc) {
	rows := [][]string{{"TASK", "TRY", "PATH", "ROLE", "SENT", "BYTES", "MODEL", "SHOWS", "SHA256"}}
	for _, p := range looks {
		rows = append(rows, []string{
			flat(p.Title, jobRunes), strconv.Itoa(p.Number), flat(p.Path, 0), string(p.Role), sentWords(p.Look), strconv.Itoa(p.Bytes), p.By, showsWords(p.Look), p.SHA256,
		})
	}
	s.out.table(rows)
	told := map[string]bool{}
	for _, p := range looks {
		if p.File != "" && !told[p.File] {
			told[p.File] = true
			s.out.link("wrote ", p.File, s.links())
		}
	}
}

func sentWords(l job.Look) string {
	words := fmt.Sprintf("%dx%d", l.Sent.Width, l.Sent.Height)
	if r := l.Region; r != nil {
		words += fmt.Sprintf(" of %d,%d %dx%d", r.X, r.Y, r.Width, r.Height)
	}
	return words
}

// showsWords say what the look is worth.
func showsWords(l job.Look) string {
	switch {
	case l.How == job.HowDescribed:
		return "in words only"
	case l.How == job.HowDropped:
		return "left out"
	case l.Role != vision.Result:
		return "" // what was given does not change with the work
	case l.AfterLastEdit:
		return "after the last edit"
	}
	return "before the last edit"
}

// links reports whether the result may hold links: only a terminal opens them.
func (s *shell) links() bool {
	return s.terminal(s.out.w) && s.getenv("TERM") != "dumb" && !s.plainest()
}

// writePictures writes each picture that was sent, once, and notes where.
func (s *shell) writePictures(ctx context.Context, l *link, looks []lookDoc, dir string) error {
	if !filepath.IsAbs(dir) {
		here, err := s.workdir()
		if err != nil {
			return fmt.Errorf("find the current folder: %w", err)
		}
		dir = filepath.Join(here, dir)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make the folder of --out: %w", err)
	}
	written := map[string]string{}
	for i, p := range looks {
		if p.How != job.HowPixels || p.SHA256 == "" {
			continue
		}
		if written[p.SHA256] == "" {
			data, err := l.Blob(ctx, p.SHA256)
			if err != nil {
				s.note.line("note: %s cannot be had: %v", flat(p.Path, lineRunes), err)
				continue
			}
			file := filepath.Join(dir, pictureName(p.Look))
			if err := os.WriteFile(file, data, 0o600); err != nil {
				return fmt.Errorf("write a picture: %w", err)
			}
			written[p.SHA256] = file
		}
		looks[i].File = written[p.SHA256]
	}
	return nil
}

// hashRunes is how much of a hash tells the pictures of a folder apart.
const hashRunes = 12

// pictureName is the picture's own name, its hash so that no two meet, and the
// ending of what was sent.
func pictureName(l job.Look) string {
	base := path.Base(strings.ReplaceAll(l.Path, `\`, "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	base = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, base)
	ending := strings.TrimPrefix(l.MediaType, "image/")
	if _, _, err := mime.ParseMediaType(l.MediaType); err != nil || strings.ContainsAny(ending, `/\.`) || ending == "" {
		ending = "bin"
	}
	return fmt.Sprintf("%s-%s.%s", flat(strings.TrimLeft(base, "."), titleRunes), l.SHA256[:min(len(l.SHA256), hashRunes)], ending)
}
