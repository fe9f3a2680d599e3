package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// daemonDoors lead to the person's daemon; tests open others.
type daemonDoors struct {
	startDaemon func(context.Context, app.Env) (app.DaemonDoc, error)
	stopDaemon  func(context.Context, app.Env, bool) (app.DaemonDoc, error)
	lookDaemon  func(context.Context, app.Env) (app.DaemonDoc, error)
	readLog     func(ctx context.Context, e app.Env, lines int, follow bool, each func(string)) error
	clean       func(ctx context.Context, e app.Env, dry bool) (app.CleanDoc, error)
}

func realDaemon() daemonDoors {
	return daemonDoors{app.StartDaemon, app.StopDaemon, app.LookDaemon, app.ReadLog, app.Clean}
}

func (s *shell) daemonCmd() *cobra.Command {
	c := &cobra.Command{Use: "daemon", Short: "Start, stop and look after the daemon that works on your jobs", Args: cobra.ArbitraryArgs, RunE: group}
	var now, follow, dry bool
	var lines int
	start := &cobra.Command{
		Use: "start", Short: "Start the daemon; it goes on when the terminal is closed", Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.daemonStart(c.Context()) },
	}
	stop := &cobra.Command{
		Use: "stop", Short: "Stop the daemon; its jobs go on with the next start",
		Long: "Stop the daemon. Its agents come to a safe point first; their jobs go on from there with the next start.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.daemonStop(c.Context(), now) },
	}
	stop.Flags().BoolVar(&now, "now", false, "do not wait for agents: what they are doing is lost, what they did is not")
	logs := &cobra.Command{
		Use: "logs", Short: "Print the last lines of the daemon's log", Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.daemonLogs(c.Context(), lines, follow) },
	}
	logs.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes")
	logs.Flags().IntVar(&lines, "lines", 50, "how many lines")
	tidy := &cobra.Command{
		Use: "clean", Short: "Remove what ended jobs left and nobody needs; never unmerged work",
		Long: "Remove what jobs left that ended more than keepDays ago: folders of attempts, transcripts and pictures, old logs.\n" +
			"The daemon does it once a day. Work that is in no branch of yours is kept, and listed.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.daemonClean(c.Context(), dry) },
	}
	tidy.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be removed")
	c.AddCommand(start, stop, &cobra.Command{
		Use: "status", Short: "Say how the daemon is; exit code 6 when none runs", Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.daemonStatus(c.Context()) },
	}, logs, tidy)
	return c
}

func (s *shell) daemonStart(ctx context.Context) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	doc, err := s.startDaemon(ctx, env)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	if doc.Already {
		s.out.line("the daemon runs already: process %d, Relo %s", doc.PID, doc.Version)
		return nil
	}
	s.out.line("the daemon runs: process %d, Relo %s%s", doc.PID, doc.Version, goOn(doc.Jobs))
	s.note.line("warning: agents' commands are not confined yet: they run with your rights on this machine")
	s.note.line("%s ends it, %s follows what it does", "relo daemon stop", "relo daemon logs --follow")
	return nil
}

// goOn says how many jobs a daemon took up.
func goOn(jobs int) string {
	if jobs == 0 {
		return ""
	}
	return ", " + count(jobs, "job goes on", "jobs go on")
}

// startForRun starts the daemon for a job and says so in one line.
func (s *shell) startForRun(ctx context.Context, env app.Env) error {
	doc, err := s.startDaemon(ctx, env)
	if err != nil {
		return err
	}
	if !doc.Already {
		s.note.line("started the daemon (process %d): it works on, also when this terminal is closed; relo daemon stop ends it", doc.PID)
	}
	return nil
}

func (s *shell) daemonStop(ctx context.Context, now bool) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	if busy, err := s.lookDaemon(ctx, env); err == nil && !now && slices.ContainsFunc(busy.Workers, func(w protocol.WorkerDoc) bool { return w.Busy > 0 }) {
		s.note.line("agents come to a safe point first; relo daemon stop --now does not wait for them")
	}
	doc, err := s.stopDaemon(ctx, env, now)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(struct {
			Stopped bool `json:"stopped"` // false: none was running
			PID     int  `json:"pid,omitempty"`
			Jobs    int  `json:"jobs"` // they go on with the next start
		}{doc.Running, doc.PID, doc.Jobs})
		return nil
	}
	if !doc.Running {
		s.out.line("no daemon is running")
		return nil
	}
	s.out.line("the daemon (process %d) has ended", doc.PID)
	if doc.Jobs > 0 {
		s.out.line("%s for the next start: relo daemon start", count(doc.Jobs, "job waits", "jobs wait"))
	}
	return nil
}

