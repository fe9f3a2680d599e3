package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// logsFlags are the flags of logs.
type logsFlags struct {
	attempt      int
	follow, full bool
}

func (s *shell) logsCmd() *cobra.Command {
	var f logsFlags
	c := &cobra.Command{
		Use: "logs [ID]", Short: "Print what was said and done in the attempts of a job or a task",
		Long: "Print the transcript of every attempt of a job or a task: who said what, the calls of tools and what came back,\n" +
			"the pictures. Of an attempt that is under way: its steps. With --json one entry or event a line.",
		Args: atMostOne("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.attempt < 0 {
				return &usageError{words: "--attempt is a number from 1"}
			}
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.logs(c.Context(), l, orLast(args), f) })
		},
	}
	c.Flags().IntVar(&f.attempt, "attempt", 0, "only the attempts with this number")
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with the steps that come, until the job rests")
	c.Flags().BoolVar(&f.full, "full", false, "print every text whole")
	return c
}

// lastJob is the id of the newest job.
const lastJob = "@last"

// orLast is the id that was given; questions without one are about the last job.
func orLast(args []string) string {
	if len(args) == 0 {
		return lastJob
	}
	return args[0]
}

func (s *shell) logs(ctx context.Context, l *link, id string, f logsFlags) error {
	doc, err := l.Logs(ctx, id)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(slices.Clone(doc.Attempts), func(a protocol.LogLine) bool { return f.attempt > 0 && a.Number != f.attempt })
	if len(lines) == 0 && !f.follow {
		s.note.line("there are no attempts yet; %s shows how the job stands", s.hint("show", doc.Job))
		return nil
	}
	events, err := allEvents(ctx, l, doc.Job)
	if err != nil {
		return err
	}
	all := func(out *paper) error {
		for _, a := range lines {
			if err := s.logOf(ctx, l, out, a, events, f.full); err != nil {
				return err
			}
		}
		return nil
	}
	if f.follow || s.json {
		err = all(s.out)
	} else {
		err = s.paged(ctx, all)
	}
	if err != nil || !f.follow {
		return err
	}
	return s.followLog(ctx, l, id, events)
}

// allEvents are the events of a job up to now.
func allEvents(ctx context.Context, l *link, id string) ([]job.Event, error) {
	var events []job.Event
	for {
		page, err := l.Events(ctx, protocol.EventsQuery{Job: id, After: int64(len(events))})
		if err != nil {
			return nil, err
		}
		events = append(events, page.Events...)
		if !page.More || len(page.Events) == 0 {
			return events, nil
		}
	}
}

// logOf prints one attempt: its transcript when there is one, else its steps.
func (s *shell) logOf(ctx context.Context, l *link, out *paper, a protocol.LogLine, events []job.Event, full bool) error {
	if !s.json {
		out.line("%s", attemptHead(a))
	}
	if a.Trace != "" {
		data, err := l.Blob(ctx, a.Trace)
		if err == nil {
			return s.transcript(out, a, data, full)
		}
		if ctx.Err() != nil {
			return err
		}
		s.note.line("note: the transcript of this attempt is gone (%v); these are its steps", err)
	}
	for _, e := range events {
		if e.Attempt == a.Attempt {
			s.step(out, e)
		}
	}
	if !s.json {
		out.line("")
	}
	return nil
}

func attemptHead(a protocol.LogLine) string {
	words := fmt.Sprintf("%s, attempt %d on %s", flat(a.Title, titleRunes), a.Number, a.Model)
	if a.Worker != "" {
		words += " (" + flat(a.Worker, titleRunes) + ")"
	}
	return because(words+": "+cmp.Or(string(a.Outcome), "under way"), a.Reason)
}

// step prints an event of an attempt as one line.
func (s *shell) step(out *paper, e job.Event) {
	if s.json {
		out.doc(e)
		return
	}
	if words := stepWords(e); words != "" {
		out.line("  %s  %s", e.Time.Local().Format(time.TimeOnly), words)
	}
}

func stepWords(e job.Event) string {
	switch b := e.Body.(type) {
	case *job.Step:
		words := flat(b.Summary, reasonRunes)
		if b.Tool != "" {
			words = because(flat(b.Tool, titleRunes), b.Summary)
		}
		if b.Failed {
			words += " (failed)"
		}
		return words
	case *job.Look:
		return lookWords(*b)
	case *job.CheckResult:
		return checkWords(*b)
	case *job.Said:
		return "you said: " + flat(b.Text, reasonRunes)
	case *job.AttemptEnd:
		return because("ended: "+string(b.Outcome), cmp.Or(b.Reason, b.Summary))
	}
	return ""
}

// followLog prints steps as they come, until the job rests.
func (s *shell) followLog(ctx context.Context, l *link, id string, before []job.Event) error {
	of, err := l.Resolve(ctx, id)
	if err != nil || l.here { // nobody works on it: what is there is all that comes
		return err
	}
	v := newView(s, of.Job)
	v.progress = progressNone
	names := map[string]string{}
	told := int64(len(before))
	err = l.FollowWith(ctx, of.Job, 0, func(e job.Event) error {
		if err := v.fold(e); err != nil {
			return err
		}
		if t := v.state.Tasks[e.Task]; t != nil && e.Seq > told && e.Attempt != "" && (of.Task == "" || of.Task == e.Task) {
			if !s.json && names[e.Attempt] == "" && stepWords(e) != "" {
				names[e.Attempt] = t.Title
				s.out.line("%s, on %s", flat(t.Title, titleRunes), t.Model)
			}
			s.step(s.out, e)
		}
		if s.out.err != nil {
			return s.out.err
		}
		if e.Seq >= told && v.rests() {
			return client.ErrStop
		}
		return nil
	}, v.absent)
	if ctx.Err() != nil && s.terminal(s.note.w) && signalCode(ctx) == exitInterrupt {
		s.afterSignal()
		return s.goesOn(v, exitInterrupt)
	}
	return err
}

// entryDoc is one line of logs --json: an entry of a transcript and whose it is.
type entryDoc struct {
	Job     string `json:"job,omitempty"`
	Task    string `json:"task"`
	Attempt string `json:"attempt"`
	Number  int    `json:"number"`
	Model   string `json:"model"`
	engine.Entry
}

// maxEntry is the longest line of a transcript: the longest answer and more.
const maxEntry = 64 << 20

// transcript prints a trace.
func (s *shell) transcript(out *paper, a protocol.LogLine, data []byte, full bool) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxEntry)
	t := teller{out: out, full: full}
	for lines.Scan() {
		var e engine.Entry
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			s.note.line("note: a line of the transcript cannot be read: %v", err)
			continue
		}
		if s.json {
			out.doc(entryDoc{Task: a.Task, Attempt: a.Attempt, Number: a.Number, Model: a.Model, Entry: e})
			continue
		}
		t.tell(e)
	}
	if err := lines.Err(); err != nil {
		return errors.Join(errors.New("the transcript cannot be read"), err)
	}
	if !s.json {
		out.line("")
	}
	return nil
}
