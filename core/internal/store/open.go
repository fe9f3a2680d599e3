package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/record"
)

// inspect looks at every job's entry before anything is written: that its row is
// whole, that its newest event is the one it names, and that no events are there
// without an entry. It reads one row a job, not the events. What is wrong is
// made again from the events.
func (s *Store) inspect(ctx context.Context) error {
	const query = `WITH RECURSIVE j (id) AS (
			SELECT min(job) FROM events UNION SELECT (SELECT min(job) FROM events WHERE job > j.id) FROM j WHERE j.id IS NOT NULL
		), every (id) AS (SELECT id FROM j WHERE id IS NOT NULL UNION SELECT id FROM jobs)
		SELECT every.id, jobs.title, jobs.status, jobs.seq, jobs.line, jobs.head, jobs.sum,
			(SELECT max(seq) FROM events e WHERE e.job = every.id), (SELECT hash FROM events e WHERE e.job = every.id AND e.seq = jobs.seq)
		FROM every LEFT JOIN jobs ON jobs.id = every.id`
	type seen struct {
		index
		last int64
		hash []byte
	}
	rows, err := s.writer.QueryContext(ctx, query)
	if err != nil {
		return s.said("look at the jobs", err)
	}
	list, err := collect(rows, func(v *seen) []any { return append(v.fields(), loosely(&v.last), loosely(&v.hash)) })
	if err != nil {
		return s.said("look at the jobs", err)
	}
	for _, v := range list {
		if v.whole() && v.last == v.seq && bytes.Equal(v.head, v.hash) {
			continue
		}
		var d *record.DamageError
		err := s.alone(ctx, func(tx *sql.Tx) (err error) {
			_, d, err = remake(ctx, tx, v.id)
			return err
		})
		if err != nil {
			return s.said("mend job "+v.id, err)
		}
		s.note(d)
	}
	return nil
}

// alone runs work in a transaction of its own, before the writer has begun.
func (s *Store) alone(ctx context.Context, work func(*sql.Tx) error) error {
	if err := s.breakSeal(); err != nil {
		return err
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// suspect looks closer at a file of which pages are not as Close left them: it
// is refused when its structure is damaged, and otherwise said in words what is.
func (s *Store) suspect(ctx context.Context, pages []int64) error {
	words, err := integrity(ctx, s.writer)
	if err == nil && words != "" {
		if words, err = s.reindex(ctx); err == nil && words != "" {
			err = s.corrupt(fmt.Errorf("SQLite says: %s", words))
		}
	}
	if err != nil {
		return s.said("check the record", err)
	}
	damaged, err := s.verifyJobs(ctx)
	if err != nil {
		return err
	}
	for _, d := range damaged {
		if d.Kind != record.Flipped {
			continue // is mended by inspect, which says so
		}
		if err := s.alone(ctx, func(tx *sql.Tx) error { return keepDamage(ctx, tx, d) }); err != nil {
			return s.said("check the record", err)
		}
	}
	tables, err := s.tablesOf(ctx, pages)
	if err != nil {
		return s.said("check the record", err)
	}
	for _, table := range tables {
		switch table {
		case "events", "jobs", "snapshots":
			continue // their rows are checked one by one
		case "tasks", "tasks_key":
			if err := s.retaskAll(ctx, damaged); err != nil {
				return s.said("mend the tasks", err)
			}
			continue
		}
		d := &record.DamageError{Kind: record.Flipped, Words: fmt.Sprintf(
			"a page of %s that holds %s was changed outside of Relo, or is damaged; the journals of all jobs are checked, %s is not certain", s.file, holds(table), holds(table))}
		s.note(d)
		if err := s.alone(ctx, func(tx *sql.Tx) error { return keepDamage(ctx, tx, d) }); err != nil {
			return s.said("check the record", err)
		}
	}
	return nil
}

// holds says what is in a table, for people.
func holds(table string) string {
	switch {
	case strings.HasPrefix(table, "usage"):
		return "what requests cost (the ledger)"
	case table == "leases":
		return "which worker has which task"
	case table == "outbox":
		return "what is to be sent to workers"
	default:
		return "the record's own bookkeeping (" + table + ")"
	}
}

// reindex makes the indexes from the tables again and asks once more.
func (s *Store) reindex(ctx context.Context) (words string, err error) {
	if _, err := s.writer.ExecContext(ctx, `REINDEX`); err != nil {
		return "", s.corrupt(err) // two rows with one key: it is the table that is damaged
	}
	words, err = integrity(ctx, s.writer)
	if err == nil && words == "" {
		s.note(&record.DamageError{Kind: record.Mended, Words: "an index of " + s.file + " was damaged and was made again from its table"})
	}
	return words, err
}

// tablesOf names the tables and indexes that pages belong to; pages that are in
// use by none are left out.
func (s *Store) tablesOf(ctx context.Context, pages []int64) ([]string, error) {
	damaged := map[int64]bool{}
	for _, p := range pages {
		damaged[p] = true
	}
	rows, err := s.writer.QueryContext(ctx, `SELECT name, pageno FROM dbstat ORDER BY name`)
	if err != nil {
		return nil, err
	}
	type at struct {
		name string
		page int64
	}
	list, err := collect(rows, func(a *at) []any { return []any{&a.name, &a.page} })
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range list {
		if damaged[a.page] && (len(out) == 0 || out[len(out)-1] != a.name) {
			out = append(out, a.name)
		}
	}
	return out, nil
}

// retaskAll fills the index of tasks of every whole job again.
func (s *Store) retaskAll(ctx context.Context, damaged []*record.DamageError) error {
	bad := map[string]bool{}
	for _, d := range damaged {
		bad[d.Job] = true
	}
	rows, err := s.writer.QueryContext(ctx, `SELECT id FROM jobs`)
	if err != nil {
		return err
	}
	ids, err := collect(rows, func(id *string) []any { return []any{loosely(id)} })
	if err != nil {
		return err
	}
	mended := &record.DamageError{Kind: record.Mended, Words: "the index of tasks was damaged and was made again from the events"}
	err = s.alone(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM tasks`); err != nil {
			return err
		}
		for _, id := range ids {
			j, err := unroll(ctx, tx, id, 0, -1)
			if err != nil && !bad[id] {
				return err
			}
			if err := retask(ctx, tx, id, j.events); err != nil {
				return err
			}
		}
		return keepDamage(ctx, tx, mended)
	})
	if err == nil {
		s.note(mended)
	}
	return err
}
