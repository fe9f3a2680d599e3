package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// memory is a record without a disk that keeps the record's rules: events follow
// each other without a gap, a grant needs that no lease is live and the next
// epoch, a batch is whole or leaves no trace.
type memory struct {
	mu     sync.Mutex
	events map[string][][]byte // JSON, so that nobody shares memory with the record
	index  map[string]record.Entry
	leases map[string]lease // by task
	outbox []record.Message
	seq    int64
	rows   []ledger.Row
	blobs  map[string][]byte
	snaps  map[string]record.Snapshot

	refuse func(record.Batch) error // plays a full disk; nil: never
	blind  bool                     // events cannot be read
}

type lease struct {
	record.Lease
	live bool
}

func newMemory() *memory {
	return &memory{events: map[string][][]byte{}, index: map[string]record.Entry{}, leases: map[string]lease{}, blobs: map[string][]byte{}, snaps: map[string]record.Snapshot{}}
}

func (m *memory) Commit(ctx context.Context, b record.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.refuse != nil {
		if err := m.refuse(b); err != nil {
			return err
		}
	}
	leases, err := m.leased(b)
	if err != nil {
		return err
	}
	next := int64(len(m.events[b.Job])) + 1
	var texts [][]byte
	for _, e := range b.Events {
		if e.Seq != next || e.Job != b.Job {
			return fmt.Errorf("event %d of %s where %d of %s is next", e.Seq, e.Job, next, b.Job)
		}
		texts = append(texts, raw(e))
		next++
	}
	if b.Settle != nil {
		at := slices.IndexFunc(m.rows, func(r ledger.Row) bool { return r.ID == b.Settle.ID })
		if at < 0 {
			return record.ErrUnknown
		}
		m.rows[at] = *b.Settle
	}
	maps.Copy(m.leases, leases)
	if len(texts) > 0 {
		m.events[b.Job] = append(m.events[b.Job], texts...)
		m.index[b.Job] = record.Entry{ID: b.Job, Title: b.Title, Status: b.Status, Seq: next - 1, Line: b.Line}
	}
	if b.Snapshot != nil {
		m.snaps[b.Job] = *b.Snapshot
	}
	for _, msg := range b.Outbox {
		m.seq++
		msg.Seq = m.seq
		m.outbox = append(m.outbox, msg)
	}
	return nil
}

// leased holds a batch's leases against those that are there and gives the ones that change.
func (m *memory) leased(b record.Batch) (map[string]lease, error) {
	out := map[string]lease{}
	if h := b.Held; h != nil {
		have := m.leases[h.Task]
		if !have.live || have.Attempt != h.Attempt || have.Worker != h.Worker || have.Epoch != h.Epoch {
			return nil, record.ErrStale
		}
	}
	for _, f := range b.Free {
		if have := m.leases[f.Task]; have.Epoch == f.Epoch {
			have.live = false
			out[f.Task] = have
		}
	}
	for _, g := range b.Grants {
		have, changed := out[g.Task]
		if !changed {
			have = m.leases[g.Task]
		}
		if have.live || g.Epoch != have.Epoch+1 {
			return nil, record.ErrStale
		}
		out[g.Task] = lease{g, true}
	}
	return out, nil
}

