package store

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/vision"
)

// teller writes a job as the orchestrator does: one batch for each step, with
// its events, leases, messages and ledger rows.
type teller struct {
	state   *job.Job
	id      string
	now     time.Time
	n       int
	batches []record.Batch
	rows    []ledger.Row // reserved before the batch that settles them
	open    []ledger.Row // reserved and never settled
	cur     record.Batch
}

func tell(id string, n int, title string) *teller {
	t := &teller{state: &job.Job{}, id: id, n: n, now: noon.Add(time.Duration(n) * time.Minute)}
	t.add(job.Event{Kind: job.KindSubmitted, Body: &job.Submitted{
		Text: "Make it so, please: " + title, Title: title, Repo: "/home/someone/project", Base: sha40(n), Head: sha40(n + 1),
		Images: []job.Image{{Path: "mock.png", SHA256: sha64(n), Attachment: true, Bytes: 4242}}, Budget: new(2.5),
	}})
	return t.done()
}

func sha40(n int) string { return fmt.Sprintf("%040x", n*7919+1) }
func sha64(n int) string { return fmt.Sprintf("%064x", n*104729+3) }

func (t *teller) add(e job.Event) *teller {
	t.now = t.now.Add(1500 * time.Millisecond)
	e.Seq, e.Time, e.Job = t.state.Seq+1, t.now, t.id
	if err := t.state.Apply(e); err != nil {
		panic(err) // the story itself is wrong
	}
	t.cur.Events = append(t.cur.Events, e)
	return t
}

// done ends a batch.
func (t *teller) done() *teller {
	t.cur.Job, t.cur.Status, t.cur.Title = t.id, t.state.Status, t.state.Title
	t.batches = append(t.batches, t.cur)
	t.cur = record.Batch{}
	return t
}

func (t *teller) job(to job.Status, reason string) *teller {
	return t.add(job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: string(t.state.Status), To: string(to), Reason: reason}})
}

func (t *teller) task(key string) string { return fmt.Sprintf("%s-%s", t.id[:23], pad(key)) }

func pad(key string) string { return fmt.Sprintf("%012x", []byte(key))[:12] }

func (t *teller) plan(keys ...string) *teller {
	t.usage("", "", job.TrafficPlanning, new(0.0125))
	t.add(job.Event{Kind: job.KindPlanned, Body: &job.Planned{Tasks: len(keys), Summary: "one thing after another"}})
	for i, k := range keys {
		a := &job.Added{
			ID: t.task(k), Key: k, Title: "do " + k, Instructions: "Change the file and look at the result.", TaskKind: job.Work,
			Difficulty: job.Normal, Vision: i == 0, Files: []string{k + ".html"}, Checks: []string{"true"},
		}
		if i > 0 {
			a.DependsOn = []string{t.task(keys[i-1])}
		}
		t.add(job.Event{Kind: job.KindTaskAdded, Task: a.ID, Body: a})
	}
	return t.done()
}

func (t *teller) to(task, attempt string, to job.TaskState, reason string) *teller {
	s := &job.StatusChange{From: string(t.state.Tasks[task].Status), To: string(to), Reason: reason}
	e := job.Event{Kind: job.KindTaskStatus, Task: task, Attempt: attempt, Body: s}
	if to == job.TaskDispatched {
		s.Epoch = t.state.Tasks[task].Epoch + 1
		e.Worker, e.Model = "local-1", "openrouter/some-model"
		t.cur.Grants = append(t.cur.Grants, record.Lease{Task: task, Job: t.id, Attempt: attempt, Worker: "local-1", Epoch: s.Epoch})
		t.cur.Outbox = append(t.cur.Outbox, record.Message{Subject: "relo.task.local-1", ID: attempt, Payload: []byte(`{"task":"` + task + `"}`)})
	}
	return t.add(e)
}

func (t *teller) free(task, attempt string) *teller {
	t.cur.Free = append(t.cur.Free, record.Lease{Task: task, Job: t.id, Attempt: attempt, Worker: "local-1", Epoch: t.state.Tasks[task].Epoch})
	return t
}

// usage reserves a row and settles it with the batch under way.
func (t *teller) usage(task, attempt, traffic string, cost *float64) *teller {
	r := ledger.Row{
		ID: fmt.Sprintf("%s-r%d-%d", t.id[:13], t.state.Seq, t.n), Time: t.now, Job: t.id, Task: task, Attempt: attempt, Traffic: traffic,
		Model: catalog.Ref("openrouter/some-model"), Reserved: new(0.05), Pictures: 1, PictureTokens: 1100, Outcome: ledger.OutcomeOpen,
	}
	t.rows = append(t.rows, r)
	r.Cost, r.MS, r.Outcome = cost, 1234, ledger.OutcomeOK
	if cost != nil {
		r.Usage = provider.Usage{TokensIn: new(int64(1000 + t.n)), TokensOut: new(int64(200))}
	}
	t.cur.Settle = &r
	t.add(job.Event{Kind: job.KindUsage, Task: task, Attempt: attempt, Body: &job.UsageBody{
		Request: r.ID, Traffic: traffic, TokensIn: r.Usage.TokensIn, TokensOut: r.Usage.TokensOut, Pictures: 1, PictureTokens: 1100, Cost: cost, MS: 1234, Outcome: r.Outcome,
	}})
	return t.done()
}

