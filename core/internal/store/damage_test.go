package store

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/record"
)

// spoil runs SQL on the file of a closed record, as damage would.
func spoil(t *testing.T, dir, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, "record.db"), ""))
	must(t, err)
	res, err := db.ExecContext(t.Context(), query)
	must(t, err)
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s changed nothing: %v", query, err)
	}
	must(t, db.Close())
}

// Each kind of damage to one job: how it is told, how many of its 39 events are
// believed, and whether it can go on.
func TestDamageToOneJobIsToldApart(t *testing.T) {
	id, other := jobID(4), jobID(1)
	of := ` WHERE job = '` + id + `' AND seq `
	tests := []struct {
		query string
		kind  record.Damage
		seq   int64
		left  int
		goes  bool
		why   string
	}{
		{`DELETE FROM events` + of + `> 30`, record.Torn, 30, 30, true, "the end is missing"},
		{`DELETE FROM events` + of + `= 39`, record.Torn, 38, 38, true, "the last is missing"},
		{`DELETE FROM events` + of + `> 0`, record.Torn, 0, 0, false, "nothing is left"},
		{`UPDATE events SET json = replace(json, '"seq"', '"sep"')` + of + `= 20`, record.Flipped, 20, 19, false, "a letter of one"},
		{`UPDATE events SET json = replace(json, '"seq"', '"sep"')` + of + `= 39`, record.Flipped, 39, 38, false, "a letter of the last: it is there, so it is not torn"},
		{`UPDATE events SET kind = 'notice'` + of + `= 5`, record.Flipped, 5, 4, false, "its kind"},
		{`UPDATE events SET hash = zeroblob(32)` + of + `= 5`, record.Flipped, 5, 4, false, "its hash"},
		{`UPDATE events SET hash = NULL` + of + `= 5`, record.Flipped, 5, 4, false, "its hash is gone"},
		{`UPDATE events SET json = x'00ff'` + of + `= 5`, record.Flipped, 5, 4, false, "a value of another type"},
		{`DELETE FROM events` + of + `= 5`, record.Flipped, 5, 4, false, "one in the middle is missing"},
		{`DELETE FROM events` + of + `= 1`, record.Flipped, 1, 0, false, "the first is missing"},
		{`UPDATE events SET json = (SELECT json FROM events` + of + `= 6)` + of + `= 5`, record.Flipped, 5, 4, false, "one in the place of another"},
		{`DELETE FROM jobs WHERE id = '` + id + `'`, record.Mended, 39, 39, true, "its entry is gone"},
		{`UPDATE jobs SET seq = 45 WHERE id = '` + id + `'`, record.Torn, 39, 39, true, "its entry names more than is there"},
		{`UPDATE jobs SET seq = 12 WHERE id = '` + id + `'`, record.Mended, 39, 39, true, "its entry names less than is there"},
		{`UPDATE jobs SET head = zeroblob(32) WHERE id = '` + id + `'`, record.Mended, 39, 39, true, "its entry's hash"},
		{`UPDATE jobs SET status = 'running' WHERE id = '` + id + `'`, record.Mended, 39, 39, true, "its entry's status"},
		{`UPDATE jobs SET line = x'00' WHERE id = '` + id + `'`, record.Mended, 39, 39, true, "its entry's line"},
		{`UPDATE snapshots SET state = x'00' WHERE job = '` + id + `'`, record.Mended, 37, 39, true, "its snapshot"},
	}
	dir := filepath.Join(t.TempDir(), "state")
	must(t, built(t, dir).Close())
	clean := readFiles(t, dir)
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			dir := clean.lay(t, "", nil)
			spoil(t, dir, c.query)
			s := open(t, dir)
			events, err := s.Events(t.Context(), id, 0, 0)
			if len(events) != c.left {
				t.Errorf("%d events are believed, not %d", len(events), c.left)
			}
			if d, ok := errors.AsType[*record.DamageError](err); (c.kind == record.Flipped) != ok || (ok && (d.Kind != c.kind || d.Seq != c.seq || d.Job != id)) {
				t.Errorf("events: %v", err)
			}
			if _, _, err := s.Snapshot(t.Context(), id); err != nil {
				t.Error(err)
			}
			tellsOnce(t, s, id, c.kind, c.seq)
			goesOn(t, s, id, int64(c.left), c.goes)
			if j := foldOf(t, s, other); j.Status != job.Ready {
				t.Errorf("another job: %s", j.Status)
			}
			goesOn(t, s, other, 59, true)
			must(t, s.Close())
			s = open(t, dir) // again, when what could be mended is
			damaged, err := s.VerifyAll(t.Context())
			must(t, err)
			if c.goes == (len(damaged) > 0) && c.left > 0 {
				t.Errorf("on the second start: %v", damaged)
			}
			known, err := s.Damages(t.Context())
			if err != nil || len(known) == 0 && c.why != "its snapshot" {
				t.Errorf("what was damaged is forgotten: %v", err)
			}
			must(t, s.Close())
		})
	}
}

// tellsOnce checks that the damage was found, and what is said of it.
func tellsOnce(t *testing.T, s *Store, id string, kind record.Damage, seq int64) {
	t.Helper()
	n := 0
	for _, d := range s.Found() {
		if d.Job != id {
			if d.Job != "" {
				t.Errorf("of another job: %v", d)
			}
			continue
		}
		n++
		if d.Kind != kind || d.Seq != seq || !strings.Contains(d.Error(), id) || len(d.Words) < 20 {
			t.Errorf("found %s at %d, not %s at %d: %v", d.Kind, d.Seq, kind, seq, d)
		}
	}
	if n != 1 {
		t.Errorf("told %d times: %v", n, s.Found())
	}
}

