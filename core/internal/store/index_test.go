package store

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
)

// told is a record with all stories, closed when the test ends.
func told(t *testing.T) *Store {
	t.Helper()
	s := built(t, filepath.Join(t.TempDir(), "state"))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestFindGoesByThePrefixOfAnID(t *testing.T) {
	t.Parallel()
	s := told(t)
	one := tell(jobID(1), 1, "")
	task := one.task("a")
	tests := []struct {
		prefix string
		limit  int
		want   []record.Found
		why    string
	}{
		{jobID(1), 9, []record.Found{{Job: jobID(1)}}, "a whole id of a job"},
		{task, 9, []record.Found{{Job: jobID(1), Task: task, Key: "a"}}, "a whole id of a task"},
		{task[:len(task)-1], 9, []record.Found{{Job: jobID(1), Task: task, Key: "a"}, {Job: jobID(1), Task: one.task("b"), Key: "b"}}, "tasks that begin alike"},
		{jobID(8)[:13], 9, []record.Found{{Job: jobID(8)}}, "a job without tasks"},
		{jobID(1) + "0", 9, nil, "more than an id"},
		{"", 9, nil, "nothing means nothing"},
		{"%", 9, nil, "no pattern"},
		{"zzz", 9, nil, "behind all"},
	}
	for _, c := range tests {
		got, err := s.Find(t.Context(), c.prefix, c.limit)
		must(t, err)
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
	if got, err := s.Find(t.Context(), "019a", 3); err != nil || len(got) != 3 {
		t.Errorf("no more than asked for: %v %v", got, err)
	}
}

func TestFindKeyGoesByJobAndKey(t *testing.T) {
	t.Parallel()
	s := told(t)
	for _, c := range []struct {
		prefix, key string
		jobs        []string
	}{
		{jobID(2), "a", []string{jobID(2)}},
		{jobID(2)[:13], "review-b", []string{jobID(2)}},
		{"", "c", []string{jobID(6)}},
		{"019abcde", "a", []string{jobID(1), jobID(2), jobID(3), jobID(4), jobID(5), jobID(6), jobID(7)}},
		{jobID(8), "a", nil},
		{jobID(2), "A", nil},
	} {
		got, err := s.FindKey(t.Context(), c.prefix, c.key)
		must(t, err)
		var jobs []string
		for _, f := range got {
			jobs = append(jobs, f.Job)
			if f.Key != c.key || f.Task == "" {
				t.Errorf("%+v", f)
			}
		}
		if !slices.Equal(jobs, c.jobs) {
			t.Errorf("%s/%s: %v", c.prefix, c.key, jobs)
		}
	}
}

func TestJobsByStatus(t *testing.T) {
	t.Parallel()
	s := told(t)
	for _, c := range []struct {
		statuses []job.Status
		want     []string
	}{
		{[]job.Status{job.Planning, job.Running, job.Integrating}, []string{jobID(8), jobID(3)}},
		{[]job.Status{job.Discarded}, nil},
		{nil, nil},
	} {
		list, err := s.JobsWith(t.Context(), c.statuses...)
		must(t, err)
		var ids []string
		for _, e := range list {
			ids = append(ids, e.ID)
		}
		if !slices.Equal(ids, c.want) {
			t.Errorf("%v: %v", c.statuses, ids)
		}
	}
	if e, ok, err := s.Job(t.Context(), jobID(5)); err != nil || !ok || e.Status != job.Cancelled || e.Title != "never mind" {
		t.Errorf("%+v %v %v", e, ok, err)
	}
	if _, ok, err := s.Job(t.Context(), "nobody"); err != nil || ok {
		t.Errorf("%v %v", ok, err)
	}
}

func TestALineStaysUntilAnotherComes(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	line := func() string {
		e, _, err := s.Job(t.Context(), "j")
		must(t, err)
		return string(e.Line)
	}
	only := record.Batch{Job: "j", Line: []byte(`{"n":0}`)}
	if err := s.Commit(t.Context(), only); !errors.Is(err, record.ErrUnknown) {
		t.Errorf("a line of no job: %v", err)
	}
	b := batch("j", 1)
	b.Line = []byte(`{"n":1}`)
	must(t, s.Commit(t.Context(), b))
	must(t, s.Commit(t.Context(), batch("j", 2)))
	if line() != `{"n":1}` {
		t.Errorf("%s", line())
	}
	must(t, s.Commit(t.Context(), only))
	e, _, err := s.Job(t.Context(), "j")
	must(t, err)
	if string(e.Line) != `{"n":0}` || e.Seq != 2 || e.Status != job.Running || e.Title != "title of j" {
		t.Errorf("a line alone changes the line alone: %+v", e)
	}
	if list, err := s.Jobs(t.Context()); err != nil || !gocmp.Equal(list, []record.Entry{e}) {
		t.Errorf("%+v %v", list, err)
	}
}

func TestTheNewestSnapshotIsKept(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	if _, ok, err := s.Snapshot(t.Context(), "j"); err != nil || ok {
		t.Errorf("%v %v", ok, err)
	}
	b := batch("j", 1, 2, 3)
	b.Snapshot = &record.Snapshot{Seq: 2, State: []byte(`{"at":2}`)}
	must(t, s.Commit(t.Context(), b))
	want := record.Snapshot{Seq: 2, State: []byte(`{"at":2}`)}
	if p, ok, err := s.Snapshot(t.Context(), "j"); err != nil || !ok || !gocmp.Equal(p, want) {
		t.Errorf("%+v %v %v", p, ok, err)
	}
	if rest, err := s.Events(t.Context(), "j", 2, 0); err != nil || len(rest) != 1 || rest[0].Seq != 3 {
		t.Errorf("what comes after it: %+v %v", rest, err)
	}
	b = batch("j", 4)
	b.Snapshot = &record.Snapshot{Seq: 5, State: []byte(`{}`)}
	if err := s.Commit(t.Context(), b); err == nil {
		t.Error("a snapshot of what has not happened")
	}
	b.Snapshot = &record.Snapshot{Seq: 4, State: []byte(`{"at":4}`)}
	must(t, s.Commit(t.Context(), b))
	if p, ok, err := s.Snapshot(t.Context(), "j"); err != nil || !ok || p.Seq != 4 || !bytes.Equal(p.State, b.Snapshot.State) {
		t.Errorf("%+v %v %v", p, ok, err)
	}
}

// A job read from its snapshot is what it is when read from the beginning.
func TestASnapshotAndTheRestFoldToTheSame(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, st := range stories() {
		at := max(1, st.state.Seq/2)
		events := []job.Event{}
		for _, b := range st.batches {
			events = append(events, b.Events...)
		}
		half, err := job.Fold(events[:at])
		must(t, err)
		st.write(t, s)
		must(t, s.Commit(t.Context(), record.Batch{Job: st.id, Snapshot: &record.Snapshot{Seq: at, State: folded(t, half)}}))
		p, ok, err := s.Snapshot(t.Context(), st.id)
		must(t, err)
		if !ok || !bytes.Equal(p.State, folded(t, half)) {
			t.Fatalf("%s: %v", st.id, ok)
		}
		rest, err := s.Events(t.Context(), st.id, p.Seq, 0)
		must(t, err)
		for _, e := range rest {
			must(t, half.Apply(e))
		}
		if !bytes.Equal(folded(t, half), folded(t, foldOf(t, s, st.id))) {
			t.Errorf("%s is another", st.id)
		}
	}
}

// sumOf adds rows up as the words of record.Sum say, one after another.
func sumOf(rows []ledger.Row) []record.Sum {
	type key struct{ job, task, attempt, traffic, model string }
	at := map[key]int{}
	var out []record.Sum
	plus := func(to **int64, n *int64) {
		if n != nil {
			if *to == nil {
				*to = new(int64)
			}
			**to += *n
		}
	}
	for _, r := range rows {
		k := key{r.Job, r.Task, r.Attempt, r.Traffic, string(r.Model)}
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, record.Sum{Job: r.Job, Task: r.Task, Attempt: r.Attempt, Traffic: r.Traffic, Model: r.Model, Cost: new(float64)})
		}
		m := &out[at[k]]
		m.Requests++
		m.Pictures += r.Pictures
		plus(&m.TokensIn, r.Usage.TokensIn)
		plus(&m.TokensOut, r.Usage.TokensOut)
		plus(&m.TokensCached, r.Usage.TokensCached)
		if r.Cost == nil {
			m.Cost = nil
			continue
		}
		m.Known += *r.Cost
		if m.Cost != nil {
			*m.Cost += *r.Cost
		}
	}
	slices.SortStableFunc(out, func(a, b record.Sum) int { return cmp.Compare(a.Job, b.Job) })
	return out
}