// begin routes a task and lets a worker claim it.
func (t *teller) begin(key, attempt string) *teller {
	id := t.task(key)
	if t.state.Tasks[id].Status == job.TaskWaiting {
		t.to(id, "", job.TaskReady, "").done()
	}
	t.add(job.Event{Kind: job.KindRouted, Task: id, Model: "openrouter/some-model", Body: &job.Routed{
		Rung: 1, Reasons: []job.Reason{{Code: "difficulty", Words: "the rung of a normal task"}}, Sight: vision.Sees, SightSource: vision.Name,
	}})
	t.to(id, attempt, job.TaskDispatched, "").done()
	t.to(id, attempt, job.TaskRunning, "").done()
	return t.add(job.Event{Kind: job.KindStarted, Task: id, Attempt: attempt, Worker: "local-1", Body: &job.Started{
		Number: 1, Engine: "native", Epoch: t.state.Tasks[id].Epoch, Tools: []string{"read", "edit", "image"}, Base: sha40(t.n),
	}}).done()
}

func (t *teller) work(key, attempt string, steps int) *teller {
	id := t.task(key)
	for i := range steps {
		t.add(job.Event{Kind: job.KindStep, Task: id, Attempt: attempt, Body: &job.Step{Step: "tool", Tool: "edit", Summary: fmt.Sprintf("edits line %d of %s.html", i, key), MS: 12}})
		t.done()
	}
	t.add(job.Event{Kind: job.KindLook, Task: id, Attempt: attempt, Body: &job.Look{
		ID: attempt + "/v1", SHA256: sha64(t.n + 1), Path: key + ".png", Role: vision.Result, Place: "tool", Source: vision.Size{Width: 800, Height: 600},
		Sent: vision.Size{Width: 800, Height: 600}, Bytes: 9000, MediaType: "image/png", How: job.HowPixels, By: "openrouter/some-model", Tree: sha40(9), Fresh: true,
	}})
	return t.usage(id, attempt, job.TrafficConversation, new(0.03))
}

func (t *teller) end(key, attempt string, out job.Outcome, reason string) *teller {
	id := t.task(key)
	t.add(job.Event{Kind: job.KindCheck, Task: id, Attempt: attempt, Body: &job.CheckResult{Command: "true", Output: "fine\n"}})
	t.add(job.Event{Kind: job.KindAttemptFinished, Task: id, Attempt: attempt, Body: &job.AttemptEnd{
		Outcome: out, Commit: sha40(t.n + 5), Base: sha40(t.n), Tree: sha40(9), Files: []job.FileChange{{Path: key + ".html", Status: "modified", Added: 3, Deleted: 1}},
		Summary: "did " + key, Reason: reason, Seen: job.Seen{Result: 1, ResultAfterLastEdit: 1}, Visual: job.VisualChecked, Epoch: t.state.Tasks[id].Epoch, Rounds: 4,
	}})
	t.free(id, attempt)
	return t.to(id, attempt, job.TaskFinished, reason).done()
}

// accept has a task reviewed, merged and accepted.
func (t *teller) accept(key string) *teller {
	id, rev := t.task(key), t.task("rv"+key)
	author := t.state.Tasks[id].Last().ID
	t.to(id, author, job.TaskReviewing, "")
	t.add(job.Event{Kind: job.KindTaskAdded, Task: rev, Body: &job.Added{
		ID: rev, Key: "review-" + key, Title: "review " + key, Instructions: "Look at it.", TaskKind: job.Review, Difficulty: job.Normal, Vision: true, ReviewOf: id, OfAttempt: author,
	}}).done()
	attempt := rev + "#1"
	t.to(rev, "", job.TaskReady, "").done()
	t.to(rev, attempt, job.TaskDispatched, "").done().to(rev, attempt, job.TaskRunning, "").done()
	t.usage(rev, attempt, job.TrafficReview, nil)
	t.add(job.Event{Kind: job.KindAttemptFinished, Task: rev, Attempt: attempt, Body: &job.AttemptEnd{Outcome: job.Done, Summary: "looks right", Epoch: 1}})
	t.free(rev, attempt).to(rev, attempt, job.TaskFinished, "").to(rev, attempt, job.TaskAccepted, "")
	t.add(job.Event{Kind: job.KindVerdict, Task: id, Attempt: author, Body: &job.Verdict{
		Review: rev, Verdict: job.VerdictAccept, Summary: "as asked", Findings: []job.Finding{{Severity: "note", File: key + ".html", Line: 3, Text: "tidy"}},
	}}).done()
	t.add(job.Event{Kind: job.KindMerged, Task: id, Attempt: author, Body: &job.Merged{Commit: sha40(t.n + 6), Branch: "relo/" + t.id}})
	return t.to(id, author, job.TaskAccepted, "").done()
}

