package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/relo-dev/relo/core/internal/bus"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/rehearsal"
	"github.com/relo-dev/relo/core/internal/store"
)

// Mode says where commands go.
type Mode int

// The modes.
const (
	Any        Mode = iota // the running daemon, else the record opened in this process without conducting jobs
	Daemon                 // only a running daemon
	Standalone             // everything in this process
)

// Link is a way to the API.
type Link struct {
	*client.Client
	Here bool // the record is open in this process
	PID  int  // of the process that has it
	// Rehearsal is the provider double of a rehearsal that runs here; else nil.
	Rehearsal *rehearsal.Server
	close     func() error
	line      client.Line
}

// Close ends the link, and with a standalone one everything that it ran.
func (l *Link) Close() error { return l.close() }

const credsName = "owner.creds"

// Defaults is the configuration of who has none, for commands to which a faulty
// one does not matter.
func Defaults(e Env) (*config.Config, error) {
	nowhere := e.places()
	nowhere.Config = filepath.Join(nowhere.Run, "no-configuration")
	return config.Load(config.Input{Places: nowhere})
}

// dialTime bounds the first word of a daemon on the same machine.
const dialTime = 3 * time.Second

// Running reports whether a daemon answers that takes jobs.
func Running(e Env, _ *config.Config) bool {
	doc, ok := liveEndpoints(e)
	if !ok || doc.Standalone {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	e.Stderr = io.Discard
	l, err := dial(ctx, e, doc)
	if err != nil {
		return errors.As(err, new(*versionError)) // it is there; who opens it is told
	}
	return l.Close() == nil
}

// Open finds the way that mode asks for. A daemon that is not there is a
// *protocol.Error with CodeUnreachable.
func Open(ctx context.Context, e Env, cfg *config.Config, m Mode) (*Link, error) {
	for end := time.Now().Add(startTime); ; {
		l, err := openOnce(ctx, e, cfg, m)
		if _, locked := errors.AsType[*store.LockedError](err); !locked || time.Now().After(end) {
			return l, openFault(err)
		}
		if _, ok := liveEndpoints(e); ok && m == Standalone {
			return nil, openFault(err)
		}
		// The record is taken, but nobody answers: its process is just starting, or
		// just ending.
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(startLook):
		}
	}
}

const (
	// startTime is how long a process that has the record is given to answer:
	// a start takes some 150 ms (make bench).
	startTime = 3 * time.Second
	startLook = 50 * time.Millisecond
)

func openOnce(ctx context.Context, e Env, cfg *config.Config, m Mode) (*Link, error) {
	if m == Standalone {
		return openStandalone(ctx, e, cfg)
	}
	doc, ok := liveEndpoints(e)
	if ok && m == Daemon && doc.Standalone {
		return nil, unreachable(fmt.Sprintf("no daemon is running (process %d runs one job of its own and takes no others)", doc.PID))
	}
	if ok {
		l, err := dial(ctx, e, doc)
		if err == nil || m == Daemon || errors.As(err, new(*versionError)) {
			return l, err
		}
	}
	if m == Daemon {
		return nil, unreachable("no daemon is running")
	}
	c, err := openCore(ctx, e, cfg, kind{idle: true})
	if err != nil {
		return nil, err
	}
	return &Link{Client: client.New(localLine{c.table}), line: localLine{c.table}, Here: true, PID: os.Getpid(), close: c.close}, nil
}

func unreachable(words string) error {
	return &protocol.Error{Code: protocol.CodeUnreachable, Message: words, Hint: "relo daemon start starts one", Retryable: true}
}

// openFault words a record that is taken.
func openFault(err error) error {
	if e, ok := errors.AsType[*store.LockedError](err); ok {
		return &protocol.Error{Code: protocol.CodeUnreachable, Message: e.Error(), Hint: "to run several jobs at once: relo daemon start", Retryable: true}
	}
	return err
}

const restart = "relo daemon stop && relo daemon start"

type versionError struct{ words string }

func (e *versionError) Error() string { return e.words }

// otherAPI is the error of a daemon that speaks another API.
func otherAPI(pid int, version, api string) error {
	words := fmt.Sprintf("the daemon (process %d) is Relo %s with API %s, this is Relo %s with API %s: restart the daemon", pid, version, api, Version, protocol.Version)
	return errors.Join(&protocol.Error{Code: protocol.CodeUnreachable, Message: words, Hint: restart}, &versionError{words})
}

// dial opens the API of a living daemon. One of another build is noted on stderr.
func dial(ctx context.Context, e Env, doc endpointsDoc) (*Link, error) {
	if doc.API != protocol.Version {
		return nil, otherAPI(doc.PID, doc.Version, doc.API)
	}
	creds, err := bus.LoadCreds(e.runFile(credsName))
	if err != nil {
		return nil, err
	}
	short, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := bus.Connect(short, creds, "relo-cli")
	if err != nil {
		return nil, unreachable(fmt.Sprintf("the daemon (process %d) does not answer", doc.PID))
	}
	c := client.New(conn)
	status, err := c.Status(short)
	if err == nil && status.API != protocol.Version {
		err = otherAPI(status.PID, status.Version, status.API)
	} else if err != nil {
		err = unreachable(fmt.Sprintf("the daemon (process %d) does not answer: %v", doc.PID, err))
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	if doc.Version != Version && e.Stderr != nil {
		_, _ = fmt.Fprintf(e.Stderr, "note: the daemon is Relo %s, this is Relo %s; to use one version: %s\n", doc.Version, Version, restart) // a note that cannot be written is no error
	}
	return &Link{Client: c, PID: status.PID, line: conn, close: func() error { conn.Close(); return nil }}, nil
}

// openStandalone runs the record, the bus and the workers in this process.
func openStandalone(ctx context.Context, e Env, cfg *config.Config) (*Link, error) {
	c, err := openCore(ctx, e, cfg, kind{solo: true})
	if err != nil {
		return nil, err
	}
	if err := c.publish(true); err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.later(c.unpublish)
	stop, err := c.hireHere(ctx)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.later(stop)
	lists, enough := context.WithCancel(ctx)
	listed := c.keepKnown(lists)
	c.later(func() error { enough(); listed(); return nil })
	return &Link{Client: client.New(c.conn), line: c.conn, Here: true, PID: os.Getpid(), Rehearsal: c.rehearsal, close: c.close}, nil
}
