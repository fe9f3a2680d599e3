package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/record"
)

// content is everything that a record says; Broken holds the errors of its parts.
type content struct {
	Events    map[string][]job.Event
	Jobs      []record.Entry
	Snapshots map[string]record.Snapshot
	Leases    []record.Lease
	Outbox    []record.Message
	Rows      []ledger.Row
	Sums      []record.Sum
	Tasks     map[string][]record.Found
	Broken    []error
}

// contentOf reads a record through everything that it exports.
func contentOf(ctx context.Context, s *Store) content {
	c := content{Events: map[string][]job.Event{}, Snapshots: map[string]record.Snapshot{}, Tasks: map[string][]record.Found{}}
	failed := func(err error) {
		if err != nil {
			c.Broken = append(c.Broken, err)
		}
	}
	var err error
	c.Jobs, err = s.Jobs(ctx)
	failed(err)
	for n := 1; n <= 8; n++ {
		id := jobID(n)
		c.Events[id], err = s.Events(ctx, id, 0, 0)
		failed(err)
		p, ok, err := s.Snapshot(ctx, id)
		failed(err)
		if ok {
			c.Snapshots[id] = p
		}
		c.Tasks[id], err = s.Find(ctx, id[:20], 100)
		failed(err)
	}
	c.Leases, err = s.Leases(ctx)
	failed(err)
	c.Outbox, err = s.Outbox(ctx, 1000)
	failed(err)
	c.Rows, err = s.Rows(ctx, "", time.Time{})
	failed(err)
	c.Sums, err = s.Sums(ctx, "", time.Time{})
	failed(err)
	return c
}

// typed reports whether an error is one that says what is damaged.
func typed(err error) bool {
	_, damage := errors.AsType[*record.DamageError](err)
	_, corrupt := errors.AsType[*record.CorruptError](err)
	return damage || corrupt
}

