package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// place is the repository that a call works on. It is always named to git, so a
// `.git` that an agent wrote into its folder is never followed.
type place struct {
	gitDir string // of the working tree: the main one, or <common>/worktrees/<name>
	tree   string // the working tree
}

// call is one run of git.
type call struct {
	at    place
	args  []string
	in    []byte
	env   []string
	index string // a private index instead of the working tree's own
	limit int    // bytes of output; 0: maxOutput
	cut   bool   // over the limit: keep the beginning instead of failing
	okay  []int  // exit codes beside 0 that are answers
	plain bool   // reads no index, no files, merges nothing: the guard's listing is not needed
	// settings are the guard's, when one listing serves several calls.
	settings []setting
}

type result struct {
	out  []byte
	code int
	cut  bool
}

// run does one call with every guard on, and again while another git holds a lock.
func (r *Repo) run(ctx context.Context, c call) (result, error) {
	settings := c.settings
	switch {
	case settings != nil:
	case c.plain:
		settings = fixed
	default:
		var err error
		if settings, err = r.guard(ctx, c.at); err != nil {
			return result{}, err
		}
	}
	pause := lockPause
	for try := 1; ; try++ {
		res, err := r.exec(ctx, c, settings)
		if try >= lockTries || !Is(err, KindLocked) {
			return res, err
		}
		if err := wait(ctx, pause); err != nil {
			return result{}, err
		}
		pause = min(2*pause, maxPause)
	}
}

// text is run for a one-line answer.
func (r *Repo) text(ctx context.Context, c call) (string, error) {
	res, err := r.run(ctx, c)
	return strings.TrimRight(string(res.out), "\n"), err
}

// exec starts git once and waits until it has ended.
func (r *Repo) exec(ctx context.Context, c call, settings []setting) (result, error) {
	cmd := exec.CommandContext(ctx, r.program, c.args...) //nolint:gosec // the program is git; arguments are built here, never by a shell
	cmd.Env = append(slices.Clone(r.env), settingsEnv(settings)...)
	if c.at.gitDir != "" {
		cmd.Env = append(cmd.Env, "GIT_DIR="+c.at.gitDir, "GIT_WORK_TREE="+c.at.tree)
	}
	if c.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.index)
	}
	cmd.Env = append(cmd.Env, c.env...)
	cmd.Dir = c.at.tree
	cmd.Stdin = bytes.NewReader(c.in)
	out := &sink{limit: c.limit}
	if out.limit == 0 {
		out.limit = maxOutput
	}
	words := &sink{limit: maxWords, soft: true}
	cmd.Stdout, cmd.Stderr = out, words
	// A polite end first: git removes its lock files on SIGTERM.
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	cmd.WaitDelay = quietTime
	err := cmd.Run()
	res := result{out: out.buf.Bytes(), code: cmd.ProcessState.ExitCode(), cut: out.full}
	if cerr := ctx.Err(); cerr != nil {
		return res, context.Cause(ctx)
	}
	if out.full && c.cut {
		return res, nil
	}
	if err == nil || (slices.Contains(c.okay, res.code) && !out.full) {
		return res, nil
	}
	return res, failure(c, err, words.buf.String(), out.full)
}

// failure reads git's exit and words.
func failure(c call, err error, words string, full bool) error {
	e := &Error{Doing: doing(c.args), Words: bound(words, maxWords), Kind: reading(words), Err: err}
	switch {
	case full:
		e.Kind, e.Words = KindTooBig, "the answer is over the limit"
	case missing(err):
		e.Kind, e.Hint = KindNoGit, "install git 2.38 or newer"
	}
	return e
}

// missing reports whether the program itself was not there, not its folder.
func missing(err error) bool {
	at, ok := errors.AsType[*os.PathError](err)
	return ok && at.Op == "fork/exec" && errors.Is(err, os.ErrNotExist)
}

// doing names a call by its command, without the caller's data.
func doing(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	if len(args) > 1 && args[0] == "worktree" {
		return "worktree " + args[1]
	}
	if len(args) == 0 {
		return "run"
	}
	return args[0]
}

// sink keeps the first limit bytes. A soft one swallows the rest, another one
// refuses it, which ends the program.
type sink struct {
	buf   bytes.Buffer
	limit int
	soft  bool
	full  bool
}

func (s *sink) Write(p []byte) (int, error) {
	room := s.limit - s.buf.Len()
	if len(p) <= room {
		return s.buf.Write(p)
	}
	s.full = true
	if room > 0 {
		s.buf.Write(p[:room])
	}
	if s.soft {
		return len(p), nil
	}
	return max(room, 0), io.ErrShortWrite
}

// wait pauses for about d, a little different each time so that two who met at a
// lock do not meet again.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + rand.N(d)) //nolint:gosec // spreads retries, guards nothing
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// fields splits a -z listing.
func fields(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}
