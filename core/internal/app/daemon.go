package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// DaemonDoc says how the person's daemon is.
type DaemonDoc struct {
	Running bool                 `json:"running"`
	Already bool                 `json:"already,omitempty"` // it was there before it was asked for
	Version string               `json:"version,omitempty"`
	API     string               `json:"api,omitempty"`
	PID     int                  `json:"pid,omitempty"`
	Started *time.Time           `json:"started,omitempty"`
	Jobs    int                  `json:"jobs"` // active ones; after a stop: those that wait for the next start
	Workers []protocol.WorkerDoc `json:"workers"`
	Home    string               `json:"home"` // folder of Relo's state
	Log     string               `json:"log"`
	// Restart lists settings whose file says otherwise than what runs: they take
	// effect with the next start.
	Restart []string       `json:"restart,omitempty"`
	Faults  []config.Fault `json:"faults,omitempty"` // of the person's config as it is now
	Note    string         `json:"note,omitempty"`
	Damages []string       `json:"damages,omitempty"` // found in the record since the start
}

const (
	// startWait bounds a start: one takes some 150 ms (make bench), a record that is
	// brought to a new schema, with its backup, longer.
	startWait = 30 * time.Second
	// lastLines of the log are shown when a start fails.
	lastLines = 12
	// tailBytes is how much of a log is read for its last lines.
	tailBytes = 64 << 10
)

func (e Env) daemonDoc(s protocol.StatusDoc) DaemonDoc {
	return DaemonDoc{
		Running: true, Version: s.Version, API: s.API, PID: s.PID, Started: &s.Started, Jobs: s.Jobs, Workers: s.Workers, Damages: s.Damages, Home: e.places().State, Log: e.logFile("relo"),
	}
}

// StartDaemon starts this program's serve in a session of its own, so that it
// outlives the terminal, and waits until it answers. One that runs already is the
// answer; of two starts at once the record's lock lets one win.
func StartDaemon(ctx context.Context, e Env) (DaemonDoc, error) {
	if doc, ok, err := e.answering(ctx); ok || err != nil {
		doc.Already = true
		return doc, err
	}
	child, err := e.launch()
	if err != nil {
		return DaemonDoc{}, err
	}
	return child.wait(ctx)
}

// answering asks the running daemon how it is; ok is false when there is none.
func (e Env) answering(ctx context.Context) (doc DaemonDoc, ok bool, err error) {
	at, live := liveEndpoints(e)
	switch {
	case !live:
		return doc, false, nil
	case at.Standalone:
		return doc, false, &protocol.Error{
			Code: protocol.CodeUnreachable, Message: fmt.Sprintf("process %d runs one job of its own and has the record until that ends", at.PID),
			Hint: "wait for it, or set RELO_HOME to another folder", Retryable: true,
		}
	}
	l, err := dial(ctx, e, at)
	if err != nil {
		return doc, false, err
	}
	status, err := l.Status(ctx)
	return e.daemonDoc(status), err == nil, errors.Join(err, l.Close())
}

// newborn is a daemon that was just launched.
type newborn struct {
	env  Env
	pid  int
	log  string
	from int64 // where its part of the log begins
}

// launch starts the program without a terminal.
func (e Env) launch() (*newborn, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	b := &newborn{env: e, log: e.logFile("daemon")}
	home := e.places().State
	if err := errors.Join(os.MkdirAll(home, 0o700), os.MkdirAll(filepath.Dir(b.log), 0o700)); err != nil {
		return nil, fmt.Errorf("make Relo's folder: %w", err)
	}
	log, err := os.OpenFile(b.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the daemon's log: %w", err)
	}
	defer func() { _ = log.Close() }() // the daemon has it now
	if info, err := log.Stat(); err == nil {
		b.from = info.Size()
	}
	cmd := exec.Command(self, "serve") //nolint:gosec,noctx // this program itself; it outlives who starts it
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, log, log
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RELO_BUDGET=") }) // of this one run, which says it itself
	if e.Getenv("RELO_HOME") != "" {                                                                               // it may be a path from the folder where we are
		cmd.Env = append(cmd.Env, "RELO_HOME="+e.places().Config)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	b.pid = cmd.Process.Pid
	return b, nil
}

// wait waits until a daemon answers: this one, or the one that was faster.
func (b *newborn) wait(ctx context.Context) (DaemonDoc, error) {
	tick := time.NewTicker(startLook)
	defer tick.Stop()
	end := time.Now().Add(startWait)
	var gone time.Time
	for {
		doc, ok, err := b.env.answering(ctx)
		if ok {
			doc.Already = doc.PID != b.pid
			return doc, nil
		}
		if gone.IsZero() && ended(b.pid) {
			gone = time.Now()
			end = gone.Add(startTime) // another that was faster may be about to answer
		}
		if !gone.IsZero() && (recordOwner(b.env) == 0 || err != nil) {
			return DaemonDoc{}, b.failure(err)
		}
		if time.Now().After(end) {
			return DaemonDoc{}, b.failure(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return DaemonDoc{}, ctx.Err()
		}
	}
}

// ended reaps a child that has ended.
func ended(pid int) bool {
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
	return got == pid || err != nil
}

// failure says why no daemon answers, with the last lines of its log.
func (b *newborn) failure(why error) error {
	if e, ok := errors.AsType[*protocol.Error](why); ok {
		return e
	}
	words := "the daemon did not start"
	if !ended(b.pid) {
		words = fmt.Sprintf("the daemon (process %d) does not answer after %d s", b.pid, int(startWait.Seconds()))
	}
	if lines := tail(b.log, b.from, lastLines); len(lines) > 0 {
		words += "; its log ends with:\n  " + strings.Join(lines, "\n  ")
	}
	return &protocol.Error{Code: protocol.CodeUnreachable, Message: words, Hint: "relo doctor looks for the cause; the log is " + b.log, Retryable: true}
}

// tail gives the last lines of a file behind an offset.
func tail(name string, from int64, most int) []string {
	f, err := os.Open(name) //nolint:gosec // Relo's own log
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	at := max(from, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, at, info.Size()-at))
	if err != nil {
		return nil
	}
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	if at > from && len(lines) > 1 {
		lines = lines[1:] // cut in the middle
	}
	return lines[max(0, len(lines)-most):]
}

// LookDaemon says how the daemon is, also when none runs.
func LookDaemon(ctx context.Context, e Env) (DaemonDoc, error) {
	doc, ok, err := e.answering(ctx)
	doc.Home, doc.Log = e.places().State, e.logFile("relo")
	if doc.Workers == nil {
		doc.Workers = []protocol.WorkerDoc{}
	}
	e.Dir = ""
	cfg, cerr := Load(e)
	if faults, is := config.AsFaults(cerr); is {
		doc.Faults = faults
	} else if cerr != nil {
		err = cmp.Or(err, cerr)
	}
	if !ok {
		if owner := recordOwner(e); owner > 0 && err == nil {
			doc.Note = fmt.Sprintf("process %d has the record open, but no daemon answers", owner)
		}
		return doc, err
	}
	at, _ := readEndpoints(e)
	if cerr == nil {
		for path, want := range fixedSettings(cfg) {
			if have, known := at.Fixed[path]; known && have != want {
				doc.Restart = append(doc.Restart, fmt.Sprintf("%s is %s and becomes %s", path, have, want))
			}
		}
		slices.Sort(doc.Restart)
	}
	return doc, err
}
