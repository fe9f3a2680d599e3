package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

const leaseTime = 20 * time.Second

// pass lets time pass; only inside a bubble.
func pass(d time.Duration) { <-time.After(d) }

// stage is an orchestrator with everything around it played.
type stage struct {
	*Orchestrator
	t      *testing.T
	mem    *memory
	lanes  *lanes
	repo   *repo
	models *models
	book   book
	rules  Rules
	you    func(id, line string) // what the person does in the middle of an attempt
}

// newStage makes an orchestrator over a ladder such as
// "weak:blind:easy strong:sees:hard" and starts it. It is stopped with the test.
func newStage(t *testing.T, ladder string, change ...func(*Rules)) *stage {
	t.Helper()
	s := &stage{t: t, mem: newMemory(), lanes: newLanes(), repo: newRepo(), models: &models{}, book: book{}}
	s.rules = Rules{
		Ladder: s.book.ladder(t, ladder), Book: s.book, Engine: "scripted", AutoReview: true, Attempts: 3, Rounds: 40, Minutes: 30, MaxTasks: 60, MaxEdge: 1568,
	}
	s.rules.Primary = s.rules.Ladder[len(s.rules.Ladder)-1].Models[0].Ref
	for _, f := range change {
		f(&s.rules)
	}
	s.start(Options{Lease: leaseTime, Subject: func(worker string) string { return worker }})
	t.Cleanup(func() { s.Stop() })
	return s
}