// goesOn tries to write the event after a job's last believed one.
func goesOn(t *testing.T, s *Store, id string, last int64, want bool) {
	t.Helper()
	e, ok, err := s.Job(t.Context(), id)
	must(t, err)
	if !ok {
		t.Errorf("%s is not in the list", id)
	}
	if want && e.Seq != last {
		t.Errorf("the list says %d events, not %d", e.Seq, last)
	}
	b := batch(id, last+1)
	b.Status = e.Status
	err = s.Commit(t.Context(), b)
	if _, refused := errors.AsType[*record.DamageError](err); want != (err == nil) || !want && !refused {
		t.Errorf("to go on: %v", err)
	}
}

// A job whose end is missing stands where its last whole event left it.
func TestATornJobStandsAtItsLastWholeEvent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	must(t, built(t, dir).Close())
	spoil(t, dir, `DELETE FROM events WHERE job = '`+jobID(2)+`' AND seq > 59`) // applied again after it was ready
	s := open(t, dir)
	e, _, err := s.Job(t.Context(), jobID(2))
	must(t, err)
	if e.Status != job.Ready || e.Seq != 59 || e.Line != nil || e.Title != "a page with a picture" {
		t.Errorf("%+v", e)
	}
	if _, ok, err := s.Snapshot(t.Context(), jobID(2)); err != nil || !ok {
		t.Errorf("the snapshot at 59 is of the same history: %v %v", ok, err)
	}
	must(t, s.Close())
	spoil(t, dir, `DELETE FROM events WHERE job = '`+jobID(2)+`' AND seq > 58`)
	s = open(t, dir)
	if p, ok, err := s.Snapshot(t.Context(), jobID(2)); err != nil || ok {
		t.Errorf("a snapshot of what is missing: %+v, %v", p, err)
	}
	must(t, s.Close())
}

// A record that was put back from a backup says that it is older than what it confirmed.
func TestARecordPutBackFromABackupSaysSo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := built(t, dir)
	name, err := s.Backup(t.Context())
	must(t, err)
	must(t, s.Commit(t.Context(), batch("late", 1, 2)))
	must(t, s.Commit(t.Context(), batch("late", 3)))
	must(t, s.Close())
	all := readFiles(t, dir)
	back := all.lay(t, "record.db", func([]byte) []byte { return all[filepath.Base(name)] })
	s = open(t, back)
	found := s.Found()
	if len(found) == 0 || found[0].Kind != record.Torn || found[0].Job != "" || !strings.Contains(found[0].Words, "last 2 commits") {
		t.Errorf("%v", found)
	}
	if list, err := s.Jobs(t.Context()); err != nil || len(list) != 8 {
		t.Errorf("%v %v", list, err)
	}
	must(t, s.Close())
	s = open(t, back)
	if found := s.Found(); len(found) > 0 {
		t.Errorf("told again: %v", found)
	}
	if known, err := s.Damages(t.Context()); err != nil || len(known) == 0 {
		t.Errorf("forgotten: %v %v", known, err)
	}
	must(t, s.Close())
}

func TestACorruptRecordNamesTheBackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := built(t, dir)
	name, err := s.Backup(t.Context())
	must(t, err)
	must(t, s.Close())
	all := readFiles(t, dir)
	for _, c := range []struct {
		change func([]byte) []byte
		why    string
	}{
		{flip(3, 0xff), "the first bytes"},
		{flip(4096*3, 0xff), "a page's kind"},
		{func(b []byte) []byte { return b[:len(b)/2] }, "half of it"},
	} {
		bad := all.lay(t, "record.db", c.change)
		_, err := Open(t.Context(), bad)
		e, ok := errors.AsType[*record.CorruptError](err)
		if !ok || filepath.Base(e.Backup) != filepath.Base(name) || !strings.Contains(err.Error(), e.Backup) || filepath.Dir(e.File) != bad {
			t.Errorf("%s: %v", c.why, err)
		}
		if _, err := Open(t.Context(), bad); err == nil { // refused, and the lock is free
			t.Errorf("%s: opened the second time", c.why)
		}
	}
	_, err = Open(t.Context(), files{"record.db": []byte(strings.Repeat("no database", 1000))}.lay(t, "", nil))
	if e, ok := errors.AsType[*record.CorruptError](err); !ok || e.Backup != "" || !strings.Contains(err.Error(), "no backup") {
		t.Errorf("%v", err)
	}
}

// The chain is a promise to every later version: these hashes never change.
func TestTheChainIsWhatItWas(t *testing.T) {
	const id = "019abcde-0001-7000-8000-000000000001"
	one := link(genesis(id), id, 1, "notice", []byte(`{"seq":1}`))
	two := link(one, id, 2, "notice", []byte(`{"seq":2}`))
	got := []string{hex.EncodeToString(genesis(id)), hex.EncodeToString(one), hex.EncodeToString(two)}
	want := []string{
		"33034a50b26389518ae72276b8484d272af239049e0d5f512b265d86472f67e5",
		"1a4533b346afab5dd7e689760e1d13b626a7a23bdf61e5eeb9e3e93d6249e49b",
		"6d1804d85a1dbd303198c8b3ad8fd0ad93fa7e6347fbe123658be45683fe5f9d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-before +now):\n%s", diff)
	}
}