// built is a record with jobs of every state, lines and snapshots.
func built(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, st := range stories() {
		st.write(tb, s)
		b := record.Batch{Job: st.id, Line: []byte(`{"tasks":2,"title":"` + st.state.Title + `"}`)}
		if st.state.Seq > 10 {
			b.Snapshot = &record.Snapshot{Seq: st.state.Seq - 2, State: folded(tb, st.state)}
		}
		if err := s.Commit(tb.Context(), b); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// files are the bytes of a state folder.
type files map[string][]byte

func readFiles(tb testing.TB, dir string) files {
	tb.Helper()
	out := files{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "record.lock" {
			if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return out
}

// lay writes them into a folder of its own, with one of them changed.
func (f files) lay(t *testing.T, name string, change func([]byte) []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for n, data := range f {
		if n == name {
			data = change(append([]byte{}, data...))
		}
		if data != nil {
			must(t, os.WriteFile(filepath.Join(dir, n), data, 0o600))
		}
	}
	return dir
}

// result counts how damaged records came out.
type result struct{ same, told, refused, job int }

// examine opens a damaged record and holds it against what was written: it must
// say the same, or say what is damaged. parts are compared when exact is set;
// otherwise what the chain and the digests guard.
func (r *result) examine(t *testing.T, dir string, want content, exact bool, what string) {
	t.Helper()
	defer func() { _ = os.RemoveAll(dir) }() // now: there are many
	s, err := Open(t.Context(), dir)
	if err != nil {
		if !typed(err) {
			t.Errorf("%s: Open failed without a name: %v", what, err)
		}
		if !strings.Contains(err.Error(), "backup") {
			t.Errorf("%s: it does not say what to do: %v", what, err)
		}
		r.refused++
		return
	}
	got := contentOf(t.Context(), s)
	found := s.Found()
	if err := s.Close(); err != nil && !typed(err) {
		t.Errorf("%s: close: %v", what, err)
	}
	corrupt := false
	for _, err := range got.Broken {
		if !typed(err) {
			t.Errorf("%s: an error without a name: %v", what, err)
		}
		if _, is := errors.AsType[*record.CorruptError](err); is {
			corrupt = true
		}
	}
	for id, events := range want.Events {
		if n := len(got.Events[id]); n > len(events) || (n > 0 && !cmp.Equal(got.Events[id], events[:n])) {
			t.Errorf("%s: events of %s that were never written", what, id)
		} else if n < len(events) && !corrupt && !names(found, id) {
			t.Errorf("%s: %d of %d events of %s, and nothing said", what, n, len(events), id)
		}
	}
	got.Broken = nil
	for id, p := range want.Snapshots {
		if _, ok := got.Snapshots[id]; !ok {
			got.Snapshots[id] = p // one that is gone costs time, and nothing else
		}
	}
	if !exact {
		got.Leases, got.Outbox, got.Rows, got.Sums, got.Tasks = want.Leases, want.Outbox, want.Rows, want.Sums, want.Tasks
	}
	switch {
	case corrupt || len(found) > 0:
		r.told++
		if len(found) > 0 && found[0].Job != "" {
			r.job++
		}
	case !cmp.Equal(got, want):
		t.Errorf("%s: another state, and nothing said:\n%s", what, cmp.Diff(want, got))
	default:
		r.same++
	}
}

// names reports whether what was found is about a job, or about the whole record.
func names(found []*record.DamageError, id string) bool {
	for _, d := range found {
		if d.Job == id || d.Job == "" {
			return true
		}
	}
	return false
}

// flips draws places over a file, evenly, and what is done to the byte there.
func flips(size, many int, f func(at int, mask byte)) {
	if raced {
		many = max(1, many/8) // each place is the same code, and one process at a time
	}
	r := rand.New(rand.NewPCG(1, uint64(size))) // the same places each time
	for i := range many {
		at := i*size/many + r.IntN(max(1, size/many))
		f(min(at, size-1), []byte{0x01, 0x80, 0xff, 0x20}[r.IntN(4)])
	}
}

func flip(at int, mask byte) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= mask; return b }
}

// A byte that changes while Relo does not run is always told, wherever it is,
// unless nothing is in it.
func TestAFlippedByteOfAClosedRecordIsTold(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	s := built(t, dir)
	want := contentOf(t.Context(), s)
	must(t, s.Close())
	clean, r := readFiles(t, dir), result{}
	r.examine(t, clean.lay(t, "", nil), want, true, "untouched")
	if r.same != 1 {
		t.Fatal("an untouched record is damaged")
	}
	flips(len(clean["record.db"]), 40, func(at int, mask byte) {
		r.examine(t, clean.lay(t, "record.db", flip(at, mask)), want, true, fmt.Sprintf("byte %d ^ %#x", at, mask))
	})
	t.Logf("%+v", r)
	if !raced && (r.refused == 0 || r.told == 0 || r.job == 0) {
		t.Errorf("the places do not reach every kind of end: %+v", r)
	}
}

// crashed is what a killed process leaves, with all of it in the file, or in the log.
func crashed(t *testing.T, inLog bool) (files, content) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	s := built(t, dir)
	_, err := s.writer.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`)
	must(t, err)
	if inLog {
		for seq := int64(18); seq < 30; seq++ {
			must(t, s.Commit(t.Context(), batch(jobID(3), seq)))
		}
	}
	want, left := contentOf(t.Context(), s), readFiles(t, dir)
	must(t, s.Close())
	return left, want
}

// After a crash there is no seal to go by: the chain guards every event, and
// what is made from them.
func TestAFlippedByteOfACrashedRecordNeverMakesAWrongState(t *testing.T) {
	t.Parallel()
	left, want := crashed(t, false)
	if left["record.seal"] != nil || len(left["record.db-wal"]) > 0 {
		t.Fatal("not as a crash leaves it")
	}
	r := result{}
	flips(len(left["record.db"]), 40, func(at int, mask byte) {
		r.examine(t, left.lay(t, "record.db", flip(at, mask)), want, false, fmt.Sprintf("byte %d ^ %#x", at, mask))
	})
	t.Logf("%+v", r)
	if !raced && (r.told == 0 || r.job == 0 || r.same == 0) {
		t.Errorf("the places do not reach every kind of end: %+v", r)
	}
}

// SQLite drops the end of a damaged log without a word.
func TestADamagedLogIsTold(t *testing.T) {
	t.Parallel()
	left, want := crashed(t, true)
	size := len(left["record.db-wal"])
	if size == 0 {
		t.Fatal("there is no log")
	}
	r := result{}
	r.examine(t, left.lay(t, "", nil), want, true, "untouched")
	if r.same != 1 {
		t.Fatal("an untouched log is damaged")
	}
	flips(size, 30, func(at int, mask byte) {
		r.examine(t, left.lay(t, "record.db-wal", flip(at, mask)), want, true, fmt.Sprintf("byte %d of the log ^ %#x", at, mask))
	})
	flips(size, 20, func(at int, _ byte) {
		r.examine(t, left.lay(t, "record.db-wal", func(b []byte) []byte { return b[:at] }), want, true, fmt.Sprintf("the log cut at %d", at))
	})
	r.examine(t, left.lay(t, "record.db-wal", func([]byte) []byte { return nil }), want, true, "no log")
	flips(len(left["record.db-shm"]), 10, func(at int, mask byte) {
		r.examine(t, left.lay(t, "record.db-shm", flip(at, mask)), want, true, fmt.Sprintf("byte %d of the log's index ^ %#x", at, mask))
	})
	t.Logf("%+v", r)
	if r.told <= r.same || r.refused != 0 {
		t.Errorf("%+v", r)
	}
}

func TestACutFileIsTold(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	s := built(t, dir)
	want := contentOf(t.Context(), s)
	must(t, s.Close())
	clean, r := readFiles(t, dir), result{}
	flips(len(clean["record.db"]), 10, func(at int, _ byte) {
		r.examine(t, clean.lay(t, "record.db", func(b []byte) []byte { return b[:at] }), want, true, fmt.Sprintf("cut at %d", at))
		r.examine(t, clean.lay(t, "record.db", func(b []byte) []byte { return b[:at/4096*4096] }), want, true, fmt.Sprintf("cut at page %d", at/4096))
	})
	r.examine(t, clean.lay(t, "record.db", func([]byte) []byte { return nil }), want, true, "gone")
	t.Logf("%+v", r)
	if r.same != 0 {
		t.Errorf("a cut file says the same: %+v", r)
	}
}

// A damaged seal or mark is none; the record says what it said.
func TestADamagedSealOrMarkIsNone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	s := built(t, dir)
	want := contentOf(t.Context(), s)
	must(t, s.Close())
	clean, r := readFiles(t, dir), result{}
	for _, name := range []string{"record.seal", "record.mark"} {
		if !json.Valid(clean["record.seal"]) || len(clean["record.mark"]) == 0 {
			t.Fatal("they are not there")
		}
		flips(len(clean[name]), 10, func(at int, mask byte) {
			r.examine(t, clean.lay(t, name, flip(at, mask)), want, true, fmt.Sprintf("byte %d of %s ^ %#x", at, name, mask))
		})
		r.examine(t, clean.lay(t, name, func([]byte) []byte { return nil }), want, true, "no "+name)
		r.examine(t, clean.lay(t, name, func(b []byte) []byte { return b[:len(b)/2] }), want, true, "half "+name)
	}
	if r.same == 0 || r != (result{same: r.same}) {
		t.Errorf("%+v", r)
	}
}
