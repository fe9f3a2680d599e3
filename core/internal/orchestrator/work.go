package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/tool"
)

// work is one attempt on a worker: its folder, its tools, its result.
type work struct {
	w   *Worker
	a   protocol.Assignment
	h   *holding
	log zerolog.Logger

	root  string // of the attempt: its worktree, its trace, its pictures
	dir   string // the worktree
	temp  string
	box   Box
	watch *watch
	gate  *gate
	desk  *desk
	trace *trace
	// outside are the person's own tool servers; nil: none are offered.
	outside Outside
	lent    []tool.Tool // theirs
	// elsewhere says that the files of an interrupted attempt were written anew.
	elsewhere bool
	told      []string // ids of the person's messages that were told as answers
	finish    protocol.Finish
	end       json.RawMessage // what the agent reported

	mu      sync.Mutex
	steps   []job.Step
	flushed sync.WaitGroup
}

func newWork(w *Worker, a protocol.Assignment, h *holding, log zerolog.Logger) *work {
	k := &work{
		w: w, a: a, h: h, log: log,
		finish: protocol.Finish{Hold: a.Hold, End: job.AttemptEnd{Outcome: job.OutFailed, Base: a.Base, Epoch: a.Epoch}},
	}
	k.in(filepath.Join(w.Dir, a.Attempt))
	return k
}

// in sets the attempt's folder.
func (k *work) in(root string) {
	k.root, k.dir, k.temp = root, filepath.Join(root, treeDir), filepath.Join(root, "tmp")
}

// treeDir is the worktree in an attempt's folder.
const treeDir = "tree"

// do works from the empty folder to the result; it never fails, its result says
// what did. When it returns, nothing that the attempt started is alive.
func (k *work) do(ctx context.Context) protocol.Finish {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(k.a.Minutes)*time.Minute)
	defer cancel()
	defer k.leave()
	if err := k.prepare(ctx); err != nil {
		if k.box != nil {
			err = errors.Join(err, k.box.Close())
		}
		k.failed(ctx, err)
		if e := &k.finish.End; e.Outcome == job.OutFailed && e.Code == "" {
			e.Code = job.CodeWorkspace
		}
		return k.finish
	}
	stopSteps := k.reportSteps(ctx)
	end, err := k.w.Engines[k.a.Engine].Run(ctx, k.task(), engine.Desk{
		Ask: k.desk.ask, Step: k.step, Keep: k.trace.keep, Said: k.said, Paused: func() bool { return k.w.paused(k.h) },
	})
	k.finish.End.Rounds = end.Rounds
	switch {
	case err != nil:
		k.failed(ctx, err)
	case end.Paused:
		k.laidAside(end)
	case end.Finish == "":
		k.finish.End.Reason = "the agent stopped without a result: " + end.Why
	default:
		k.end = end.Args
		k.result(ctx)
	}
	if err := k.box.Close(); err != nil { // before the commit: nothing may write any more
		k.log.Warn().Err(err).Msg("a process of the attempt did not end")
	}
	k.keep(ctx)
	stopSteps()
	return k.finish
}

// leave gives up what the attempt shares with others.
func (k *work) leave() {
	if k.outside != nil {
		if err := k.outside.Close(); err != nil {
			k.log.Warn().Err(err).Msg("a tool server did not end")
		}
	}
	if k.gate != nil {
		k.gate.close()
	}
}

// failed turns an error into the outcome that it means.
func (k *work) failed(ctx context.Context, err error) protocol.Finish {
	e := &k.finish.End
	e.Outcome, e.Reason = job.OutFailed, err.Error() // also when the agent said done: its checks were not run
	switch {
	case codeOf(err) == protocol.CodeBudget:
		e.Outcome = job.OutBudget
	case codeOf(err) == protocol.CodeKey:
		e.Code = job.CodeKey
	case codeOf(err) == protocol.CodeBlind:
		e.Code = job.CodeBlind
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Reason = fmt.Sprintf("the attempt took longer than %d minutes", k.a.Minutes)
	case ctx.Err() != nil || codeOf(err) == protocol.CodeStale:
		e.Outcome, e.Reason = job.OutCancelled, "the attempt was stopped"
	}
	return k.finish
}

