package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/bus"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// rounds of every measurement: they alternate (A B A B …) and the median counts,
// because these machines are noisy.
const rounds = 5

// BenchmarkOrchestration prints the table of docs/performance.md: what a task
// costs in Relo beside the bare broker, in one run.
func BenchmarkOrchestration(b *testing.B) {
	if b.N > 1 {
		b.Skip("not run: the table is one measurement; make bench runs it once")
	}
	rows := []*row{
		{name: "raw JetStream: publish, fetch, ack", workers: 1, run: rawRound},
		{name: "Relo, lease path: dispatch, claim, finish, each committed to the record", workers: 1, run: leaseRound},
		{name: "Relo, whole task: worktree, model call, edit, commit, merge", workers: 1, run: taskRound},
		{name: "raw JetStream: publish, fetch, ack", workers: 8, run: rawRound},
		{name: "Relo, lease path: dispatch, claim, finish, each committed to the record", workers: 8, run: leaseRound},
		{name: "Relo, whole task: worktree, model call, edit, commit, merge", workers: 8, run: taskRound},
		{name: "relo version: a process of the same program", run: versionRound},
		{name: "relo serve: from start to ready", run: serveRound},
	}
	for range rounds {
		for _, r := range rows {
			r.took = append(r.took, r.run(b, r.workers))
		}
	}
	fmt.Fprintf(os.Stderr, "\n%s, %d cores, %s, median of %d alternating rounds\n\n| measured | workers | ms | × the first of its group |\n|---|---|---|---|\n",
		runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly), rounds)
	var base float64
	for _, r := range rows {
		ms := r.median()
		if strings.HasPrefix(r.name, "raw") || strings.HasPrefix(r.name, "relo version") {
			base = ms
		}
		workers := "-"
		if r.workers > 0 {
			workers = itoa(r.workers)
		}
		fmt.Fprintf(os.Stderr, "| %s | %s | %.2f | %.1f |\n", r.name, workers, ms, ms/base)
		b.ReportMetric(ms, "ms/"+strings.ReplaceAll(strings.Fields(r.name)[0]+strings.Fields(r.name)[1], ",", "")+"-"+workers)
	}
}

type row struct {
	name    string
	workers int
	run     func(b *testing.B, workers int) time.Duration // one thing
	took    []time.Duration
}

func (r *row) median() float64 {
	slices.Sort(r.took)
	return float64(r.took[len(r.took)/2].Microseconds()) / 1000
}

const rawTasks, leaseTasks, wholeTasks = 1000, 160, 24

