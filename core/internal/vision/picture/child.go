package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Children are warm processes in which pictures are decoded: one that takes too
// much memory, CPU or time ends its child and nothing else. They start when they are
// first needed and end when they were idle for long. All preparers of a process
// share one Children; it may be used by many goroutines.
type Children struct {
	command func() (*exec.Cmd, error)
	places  chan struct{} // who may have a child

	mu     sync.Mutex
	idle   []*child
	closed bool
	gone   sync.WaitGroup // children that are not yet reaped
}

// NewChildren makes children of a program that calls Serve on its standard
// streams. The program is asked for anew at each start; its environment should be empty.
func NewChildren(command func() (*exec.Cmd, error)) *Children {
	return &Children{command: command, places: make(chan struct{}, maxAtOnce)}
}

// child is one process. Its own lock is the place that its user holds.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	words  *opening
	done   chan struct{} // closed when the process was reaped
	served int
	expire *time.Timer
}

var (
	errClosed = errors.New("the picture processes were ended")
	errDied   = errors.New("the picture process ended")
)

// Close ends every child and waits for it. Preparations that still run fail.
func (c *Children) Close() {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	c.idle = nil
	c.mu.Unlock()
	for _, ch := range idle {
		ch.expire.Stop()
		ch.kill()
	}
	c.gone.Wait()
}

// prepare has a picture prepared by a child.
func (c *Children) prepare(ctx context.Context, o order, data []byte) (vision.Picture, vision.Meta, error) {
	if end := late(ctx); end != nil {
		return vision.Picture{}, vision.Meta{}, end
	}
	select {
	case c.places <- struct{}{}:
	case <-ctx.Done():
		return vision.Picture{}, vision.Meta{}, refuse(Busy, "other pictures are being prepared; ask again in a moment").because(ctx.Err())
	}
	defer func() { <-c.places }()
	for kills := 0; ; {
		ch, fresh, err := c.take()
		if err != nil {
			return vision.Picture{}, vision.Meta{}, refuse(Busy, "the process that decodes pictures cannot be started; ask again, and when that does not help Relo has to be started anew").because(err)
		}
		answer, body, err := ch.ask(ctx, o, data)
		if err == nil {
			c.put(ch)
			return answer.result(body)
		}
		ch.kill()
		<-ch.done
		if end := late(ctx); end != nil {
			return vision.Picture{}, vision.Meta{}, end
		}
		why := ch.cause()
		if errors.Is(err, errFrameSize) || errors.Is(err, errFrameWords) {
			why = causeUnknown // it lived and talked nonsense: the kill was ours
		}
		if why == causeOutside {
			kills++
		}
		if fresh && why == causeUnknown || why == causeMemory || why == causeCPU || kills > 1 {
			return vision.Picture{}, vision.Meta{}, ch.refusal(o, why, err)
		}
		// Something ended a child from outside, or while it waited: that says nothing about this picture.
	}
}

// take gives an idle child, or starts one.
func (c *Children) take() (ch *child, fresh bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false, errClosed
	}
	for len(c.idle) > 0 {
		ch := c.idle[len(c.idle)-1]
		c.idle = c.idle[:len(c.idle)-1]
		if ch.expire.Stop() {
			return ch, false, nil
		}
	}
	ch, err = c.start()
	return ch, true, err
}

// put keeps a child for the next picture, unless it has served long enough.
func (c *Children) put(ch *child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch.served++
	if c.closed || ch.served >= childPictures {
		ch.kill()
		return
	}
	ch.expire = time.AfterFunc(childRest, func() { c.drop(ch) })
	c.idle = append(c.idle, ch)
}