func (s *stage) start(o Options) {
	s.Orchestrator = New(o, Parts{
		Journal: s.mem, Outbox: s.mem, Album: s.mem, Lanes: s.lanes, Repos: s.repo, Models: s.models, Log: zerolog.Nop(),
		Rules: func(context.Context, string) (Rules, error) { return s.rules, nil },
	})
	if err := s.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// restart ends this orchestrator and begins another over the same record.
func (s *stage) restart() {
	o := s.Options
	s.Stop()
	s.start(o)
}

// submit takes a job and waits until it was planned.
func (s *stage) submit(change ...func(*protocol.Submit)) string {
	s.t.Helper()
	sub := protocol.Submit{Text: "Make it blue", Repo: s.t.TempDir()}
	for _, f := range change {
		f(&sub)
	}
	got, err := s.Submit(s.t.Context(), sub)
	if err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
	return got.Job
}

// job reads a job from the record, not from the orchestrator's memory.
func (s *stage) job(id string) *job.Job {
	s.t.Helper()
	events, err := s.mem.Events(s.t.Context(), id, 0, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	j, err := job.Fold(events)
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

// task finds a task by its plan's id.
func (s *stage) task(id, key string) *job.Task {
	s.t.Helper()
	for _, t := range s.job(id).Tasks {
		if t.Key == key {
			return t
		}
	}
	s.t.Fatalf("no task %s", key)
	return nil
}

// busy counts the slots that the crew holds for a worker.
func (s *stage) busy(worker string) int {
	for _, w := range s.Workers() {
		if w.ID == worker {
			return w.Busy
		}
	}
	return 0
}

// lanes keep messages per worker as a broker does: the same id is taken once.
type lanes struct {
	mu     sync.Mutex
	boxes  map[string][][]byte
	ids    []string
	orders map[string][]protocol.Order
	told   []job.Event
	hear   func(job.Event)
	lose   func(id string) bool // drops what a broker would lose
	mute   error                // of Send and PrepareMailbox
	ready  map[string]int       // mailboxes prepared
}

func newLanes() *lanes {
	return &lanes{boxes: map[string][][]byte{}, orders: map[string][]protocol.Order{}, ready: map[string]int{}}
}

func (l *lanes) Send(_ context.Context, subject, id string, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mute != nil {
		return l.mute
	}
	if slices.Contains(l.ids, id) {
		return nil
	}
	l.ids = append(l.ids, id)
	if l.lose != nil && l.lose(id) {
		return nil
	}
	l.boxes[subject] = append(l.boxes[subject], data)
	return nil
}

func (l *lanes) Tell(_, _ string, data []byte) error {
	var e job.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, e)
	if l.hear != nil {
		l.hear(e)
	}
	return nil
}

func (l *lanes) Order(worker string, data []byte) error {
	var o protocol.Order
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orders[worker] = append(l.orders[worker], o)
	return nil
}

func (l *lanes) PrepareMailbox(_ context.Context, worker string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mute != nil {
		return l.mute
	}
	l.ready[worker]++
	return nil
}

// take gives the oldest message of a worker's mailbox.
func (l *lanes) take(worker string) (protocol.Hold, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	box := l.boxes[worker]
	if len(box) == 0 {
		return protocol.Hold{}, false
	}
	l.boxes[worker] = box[1:]
	var h protocol.Hold
	if err := json.Unmarshal(box[0], &h); err != nil {
		panic(err)
	}
	return h, true
}

// waiting counts the messages in a mailbox.
func (l *lanes) waiting(worker string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.boxes[worker])
}

// repo plays a repository: merges are counted, an attempt that was merged before
// is found again, and conflicts are scripted by the plan's id of a task.
type repo struct {
	mu        sync.Mutex
	merged    map[string]string // by attempt
	times     map[string]int    // how often an attempt was laid on the branch
	conflicts map[string][]string
	errs      []error                  // of the next calls of Look and Merge
	slow      map[string]chan struct{} // a task's merge is answered when it closes
	missing   []string
}

func newRepo() *repo {
	return &repo{merged: map[string]string{}, times: map[string]int{}, conflicts: map[string][]string{}}
}

func (r *repo) Open(context.Context, string) (Repo, error) { return r, nil }

func (r *repo) Snapshot(context.Context, string) (Base, error) {
	return Base{Root: "/repo", Commit: "base", Head: "head"}, nil
}

func (r *repo) fails() error {
	if len(r.errs) == 0 {
		return nil
	}
	err := r.errs[0]
	r.errs = r.errs[1:]
	return err
}

func (r *repo) Look(context.Context, string) (View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return View{Map: "a map", Exists: func(p string) bool { return !slices.Contains(r.missing, p) }}, r.fails()
}

func (r *repo) Merge(_ context.Context, m MergeSpec) (Merged, error) {
	got, err := r.lay(m)
	if wait := r.slow[m.Task]; wait != nil {
		<-wait
	}
	return got, err
}

func (r *repo) lay(m MergeSpec) (Merged, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.fails(); err != nil {
		return Merged{}, err
	}
	if _, ok := r.merged[m.Attempt]; ok {
		return Merged{Commit: fmt.Sprintf("merge%d", len(r.merged))}, nil // the branch's head, as it is now
	}
	if paths := r.conflicts[m.Task]; len(paths) > 0 {
		delete(r.conflicts, m.Task)
		return Merged{Conflicts: paths}, nil
	}
	r.times[m.Attempt]++
	r.merged[m.Attempt] = fmt.Sprintf("merge%d", len(r.merged)+1)
	return Merged{Commit: r.merged[m.Attempt]}, nil
}

func (r *repo) Undo(context.Context, string) ([]string, error) { return []string{"a.go"}, nil }

func (r *repo) Discard(_ context.Context, id string, attempts []string) ([]string, error) {
	return append([]string{branchRef(id)}, attempts...), nil
}

func (r *repo) Apply(_ context.Context, _, _, head string) (Applied, error) {
	return Applied{BackupRef: "backup", Files: []string{head}}, nil
}

func (r *repo) Compare(_ context.Context, from, to string, _ int) (Comparison, error) {
	return Comparison{Diff: "diff " + from + ".." + to}, nil
}

// models answer by a function; without one they submit the plan.
type models struct {
	mu    sync.Mutex
	plan  string // JSON of submit_plan
	ask   func(ctx context.Context, c traffic.Call) (traffic.Answer, error)
	looks []traffic.Look
}

func (m *models) Look(_ context.Context, l traffic.Look) (traffic.Seen, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks = append(m.looks, l)
	return traffic.Seen{Words: "a red button", By: "p/eye", Cost: new(0.5)}, nil
}

func (m *models) Call(ctx context.Context, c traffic.Call) (traffic.Answer, error) {
	m.mu.Lock()
	ask, plan := m.ask, m.plan
	m.mu.Unlock()
	if ask != nil {
		return ask(ctx, c)
	}
	if c.Traffic != job.TrafficPlanning {
		return traffic.Answer{}, errors.New("nobody scripted this call")
	}
	return answering(prompt.SubmitPlan().Name, plan), nil
}

// answering is an answer that calls one tool.
func answering(name, args string) traffic.Answer {
	call := &provider.Call{ID: "call", Name: name, Args: json.RawMessage(args)}
	m := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartCall, Call: call}}}
	return traffic.Answer{Response: provider.Response{Message: m, Stop: provider.StopCalls}}
}

