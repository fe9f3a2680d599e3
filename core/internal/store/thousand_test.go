package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/record"
)

// thousand is a record of so many finished jobs, each of some 60 events with a
// line, a snapshot and its ledger's rows; closed.
func thousand(tb testing.TB, jobs int) (dir string) {
	tb.Helper()
	dir = filepath.Join(tb.TempDir(), "state")
	s, err := Open(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	for n := 1; n <= jobs; n++ {
		st := readyStory(n)
		b := record.Batch{Job: st.id, Status: st.state.Status, Title: st.state.Title, Line: []byte(`{"tasks":2,"done":2,"cost":null,"branch":"relo/x"}`)}
		for _, part := range st.batches {
			b.Events = append(b.Events, part.Events...)
		}
		b.Snapshot = &record.Snapshot{Seq: st.state.Seq, State: folded(tb, st.state)}
		err := s.do(tb.Context(), func(ctx context.Context, tx *sql.Tx) error {
			if err := apply(ctx, tx, b); err != nil {
				return err
			}
			for _, part := range st.batches {
				if part.Settle == nil {
					continue
				}
				if _, err := tx.ExecContext(ctx, openRow, rowArgs(*part.Settle)...); err != nil {
					return err
				}
				if err := settle(ctx, tx, *part.Settle); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// startUp is what a start and the two lists read of a record.
func startUp(tb testing.TB, dir string, want int) time.Duration {
	tb.Helper()
	begin, worked := time.Now(), processor(tb)
	s, err := Open(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	jobs, err := s.Jobs(tb.Context())
	if err != nil || len(jobs) != want {
		tb.Fatal(len(jobs), err)
	}
	if _, err := s.Sums(tb.Context(), "", time.Time{}); err != nil {
		tb.Fatal(err)
	}
	took := min(time.Since(begin), processor(tb)-worked) // a busy machine makes it wait, not work
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return took
}

// processor is the time that this process has had a processor.
func processor(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The bound is the one that a person would notice; the best of five, since the
// machine does other things too.
func TestAThousandJobsOpenWithin200MillisecondsOfNone(t *testing.T) {
	if raced {
		t.Skip("not run: times mean nothing under the race detector; go test ./core/internal/store -run Thousand")
	}
	const bound = 200 * time.Millisecond
	many, none := thousand(t, 1000), thousand(t, 0)
	full, empty := time.Hour, time.Hour
	for range 5 {
		full, empty = min(full, startUp(t, many, 1000)), min(empty, startUp(t, none, 0))
	}
	t.Logf("open, list and sum: %v with 1,000 jobs, %v with none", full, empty)
	if full-empty > bound {
		t.Errorf("%v is not within %v of %v", full, bound, empty)
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, c := range []struct {
		name string
		jobs int
	}{{"none", 0}, {"thousand", 1000}} {
		dir := thousand(b, c.jobs)
		b.Run("Open/"+c.name, func(b *testing.B) {
			for b.Loop() {
				s, err := Open(b.Context(), dir)
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		s, err := Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		for _, one := range []struct {
			name string
			read func(context.Context) error
		}{
			{"Jobs", func(ctx context.Context) error { _, err := s.Jobs(ctx); return err }},
			{"Sums", func(ctx context.Context) error { _, err := s.Sums(ctx, "", time.Time{}); return err }},
			{"SumsOfADay", func(ctx context.Context) error { _, err := s.Sums(ctx, "", noon.Add(16*time.Hour)); return err }},
			{"SumsOfAJob", func(ctx context.Context) error { _, err := s.Sums(ctx, jobID(500), time.Time{}); return err }},
			{"Find", func(ctx context.Context) error { _, err := s.Find(ctx, jobID(500), 2); return err }},
			{"FindKey", func(ctx context.Context) error { _, err := s.FindKey(ctx, jobID(500), "a"); return err }},
			{"Events", func(ctx context.Context) error { _, err := s.Events(ctx, jobID(500), 0, 0); return err }},
			{"Snapshot", func(ctx context.Context) error { _, _, err := s.Snapshot(ctx, jobID(500)); return err }},
			{"VerifyAll", func(ctx context.Context) error { _, err := s.VerifyAll(ctx); return err }},
		} {
			b.Run(one.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					if err := one.read(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "state"))
	if err != nil {
		b.Fatal(err)
	}
	n := int64(0)
	for b.Loop() {
		n++
		if err := s.Commit(b.Context(), batch("j", n)); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// rowArgs are the values of openRow.
func rowArgs(r ledger.Row) []any {
	return []any{
		r.ID, r.Time.UnixMilli(), r.Job, r.Task, r.Attempt, r.Traffic, string(r.Model), r.Place, r.Reserved, r.Pictures, r.PictureTokens, ledger.OutcomeOpen,
	}
}