// prepare makes the worktree, the attachments and the tools, or takes those of an
// attempt that was interrupted.
func (k *work) prepare(ctx context.Context) error {
	if k.w.Engines[k.a.Engine] == nil {
		return fmt.Errorf("engine %q is not on this worker", k.a.Engine)
	}
	again, err := k.takeUp(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.temp, 0o700); err != nil {
		return fmt.Errorf("make the attempt's folder: %w", err)
	}
	if !again {
		if err := k.w.Trees.Add(ctx, k.a.Repo, k.dir, k.a.Base); err != nil {
			return err
		}
	}
	if err := k.attachments(ctx); err != nil {
		return err
	}
	if k.trace == nil {
		if k.trace, err = newTrace(k.root, nil); err != nil {
			return err
		}
	}
	if k.box, err = k.w.Shop.Open(k.dir, k.temp, k.a.Attempt, k.a.Kind == job.Review); err != nil {
		return err
	}
	if k.watch, err = newWatch(ctx, k); err != nil {
		return err
	}
	k.desk = &desk{k: k, sent: map[string]bool{}}
	k.gate = newGate(k)
	k.lend(ctx)
	return nil
}

// lend opens the person's own tool servers. A reviewer gets none: what it is to judge lies
// in the worktree. One that cannot be used is told, and the work goes on without it.
func (k *work) lend(ctx context.Context) {
	if k.w.Outside == nil || k.a.Kind == job.Review {
		return
	}
	k.outside = k.w.Outside(k.dir, k.a.Private)
	if k.outside == nil {
		return
	}
	var notices []string
	k.lent, notices = k.outside.Tools(ctx)
	for _, words := range notices {
		k.log.Warn().Msg(words)
		k.step(engine.Step{Kind: "progress", Summary: words})
	}
}

// attachments puts the job's pictures where the task finds them; one that is
// missing fails the dispatch loudly.
func (k *work) attachments(ctx context.Context) error {
	for _, img := range k.a.Attachments {
		data, err := k.w.Phone.Blob(ctx, img.SHA256)
		if err != nil {
			return fmt.Errorf("attachment %s: %w", img.Path, err)
		}
		name := filepath.Join(k.dir, filepath.FromSlash(img.WorkspacePath()))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // inside the worktree, as git makes folders
			return fmt.Errorf("attachment %s: %w", img.Path, err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil { //nolint:gosec // inside the worktree, as git makes files
			return fmt.Errorf("attachment %s: %w", img.Path, err)
		}
	}
	for _, img := range k.a.Images {
		if _, err := os.Lstat(filepath.Join(k.dir, filepath.FromSlash(img.WorkspacePath()))); err != nil {
			return fmt.Errorf("the task's image %s is not in the workspace: %w", img.WorkspacePath(), err)
		}
	}
	return nil
}

// task is what the engine gets: prompt, first message, tools.
func (k *work) task() engine.Task {
	tools := k.tools()
	system, first := k.brief()
	t := engine.Task{
		Model: k.a.Model, System: system, First: k.gate.first(first), Tools: tools, Finish: []string{k.finishSpec().Name},
		Rounds: k.a.Rounds, MaxTokens: answerTokens,
		Nudge: "Go on with your tools. When you are done, or cannot go on, call " + k.finishSpec().Name + ".",
	}
	if c := k.a.Continue; c != nil && len(k.trace.past) > 0 {
		t.Past, t.Answer, t.Back = k.trace.past, c.Answer, goOnWords(c)
	}
	if k.a.MaxOutput > 0 {
		t.MaxTokens = min(t.MaxTokens, k.a.MaxOutput)
	}
	return t
}

func (k *work) tools() []tool.Tool {
	var out []tool.Tool
	for _, t := range k.box.Tools() {
		out = append(out, k.watch.over(t))
	}
	for _, t := range k.lent {
		out = append(out, k.watch.over(t))
	}
	switch {
	case k.gate.offered():
		out = append(out, k.gate)
	case k.a.Lookers:
		out = append(out, describeTool{k})
	}
	if k.a.Kind != job.Review {
		out = append(out, askPerson{k.a.Attended})
	}
	return append(out, finishTool{k})
}

// step takes news of the engine; they are sent a few at a time.
func (k *work) step(s engine.Step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.steps = append(k.steps, job.Step{Step: s.Kind, Tool: s.Tool, Summary: s.Summary, MS: s.MS, Failed: s.Failed})
}

// stepsEvery coalesces progress: a person sees it soon enough, and the record
// commits a few times a second at most.
const stepsEvery = 250 * time.Millisecond

// reportSteps sends what piled up until stop is called, which sends the rest.
func (k *work) reportSteps(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	k.flushed.Go(func() {
		tick := time.NewTicker(stepsEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				k.flush(ctx)
			}
		}
	})
	return func() {
		close(done)
		k.flushed.Wait()
		k.flush(ctx)
	}
}