func (m *memory) Events(_ context.Context, id string, after int64, limit int) ([]job.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blind {
		return nil, fmt.Errorf("the record cannot be read")
	}
	texts := m.events[id]
	texts = texts[min(after, int64(len(texts))):]
	if limit > 0 {
		texts = texts[:min(limit, len(texts))]
	}
	out := make([]job.Event, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m *memory) Snapshot(_ context.Context, id string) (record.Snapshot, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.snaps[id]; ok {
		return s, true, nil
	}
	half := len(m.events[id]) / 2 // there may be one at any event
	events := make([]job.Event, half)
	for i, text := range m.events[id][:half] {
		if err := json.Unmarshal(text, &events[i]); err != nil {
			return record.Snapshot{}, false, err
		}
	}
	state, err := job.Fold(events)
	return record.Snapshot{Seq: int64(half), State: raw(state)}, half > 0 && err == nil, err
}

func (m *memory) JobsWith(ctx context.Context, statuses ...job.Status) ([]record.Entry, error) {
	all, err := m.Jobs(ctx)
	return slices.DeleteFunc(all, func(e record.Entry) bool { return !slices.Contains(statuses, e.Status) }), err
}

// tasks lists the jobs and tasks that f wants.
func (m *memory) tasks(f func(record.Found) bool) []record.Found {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []record.Found
	for id, texts := range m.events {
		all := []record.Found{{Job: id}}
		for _, text := range texts {
			var e job.Event
			if err := json.Unmarshal(text, &e); err != nil {
				panic(err)
			}
			if add, ok := e.Body.(*job.Added); ok {
				all = append(all, record.Found{Job: id, Task: add.ID, Key: add.Key})
			}
		}
		for _, one := range all {
			if f(one) {
				out = append(out, one)
			}
		}
	}
	return out
}

func (m *memory) Find(_ context.Context, prefix string, limit int) ([]record.Found, error) {
	out := m.tasks(func(f record.Found) bool {
		return prefix != "" && ((f.Task == "" && strings.HasPrefix(f.Job, prefix)) || (f.Task != "" && strings.HasPrefix(f.Task, prefix)))
	})
	return out[:min(limit, len(out))], nil
}

func (m *memory) FindKey(_ context.Context, jobPrefix, key string) ([]record.Found, error) {
	return m.tasks(func(f record.Found) bool { return f.Task != "" && f.Key == key && strings.HasPrefix(f.Job, jobPrefix) }), nil
}

func (m *memory) Sums(ctx context.Context, id string, since time.Time) ([]record.Sum, error) {
	rows, err := m.Rows(ctx, id, since)
	var out []record.Sum
	for _, r := range rows {
		s := record.Sum{
			Job: r.Job, Task: r.Task, Attempt: r.Attempt, Traffic: r.Traffic, Model: r.Model, Requests: 1, Pictures: r.Pictures,
			TokensIn: r.Usage.TokensIn, TokensOut: r.Usage.TokensOut, TokensCached: r.Usage.TokensCached, Cost: r.Cost,
		}
		if r.Cost != nil {
			s.Known = *r.Cost
		}
		out = append(out, s)
	}
	return out, err
}

func (m *memory) Jobs(context.Context) ([]record.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []record.Entry
	for _, e := range m.index {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b record.Entry) int { return -compare(a.ID, b.ID) })
	return out, nil
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (m *memory) Rows(_ context.Context, id string, _ time.Time) ([]ledger.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.rows), func(r ledger.Row) bool { return id != "" && r.Job != id }), nil
}

// open writes a row of a request that is under way, as the gateway does.
func (m *memory) open(r ledger.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.Outcome = ledger.OutcomeOpen
	m.rows = append(m.rows, r)
}

func (m *memory) Outbox(_ context.Context, limit int) ([]record.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.outbox[:min(limit, len(m.outbox))]), nil
}

func (m *memory) Published(_ context.Context, seqs []int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outbox = slices.DeleteFunc(m.outbox, func(msg record.Message) bool { return slices.Contains(seqs, msg.Seq) })
	return nil
}

func (m *memory) PutBlob(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	sha := hex.EncodeToString(sum[:])
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[sha] = data
	return sha, nil
}

func (m *memory) Blob(sha string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.blobs[sha]; ok {
		return data, nil
	}
	return nil, record.ErrUnknown
}

// live lists the live leases, by task.
func (m *memory) live() map[string]record.Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]record.Lease{}
	for task, l := range m.leases {
		if l.live {
			out[task] = l.Lease
		}
	}
	return out
}

// refusing makes the next n commits fail that choose accepts; nil: all.
func (m *memory) refusing(n int, choose func(record.Batch) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = func(b record.Batch) error {
		if n == 0 || (choose != nil && !choose(b)) {
			return nil
		}
		n--
		return errFull
	}
}

var errFull = fmt.Errorf("the disk is full")

// request writes the row of a call as the gateway does, and gives it as it ends.
func (m *memory) request(c traffic.Call) ledger.Row {
	row := ledger.Row{ID: job.NewID(), Job: c.Job, Task: c.Task, Attempt: c.Attempt, Traffic: c.Traffic, Model: c.Chain[0], Time: time.Now()}
	m.open(row)
	row.Outcome = ledger.OutcomeOK
	return row
}
