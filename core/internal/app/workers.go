package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/bus"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/logging"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/protocol"
)

const (
	// orphanTime is how long a local worker waits for a daemon to come back: a
	// restart takes seconds, an upgrade perhaps a minute.
	orphanTime = 2 * time.Minute
	// leaveTime is what a worker gets to come to a safe point before it is killed:
	// what it takes itself, and some seconds to hand in what it has.
	leaveTime = orchestrator.LeaveWait + 10*time.Second
	// stopTime is what a killed process gets to be gone.
	stopTime = 5 * time.Second
	stopLook = 50 * time.Millisecond
	// adoptTime is how long a worker of an earlier daemon may take to show itself:
	// its connection mends itself within a second when the address is the same.
	adoptTime = 15 * time.Second
	// hireAgain is the pause before a worker that died is replaced.
	hireAgain = time.Second
)

// join is a worker's invitation: who it is, where it works, how it reaches the
// daemon. The file is 0600.
type join struct {
	bus.Creds
	ID    string `json:"id"`
	Dir   string `json:"dir"`
	Slots int    `json:"slots"`
	Lock  string `json:"lock"`
	Log   string `json:"log"`
	Level string `json:"level"`
}

func newWorker(e Env, d *Darkroom, conn *bus.Conn, j join, orphan time.Duration, log zerolog.Logger) *orchestrator.Worker {
	home := client.New(conn)
	return orchestrator.NewWorker(
		orchestrator.WorkerOptions{ID: j.ID, Dir: j.Dir, Slots: j.Slots, Orphan: orphan},
		orchestrator.WorkerParts{
			Home: home, Phone: home, Mailbox: mailbox{conn}, Trees: newTrees(e), Shop: shop{}, Pictures: d.open, Rooms: d.rooms, Engines: engines(), Outside: outsideOf(e, d), Log: log,
		})
}

func localID(i int) string { return "local-" + strconv.Itoa(i+1) }

// hireHere runs the local workers in this process.
func (c *core) hireHere(ctx context.Context) (stop func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	var conns []*bus.Conn
	stop = func() error {
		cancel()
		work.Wait()
		for _, conn := range conns {
			conn.Close()
		}
		return nil
	}
	for i := range c.cfg.Workers.Local {
		id := localID(i)
		conn, err := bus.Connect(ctx, c.server.Worker(id), "relo-"+id)
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		conns = append(conns, conn)
		w := newWorker(c.env, c.darkroom, conn, join{ID: id, Dir: filepath.Join(c.env.worktrees(), id), Slots: 1}, 0, c.log)
		work.Go(func() {
			if err := w.Run(ctx); err != nil {
				c.log.Error().Str("worker", id).Err(err).Msg("a worker ended")
			}
		})
	}
	return stop, nil
}

// hire keeps one child process for each local worker until ctx ends: then each is
// asked to go, and wait waits until they are gone. A worker that outlived an
// earlier daemon holds its lock and is left to work.
func (c *core) hire(ctx context.Context) (wait func(), err error) {
	var work sync.WaitGroup
	for i := range c.cfg.Workers.Local {
		j, file, err := c.invite(localID(i))
		if err != nil {
			return work.Wait, err
		}
		work.Go(func() { c.keepWorker(ctx, j, file) })
	}
	return work.Wait, nil
}

// invite writes a local worker's join file.
func (c *core) invite(id string) (join, string, error) {
	dir := filepath.Join(c.env.places().State, "workers")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return join{}, "", fmt.Errorf("make the workers' folder: %w", err)
	}
	j := join{
		Creds: c.server.Worker(id), ID: id, Dir: filepath.Join(c.env.worktrees(), id), Slots: 1,
		Lock: filepath.Join(dir, id+".lock"), Log: c.env.logFile("worker-" + id), Level: c.env.Getenv("RELO_LOG"),
	}
	text, err := json.Marshal(j)
	if err != nil {
		return j, "", fmt.Errorf("encode a join file: %w", err)
	}
	file := filepath.Join(dir, id+".join")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return j, "", fmt.Errorf("write a join file: %w", err)
	}
	return j, file, nil
}

func (c *core) keepWorker(ctx context.Context, j join, file string) {
	for ctx.Err() == nil {
		if pid := lockOwner(j.Lock); pid != 0 {
			c.waitAdopted(ctx, j, pid)
			continue
		}
		if err := c.runChild(ctx, j, file); err != nil && ctx.Err() == nil {
			c.log.Error().Str("worker", j.ID).Err(err).Msg("a worker ended and is replaced")
		}
		select {
		case <-ctx.Done():
		case <-time.After(hireAgain):
		}
	}
}

