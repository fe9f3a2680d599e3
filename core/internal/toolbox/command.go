package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// ErrTimeout is the error of a command that was killed when its time was over.
var ErrTimeout = errors.New("timed out")

// The marks in the environment of every process that a box starts. The second
// tells one command's stragglers from another's.
const (
	markAttempt = "RELO_ATTEMPT="
	markCommand = "RELO_COMMAND="
)

// outcome is how a command ended.
type outcome struct {
	exit       int
	text       string // cleaned output, ending in a newline unless empty
	background bool   // something that it started is still there
}

// command runs one command to its end, its timeout, or ctx's.
func (b *Box) command(ctx context.Context, line string, timeout time.Duration) (outcome, error) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	timeout = min(timeout, maxTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %v", ErrTimeout, timeout))
	defer cancel()
	number, err := b.begin(cancel)
	if err != nil {
		return outcome{exit: -1}, err
	}
	defer b.finish(number)

	mark := markCommand + b.options.Attempt + "/" + strconv.Itoa(number)
	cmd := exec.CommandContext(ctx, b.shell, "-c", line) //nolint:gosec // running the agent's command is what the tool is for
	cmd.Dir = b.real
	cmd.Env = append(slices.Clip(b.env), mark)
	isolate(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	out, drained, err := b.start(cmd)
	if err != nil {
		return outcome{exit: -1}, err
	}
	err = cmd.Wait()
	pid := cmd.Process.Pid
	runtime.UnlockOSThread() // locked by start
	if ctx.Err() != nil {
		_ = killGroup(pid) // it may be gone already
		killEnviron(mark)
	}
	o := outcome{exit: exitCode(cmd.ProcessState)}
	o.background = !settled(drained) || groupAlive(pid)
	if o.background {
		b.keep(pid)
	}
	o.text = out.String()
	if ctx.Err() != nil {
		o.exit = -1
		return o, context.Cause(ctx)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return o, fmt.Errorf("wait for the command: %w", err)
	}
	return o, nil
}

// begin takes a number for a command, unless the box is closed.
func (b *Box) begin(cancel context.CancelFunc) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, ErrClosed
	}
	b.calls++
	b.running[b.calls] = cancel
	b.commands.Add(1)
	return b.calls, nil
}

func (b *Box) finish(number int) {
	b.mu.Lock()
	delete(b.running, number)
	b.mu.Unlock()
	b.commands.Done()
}

// start starts cmd with its output going to a bounded spool; drained is closed
// when nobody holds the output any more. The thread stays locked until the
// caller has waited: the kernel ends the child when the thread that started it
// ends, and Go may end a thread at any time.
func (b *Box) start(cmd *exec.Cmd) (out *spool, drained <-chan struct{}, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	runtime.LockOSThread()
	if err := cmd.Start(); err != nil {
		runtime.UnlockOSThread()
		return nil, nil, errors.Join(fmt.Errorf("start %s: %w", b.shell, err), r.Close(), w.Close())
	}
	_ = w.Close() // the child has its own
	out = &spool{}
	done := make(chan struct{})
	b.mu.Lock()
	b.outputs[r] = struct{}{}
	b.mu.Unlock()
	b.drains.Go(func() {
		defer close(done)
		_, _ = io.Copy(out, r) // ends with the last writer, or with Close
		b.mu.Lock()
		delete(b.outputs, r)
		b.mu.Unlock()
		_ = r.Close()
	})
	return out, done, nil
}

// settled waits a little for the output to end.
func settled(drained <-chan struct{}) bool {
	t := time.NewTimer(lingering)
	defer t.Stop()
	select {
	case <-drained:
		return true
	case <-t.C:
		return false
	}
}

// keep remembers a group that has outlived its command, and forgets dead ones:
// a number may be given to somebody else once its group is gone.
func (b *Box) keep(pid int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for old := range b.groups {
		if !groupAlive(old) {
			delete(b.groups, old)
		}
	}
	if groupAlive(pid) {
		b.groups[pid] = struct{}{}
	}
}

// Close ends every process that the box started, in the background or not, and
// waits up to two seconds until they are gone. The workspace stays as it is.
func (b *Box) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	for _, cancel := range b.running {
		cancel()
	}
	b.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		b.commands.Wait()
		b.drains.Wait()
		close(ended)
	}()
	late := time.NewTimer(closing)
	defer late.Stop()
	tick := time.NewTicker(polling)
	defer tick.Stop()
	for quiet := false; !quiet; {
		b.killGroups()
		killed := KillMarked(b.options.Attempt)
		select {
		case <-ended:
			quiet = killed == 0
		case <-late.C:
			quiet = true
		case <-tick.C:
		}
	}
	b.mu.Lock()
	for r := range b.outputs { // held by a process that could not be found
		_ = r.Close()
	}
	b.mu.Unlock()
	<-ended
	return b.root.Close()
}

func (b *Box) killGroups() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for pid := range b.groups {
		_ = killGroup(pid)
		delete(b.groups, pid)
	}
}
