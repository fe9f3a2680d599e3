package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/record"
)

// child names the folder in which this test binary, started again, commits
// without end until it is killed.
const child = "RELO_TEST_STORE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		if err := commitForEver(dir); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// commitForEver says on stdout the number of each event that the record confirmed.
func commitForEver(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	have, err := s.Events(ctx, "j", 0, 0)
	if err != nil {
		return err
	}
	for n := int64(len(have) + 1); ; n++ {
		b := batch("j", n)
		b.Outbox = []record.Message{{Subject: "s", ID: strconv.FormatInt(n, 10), Payload: []byte("x")}}
		if err := s.Commit(ctx, b); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, n); err != nil {
			return err
		}
	}
}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fresh opens a record that is closed when the test ends.
func fresh(t *testing.T) *Store {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "state"))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func event(id string, seq int64) job.Event {
	return job.Event{Seq: seq, Time: time.Unix(seq, 0).UTC(), Job: id, Kind: job.KindNotice, Body: &job.Notice{Level: "info", Words: strings.Repeat("w", 100)}}
}

func batch(id string, seqs ...int64) record.Batch {
	b := record.Batch{Job: id, Status: job.Running, Title: "title of " + id}
	for _, n := range seqs {
		b.Events = append(b.Events, event(id, n))
	}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasCommittedIsThereAfterReopening(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder with ? and #")
	s := open(t, dir)
	b := batch("j1", 1, 2, 3)
	b.Grants = []record.Lease{{Task: "t", Job: "j1", Attempt: "a", Worker: "w", Epoch: 1}}
	b.Outbox = []record.Message{{Subject: "one", ID: "1", Payload: []byte("first")}, {Subject: "two", ID: "2", Payload: []byte{0, 255}}}
	must(t, s.Commit(t.Context(), b))
	must(t, s.Commit(t.Context(), batch("j2", 1)))
	type all struct {
		Jobs   []record.Entry
		Events []job.Event
		Leases []record.Lease
		Outbox []record.Message
	}
	read := func(s *Store) (a all) {
		var errs [4]error
		a.Jobs, errs[0] = s.Jobs(t.Context())
		a.Events, errs[1] = s.Events(t.Context(), "j1", 0, 0)
		a.Leases, errs[2] = s.Leases(t.Context())
		a.Outbox, errs[3] = s.Outbox(t.Context(), 10)
		must(t, errors.Join(errs[:]...))
		return a
	}
	before := read(s)
	want := all{
		Jobs:   []record.Entry{{ID: "j2", Title: "title of j2", Status: job.Running, Seq: 1}, {ID: "j1", Title: "title of j1", Status: job.Running, Seq: 3}},
		Events: b.Events, Leases: b.Grants,
		Outbox: []record.Message{{Seq: 1, Subject: "one", ID: "1", Payload: []byte("first")}, {Seq: 2, Subject: "two", ID: "2", Payload: []byte{0, 255}}},
	}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("(-committed +read):\n%s", diff)
	}
	must(t, s.Close())
	s = open(t, dir)
	if diff := cmp.Diff(before, read(s)); diff != "" {
		t.Errorf("after reopening:\n%s", diff)
	}
	must(t, s.Close())
}

func TestEventsComeInOrderAndInPages(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), batch("j", 1, 2, 3, 4, 5)))
	page, err := s.Events(t.Context(), "j", 2, 2)
	must(t, err)
	if len(page) != 2 || page[0].Seq != 3 || page[1].Seq != 4 {
		t.Errorf("%+v", page)
	}
	if none, err := s.Events(t.Context(), "nobody", 0, 0); err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
	if err := s.Commit(t.Context(), batch("j", 6, 3)); err == nil {
		t.Error("a number was given twice")
	}
	if page, err = s.Events(t.Context(), "j", 5, 0); err != nil || len(page) != 0 {
		t.Errorf("half a batch was kept: %+v, %v", page, err)
	}
}

func TestABatchIsWholeOrNothing(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), batch("j", 1)))
	bad := batch("j", 2)
	bad.Grants = []record.Lease{{Task: "t", Job: "j", Attempt: "a", Worker: "w", Epoch: 1}}
	bad.Outbox = []record.Message{{Subject: "s", ID: "i"}}
	bad.Events = append(bad.Events, event("j", 1)) // is there already
	if err := s.Commit(t.Context(), bad); err == nil {
		t.Fatal("an event was written twice")
	}
	events, err := s.Events(t.Context(), "j", 0, 0)
	must(t, err)
	leases, err := s.Leases(t.Context())
	must(t, err)
	outbox, err := s.Outbox(t.Context(), 9)
	must(t, err)
	if len(events) != 1 || len(leases) != 0 || len(outbox) != 0 {
		t.Errorf("a refused batch left %d events, %d leases, %d messages", len(events)-1, len(leases), len(outbox))
	}
}

