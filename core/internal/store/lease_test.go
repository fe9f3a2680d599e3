package store

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/record"
)

func TestLeases(t *testing.T) {
	lease := func(epoch int64, worker string) record.Lease {
		return record.Lease{Task: "t", Job: "j", Attempt: "a" + strconv.FormatInt(epoch, 10), Worker: worker, Epoch: epoch}
	}
	grant := func(l record.Lease) record.Batch { return record.Batch{Job: "j", Grants: []record.Lease{l}} }
	held := func(l record.Lease) record.Batch { return record.Batch{Job: "j", Held: &l} }
	free := func(l record.Lease) record.Batch { return record.Batch{Job: "j", Free: []record.Lease{l}} }
	one, two := lease(1, "w"), lease(2, "v")
	again := grant(two)
	again.Free = []record.Lease{one}
	end := held(two)
	end.Free = []record.Lease{two}
	s := fresh(t)
	for _, step := range []struct {
		b     record.Batch
		stale bool
		why   string
	}{
		{held(one), true, "nobody holds a task that was never given"},
		{grant(one), false, "the first"},
		{grant(two), true, "a second while the first is live"},
		{grant(one), true, "the same again"},
		{held(one), false, "the holder speaks"},
		{held(record.Lease{Task: "t", Attempt: "a1", Worker: "v", Epoch: 1}), true, "another worker speaks"},
		{held(record.Lease{Task: "t", Attempt: "a9", Worker: "w", Epoch: 1}), true, "another attempt speaks"},
		{held(two), true, "a later epoch speaks"},
		{free(two), false, "to end what is not live changes nothing"},
		{held(one), false, "and the holder still holds"},
		{again, false, "ended and given anew at once"},
		{held(one), true, "the old holder speaks"},
		{free(one), false, "the old holder's end changes nothing"},
		{end, false, "the holder ends"},
		{held(two), true, "and no longer holds"},
		{grant(lease(4, "w")), true, "an epoch is left out"},
		{grant(two), true, "an epoch is used twice"},
		{grant(lease(3, "w")), false, "the next"},
	} {
		if err := s.Commit(t.Context(), step.b); errors.Is(err, record.ErrStale) != step.stale || (err != nil && !step.stale) {
			t.Fatalf("%s: %v", step.why, err)
		}
	}
}

// The first lease of a task must be of epoch 1: the record counts them.
func TestTheFirstEpochIsOne(t *testing.T) {
	s := fresh(t)
	b := record.Batch{Job: "j", Grants: []record.Lease{{Task: "t", Job: "j", Attempt: "a", Worker: "w", Epoch: 5}}}
	if err := s.Commit(t.Context(), b); !errors.Is(err, record.ErrStale) {
		t.Errorf("%v", err)
	}
}

// leaseModel says of one task what the record must say.
type leaseModel struct {
	holder record.Lease
	live   bool
	epoch  int64
}

// Whatever is tried in whatever order: never two live leases of a task, and an
// epoch that only grows.
func TestLeasesAgainstAModel(t *testing.T) {
	s, round := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		names := []string{"x" + strconv.Itoa(round), "y" + strconv.Itoa(round)} // never given before
		tasks := map[string]*leaseModel{names[0]: {}, names[1]: {}}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			b, want := drawBatch(rt, names, tasks)
			if err := s.Commit(t.Context(), b); errors.Is(err, record.ErrStale) == want || (err != nil && want) {
				rt.Fatalf("%+v: %v, want it done: %v", b, err, want)
			}
			live, err := s.Leases(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			live = slices.DeleteFunc(live, func(l record.Lease) bool { return !slices.Contains(names, l.Task) })
			var expected []record.Lease
			for _, name := range names {
				if m := tasks[name]; m.live {
					expected = append(expected, m.holder)
				}
			}
			slices.SortFunc(live, func(a, b record.Lease) int { return int(a.Task[0]) - int(b.Task[0]) })
			if !slices.Equal(live, expected) {
				rt.Fatalf("live %+v, want %+v", live, expected)
			}
		}
	})
}

// drawBatch draws a batch over two tasks, plays it on the model, and says
// whether the record must take it.
func drawBatch(t *rapid.T, names []string, tasks map[string]*leaseModel) (record.Batch, bool) {
	drawn := func() record.Lease {
		name := rapid.SampledFrom(names).Draw(t, "task")
		epoch := tasks[name].epoch + rapid.Int64Range(-1, 2).Draw(t, "epoch")
		worker := rapid.SampledFrom([]string{"v", "w"}).Draw(t, "worker")
		return record.Lease{Task: name, Job: "j", Attempt: name + strconv.FormatInt(epoch, 10), Worker: worker, Epoch: epoch}
	}
	b := record.Batch{Job: "j"}
	after := map[string]leaseModel{names[0]: *tasks[names[0]], names[1]: *tasks[names[1]]}
	if rapid.Bool().Draw(t, "speaks") {
		l := drawn()
		b.Held = &l
		if m := after[l.Task]; !m.live || m.holder != l {
			return b, false
		}
	}
	if rapid.Bool().Draw(t, "ends") {
		l := drawn()
		b.Free = []record.Lease{l}
		if m := after[l.Task]; m.live && m.epoch == l.Epoch {
			m.live = false
			after[l.Task] = m
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "grants") {
		l := drawn()
		b.Grants = append(b.Grants, l)
		m := after[l.Task]
		if m.live || l.Epoch != m.epoch+1 {
			return b, false
		}
		after[l.Task] = leaseModel{holder: l, live: true, epoch: l.Epoch}
	}
	for name, m := range after {
		*tasks[name] = m
	}
	return b, true
}