func (s *shell) daemonStatus(ctx context.Context) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	doc, err := s.lookDaemon(ctx, env)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
	} else {
		s.daemonPage(doc)
	}
	if !doc.Running {
		return &endError{exitAway}
	}
	return nil
}

func (s *shell) daemonPage(doc app.DaemonDoc) {
	var rows [][]string
	if !doc.Running {
		s.out.line("no daemon is running")
		if doc.Note != "" {
			s.out.line("%s", doc.Note)
		}
	} else {
		rows = [][]string{
			{"Daemon", fmt.Sprintf("process %d, Relo %s, API %s", doc.PID, doc.Version, doc.API)},
			{"Since", since(*doc.Started)},
			{"Jobs", count(doc.Jobs, "active job", "active jobs")},
		}
		for i, w := range doc.Workers {
			name := "Workers"
			if i > 0 {
				name = ""
			}
			rows = append(rows, []string{name, fmt.Sprintf("%s: %d of %d busy, process %d", flat(w.ID, 0), w.Busy, w.Slots, w.PID)})
		}
		if len(doc.Workers) == 0 {
			rows = append(rows, []string{"Workers", "none has shown itself yet"})
		}
	}
	s.out.table(append(rows, []string{"Folder", doc.Home}, []string{"Log", doc.Log}))
	for _, d := range doc.Damages {
		s.out.line("damage: %s", flat(d, 0))
	}
	for _, r := range doc.Restart {
		s.out.line("needs a restart: %s (relo daemon stop && relo daemon start)", r)
	}
	for _, f := range doc.Faults {
		s.out.line("config: %s", f.String())
	}
	if len(doc.Faults) > 0 {
		s.out.line("new jobs are refused until the config is mended")
	}
	if !doc.Running {
		s.note.line("relo daemon start starts one")
	}
}

// since says when something began, and how long ago that is.
func since(t time.Time) string {
	ago := time.Since(t).Round(time.Second)
	words := ago.String()
	if ago >= time.Minute {
		words = strings.TrimSuffix(ago.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%s (%s ago)", t.Local().Format("2006-01-02 15:04:05"), words)
}

func (s *shell) daemonLogs(ctx context.Context, lines int, follow bool) error {
	if lines < 0 {
		return &usageError{words: "--lines is 0 or more"}
	}
	env, err := s.env("")
	if err != nil {
		return err
	}
	return s.readLog(ctx, env, lines, follow, s.logLine)
}

// logLine prints a line of the log: as it is with --json (other text as a
// document of its own), else in words.
func (s *shell) logLine(line string) {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		if s.json {
			s.out.doc(map[string]string{"message": line})
			return
		}
		s.out.line("%s", line)
		return
	}
	if s.json {
		s.out.raw(line + "\n")
		return
	}
	take := func(name string) string {
		v := fields[name]
		delete(fields, name)
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	at, level, words := take("time"), take("level"), take("message")
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		at = t.Local().Format("01-02 15:04:05")
	}
	var rest []string
	for name, v := range fields {
		if name != "pid" && name != "component" {
			rest = append(rest, fmt.Sprintf("%s=%s", name, flat(fmt.Sprint(v), 0)))
		}
	}
	slices.Sort(rest)
	s.out.line("%s", strings.TrimRight(fmt.Sprintf("%s %-5s %s  %s", at, level, flat(words, 0), strings.Join(rest, " ")), " "))
}

func (s *shell) daemonClean(ctx context.Context, dry bool) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	doc, err := s.clean(ctx, env, dry)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	verb := "removed"
	if dry {
		verb = "would be removed"
	}
	for _, r := range doc.Removed {
		s.out.line("%s: %s", verb, flat(r, 0))
	}
	s.out.line("%s %s, %.1f MB", count(len(doc.Removed), "thing", "things"), verb, float64(doc.Bytes)/1e6)
	for _, k := range doc.Kept {
		s.out.line("kept: job %s (%s): %s", short(k.Job), flat(k.Title, titleRunes), k.Why)
		s.out.line("  %s removes it", s.hint("discard", k.Job))
	}
	return nil
}
