package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func (s *shell) jobsCmd() *cobra.Command {
	return &cobra.Command{
		Use: "jobs", Short: "List the jobs, newest first", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.jobs(c.Context(), l) })
		},
	}
}

func (s *shell) jobs(ctx context.Context, l *link) error {
	list, err := l.Jobs(ctx)
	if err != nil {
		return err
	}
	if s.json {
		if list.Jobs == nil {
			list.Jobs = []protocol.JobLine{}
		}
		s.out.doc(list)
		return nil
	}
	if len(list.Jobs) == 0 {
		s.note.line("there are no jobs yet; %s makes one", firstJob)
		return nil
	}
	rows, idle := [][]string{{"ID", "STATE", "TASKS", "USD", "TITLE"}}, 0
	for _, j := range list.Jobs {
		state := jobState(j.Status)
		if l.here && j.Status.Active() {
			state, idle = idleState(j.Status), idle+1
		}
		rows = append(rows, []string{short(j.ID), state, fmt.Sprintf("%d of %d", j.Done, j.Tasks), maybe(j.Cost), flat(j.Title, titleRunes)})
	}
	s.out.table(s.out.fitLast(rows))
	if idle > 0 {
		s.note.line("%s", goOnWords)
	}
	return nil
}

func (s *shell) showCmd() *cobra.Command {
	var status bool
	c := &cobra.Command{
		Use: "show [ID]", Short: "Show a job with its tasks, looks and cost", Args: atMostOne("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.show(c.Context(), l, orLast(args), status) })
		},
	}
	c.Flags().BoolVar(&status, "exit-status", false, "exit with the code of the job's state; 8 while it runs")
	return c
}

func (s *shell) show(ctx context.Context, l *link, id string, status bool) error {
	doc, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
	} else {
		costs, err := l.Costs(ctx, doc.ID, 0)
		if err != nil {
			return err
		}
		s.showWords(doc)
		s.result(doc, s.bill(ctx, l, costs), nil, l.here && doc.Status.Active())
	}
	if !status {
		return nil
	}
	code := outcomeCode(doc.Status, doc.End)
	if code == exitDone && len(doc.NeedsEyes) > 0 {
		code = exitPerson
	}
	return ended(code)
}

// showWords says what the result of a run leaves out.
func (s *shell) showWords(doc protocol.JobDoc) {
	rows := [][]string{
		{"Job", doc.ID},
		{"Folder", flat(doc.Repo, 0)},
		{"From", "commit " + doc.Base[:min(len(doc.Base), shortCommit)]},
	}
	if doc.Budget != nil {
		rows = append(rows, []string{"Budget", usd(*doc.Budget) + " USD"})
	}
	if doc.BackupRef != "" {
		rows = append(rows, []string{"Before", doc.BackupRef})
	}
	for _, i := range doc.Attachments {
		rows = append(rows, []string{"Picture", flat(i.Path, 0)})
	}
	s.out.table(rows)
	for _, n := range doc.Notices {
		s.out.line("%s", noticeWords(n))
	}
	s.out.line("")
}

func (s *shell) whyCmd() *cobra.Command {
	return &cobra.Command{
		Use: "why [ID]", Short: "Say why a task has its model and its state; ID is a job's or a task's", Args: atMostOne("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.why(c.Context(), l, orLast(args)) })
		},
	}
}

func (s *shell) why(ctx context.Context, l *link, id string) error {
	list, err := l.Why(ctx, id)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(list)
		return nil
	}
	if len(list.Tasks) > 0 {
		return s.whyTasks(list)
	}
	doc, err := l.Show(ctx, id)
	if err != nil {
		return err
	}
	s.note.line("%s", because("there are no tasks yet; now: "+docState(doc), doc.Reason))
	return nil
}

func (s *shell) whyTasks(list protocol.WhyList) error {
	for i, t := range list.Tasks {
		if i > 0 {
			s.out.line("")
		}
		s.out.line("%s  (%s)", flat(t.Title, titleRunes), t.Task)
		waits := false
		for _, line := range t.Lines {
			waits = waits || strings.HasPrefix(line, "waits for ")
			s.out.line("  %s", flatKeepIndent(nowWords(line, waits)))
		}
	}
	return nil
}

// nowWords puts the state of a line such as "now: ready: REASON" into the word
// that every view has for it.
func nowWords(line string, waits bool) string {
	state, found := strings.CutPrefix(line, "now: ")
	if !found {
		return line
	}
	state, reason, _ := strings.Cut(state, ": ")
	word := taskWord(job.TaskState(state))
	if waits && state == string(job.TaskReady) {
		word = waitsForWorker
	}
	return because("now: "+word, reason)
}

// flatKeepIndent makes one line of a text and keeps the blanks that it begins with.
func flatKeepIndent(text string) string {
	n := 0
	for n < len(text) && text[n] == ' ' {
		n++
	}
	return text[:n] + flat(text, 0)
}

func (s *shell) diffCmd() *cobra.Command {
	var stat bool
	c := &cobra.Command{
		Use: "diff [ID]", Short: "Print what a job changes as a patch; ID may be a task's", Args: atMostOne("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.diff(c.Context(), l, orLast(args), stat) })
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "only the files and how many lines changed")
	return c
}

func (s *shell) diff(ctx context.Context, l *link, id string, stat bool) error {
	doc, err := l.Diff(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case s.json:
		s.out.doc(doc)
	case len(doc.Files) == 0 && doc.Diff == "":
		s.note.line("nothing is changed")
	case stat:
		s.stat(doc.Files)
	default:
		return s.paged(ctx, func(out *paper) error {
			s.patch(out, doc)
			return nil
		})
	}
	return nil
}

// patch prints a diff byte for byte, so that git can apply it; on a terminal
// nothing in it may steer the terminal.
func (s *shell) patch(out *paper, doc protocol.DiffDoc) {
	text := doc.Diff
	if s.terminal(s.out.w) {
		text = calm(text)
	}
	out.raw(text)
	if doc.Truncated {
		s.note.line("warning: the patch is too long and was cut; git diff %s %s prints all of it", doc.Base, doc.Commit)
	}
}

func (s *shell) stat(files []job.FileChange) {
	var rows [][]string
	added, deleted := 0, 0
	for _, f := range files {
		lines := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
		if f.Binary {
			lines = "binary"
		}
		rows = append(rows, []string{f.Status, flat(f.Path, 0), lines})
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	s.out.table(rows)
	s.out.line("%s, +%d -%d", count(len(files), "file", "files"), added, deleted)
}
