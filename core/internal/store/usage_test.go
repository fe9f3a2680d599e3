package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
)

//go:fix inline
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ask(id string, usd *float64) ledger.Row {
	return ledger.Row{ID: id, Time: noon, Job: "j", Task: "t", Attempt: "a", Traffic: "conversation", Model: "p/m", Reserved: usd, Pictures: 1, PictureTokens: 7, Outcome: ledger.OutcomeOpen}
}

func reserve(t *testing.T, s *Store, r ledger.Row, b ledger.Budget) record.Verdict {
	t.Helper()
	v, words, err := s.Reserve(t.Context(), r, b)
	must(t, err)
	if (v == record.Granted) != (words == "") {
		t.Errorf("verdict %v says %q", v, words)
	}
	return v
}

func settleRow(t *testing.T, s *Store, r ledger.Row) {
	t.Helper()
	must(t, s.Commit(t.Context(), record.Batch{Job: r.Job, Settle: &r}))
}

func TestReserveWaitsForWhatIsUnderWayAndRefusesWhatIsSpent(t *testing.T) {
	s, b := fresh(t), ledger.Budget{PerJob: new(1.0)}
	if v := reserve(t, s, ask("a", new(0.7)), b); v != record.Granted {
		t.Fatalf("a: %v", v)
	}
	if v := reserve(t, s, ask("b", new(0.7)), b); v != record.Wait {
		t.Errorf("only a reservation stands in the way: %v", v)
	}
	done := ask("a", nil)
	done.Cost, done.Outcome, done.Usage = new(0.1), ledger.OutcomeOK, provider.Usage{TokensIn: new(int64(5)), TokensOut: new(int64(6))}
	settleRow(t, s, done)
	if v := reserve(t, s, ask("b", new(0.7)), b); v != record.Granted {
		t.Errorf("a cost less than was held for it: %v", v)
	}
	must(t, s.Unsent(t.Context(), "b"))
	if v := reserve(t, s, ask("c", new(0.9)), b); v != record.Granted {
		t.Errorf("what was never sent holds nothing: %v", v)
	}
	unknown := ask("c", new(0.9))
	unknown.Outcome = "cut"
	settleRow(t, s, unknown)
	if v := reserve(t, s, ask("d", new(0.2)), b); v != record.Refused {
		t.Errorf("a settled request of unknown cost counts as what was held for it: %v", v)
	}
	other := ask("e", new(0.2))
	other.Job = "k"
	if v := reserve(t, s, other, b); v != record.Granted {
		t.Errorf("another job has its own budget: %v", v)
	}
	if v := reserve(t, s, ask("f", nil), ledger.Budget{DenyUnknown: true}); v != record.Refused {
		t.Errorf("an unknown price is denied: %v", v)
	}
	if v := reserve(t, s, ask("g", nil), b); v != record.Granted {
		t.Errorf("an unknown price is allowed: %v", v)
	}
}

func TestTheDaysBudgetIsOfOneDay(t *testing.T) {
	s, b := fresh(t), ledger.Budget{PerDay: new(1.0)}
	r := ask("a", new(0.9))
	r.Time = time.Date(2026, 11, 29, 23, 59, 59, 0, time.UTC)
	if v := reserve(t, s, r, b); v != record.Granted {
		t.Fatal(v)
	}
	if v := reserve(t, s, ask("b", new(0.9)), b); v != record.Granted {
		t.Errorf("yesterday's is another day's: %v", v)
	}
	other := ask("c", new(0.9))
	other.Job = "k"
	if v := reserve(t, s, other, b); v != record.Wait {
		t.Errorf("another job is of the same day: %v", v)
	}
}

// Callers at once cannot pass the bound together.
func TestSixteenAtOnceNeverPassTheBound(t *testing.T) {
	s, b := fresh(t), ledger.Budget{PerJob: new(1.0), PerDay: new(1.5)}
	const each = 0.125 // exact in binary, so that the sum is too
	var all sync.WaitGroup
	var mu sync.Mutex
	count := map[record.Verdict]int{}
	for i := range 16 {
		all.Go(func() {
			for k := range 4 {
				r := ask(fmt.Sprintf("%d-%d", i, k), new(each))
				if i%2 == 1 {
					r.Job = "k"
				}
				v, _, err := s.Reserve(t.Context(), r, b)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				count[v]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	sums := map[string]float64{}
	for _, id := range []string{"j", "k"} {
		rows, err := s.Rows(t.Context(), id, time.Time{})
		must(t, err)
		for _, r := range rows {
			sums[id] += *r.Reserved
		}
	}
	if sums["j"] > 1 || sums["k"] > 1 || sums["j"]+sums["k"] != 1.5 {
		t.Errorf("held %v, want 1.5 in all and at most 1 each", sums)
	}
	if count[record.Granted] != 12 || count[record.Refused] != 0 || count[record.Wait] != 64-12 {
		t.Errorf("verdicts %v", count)
	}
}

func TestRowsSayWhatWasSettled(t *testing.T) {
	s := fresh(t)
	first, second := ask("a", new(0.5)), ask("b", nil)
	second.Time, second.Job, second.Place = noon.Add(time.Minute), "k", 2
	reserve(t, s, first, ledger.Budget{})
	reserve(t, s, second, ledger.Budget{})
	done := first
	done.Usage = provider.Usage{TokensIn: new(int64(10)), TokensOut: new(int64(20)), TokensCached: new(int64(3))}
	done.Cost, done.MS, done.Outcome, done.Reserved = new(0.25), 1234, ledger.OutcomeOK, nil
	settleRow(t, s, done)
	rows, err := s.Rows(t.Context(), "", time.Time{})
	must(t, err)
	if diff := cmp.Diff([]ledger.Row{done, second}, rows); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if rows, err = s.Rows(t.Context(), "k", time.Time{}); err != nil || len(rows) != 1 || rows[0].Cost != nil || rows[0].Usage.TokensIn != nil {
		t.Errorf("unknown is null and never 0: %+v, %v", rows, err)
	}
	if rows, err = s.Rows(t.Context(), "", noon.Add(time.Second)); err != nil || len(rows) != 1 || rows[0].ID != "b" {
		t.Errorf("since: %+v, %v", rows, err)
	}
	lost := ask("nobody", nil)
	if err := s.Commit(t.Context(), record.Batch{Job: "j", Settle: &lost}); !errors.Is(err, record.ErrUnknown) {
		t.Errorf("a row that was never opened was settled: %v", err)
	}
}

func TestWhatWasSentCannotBeTakenBack(t *testing.T) {
	s := fresh(t)
	reserve(t, s, ask("a", nil), ledger.Budget{})
	done := ask("a", nil)
	done.Outcome = "cut"
	settleRow(t, s, done)
	must(t, s.Unsent(t.Context(), "a"))
	if rows, err := s.Rows(t.Context(), "j", time.Time{}); err != nil || len(rows) != 1 {
		t.Errorf("%+v %v", rows, err)
	}
}