// waitAdopted watches a worker of an earlier daemon; at the end, or when it does
// not find this daemon, it is asked to go.
func (c *core) waitAdopted(ctx context.Context, j join, pid int) {
	c.log.Info().Str("worker", j.ID).Int("process", pid).Msg("a worker of the last daemon goes on")
	tick := time.NewTicker(hireAgain)
	defer tick.Stop()
	for found := time.Now(); lockOwner(j.Lock) == pid; {
		select {
		case <-tick.C:
			if time.Since(found) < adoptTime || c.heard(j.ID) {
				continue
			}
			c.log.Warn().Str("worker", j.ID).Int("process", pid).Msg("the worker does not find this daemon and is replaced")
		case <-ctx.Done():
		}
		c.endProcess(pid, func() bool { return lockOwner(j.Lock) != pid })
		return
	}
}

// heard reports whether a worker has shown itself to this daemon.
func (c *core) heard(id string) bool {
	return slices.ContainsFunc(c.orch.Workers(), func(w protocol.WorkerDoc) bool { return w.ID == id })
}

// endProcess asks a process to go, and kills it when it does not, or when the
// daemon is to end at once.
func (c *core) endProcess(pid int, gone func() bool) {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
		hurry  <-chan struct{}
	}{{syscall.SIGTERM, leaveTime, c.exit.hard}, {syscall.SIGKILL, stopTime, nil}} {
		if err := syscall.Kill(pid, step.signal); err != nil {
			return // it is gone
		}
		if waitUntil(step.wait, step.hurry, gone) {
			return
		}
	}
}

// waitUntil looks again and again until gone is true, for a time at most; hurry
// ends it early.
func waitUntil(most time.Duration, hurry <-chan struct{}, gone func() bool) bool {
	tick := time.NewTicker(stopLook)
	defer tick.Stop()
	over := time.NewTimer(most)
	defer over.Stop()
	for !gone() {
		select {
		case <-tick.C:
		case <-hurry:
			return gone()
		case <-over.C:
			return gone()
		}
	}
	return true
}

// runChild runs one worker process until it ends; when ctx ends it is asked to
// go, then killed.
func (c *core) runChild(ctx context.Context, j join, file string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "worker", "--join", file) //nolint:gosec // this program itself
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = leaveTime
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("worker %s: %w", j.ID, err)
	}
	hurry, done := within(context.WithoutCancel(ctx), c.exit.hard)
	defer done()
	defer context.AfterFunc(hurry, func() { _ = cmd.Process.Kill() })() // it may be gone already
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("worker %s: %w", j.ID, err)
	}
	return nil
}

// Work is a worker process: it works until ctx ends or its daemon is gone for long.
func Work(ctx context.Context, e Env, joinFile string) error {
	text, err := os.ReadFile(joinFile) //nolint:gosec // the person's or the daemon's own file
	if err != nil {
		return fmt.Errorf("read the join file: %w", err)
	}
	var j join
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("join file %s: %w", joinFile, err)
	}
	lock, err := takeWorkerLock(j.Lock)
	if err != nil {
		return err
	}
	log, closer, err := logging.Open(j.Log, j.Level)
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	conn, err := bus.Connect(ctx, j.Creds, "relo-"+j.ID)
	if err != nil {
		return errors.Join(err, closer.Close(), lock.Close())
	}
	dark := NewDarkroom(e)
	err = newWorker(e, dark, conn, j, orphanTime, log).Run(ctx)
	conn.Close()
	return errors.Join(err, dark.Close(), closer.Close(), lock.Close())
}

// takeWorkerLock holds the worker's name for as long as this process lives.
func takeWorkerLock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return nil, fmt.Errorf("open the worker's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another process is this worker (%s)", name), f.Close())
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the worker's lock: %w", err), f.Close())
	}
	return f, nil
}

// lockOwner gives the process that holds a worker's lock; 0 when none does.
func lockOwner(name string) int {
	f, err := os.OpenFile(name, os.O_RDWR, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return 0
	}
	var buf [16]byte
	n, _ := f.ReadAt(buf[:], 0) // short: a pid
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		return -1 // held by a process that is about to write its pid
	}
	return pid
}