// drop ends a child that was idle for long.
func (c *Children) drop(ch *child) {
	c.mu.Lock()
	for i, other := range c.idle {
		if other == ch {
			c.idle = append(c.idle[:i], c.idle[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	ch.kill()
}

// start begins a process; the lock is held.
func (c *Children) start() (*child, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, fmt.Errorf("start a picture process: %w", err)
	}
	ch := &child{cmd: cmd, words: &opening{most: childWords}, done: make(chan struct{})}
	cmd.Stderr = ch.words
	cmd.WaitDelay = time.Second
	if ch.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start a picture process: %w", err)
	}
	if ch.out, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("start a picture process: %w", err)
	}
	ownGroup(cmd)
	widen(ch.in)
	widen(ch.out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a picture process: %w", err)
	}
	c.gone.Go(func() {
		_ = cmd.Wait() // how it ended is read from its state
		close(ch.done)
	})
	return ch, nil
}

// kill ends the process; it may have ended before.
func (ch *child) kill() { _ = ch.cmd.Process.Kill() }

// ask sends one order and reads the answer. When ctx ends the process is killed,
// which ends both.
func (ch *child) ask(ctx context.Context, o order, data []byte) (reply, []byte, error) {
	defer context.AfterFunc(ctx, ch.kill)()
	var answer reply
	if err := writeFrame(ch.in, o, data); err != nil {
		return answer, nil, err
	}
	body, err := readFrame(ch.out, &answer, fresh)
	if err == nil && ctx.Err() != nil {
		err = errDied // it was told to end while it answered
	}
	return answer, body, err
}

// fresh is memory for an answer, which the caller keeps.
func fresh(n uint64) ([]byte, error) {
	if n > maxBytes {
		return nil, errFrameSize
	}
	return make([]byte, n), nil
}

// result is what the caller gets.
func (r reply) result(body []byte) (vision.Picture, vision.Meta, error) {
	if r.Code == "" {
		r.Picture.Bytes = body
		return r.Picture, r.Meta, nil
	}
	e := &Error{Code: r.Code, Message: r.Message}
	if r.Cause != "" {
		e.cause = errors.New(r.Cause)
	}
	return vision.Picture{}, r.Meta, e
}

// cause is why a child ended.
type cause int

const (
	causeUnknown cause = iota
	causeMemory
	causeCPU
	causeOutside // somebody else killed it, or the system did for want of memory
)

// cause reads how the process ended; it must be reaped.
func (ch *child) cause() cause {
	words := ch.words.String()
	status, _ := ch.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM):
		return causeOutside
	case ch.cmd.ProcessState.ExitCode() == exitCPU:
		return causeCPU
	case strings.Contains(words, "out of memory"), strings.Contains(words, "cannot allocate memory"),
		strings.Contains(words, "pthread_create failed"), strings.Contains(words, "failed to create new OS thread"), // its stack is memory too
		strings.HasPrefix(words, "SIGSEGV"): // so Go's collector ends when it gets no memory (seen with 1.26); decoders written in Go cannot
		return causeMemory
	}
	return causeUnknown
}

// refusal says what a child's end means for the picture that it had.
func (ch *child) refusal(o order, why cause, err error) error {
	name := o.Name
	err = fmt.Errorf("%w: %w (%v, %q)", errDied, err, ch.cmd.ProcessState, strings.TrimSpace(ch.words.String()))
	switch why {
	case causeCPU:
		return refuse(TooComplex, "%q takes more than %v of computing to decode; save it anew as a plain PNG or JPEG", name, o.Limits.MaxCPU).because(err)
	case causeUnknown:
	case causeOutside:
		return refuse(Busy, "the process that decoded %q was ended from outside, twice; nothing is known against the picture, ask again later", name).because(err)
	case causeMemory:
		return refuse(TooComplex, "%q needs more than %d MiB to decode; save it anew as a plain PNG or JPEG, or smaller", name, childMemory>>20).because(err)
	}
	return corrupt(name, "the process that decoded it came to an end").because(err)
}

// opening keeps the beginning of what a process says; a Go program says why it ends first.
type opening struct {
	mu   sync.Mutex
	most int
	b    bytes.Buffer
}

func (t *opening) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Write(p[:min(len(p), t.most-t.b.Len())])
	return len(p), nil
}

func (t *opening) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}
