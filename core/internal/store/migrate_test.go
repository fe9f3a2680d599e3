package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/record"
)

// released lists the folders of testdata that hold a record of each schema.
func released(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/v*")
	must(t, err)
	if len(dirs) == 0 {
		t.Fatal("no stored records")
	}
	return dirs
}

// copied puts a stored record in a state folder of its own.
func copied(t *testing.T, from string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	must(t, os.MkdirAll(dir, 0o700))
	data, err := os.ReadFile(filepath.Join(from, "record.db"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "record.db"), data, 0o600))
	return dir
}

// within reports where got lacks or contradicts want: a later version may say
// more of a state, never less or otherwise.
func within(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return at
		}
		for k, v := range w {
			if fault := within(v, g[k], at+"."+k); fault != "" {
				return fault
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return at
		}
		for i := range w {
			if fault := within(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); fault != "" {
				return fault
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s: %v, was %v", at, got, want)
	}
	return ""
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	must(t, json.Unmarshal(text, &v))
	return v
}

func foldOf(t *testing.T, s *Store, id string) *job.Job {
	t.Helper()
	events, err := s.Events(t.Context(), id, 0, 0)
	must(t, err)
	j, err := job.Fold(events)
	must(t, err)
	return j
}

func TestEveryReleasedSchemaFoldsToTheSameState(t *testing.T) {
	for _, from := range released(t) {
		t.Run(filepath.Base(from), func(t *testing.T) {
			t.Parallel()
			dir := copied(t, from)
			s := open(t, dir)
			text, err := os.ReadFile(filepath.Join(from, "folds.json"))
			must(t, err)
			var want map[string]any
			must(t, json.Unmarshal(text, &want))
			for id, state := range want {
				if fault := within(state, decoded(t, folded(t, foldOf(t, s, id))), id); fault != "" {
					t.Error(fault)
				}
			}
			if len(want) < 8 {
				t.Errorf("only %d jobs were compared", len(want))
			}
			compareRest(t, s, from)
			damaged, err := s.VerifyAll(t.Context())
			must(t, err)
			if len(damaged)+len(s.Found()) > 0 {
				t.Errorf("damage where there is none: %v %v", damaged, s.Found())
			}
			must(t, s.Close())
		})
	}
}

// compareRest compares what is not events, and the indexes that were filled from events.
func compareRest(t *testing.T, s *Store, from string) {
	t.Helper()
	type rest struct {
		Jobs   []record.Entry
		Leases []record.Lease
		Outbox []record.Message
		Rows   []ledger.Row
	}
	var got rest
	var errs [4]error
	got.Jobs, errs[0] = s.Jobs(t.Context())
	got.Leases, errs[1] = s.Leases(t.Context())
	got.Outbox, errs[2] = s.Outbox(t.Context(), 1000)
	got.Rows, errs[3] = s.Rows(t.Context(), "", time.Time{})
	must(t, errors.Join(errs[:]...))
	text, err := os.ReadFile(filepath.Join(from, "rest.json"))
	must(t, err)
	have, err := json.Marshal(got)
	must(t, err)
	if fault := within(decoded(t, text), decoded(t, have), "record"); fault != "" {
		t.Error(fault)
	}
	for _, e := range got.Jobs {
		for _, task := range foldOf(t, s, e.ID).List() {
			want := []record.Found{{Job: e.ID, Task: task.ID, Key: task.Key}}
			byID, err := s.Find(t.Context(), task.ID, 5)
			must(t, err)
			byKey, err := s.FindKey(t.Context(), e.ID[:13], task.Key)
			must(t, err)
			if !cmp.Equal(byID, want) || !cmp.Equal(byKey, want) {
				t.Errorf("task %s is found as %v and %v", task.ID, byID, byKey)
			}
		}
	}
}

func TestAMigratedJobGoesOn(t *testing.T) {
	dir := copied(t, "testdata/v1")
	s := open(t, dir)
	before := foldOf(t, s, jobID(3))
	e := job.Event{Seq: before.Seq + 1, Time: noon, Job: before.ID, Kind: job.KindNotice, Body: &job.Notice{Words: "on"}}
	must(t, s.Commit(t.Context(), record.Batch{Job: before.ID, Status: before.Status, Title: before.Title, Events: []job.Event{e}}))
	must(t, s.Close())
	s = open(t, dir)
	if after := foldOf(t, s, jobID(3)); after.Seq != before.Seq+1 || len(s.Found()) > 0 {
		t.Errorf("at %d, damage %v", after.Seq, s.Found())
	}
	must(t, s.Close())
}

func backupsIn(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "record.db.v*.bak"))
	must(t, err)
	return list
}