// Commits that share one fsync do not share their fate.
func TestOneBadBatchOfAGroupLeavesTheOthersAlone(t *testing.T) {
	s := fresh(t)
	const many = groupMax
	stale := record.Lease{Task: "t", Job: "x", Attempt: "a", Worker: "w", Epoch: 9}
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			b := batch(fmt.Sprintf("j%03d", i), 1, 2)
			if i%7 == 3 {
				b.Held = &stale
			}
			errs[i] = s.Commit(t.Context(), b)
		})
	}
	all.Wait()
	for i, err := range errs {
		events, rerr := s.Events(t.Context(), fmt.Sprintf("j%03d", i), 0, 0)
		must(t, rerr)
		if bad := i%7 == 3; bad != errors.Is(err, record.ErrStale) || bad != (len(events) == 0) {
			t.Errorf("batch %d: %v with %d events", i, err, len(events))
		}
	}
}

func TestACommitWhoseCallerHasLeftIsNotMade(t *testing.T) {
	s := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // whichever the select takes
		if err := s.Commit(ctx, batch("j", 1)); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v", err)
		}
	}
	if events, err := s.Events(t.Context(), "j", 0, 0); err != nil || len(events) != 0 {
		t.Errorf("%v %v", events, err)
	}
}

func TestACommitAfterCloseIsAnErrorAndNoPanic(t *testing.T) {
	s := open(t, t.TempDir())
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for n := int64(1); s.Commit(context.WithoutCancel(t.Context()), batch(fmt.Sprint(i), n)) == nil; n++ {
			}
		})
	}
	must(t, s.Close())
	all.Wait()
	if err := s.Commit(t.Context(), batch("late", 1)); err == nil {
		t.Error("it was written after the end")
	}
}

func TestTheOutboxKeepsItsOrderUntilItIsPublished(t *testing.T) {
	s := fresh(t)
	for i := range 5 {
		must(t, s.Commit(t.Context(), record.Batch{Job: "j", Outbox: []record.Message{{Subject: "s", ID: fmt.Sprint(i)}}}))
	}
	ids := func(limit int) (ids string, seqs []int64) {
		list, err := s.Outbox(t.Context(), limit)
		must(t, err)
		for _, m := range list {
			ids, seqs = ids+m.ID, append(seqs, m.Seq)
		}
		return ids, seqs
	}
	first, seqs := ids(2)
	if again, _ := ids(2); first != "01" || again != first {
		t.Errorf("what is not published comes again: %s, %s", first, again)
	}
	must(t, s.Published(t.Context(), seqs))
	must(t, s.Published(t.Context(), seqs)) // told twice after a crash
	if rest, _ := ids(9); rest != "234" {
		t.Errorf("left: %s", rest)
	}
	must(t, s.Commit(t.Context(), record.Batch{Job: "j", Outbox: []record.Message{{Subject: "s", ID: "5"}}}))
	if rest, _ := ids(9); rest != "2345" {
		t.Errorf("left: %s", rest)
	}
}

func TestOneProcessOwnsTheRecord(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := Open(t.Context(), dir)
	locked, ok := errors.AsType[*LockedError](err)
	if !ok || locked.PID != os.Getpid() || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("%v does not name process %d", err, os.Getpid())
	}
	must(t, s.Commit(t.Context(), batch("j", 1))) // the owner is not disturbed
	must(t, s.Close())
	must(t, open(t, dir).Close())
}

func TestARecordOfALaterVersionIsRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir).Close())
	db, err := sql.Open("sqlite", filepath.Join(dir, "record.db"))
	must(t, err)
	_, err = db.ExecContext(t.Context(), `PRAGMA user_version = 99; UPDATE meta SET value = '99' WHERE key = 'schema'; DROP TABLE outbox`)
	must(t, err)
	if s, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "99") {
		t.Errorf("opened %v: %v", s, err)
	}
	var n int
	must(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_master WHERE name = 'outbox'`).Scan(&n))
	if n != 0 {
		t.Error("it was changed all the same")
	}
	_, err = db.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA user_version = %d; UPDATE meta SET value = '%d' WHERE key = 'schema'`, Version, Version))
	must(t, err)
	must(t, db.Close())
	must(t, open(t, dir).Close()) // the refusal did not keep the lock
}

func TestNobodyElseCanReadTheRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	must(t, s.Commit(t.Context(), batch("j", 1)))
	_, err := s.PutBlob([]byte("pixels"))
	must(t, err)
	seen := 0
	must(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", name, info.Mode())
		}
		return nil
	}))
	if seen < 7 { // folder, db, wal, shm, lock, blobs, a folder in it, the blob
		t.Errorf("looked at %d files only", seen)
	}
	must(t, s.Close())
}

// A process that is killed at any moment leaves everything that it was told is written.
func TestKilledInTheMiddleOfCommits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	exe, err := os.Executable()
	must(t, err)
	confirmed := int64(0)
	for round := range 4 {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), child+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 20 + 37*round {
			if !lines.Scan() {
				t.Fatalf("it ended by itself: %v", cmd.Wait())
			}
		}
		must(t, cmd.Process.Kill())
		for { // what it said before it died counts too
			if n, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				confirmed = n
			}
			if !lines.Scan() {
				break
			}
		}
		_ = cmd.Wait() // killed
		s := open(t, dir)
		events, err := s.Events(t.Context(), "j", 0, 0)
		must(t, err)
		if n := int64(len(events)); n < confirmed || n > confirmed+1 {
			t.Errorf("%d events while %d were confirmed", n, confirmed)
		}
		for i, e := range events {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d has number %d", i+1, e.Seq)
			}
		}
		outbox, err := s.Outbox(t.Context(), 1e6)
		must(t, err)
		if len(outbox) != len(events) {
			t.Errorf("%d messages for %d events: half a batch", len(outbox), len(events))
		}
		must(t, s.Close())
	}
}

func TestBlobs(t *testing.T) {
	s := fresh(t)
	sha, err := s.PutBlob([]byte("abc"))
	must(t, err)
	// SHA-256 of "abc", from FIPS 180-2, appendix B.1.
	if sha != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("kept under %s", sha)
	}
	if data, err := s.Blob(sha); err != nil || string(data) != "abc" {
		t.Errorf("%q %v", data, err)
	}
	empty, err := s.PutBlob(nil)
	must(t, err)
	if data, err := s.Blob(empty); err != nil || len(data) != 0 {
		t.Errorf("%q %v", data, err)
	}
	for _, name := range []string{"", "..", "ab", strings.Repeat("g", 64), strings.Repeat("0", 64), "../../../../../../../../../../../../../../../../etc/passwd00000000"} {
		if data, err := s.Blob(name); !errors.Is(err, record.ErrUnknown) {
			t.Errorf("%q gave %q, %v", name, data, err)
		}
	}
	must(t, os.WriteFile(s.blobFile(sha), []byte("abd"), 0o600))
	if data, err := s.Blob(sha); !errors.Is(err, record.ErrUnknown) || data != nil {
		t.Errorf("damaged bytes were given out: %q, %v", data, err)
	}
	_, err = s.PutBlob([]byte("abc"))
	must(t, err)
	if data, err := s.Blob(sha); err != nil || string(data) != "abc" {
		t.Errorf("put again, a damaged blob is whole: %q %v", data, err)
	}
}

func TestBlobsPutAtOnceAreOne(t *testing.T) {
	s := fresh(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if _, err := s.PutBlob([]byte(fmt.Sprint(i % 2))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	files, err := filepath.Glob(filepath.Join(s.blobs, "*", "*"))
	must(t, err)
	if len(files) != 2 {
		t.Errorf("kept as %v", files)
	}
}

func TestADamagedEventIsAnErrorAndNotSkipped(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), batch("j", 1, 2)))
	must(t, s.do(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE events SET json = '{' WHERE seq = 2`)
		return err
	}))
	if got, err := s.Events(t.Context(), "j", 0, 0); err == nil {
		t.Errorf("%+v", got)
	}
}

func TestTheLockNamesItsOwnerInJSON(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "record.lock"))
	must(t, err)
	var o owner
	must(t, json.Unmarshal(text, &o))
	if o.PID != os.Getpid() {
		t.Errorf("%s", text)
	}
	must(t, s.Close())
}
