package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/store"
)

// manyJobs is a record that a person has after some months.
const manyJobs = 1000

// oldJob is the journal of a finished job with three tasks, some sixty events,
// and the ledger's rows that belong to it.
func oldJob(n int) (record.Batch, []ledger.Row) {
	id, at := job.NewID(), time.Now().Add(-time.Duration(n)*time.Hour).UTC()
	b := record.Batch{Job: id, Status: job.Ready, Title: fmt.Sprintf("Change number %d", n)}
	add := func(k job.Kind, task, attempt string, body any) {
		b.Events = append(b.Events, job.Event{
			Seq: int64(len(b.Events) + 1), Time: at, Job: id, Kind: k, Task: task, Attempt: attempt, Worker: "local-1", Model: "open/small", Body: body,
		})
	}
	move := func(task, attempt, from, to string) {
		kind := job.KindTaskStatus
		if task == "" {
			kind = job.KindJobStatus
		}
		add(kind, task, attempt, &job.StatusChange{From: from, To: to, Epoch: 1})
	}
	add(job.KindSubmitted, "", "", &job.Submitted{Text: b.Title, Title: b.Title, Repo: "/somewhere", Base: "b", Head: "b"})
	add(job.KindPlanned, "", "", &job.Planned{Tasks: 3})
	var tasks []string
	for i := range 3 {
		t := job.NewID()
		tasks = append(tasks, t)
		add(job.KindTaskAdded, t, "", &job.Added{ID: t, Key: fmt.Sprintf("t%d", i), Title: "a task", Instructions: "do it", TaskKind: job.Work, Difficulty: job.Easy})
	}
	move("", "", "planning", "running")
	var rows []ledger.Row
	cost, tokens := 0.01, int64(1200)
	for _, t := range tasks {
		a := job.NewID()
		move(t, "", "waiting", "ready")
		move(t, a, "ready", "dispatched")
		add(job.KindStarted, t, a, &job.Started{Number: 1, Epoch: 1})
		move(t, a, "dispatched", "running")
		for i := range 8 {
			add(job.KindStep, t, a, &job.Step{Step: "tool", Tool: "bash", Summary: fmt.Sprintf("bash go test ./part%d", i), MS: 900})
		}
		for range 2 {
			r := ledger.Row{ID: job.NewID(), Time: at, Job: id, Task: t, Attempt: a, Traffic: job.TrafficConversation, Model: "open/small", Outcome: ledger.OutcomeOpen}
			rows = append(rows, r)
			add(job.KindUsage, t, a, &job.UsageBody{Request: r.ID, Traffic: r.Traffic, TokensIn: &tokens, TokensOut: &tokens, Cost: &cost, Outcome: "ok"})
		}
		move(t, a, "running", "finished")
		add(job.KindAttemptFinished, t, a, &job.AttemptEnd{Outcome: job.Done, Commit: "c", Base: "b", Epoch: 1})
		move(t, a, "finished", "reviewing")
		add(job.KindMerged, t, a, &job.Merged{Commit: "m", Branch: "relo/" + id})
		move(t, a, "reviewing", "accepted")
	}
	move("", "", "running", "integrating")
	move("", "", "integrating", "ready")
	add(job.KindFinished, "", "", &job.Finished{Outcome: job.Ready, Branch: "relo/" + id})
	b.Line, _ = json.Marshal(map[string]any{"id": id, "title": b.Title, "status": "ready", "tasks": 3, "done": 3, "cost": 0.06, "branch": "relo/" + id})
	return b, rows
}

// fillRecord puts so many finished jobs into a world's record.
func fillRecord(tb testing.TB, w *world, jobs int) {
	tb.Helper()
	ctx := tb.Context()
	s, err := store.Open(ctx, filepath.Join(w.home, "state", "record"))
	check(tb, err)
	numbers := make(chan int)
	var work sync.WaitGroup
	for range 32 { // commits that come together share an fsync
		work.Go(func() {
			for n := range numbers {
				fillJob(tb, s, n)
			}
		})
	}
	for n := range jobs {
		numbers <- n
	}
	close(numbers)
	work.Wait()
	check(tb, s.Close())
}