func (t *teller) finish(out job.Status, reason string) *teller {
	if out == job.Ready {
		t.job(job.Integrating, "").done()
	}
	t.job(out, reason)
	return t.add(job.Event{Kind: job.KindFinished, Body: &job.Finished{Outcome: out, Branch: "relo/" + t.id, Cost: t.state.Cost.USD(), Reason: reason}}).done()
}

func jobID(n int) string { return fmt.Sprintf("019abcde-%04x-7000-8000-%012x", n, n) }

// write commits a told job to a record, as it would have come.
func (t *teller) write(tb testing.TB, s *Store) {
	tb.Helper()
	ctx := tb.Context()
	reserved := 0
	for _, b := range t.batches {
		if b.Settle != nil {
			if _, _, err := s.Reserve(ctx, t.rows[reserved], ledger.Budget{}); err != nil {
				tb.Fatal(err)
			}
			reserved++
		}
		if err := s.Commit(ctx, b); err != nil {
			tb.Fatal(err)
		}
	}
	for _, r := range t.open {
		if _, _, err := s.Reserve(ctx, r, ledger.Budget{}); err != nil {
			tb.Fatal(err)
		}
	}
}

// readyStory is a job of two tasks, each reviewed and merged.
func readyStory(n int) *teller {
	t := tell(jobID(n), n, "a page with a picture").plan("a", "b").job(job.Running, "").done()
	for _, k := range []string{"a", "b"} {
		t.begin(k, t.task(k)+"#1").work(k, t.task(k)+"#1", 3).end(k, t.task(k)+"#1", job.Done, "").accept(k)
	}
	return t.finish(job.Ready, "")
}

// stories are jobs of every kind of state.
func stories() []*teller {
	applied := readyStory(2)
	applied.job(job.Applied, "").add(job.Event{Kind: job.KindApplied, Body: &job.AppliedBody{Commit: sha40(3), BackupRef: "refs/relo/backup/1", Files: []string{"a.html"}}}).done()

	running := tell(jobID(3), 3, "half way").plan("a", "b").job(job.Running, "").done()
	running.begin("a", running.task("a")+"#1").work("a", running.task("a")+"#1", 4)
	running.open = append(running.open, ledger.Row{
		ID: "open-row", Time: running.now, Job: running.id, Task: running.task("a"), Attempt: running.task("a") + "#1", Traffic: job.TrafficConversation,
		Model: "openrouter/some-model", Reserved: new(0.07), Outcome: ledger.OutcomeOpen,
	})

	failed := tell(jobID(4), 4, "does not work").plan("a", "b").job(job.Running, "").done()
	a := failed.task("a")
	failed.begin("a", a+"#1").work("a", a+"#1", 2).end("a", a+"#1", job.OutFailed, "the build broke").to(a, "", job.TaskRework, "the build broke").to(a, "", job.TaskReady, "").
		add(job.Event{Kind: job.KindEscalated, Task: a, Body: &job.Escalated{From: "openrouter/some-model", To: "openrouter/better", Why: "the first failed"}}).done()
	failed.begin("a", a+"#2").to(a, a+"#2", job.TaskLost, "the worker was killed").free(a, a+"#2").to(a, "", job.TaskReady, "").done()
	failed.begin("a", a+"#3").end("a", a+"#3", job.OutFailed, "still").to(a, "", job.TaskFailed, "attempts are spent").to(failed.task("b"), "", job.TaskReady, "").
		to(failed.task("b"), "", job.TaskSkipped, "a failed").done().finish(job.Failed, "task a failed")

	cancelled := tell(jobID(5), 5, "never mind").plan("a").job(job.Running, "").done().begin("a", "x5#1")
	c := cancelled.task("a")
	cancelled.to(c, "x5#1", job.TaskCancelled, "by the person").free(c, "x5#1").finish(job.Cancelled, "by the person")

	asked := tell(jobID(6), 6, "shown first").plan("a", "b", "c").job(job.AwaitingApproval, "").done()

	stopped := tell(jobID(7), 7, "too dear").plan("a").job(job.Running, "").done().
		add(job.Event{Kind: job.KindBudget, Body: &job.NewBudget{Budget: new(0.02)}}).done()
	stopped.to(stopped.task("a"), "", job.TaskHeld, "the budget").
		add(job.Event{Kind: job.KindTaskWaiting, Task: stopped.task("a"), Body: &job.WaitingBody{For: "money", Workers: []job.WorkerReason{{Worker: "local-1", Reason: "no budget"}}}}).
		add(job.Event{Kind: job.KindNotice, Body: &job.Notice{Level: "warn", Words: "the budget of 0.02 USD is spent"}}).
		add(job.Event{Kind: "job.of-a-later-version"}).done().finish(job.StoppedAtBudget, "the budget is spent")
	return []*teller{readyStory(1), applied, running, failed, cancelled, asked, stopped, tell(jobID(8), 8, "only just said")}
}

// folded is the state of a job as JSON.
func folded(tb testing.TB, j *job.Job) []byte {
	tb.Helper()
	text, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
