package app

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/relo-dev/relo/core/internal/protocol"
)

const (
	// stopWait is how long a daemon may take to end: its workers come to a safe
	// point, the bus and the record are closed.
	stopWait = leaveTime + stopTime + 5*time.Second
	// goneWait is what its process may take to go after the record was closed.
	goneWait = 2 * time.Second
)

// StopDaemon ends the person's daemon and waits until its process is gone; now
// does not wait for agents. Jobs counts those that go on with the next start.
// Without a daemon Running is false and nothing is done.
func StopDaemon(ctx context.Context, e Env, now bool) (DaemonDoc, error) {
	pid := recordOwner(e)
	doc := DaemonDoc{Home: e.places().State, Log: e.logFile("relo"), Workers: []protocol.WorkerDoc{}}
	if pid == 0 {
		return doc, nil
	}
	// Who only looks into the record has it for milliseconds; who starts has said
	// soon where it is.
	at, live := liveEndpoints(e)
	waitUntil(startTime, ctx.Done(), func() bool {
		at, live = liveEndpoints(e)
		pid = recordOwner(e)
		return live || pid == 0
	})
	if pid <= 0 {
		return doc, nil
	}
	if live && at.Standalone {
		return doc, &protocol.Error{
			Code: protocol.CodeUnreachable, Message: fmt.Sprintf("process %d is no daemon: it runs one job of its own and ends with it", pid), Hint: "relo cancel @last ends the job",
		}
	}
	doc.Running, doc.PID = true, pid
	asked, err := e.askToStop(ctx, at, live, now)
	if err != nil {
		return doc, err
	}
	if asked != nil {
		doc.Jobs, doc.Version = asked.Jobs, asked.Version
	}
	left := waitUntil(stopWait, ctx.Done(), func() bool { return recordOwner(e) != pid })
	if err := ctx.Err(); err != nil {
		return doc, fmt.Errorf("the daemon (process %d) is stopping: %w", pid, err)
	}
	if !left {
		return doc, &protocol.Error{
			Code: protocol.CodeUnreachable, Message: fmt.Sprintf("the daemon (process %d) did not end within %d s", pid, int(stopWait.Seconds())), Hint: "relo daemon stop --now ends it at once",
		}
	}
	waitUntil(goneWait, ctx.Done(), func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	return doc, nil
}

// askToStop asks over the API, and where nobody answers by a signal: the process
// that has the record's lock is the daemon, whatever else is true.
func (e Env) askToStop(ctx context.Context, at endpointsDoc, live, now bool) (*protocol.StatusDoc, error) {
	if live {
		l, err := dial(ctx, e, at)
		if err == nil {
			status, err := l.Stop(ctx)
			if err == nil && now {
				_, err = l.line.Request(ctx, endName, nil)
			}
			if errors.Is(err, protocol.ErrAway) {
				err = nil // it was faster than its answer
			}
			return &status, errors.Join(err, l.Close())
		}
	}
	pid := recordOwner(e)
	if pid <= 0 {
		return nil, nil
	}
	signal := syscall.SIGTERM
	if now {
		signal = syscall.SIGKILL
	}
	if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return nil, fmt.Errorf("end process %d: %w", pid, err)
	}
	return nil, nil
}
