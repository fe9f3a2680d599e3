package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

const demoBand = "rehearsal: scripted answers, real everything else"

func (s *shell) demoCmd() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "demo", Short: "See a job run: no key, no network, no cost",
		Long: "See a job run on a small repository of its own: planned, worked on, looked at, reviewed, applied.\n" +
			"The answers of the models are scripted; all else is real. Needs no key and no network.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.demo(c.Context(), dir) },
	}
	c.Flags().StringVar(&dir, "dir", "", "a folder for the demo's repository (default: a new temporary one)")
	c.Flags().Bool("keep", true, "the folder is kept, so that you can look around in it")
	return c
}

func (s *shell) demo(ctx context.Context, dir string) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	if dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	s.note.line("%s", demoBand)
	// It must outlive a signal, until the job is cancelled in order.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	d, stop, err := s.rehearse(life, env, dir)
	if err != nil {
		return err
	}
	s.program = programWord(s.executable, env.Dir)
	s.home = d.Env.Getenv("RELO_HOME")
	return errors.Join(s.play(ctx, d), stop())
}

// programWord is how a person in dir types this program: a demo runs before
// anything was installed.
func programWord(executable func() (string, error), dir string) string {
	path, err := executable()
	if err != nil {
		return ""
	}
	if near, err := filepath.Rel(dir, path); err == nil {
		if !strings.ContainsRune(near, filepath.Separator) {
			near = "." + string(filepath.Separator) + near
		}
		if len(near) < len(path) {
			path = near
		}
	}
	return path
}

func (s *shell) play(ctx context.Context, d *app.Demo) error {
	l, err := s.openLasting(ctx, d.Env, d.Config, app.Standalone)
	if err != nil {
		return err
	}
	err = s.perform(ctx, l, d)
	return errors.Join(err, l.close())
}

// perform runs the demo's job as run does, and shows the patch before it is applied.
func (s *shell) perform(ctx context.Context, l *link, d *app.Demo) error {
	progress, err := s.progressOf(progressAuto)
	if err != nil {
		return err
	}
	accepted, err := l.Submit(context.WithoutCancel(ctx), protocol.Submit{Text: d.Text, Repo: d.Repo, Approve: "never", AllowUnknown: true})
	if err != nil {
		return err
	}
	v := newView(s, accepted.Job)
	v.progress = progress
	if err := v.see(ctx, l); err != nil {
		return s.left(ctx, l, v, stay{}, err)
	}
	var patch protocol.DiffDoc
	if v.state.Status == job.Ready {
		if patch, err = l.Diff(ctx, v.id); err != nil {
			return err
		}
	}
	outcome := s.attend(ctx, l, v, stay{apply: true})
	if e, ok := errors.AsType[*endError](outcome); outcome != nil && (!ok || e.code >= exitTimeout) {
		return outcome
	}
	return errors.Join(outcome, s.curtain(ctx, l, d, v.id, patch))
}

// demoDoc is the last line of demo --json.
type demoDoc struct {
	Kind     string   `json:"kind"`
	Job      string   `json:"job"`
	Repo     string   `json:"repo"`
	Pictures []string `json:"pictures"`
	Requests int      `json:"requests"`
	Cost     float64  `json:"cost"`
}

// curtain says what is left to look at.
func (s *shell) curtain(ctx context.Context, l *link, d *app.Demo, id string, patch protocol.DiffDoc) error {
	doc, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	pictures := picturesOf(doc, d.Repo)
	if s.json {
		s.out.doc(demoDoc{"demo.finished", doc.ID, d.Repo, pictures, doc.Requests, tidy(doc.KnownCost)})
		return nil
	}
	s.out.line("\nWhat was applied")
	s.patch(s.out, patch)
	s.out.line("\nRepository  %s", d.Repo)
	for _, p := range pictures {
		s.out.line("Picture     %s", p)
	}
	s.out.line("\n%s", demoBand)
	s.out.line("rehearsal: %s USD, %s, none left this machine", usd(doc.KnownCost), count(doc.Requests, "request", "requests"))
	return nil
}

// picturesOf lists the pictures that were looked at and are in the folder now.
func picturesOf(doc protocol.JobDoc, repo string) []string {
	found := []string{}
	for _, t := range doc.Tasks {
		for _, a := range t.Attempts {
			for _, look := range a.Looks {
				file := filepath.Join(repo, filepath.FromSlash(look.Path))
				if _, err := os.Stat(file); err == nil && !slices.Contains(found, file) {
					found = append(found, file)
				}
			}
		}
	}
	return found
}