func TestABackupIsMadeBeforeAMigrationAndCanBePutBack(t *testing.T) {
	dir := copied(t, "testdata/v1")
	must(t, open(t, dir).Close())
	list := backupsIn(t, dir)
	if len(list) != 1 || !strings.Contains(list[0], "record.db.v1-") {
		t.Fatalf("backups: %v", list)
	}
	info, err := os.Stat(list[0])
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v", info.Mode())
	}
	again := filepath.Join(t.TempDir(), "again")
	must(t, os.MkdirAll(again, 0o700))
	data, err := os.ReadFile(list[0])
	must(t, err)
	must(t, os.WriteFile(filepath.Join(again, "record.db"), data, 0o600))
	s := open(t, again)
	if j := foldOf(t, s, jobID(1)); j.Status != job.Ready {
		t.Errorf("%+v", j)
	}
	must(t, s.Close())
	must(t, open(t, dir).Close()) // nothing to migrate: no second backup
	if list := backupsIn(t, dir); len(list) != 1 {
		t.Errorf("backups: %v", list)
	}
}

func TestThreeBackupsAreKept(t *testing.T) {
	dir := copied(t, "testdata/v1")
	for i := range 5 {
		_, err := backup(t.Context(), filepath.Join(dir, "record.db"), 1, noon.Add(time.Duration(i)*time.Hour))
		must(t, err)
	}
	list := backupsIn(t, dir)
	if len(list) != backups || !strings.Contains(list[0], "T14") || newestBackup(filepath.Join(dir, "record.db")) != list[2] {
		t.Errorf("kept %v", list)
	}
	s := open(t, dir)
	name, err := s.Backup(t.Context())
	must(t, err)
	if size, err := s.Size(t.Context()); err != nil || size.Backups == 0 || size.DB == 0 || !strings.Contains(name, ".v2-") {
		t.Errorf("%s, %+v, %v", name, size, err)
	}
	must(t, s.Close())
}

// A crash in a step leaves the record as it was before the step, whenever it
// happens, and the next start takes the step.
func TestAMigrationThatDiesStartsAgain(t *testing.T) {
	for statement := range 12 {
		dir := copied(t, "testdata/v1")
		file := filepath.Join(dir, "record.db")
		db, err := sql.Open("sqlite", dsn(file, "&_txlock=immediate&_pragma=cache_size(1)")) // pages reach the log before the commit
		must(t, err)
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		ran := 0
		for _, sql := range strings.SplitAfter(schema2, ";\n") {
			if ran == statement {
				break
			}
			_, err := tx.ExecContext(t.Context(), sql)
			must(t, err)
			ran++
		}
		if ran == statement {
			must(t, chainAllIfThere(t.Context(), tx, ran))
		}
		must(t, os.WriteFile(file+".bak.new", []byte("half a backup"), 0o600))
		died := filepath.Join(t.TempDir(), "died") // what a killed process leaves, copied while the transaction is open
		must(t, os.CopyFS(died, os.DirFS(dir)))
		must(t, tx.Rollback())
		must(t, db.Close())
		s := open(t, died)
		if j := foldOf(t, s, jobID(4)); j.Status != job.Failed || len(s.Found()) > 0 {
			t.Errorf("after %d statements: %s, %v", statement, j.Status, s.Found())
		}
		must(t, s.Close())
	}
}

// chainAllIfThere goes on into the filling when the columns are there.
func chainAllIfThere(ctx context.Context, tx *sql.Tx, ran int) error {
	if ran < 9 {
		return nil
	}
	return chainAll(ctx, tx)
}

// What was damaged before there was a chain is not made true by it.
func TestAMigrationDoesNotVouchForWhatWasDamagedBefore(t *testing.T) {
	for _, c := range []struct {
		query string
		left  int
		why   string
	}{
		{`UPDATE events SET json = substr(json, 2) WHERE job = '` + jobID(4) + `' AND seq = 12`, 11, "no JSON"},
		{`DELETE FROM events WHERE job = '` + jobID(4) + `' AND seq = 12`, 11, "a gap"},
		{`UPDATE events SET json = '{"kind":7}' WHERE job = '` + jobID(4) + `' AND seq = 12`, 11, "JSON, but no event"},
	} {
		dir := copied(t, "testdata/v1")
		spoil(t, dir, c.query)
		s := open(t, dir)
		events, err := s.Events(t.Context(), jobID(4), 0, 0)
		if d, ok := errors.AsType[*record.DamageError](err); !ok || d.Kind != record.Flipped || d.Seq != int64(c.left+1) || len(events) != c.left {
			t.Errorf("%s: %d events, %v", c.why, len(events), err)
		}
		if j := foldOf(t, s, jobID(1)); j.Status != job.Ready {
			t.Errorf("%s: another job: %s", c.why, j.Status)
		}
		must(t, s.Close())
	}
	dir := copied(t, "testdata/v1")
	spoil(t, dir, `DELETE FROM events WHERE job = '`+jobID(4)+`' AND seq > 30`)
	s := open(t, dir)
	if e, _, err := s.Job(t.Context(), jobID(4)); err != nil || e.Seq != 30 || len(s.Found()) != 1 || s.Found()[0].Kind != record.Torn {
		t.Errorf("%+v %v %v", e, err, s.Found())
	}
	must(t, s.Close())
}

func TestTheStepsAreCounted(t *testing.T) {
	if len(steps) != Version {
		t.Errorf("%d steps lead to schema %d", len(steps), Version)
	}
	for _, step := range steps {
		if step == nil {
			t.Error("a step is missing")
		}
	}
}