func TestSumsAreTheRowsAddedUp(t *testing.T) {
	t.Parallel()
	s, n := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		must(t, s.do(t.Context(), clearLedger))
		for range rapid.IntRange(0, 12).Draw(rt, "rows") {
			n++
			r := drawRow(rt, n)
			reserve(t, s, r, ledger.Budget{})
			if rapid.IntRange(0, 4).Draw(rt, "settled") > 0 {
				r.Outcome, r.Usage = ledger.OutcomeOK, drawUsage(rt)
				if rapid.IntRange(0, 3).Draw(rt, "priced") > 0 {
					r.Cost = new(float64(rapid.IntRange(0, 1000).Draw(rt, "cost")) / 1024) // exact in binary
				}
				settleRow(t, s, r)
			}
		}
		id, since := rapid.SampledFrom([]string{"", "j1", "j2"}).Draw(rt, "of"), noon.Add(time.Duration(rapid.IntRange(-1, 20).Draw(rt, "since"))*time.Second)
		rows, err := s.Rows(t.Context(), id, since)
		must(t, err)
		sums, err := s.Sums(t.Context(), id, since)
		must(t, err)
		if diff := gocmp.Diff(sumOf(rows), sums); diff != "" {
			rt.Fatalf("(-rows +sums):\n%s", diff)
		}
	})
}

func drawRow(t *rapid.T, n int) ledger.Row {
	at := time.Duration(rapid.IntRange(0, 20).Draw(t, "time"))*time.Second + time.Duration(n%1000)*time.Millisecond // no two at once
	return ledger.Row{
		ID: jobID(n), Time: noon.Add(at), Job: rapid.SampledFrom([]string{"j1", "j2"}).Draw(t, "job"),
		Task: rapid.SampledFrom([]string{"", "t"}).Draw(t, "task"), Attempt: "a", Traffic: rapid.SampledFrom([]string{"vision", "review"}).Draw(t, "traffic"),
		Model: catalog.Ref(rapid.SampledFrom([]string{"p/m", "p/n"}).Draw(t, "model")), Pictures: rapid.IntRange(0, 3).Draw(t, "pictures"), Outcome: ledger.OutcomeOpen,
	}
}

func drawUsage(t *rapid.T) (u provider.Usage) {
	for _, to := range []**int64{&u.TokensIn, &u.TokensOut, &u.TokensCached} {
		if rapid.Bool().Draw(t, "known") {
			*to = new(rapid.Int64Range(0, 1e6).Draw(t, "tokens"))
		}
	}
	return u
}