// rawRound moves tasks through the broker alone, with the message and the
// mailboxes that Relo uses.
func rawRound(b *testing.B, workers int) time.Duration {
	b.Helper()
	ctx := b.Context()
	s, err := bus.Open(ctx, bus.Options{Dir: filepath.Join(b.TempDir(), "bus"), Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	check(b, err)
	defer func() { check(b, s.Close()) }()
	conn, err := bus.Connect(ctx, s.Owner(), "bench")
	check(b, err)
	defer conn.Close()
	check(b, conn.Prepare(ctx))
	owner := s.Owner()
	nc, err := nats.Connect(owner.URL, nats.UserInfo(owner.User, owner.Password))
	check(b, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	check(b, err)
	payload := []byte(asJSON(protocol.Hold{Job: job.NewID(), Task: job.NewID(), Attempt: job.NewID(), Worker: "local-1", Epoch: 1}))
	for i := range workers {
		check(b, conn.PrepareMailbox(ctx, "w"+itoa(i)))
	}
	start := time.Now()
	var all sync.WaitGroup
	for i := range workers {
		id := "w" + itoa(i)
		all.Go(func() {
			cons, err := js.Consumer(ctx, "RELO_TASKS", id)
			check(b, err)
			for k := range rawTasks / workers {
				check(b, conn.Send(ctx, bus.TaskSubject(id), fmt.Sprint(id, k), payload))
				m, err := cons.Next()
				check(b, err)
				check(b, m.DoubleAck(ctx))
			}
		})
	}
	all.Wait()
	return time.Since(start) / rawTasks
}

func check(b testing.TB, err error) {
	if err != nil {
		b.Helper()
		b.Error(err)
	}
}

// manyTasks is a job of n tasks that do not depend on each other.
func manyTasks(n int) *play {
	p := &play{workers: map[string]act{}}
	for i := range n {
		t := task("t"+itoa(i), "easy")
		p.plan.Tasks = append(p.plan.Tasks, t)
		p.workers[t.Title] = func(_ ctx, tn turn) double.Reply {
			return double.Reply{Calls: []double.Call{
				{Name: "write", Args: object{"path": "out/" + slug(tn.title) + ".txt", "content": tn.title}},
				{Name: "finish_task", Args: object{"outcome": "done", "summary": "wrote it"}},
			}}
		}
	}
	p.plan.Summary = "many"
	return p
}

func benchWorld(b *testing.B, tasks, workers int) *world {
	b.Helper()
	l := mixed()
	l.review, l.attempts, l.workers, l.lease = false, 1, workers, 60
	w := newWorld(b, l, manyTasks(tasks)).smallRepo()
	name := filepath.Join(w.home, "relo.json")
	text, err := os.ReadFile(name)
	check(b, err)
	w.write(name, strings.Replace(string(text), `"attempts": 1`, fmt.Sprintf(`"attempts": 1, "tasks": %d`, tasks), 1))
	return w
}

// between measures from the first dispatch to the end of the job.
func between(b *testing.B, l *app.Link, id string) time.Duration {
	b.Helper()
	var first, last time.Time
	check(b, l.Follow(b.Context(), id, 0, func(e job.Event) error {
		if first.IsZero() && becomes(job.TaskDispatched)(e) {
			first = e.Time
		}
		if e.Kind == job.KindFinished {
			last = e.Time
			return client.ErrStop
		}
		return nil
	}))
	return last.Sub(first)
}

// leaseRound conducts tasks whose workers answer at once: no worktree, no model.
func leaseRound(b *testing.B, workers int) time.Duration {
	b.Helper()
	w := benchWorld(b, leaseTasks, 0)
	cfg, err := app.Load(w.env())
	check(b, err)
	l, err := app.Open(b.Context(), w.env(), cfg, app.Standalone)
	check(b, err)
	defer func() { check(b, l.Close()) }()
	ctx, stop := context.WithCancel(b.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range workers {
		all.Go(func() { stubWorker(ctx, b, w, "stub-"+itoa(i)) })
	}
	got, err := l.Submit(b.Context(), protocol.Submit{Text: "many", Repo: w.repo})
	check(b, err)
	return between(b, l, got.Job) / leaseTasks
}

// stubWorker claims and ends every task that it is given.
func stubWorker(ctx context.Context, b *testing.B, w *world, id string) {
	var owner bus.Creds
	text, err := os.ReadFile(filepath.Join(w.home, "run", "owner.creds"))
	check(b, err)
	check(b, json.Unmarshal(text, &owner))
	conn, err := bus.Connect(ctx, owner, id)
	check(b, err)
	defer conn.Close()
	c := client.New(conn)
	_, err = c.Hello(ctx, protocol.Hello{Worker: id, Boot: id, Slots: 1, Version: protocol.Version, Engines: []string{"native"}})
	check(b, err)
	var n atomic.Int64
	_ = conn.Mailbox(ctx, id, func(data []byte) bool { // ends with ctx
		var h protocol.Hold
		check(b, json.Unmarshal(data, &h))
		a, err := c.Claim(ctx, h)
		if err != nil {
			return true
		}
		_, err = c.Finish(ctx, protocol.Finish{Hold: a.Hold, End: job.AttemptEnd{Outcome: job.OutFailed, Reason: "a stub", Base: a.Base}})
		n.Add(1)
		return err == nil
	})
}

// taskRound conducts whole tasks with a model that answers at once.
func taskRound(b *testing.B, workers int) time.Duration {
	b.Helper()
	w := benchWorld(b, wholeTasks, workers)
	cfg, err := app.Load(w.env())
	check(b, err)
	l, err := app.Open(b.Context(), w.env(), cfg, app.Standalone)
	check(b, err)
	defer func() { check(b, l.Close()) }()
	got, err := l.Submit(b.Context(), protocol.Submit{Text: "many", Repo: w.repo})
	check(b, err)
	took := between(b, l, got.Job)
	doc, err := l.Show(b.Context(), got.Job)
	if err != nil || doc.Status != job.Ready {
		b.Fatalf("the job is %s: %s (%v)", doc.Status, doc.Reason, err)
	}
	return took / wholeTasks
}

func versionRound(b *testing.B, _ int) time.Duration {
	b.Helper()
	start := time.Now()
	check(b, exec.CommandContext(b.Context(), binary, "version").Run())
	return time.Since(start)
}

func serveRound(b *testing.B, _ int) time.Duration {
	b.Helper()
	return benchWorld(b, 1, 2).timedStart(b)
}
