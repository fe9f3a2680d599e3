package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// heldByPause holds a task whose agent was laid aside; it goes on by itself as
// soon as its job runs and this process gives out work.
const heldByPause = "paused"

// asksYou begins the reason of a task that waits for a person's answer.
const asksYou = "asks you: "

// Pause lets the running steps of a job end and begins no new ones. Agents keep
// their conversation and their files, and go on from there.
func (o *Orchestrator) Pause(ctx context.Context, id string) error {
	r, err := o.run(ctx, id)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		if t.state.Status == job.Paused {
			return nil
		}
		if _, err := job.NextStatus(t.state.Status, job.JobPause); err != nil {
			return &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job is %s; only one that runs can be paused", t.state.Status), Hint: "relo show " + short(id)}
		}
		t.moveJob(job.JobPause, "you paused it")
		pause := map[string][]string{}
		for _, task := range t.state.List() {
			switch task.Status { //nolint:exhaustive // the others are in nobody's hands
			case job.TaskDispatched:
				t.takeBack(task)
			case job.TaskRunning:
				worker := task.Attempt(task.Current).Worker
				pause[worker] = append(pause[worker], task.Current)
			}
		}
		t.order(pause, func(attempts []string) protocol.Order { return protocol.Order{Pause: attempts} })
		return nil
	})
}

// takeBack ends the lease of a task that nobody has claimed.
func (t *turn) takeBack(task *job.Task) {
	attempt := task.Current
	t.free(task, attempt)
	t.move(task, job.MoveHold, heldByPause)
}

// Quiesce gives out no more work: the process is about to end. Agents that are
// laid aside go on with the next one.
func (o *Orchestrator) Quiesce() { o.closing.Store(true) }

// Resume lets a paused job go on, or one that stopped at its budget when there is
// room in it again. budget is the job's new bound in USD.
func (o *Orchestrator) Resume(ctx context.Context, id string, budget *float64) error {
	r, err := o.run(ctx, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	state, bound, reason := r.state.Status, r.state.Budget, r.state.Reason
	r.mu.Unlock()
	switch state {
	case job.StoppedAtBudget:
		if budget == nil && bound != nil && !strings.Contains(reason, "day") {
			return &protocol.Error{
				Code: protocol.CodeBudget, Message: fmt.Sprintf("the job stopped at its budget of %g USD and would stop again at once: %s", *bound, reason),
				Hint: fmt.Sprintf("relo resume %s --budget USD sets a higher one", short(id)),
			}
		}
		return o.Retry(ctx, protocol.Resolved{Job: id}, protocol.Retry{Budget: budget})
	case job.Paused:
	case job.Cancelled, job.Failed:
		return &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job is %s, not paused", state), Hint: "relo retry " + short(id) + " takes it up again"}
	case job.AwaitingApproval:
		return &protocol.Error{Code: protocol.CodeNotReady, Message: "the job's plan waits for your word", Hint: "relo approve " + short(id)}
	default:
		return &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job is %s, not paused", state), Hint: "relo show " + short(id)}
	}
	if err := checkBudget(budget); err != nil {
		return err
	}
	if err := r.takeOver(ctx); err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		if budget != nil {
			t.emit(job.Event{Kind: job.KindBudget, Body: &job.NewBudget{Budget: budget}})
		}
		if t.state.PausedFrom == job.Planning {
			t.moveJob(job.JobReplan, "")
			return nil
		}
		t.moveJob(job.JobResume, "")
		return nil
	})
}

func checkBudget(b *float64) error {
	if b != nil && *b < 0 {
		return &protocol.Error{Code: protocol.CodeUsage, Message: "the budget is below zero"}
	}
	return nil
}

// takeOver has this process conduct the job from now on, under the config as it is now.
func (r *run) takeOver(ctx context.Context) error {
	if r.conducted.Load() || r.o.Idle {
		return nil
	}
	r.mu.Lock()
	dir := r.state.Repo
	r.mu.Unlock()
	rules, err := r.o.Rules(ctx, dir)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.rules, r.unruly = rules, nil
	r.mu.Unlock()
	r.conducted.Store(true)
	return nil
}

// Say hands a person's words to agents: as the answer to a question, to one that
// runs at its next safe point, to the others when they begin. While a plan waits
// for approval they ask for another one.
func (o *Orchestrator) Say(ctx context.Context, ref protocol.Resolved, text string) (protocol.SayDoc, error) {
	doc := protocol.SayDoc{Resolved: ref, Now: []string{}, Later: []string{}}
	if text = strings.TrimSpace(text); text == "" {
		return doc, &protocol.Error{Code: protocol.CodeUsage, Message: "there is nothing to say", Hint: `relo say ID "…"`}
	}
	if len(text) > saidBytes {
		return doc, &protocol.Error{Code: protocol.CodeUsage, Message: fmt.Sprintf("the words are longer than %d KiB", saidBytes>>10), Hint: "put them into a file of the repository and name it"}
	}
	r, err := o.run(ctx, ref.Job)
	if err != nil {
		return doc, err
	}
	if err := r.takeOver(ctx); err != nil {
		return doc, err
	}
	err = r.do(ctx, func(t *turn) error { return t.say(&doc, ref, text) })
	return doc, err
}