// planOf makes a plan from lines such as "a easy", "b hard vision after a".
func planOf(t *testing.T, lines string) string {
	t.Helper()
	tasks := []any{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		task := map[string]any{"id": words[0], "title": "Do " + words[0], "instructions": "Do it.", "difficulty": words[1]}
		for i := 2; i < len(words); i++ {
			switch words[i] {
			case "vision":
				task["vision"] = true
			case "after":
				i++
				task["depends_on"] = strings.Split(words[i], ",")
			case "image":
				i++
				task["images"] = []string{words[i]}
			case "check":
				task["checks"] = []string{strings.Join(words[i+1:], " ")}
				i = len(words)
			default:
				t.Fatalf("plan: %q is not known", words[i])
			}
		}
		tasks = append(tasks, task)
	}
	text, err := json.Marshal(map[string]any{"summary": "the plan", "tasks": tasks})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// book knows the models of a ladder.
type book map[catalog.Ref]catalog.Model

// Lookers are those of the book that see.
func (b book) Lookers(asker catalog.Ref, private bool) []catalog.Ref {
	q := routing.Looking{Asker: b[asker], Private: private}
	for _, ref := range slices.Sorted(maps.Keys(b)) {
		q.Known = append(q.Known, b[ref])
	}
	return routing.Lookers(q)
}

func (b book) Model(ref catalog.Ref) (catalog.Model, bool) {
	m, ok := b[ref]
	return m, ok
}

// ladder reads "weak:blind:easy strong:sees:hard"; a rung of several models is
// written weak:blind+other:sees:easy, and a model on the person's own machine
// begins with own-.
func (b book) ladder(t *testing.T, words string) routing.Ladder {
	t.Helper()
	var out routing.Ladder
	for rung := range strings.FieldsSeq(words) {
		at := strings.LastIndex(rung, ":")
		r := routing.Rung{Difficulty: job.Difficulty(rung[at+1:])}
		for one := range strings.SplitSeq(rung[:at], "+") {
			name, sight, _ := strings.Cut(one, ":")
			r.Models = append(r.Models, b.add(name, sight))
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		t.Fatal("an empty ladder")
	}
	return out
}

// add puts a model into the book.
func (b book) add(name, sight string) catalog.Model {
	m := catalog.Model{Ref: catalog.Ref("p/" + name), Provider: "p", ID: name, Chat: true, Tools: true, Private: strings.HasPrefix(name, "own-"), TakesPictures: true}
	switch sight {
	case "sees":
		m.Sight = vision.Answer{Sight: vision.Sees, Source: vision.Configured}
	case "blind":
		m.Sight = vision.Answer{Sight: vision.Blind, Source: vision.Configured}
	}
	b[m.Ref] = m
	return m
}