func (k *work) flush(ctx context.Context) {
	k.mu.Lock()
	steps := k.steps
	k.steps = nil
	k.mu.Unlock()
	if len(steps) == 0 || ctx.Err() != nil {
		return
	}
	if err := k.w.Home.Report(ctx, protocol.Report{Hold: k.a.Hold, Steps: steps}); err != nil {
		k.log.Debug().Err(err).Msg("steps were not reported")
	}
}

// result reads what the agent reported, runs the task's checks and fills in the
// attempt's end.
func (k *work) result(ctx context.Context) {
	e := &k.finish.End
	if k.a.Kind == job.Review {
		review, _ := prompt.DecodeReview(k.end) // was checked when the tool was called
		v := &job.Verdict{Verdict: review.Verdict, Summary: review.Summary}
		for _, f := range review.Findings {
			v.Findings = append(v.Findings, job.Finding{Severity: f.Severity, File: f.File, Line: f.Line, Text: f.Text})
		}
		k.finish.Verdict = v
		e.Outcome, e.Summary = job.Done, review.Summary
		return
	}
	fin, _ := prompt.DecodeFinish(k.end)
	e.Outcome, e.Summary, e.Notes = job.Outcome(fin.Outcome), fin.Summary, fin.Notes
	if e.Outcome == job.OutBlocked {
		e.Reason = "blocked: " + fin.Summary
		return
	}
	k.checks(ctx)
}

// checkTime bounds one check: a test suite of some size.
const checkTime = 10 * time.Minute

func (k *work) checks(ctx context.Context) {
	for _, command := range k.a.Checks {
		exit, output, err := k.box.Run(ctx, command, checkTime)
		if err != nil {
			exit, output = -1, err.Error()
		}
		c := job.CheckResult{Command: command, Exit: exit, Output: output}
		if err := k.w.Home.Report(ctx, protocol.Report{Hold: k.a.Hold, Checks: []job.CheckResult{c}}); err != nil {
			k.failed(ctx, err)
			return
		}
		if exit != 0 {
			k.finish.End.Outcome, k.finish.End.Reason = job.OutFailed, fmt.Sprintf("check %q failed with exit code %d", command, exit)
			return
		}
	}
}

// keepWait bounds the commit of an attempt's work: a large tree on a slow disk
// takes seconds, a hanging git must not hold the worker for ever.
const keepWait = time.Minute

// keep commits what is in the worktree, also of an attempt that failed: nothing
// is lost, and the next attempt's debugger may look. A reviewer's changes are
// thrown away.
func (k *work) keep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWait)
	defer cancel()
	e := &k.finish.End
	tree, _, err := k.w.Trees.Sources(ctx, k.a.Repo, k.dir)
	if err == nil {
		e.Tree = tree
	}
	if k.a.Kind == job.Review {
		return
	}
	c, cerr := k.w.Trees.Commit(ctx, k.a.Repo, k.dir, CommitSpec{
		Message: commitMessage(k.a, e.Outcome), Job: k.a.Job, Task: k.a.Task, Attempt: k.a.Attempt, Time: time.Now(),
	})
	if err = errors.Join(err, cerr); err != nil {
		if e.Outcome == job.Done {
			e.Outcome, e.Reason = job.OutFailed, "the work could not be committed: "+err.Error()
		}
		k.log.Error().Err(err).Msg("the attempt's work was not committed")
		return
	}
	e.Commit, e.Base, e.Files = c.Commit, c.Parent, c.Files
	for _, n := range c.Notes {
		e.Notes = strings.TrimSpace(e.Notes + "\n" + n)
	}
}

// clean removes the attempt's folders; its commit stays under its own ref.
func (k *work) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, effectWait)
	defer cancel()
	err := k.w.Trees.Remove(ctx, k.a.Repo, k.dir)
	if err = errors.Join(err, os.RemoveAll(k.root), os.RemoveAll(filepath.Join(k.w.Dir, k.a.Attempt))); err != nil {
		k.log.Warn().Err(err).Msg("the attempt's folder was not removed")
	}
}

// codeOf is the code of an error that came over the bus; empty for others.
func codeOf(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Code
	}
	return ""
}

// imagePaths are the task's pictures as the agent finds them.
func (k *work) imagePaths() []string {
	var out []string
	for _, img := range k.a.Images {
		out = append(out, img.WorkspacePath())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