// saidBytes bounds one message: it goes into every later request of the agent.
const saidBytes = 32 << 10

func (t *turn) say(doc *protocol.SayDoc, ref protocol.Resolved, text string) error {
	ended := func(words string) error {
		return &protocol.Error{Code: protocol.CodeNotReady, Message: words, Hint: `relo run "…" hands in a new job, relo retry ` + short(t.id) + " takes this one up again"}
	}
	e := job.Event{Kind: job.KindSaid, Task: ref.Task, Body: &job.Said{ID: job.NewID(), Text: text}}
	switch t.state.Status { //nolint:exhaustive // in the others agents can be told
	case job.Ready, job.Applied, job.Discarded, job.Failed, job.Cancelled, job.Integrating:
		return ended(fmt.Sprintf("the job is %s; no agent of it can be told anything", t.state.Status))
	case job.AwaitingApproval:
		e.Task = ""
		t.emit(e)
		t.emit(job.Event{Kind: job.KindPlanned, Body: &job.Planned{Edited: true}})
		t.moveJob(job.JobReplan, "")
		doc.Replans = true
		return nil
	}
	task := t.state.Tasks[ref.Task]
	if task == nil {
		task = t.asking()
	}
	if task == nil {
		t.emit(e)
		t.told(doc, t.state.List())
		return nil
	}
	if task.Status.Terminal() {
		return ended(fmt.Sprintf("%q has ended; its agent cannot be told anything", task.Title))
	}
	e.Task, doc.Task = task.ID, task.ID
	question := task.Question
	t.emit(e)
	if question != "" && task.Status == job.TaskHeld {
		doc.Answers = question
		t.move(task, job.MoveAgain, "you answered")
		if t.state.Status == job.WaitingForPerson {
			t.moveJob(job.JobResume, "")
		}
		return nil
	}
	t.told(doc, []*job.Task{task})
	return nil
}

// asking is the one task that waits for an answer; nil when there is none, or
// when there are several.
func (t *turn) asking() *job.Task {
	var one *job.Task
	for _, task := range t.state.List() {
		if task.Question == "" || task.Status != job.TaskHeld {
			continue
		}
		if one != nil {
			return nil
		}
		one = task
	}
	return one
}

// told sends words to the agents that run, and names who is told later.
func (t *turn) told(doc *protocol.SayDoc, tasks []*job.Task) {
	for _, task := range tasks {
		switch {
		case task.Status.Terminal():
		case task.Status == job.TaskRunning:
			doc.Now = append(doc.Now, task.Title)
			heed := []protocol.Heed{{Attempt: task.Current, Words: t.words(task)}}
			t.order(map[string][]string{task.Attempt(task.Current).Worker: nil}, func([]string) protocol.Order { return protocol.Order{Heed: heed} })
		default:
			doc.Later = append(doc.Later, task.Title)
		}
	}
}

// words is what the person said to a task and to its job, the oldest first.
func (r *run) words(task *job.Task) []protocol.Words {
	var out []protocol.Words
	for _, s := range slices.Concat(r.state.Said, task.Said) {
		out = append(out, protocol.Words{ID: s.ID, Text: s.Text})
	}
	slices.SortStableFunc(out, func(a, b protocol.Words) int { return cmp.Compare(a.ID, b.ID) }) // ids sort by time
	return out
}

// goOn says where the next attempt of a task goes on; nil when it begins anew.
func (r *run) goOn(task *job.Task) *protocol.Continue {
	a := task.Continues()
	if a == nil {
		return nil
	}
	c := &protocol.Continue{Attempt: a.ID, Base: a.Base, Trace: a.Trace, Commit: a.Kept, Why: interruption(a)}
	for b := a; b.From != ""; {
		if b = task.Attempt(b.From); b == nil {
			break
		}
		c.Chain = append(c.Chain, b.ID)
		if c.Trace == "" {
			c.Trace, c.Commit = b.Trace, b.Kept
		}
	}
	if a.End.Question != "" {
		var said []string
		for _, s := range task.Said[task.AskedAt:] {
			said, c.Answered = append(said, s.Text), append(c.Answered, s.ID)
		}
		c.Answer = strings.Join(said, "\n")
	}
	return c
}

// interruption says why an attempt was interrupted, for the agent that goes on.
func interruption(a *job.Attempt) string {
	switch a.End.Outcome { //nolint:exhaustive // the others do not interrupt
	case job.OutPaused:
		if a.End.Question != "" {
			return "you asked the person"
		}
		return "it was paused"
	case job.OutCancelled:
		return "the person cancelled it, then took it up again"
	case job.OutBudget:
		return "the budget was reached, then raised"
	case job.OutLost:
		return "the worker was lost"
	}
	return "the provider refused the key"
}