func fillJob(tb testing.TB, s *store.Store, n int) {
	tb.Helper()
	ctx, cost, tokens := tb.Context(), 0.01, int64(1200)
	b, rows := oldJob(n)
	_, err := job.Fold(b.Events)
	check(tb, err)
	check(tb, s.Commit(ctx, b))
	for _, r := range rows {
		_, _, err := s.Reserve(ctx, r, ledger.Budget{})
		check(tb, err)
		r.Outcome, r.Cost, r.Usage = ledger.OutcomeOK, &cost, provider.Usage{TokensIn: &tokens, TokensOut: &tokens}
		check(tb, s.Commit(ctx, record.Batch{Job: b.Job, Settle: &r}))
	}
}

// BenchmarkThousandJobs prints what a person waits for with a thousand finished
// jobs in the record, beside an empty one, in one run.
func BenchmarkThousandJobs(b *testing.B) {
	if b.N > 1 {
		b.Skip("not run: the table is one measurement; make bench runs it once")
	}
	empty, full := benchWorld(b, 1, 1), benchWorld(b, 1, 1)
	fillRecord(b, full, manyJobs)
	what := []struct {
		name string
		run  func(w *world) time.Duration
	}{
		{"relo jobs", func(w *world) time.Duration { return w.timed(b, "jobs") }},
		{"relo costs", func(w *world) time.Duration { return w.timed(b, "costs") }},
		{"relo costs --days 365", func(w *world) time.Duration { return w.timed(b, "costs", "--days", "365") }},
		{"relo show @last", func(w *world) time.Duration { return w.timed(b, "show", "@last") }},
		{"relo serve: from start to ready", func(w *world) time.Duration { return w.timedStart(b) }},
	}
	fmt.Fprintf(os.Stderr, "\n%s, %d cores, %s, median of %d alternating rounds\n\n| measured | empty, ms | %d jobs, ms | more, ms |\n|---|---|---|---|\n",
		runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly), rounds, manyJobs)
	for _, x := range what {
		before, after := &row{}, &row{}
		for range rounds {
			before.took = append(before.took, x.run(empty))
			after.took = append(after.took, x.run(full))
		}
		fmt.Fprintf(os.Stderr, "| `%s` | %.0f | %.0f | %.0f |\n", x.name, before.median(), after.median(), after.median()-before.median())
	}
}

func (w *world) timed(b *testing.B, args ...string) time.Duration {
	b.Helper()
	start := time.Now()
	cmd := exec.CommandContext(b.Context(), binary, args...)
	cmd.Env, cmd.Dir = w.environ(), w.home
	out, err := cmd.CombinedOutput()
	if code := exitOf(err); code > 2 {
		b.Fatalf("relo %v: exit %d\n%s", args, code, out)
	}
	return time.Since(start)
}

// timedStart starts the daemon until it answers, and ends it.
func (w *world) timedStart(b *testing.B) time.Duration {
	b.Helper()
	start := time.Now()
	d := &daemon{w: w, cmd: exec.CommandContext(b.Context(), binary, "serve"), errs: &lockedBuffer{}, done: make(chan struct{})}
	d.cmd.Env, d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = w.environ(), w.home, d.errs, d.errs
	check(b, d.cmd.Start())
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // stopped below
	}()
	for !app.Running(w.env(), nil) {
		time.Sleep(time.Millisecond)
	}
	took := time.Since(start)
	d.stop()
	return took
}

// A list, the costs and an id are right among many finished jobs; how long they
// take with a thousand is the benchmark's.
func TestManyFinishedJobs(t *testing.T) {
	t.Parallel()
	const many = 150
	w := newWorld(t, mixed(), &play{})
	fillRecord(t, w, many)
	var list struct {
		Jobs []struct{ ID, Title, Status string }
	}
	check(t, json.Unmarshal([]byte(w.relo("jobs", "--json").mustExit(t, 0).stdout), &list))
	if len(list.Jobs) != many {
		t.Fatalf("%d jobs", len(list.Jobs))
	}
	one := list.Jobs[many/2]
	var costs struct {
		Total float64
		Rows  []any
	}
	check(t, json.Unmarshal([]byte(w.relo("costs", "--days", "365", "--json").mustExit(t, 0).stdout), &costs))
	if want := 0.06 * many; costs.Total < want-1e-6 || costs.Total > want+1e-6 || len(costs.Rows) != 3*many {
		t.Errorf("%f in %d rows, want %f", costs.Total, len(costs.Rows), want)
	}
	if doc := w.show(one.ID); doc.Title != one.Title || len(doc.Tasks) != 3 {
		t.Errorf("%s with %d tasks", doc.Title, len(doc.Tasks))
	}
}
