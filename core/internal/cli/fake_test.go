package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

const jobID = "01a22de0-303b-708f-8248-8473c49ab028"

// answer is how the scripted API answers one endpoint.
type answer func(body []byte) (any, error)

func gives(v any) answer      { return func([]byte) (any, error) { return v, nil } }
func fails(err error) answer  { return func([]byte) (any, error) { return nil, err } }
func (l *line) asked() string { return strings.Join(l.calls(), " ") }

// line is an API with scripted answers. It is a client.Line.
type line struct {
	mu      sync.Mutex
	log     []string
	answers map[string]answer
	events  []job.Event
}

func newLine() *line { return &line{answers: map[string]answer{}} }

func (l *line) on(endpoint string, a answer) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[endpoint] = a
	return l
}

// tells adds events, numbered on.
func (l *line) tells(events ...job.Event) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		e.Seq, e.Job, e.Time = int64(len(l.events)+1), jobID, time.Date(2026, 11, 30, 12, 0, len(l.events), 0, time.UTC)
		l.events = append(l.events, e)
	}
	return l
}

func (l *line) calls() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.log...)
}

func (l *line) News(string, func([]byte)) (func(), error) { return func() {}, nil }

func (l *line) Request(ctx context.Context, endpoint string, body []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	if endpoint != "job.events" {
		l.log = append(l.log, endpoint)
	}
	a := l.answers[endpoint]
	events := l.events
	l.mu.Unlock()
	if endpoint == "job.events" && a == nil {
		var q protocol.EventsQuery
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		return json.Marshal(protocol.EventPage{Events: events[min(int(q.After), len(events)):]})
	}
	if a == nil {
		return nil, fmt.Errorf("the script has no %s", endpoint)
	}
	v, err := a(body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// scene is a shell before a scripted API.
type scene struct {
	line     *line
	daemon   bool // one is running
	terminal bool // all streams are one
	stdin    string
	dir      string
	env      map[string]string
	modes    []app.Mode
	closed   int
	starts   int // of a daemon
	size     board.Size
	edits    func(text string) string // what the person makes of a text
	paged    []string                 // the pager's command and its text
	sh       *shell
}

func (c *scene) shell(out, note io.Writer) *shell {
	return &shell{
		in: strings.NewReader(c.stdin), out: &paper{w: out}, note: &paper{w: note}, getenv: func(n string) string { return c.env[n] },
		doors: doors{
			daemonDoors: daemonDoors{startDaemon: func(context.Context, app.Env) (app.DaemonDoc, error) {
				c.starts, c.daemon = c.starts+1, true
				return app.DaemonDoc{Running: true, PID: 7, Version: "1"}, nil
			}},
			handDoors: handDoors{
				edit: c.edit, size: func(any) board.Size { return c.size },
				page: func(_ context.Context, command, text string) error {
					c.paged = []string{command, text}
					return nil
				},
			},
			load:    func(app.Env) (*config.Config, error) { return &config.Config{}, nil },
			running: func(app.Env, *config.Config) bool { return c.daemon },
			open: func(_ context.Context, _ app.Env, _ *config.Config, m app.Mode) (*link, error) {
				c.modes = append(c.modes, m)
				if m == app.Daemon && !c.daemon {
					return nil, &protocol.Error{Code: protocol.CodeUnreachable, Message: "no daemon is running", Hint: "relo daemon start starts one", Retryable: true}
				}
				return &link{Client: client.New(c.line), here: !c.daemon || m == app.Standalone, close: func() error { c.closed++; return nil }}, nil
			},
			workdir:    func() (string, error) { return c.dir, nil },
			executable: func() (string, error) { return filepath.Join(c.dir, "bin", "relo"), nil },
			terminal:   func(any) bool { return c.terminal },
		},
	}
}

// edit is the person's editor.
func (c *scene) edit(_ context.Context, _, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(c.edits(string(text))), 0o600)
}

// run runs one command line.
func (c *scene) run(ctx context.Context, args ...string) (exit int, stdout, stderr string) {
	var out, note bytes.Buffer
	if c.line == nil {
		c.line = newLine()
	}
	if c.sh == nil {
		c.sh = c.shell(&out, &note)
	} else {
		c.sh.out, c.sh.note = &paper{w: &out}, &paper{w: &note}
	}
	exit = c.sh.start(ctx, args)
	return exit, out.String(), note.String()
}

// story is a job with one task that goes well up to its end.
func story() *line {
	l := newLine().tells(
		job.Event{Kind: job.KindSubmitted, Body: &job.Submitted{Text: "Match the card", Title: "Match the card", Base: "0123456789abcdef", Dirty: 2}},
		job.Event{Kind: job.KindPlanned, Body: &job.Planned{Tasks: 1, Summary: "one card"}},
		job.Event{Kind: job.KindTaskAdded, Task: "t1", Body: &job.Added{ID: "t1", Key: "card", Title: "Draw the card", Vision: true, Difficulty: job.Hard}},
		job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "planning", To: "running"}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Body: &job.StatusChange{From: "waiting", To: "ready"}},
		job.Event{Kind: job.KindRouted, Task: "t1", Model: "here/eyes", Body: &job.Routed{Rung: 3, Reasons: []job.Reason{{Code: "hard", Words: "hard, needs eyes"}}}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a1", Model: "here/eyes", Worker: "w1", Body: &job.StatusChange{From: "ready", To: "dispatched", Epoch: 1}},
		job.Event{Kind: job.KindTaskStatus, Task: "t1", Attempt: "a1", Body: &job.StatusChange{From: "dispatched", To: "running"}},
	)
	return l.on("job.submit", gives(protocol.Accepted{Job: jobID})).on("models.list", gives(protocol.ModelsDoc{}))
}

// ends adds the job's end and what is asked for afterwards.
func (l *line) ends(status job.Status, end job.Finished) *line {
	from := "running"
	if status == job.Ready {
		from = "integrating"
		l.tells(job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "running", To: "integrating"}})
	}
	end.Outcome = status
	l.tells(
		job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: from, To: string(status), Reason: end.Reason}},
		job.Event{Kind: job.KindFinished, Body: &end},
	)
	five := 0.05
	l.on("costs.list", gives(protocol.CostsDoc{Total: &five, Known: five, Rows: []protocol.CostRow{
		{Job: jobID, Traffic: job.TrafficPlanning, Model: "far/plan", Requests: 1, Cost: &five},
	}}))
	return l.on("job.show", gives(protocol.JobDoc{
		ID: jobID, Title: "Match the card", Status: status, Reason: end.Reason, End: &end, NeedsEyes: end.NeedsEyes, Branch: "relo/" + jobID, Seq: int64(len(l.events)),
		Tasks: []protocol.TaskDoc{{ID: "t1", Title: "Draw the card", Difficulty: job.Hard, Vision: true, Status: job.TaskAccepted, Model: "here/eyes"}},
	}))
}

// jsonLines reads stdout as one JSON value a line.
func jsonLines(t *testing.T, stdout string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for l := range strings.Lines(stdout) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatalf("%q is not JSON: %v", l, err)
		}
		all = append(all, m)
	}
	return all
}

// has checks that every part stands in text.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

func exits(t *testing.T, got, want int, stderr string) {
	t.Helper()
	if got != want {
		t.Errorf("exit code %d, not %d; stderr:\n%s", got, want, stderr)
	}
}
