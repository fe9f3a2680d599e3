package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/record"
)

// said gives an error with what was tried, judged. nil stays nil.
func (s *Store) said(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, s.judge(err))
}

// judge gives an error as a *record.CorruptError when the file itself is not
// what SQLite wrote.
func (s *Store) judge(err error) error {
	rotten := errors.Is(err, errRow)
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff { // the rest is detail
		// SQLITE_ERROR is SQL that does not fit the tables: ours is always the same,
		// so it is the tables' own description that is damaged.
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR:
			rotten = true
		}
	}
	if _, is := errors.AsType[*record.CorruptError](err); rotten && !is {
		return s.corrupt(err)
	}
	return err
}

func (s *Store) corrupt(err error) *record.CorruptError {
	return &record.CorruptError{File: s.file, Backup: newestBackup(s.file), Err: err}
}

// note keeps what was found damaged since Open.
func (s *Store) note(d *record.DamageError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.found, func(f *record.DamageError) bool { return *f == *d }) {
		s.found = append(s.found, d)
	}
}

// Found lists what was found damaged since Open, for the person to be told: it
// grows when more is read.
func (s *Store) Found() []*record.DamageError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.found)
}

// readOnly gives the damage that keeps a job from going on, or nil.
func (s *Store) readOnly(id string) *record.DamageError {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.found {
		if d.Job == id && id != "" && (d.Kind == record.Flipped || d.Seq == 0) {
			return d
		}
	}
	return nil
}

// Damages lists all damage that is known: what was mended at any time, and what
// was found since Open.
func (s *Store) Damages(ctx context.Context) ([]*record.DamageError, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT job, seq, kind, words FROM damage`)
	if err != nil {
		return nil, s.said("read what was damaged", err)
	}
	list, err := collect(rows, func(d *record.DamageError) []any { return []any{&d.Job, &d.Seq, &d.Kind, &d.Words} })
	if err != nil {
		return nil, s.said("read what was damaged", err)
	}
	out := s.Found()
	for _, d := range list {
		if !slices.ContainsFunc(out, func(f *record.DamageError) bool { return *f == d }) {
			out = append(out, &d)
		}
	}
	return out, nil
}

// keepDamage writes down what was mended: the mended file no longer shows it.
func keepDamage(ctx context.Context, tx *sql.Tx, d *record.DamageError) error {
	_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO damage (job, seq, kind, words) VALUES (?, ?, ?, ?)`, d.Job, d.Seq, string(d.Kind), d.Words)
	if err != nil {
		return fmt.Errorf("write down the damage: %w", err)
	}
	return nil
}

// mend makes a job's row of the index from its events again.
func (s *Store) mend(ctx context.Context, id string) (i index, err error) {
	var d *record.DamageError
	err = s.do(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) (err error) {
		i, d, err = remake(ctx, tx, id)
		return err
	})
	if d != nil {
		s.note(d)
	}
	return i, s.said("mend job "+id, err)
}

// remake writes a job's row of the index from the events that the chain vouches
// for, and says what was wrong. A journal that is damaged in the middle, or of
// which nothing is left, is not touched: the row given is what can be shown.
func remake(ctx context.Context, tx *sql.Tx, id string) (index, *record.DamageError, error) {
	was := index{id: id}
	err := tx.QueryRowContext(ctx, `SELECT `+indexColumns+` FROM jobs WHERE id = ?`, id).Scan(was.fields()...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return was, nil, err
	}
	now := index{id: id, title: was.title, status: was.status}
	j, err := unroll(ctx, tx, id, 0, -1)
	now.seq, now.head = j.seq, j.head
	if state, err := job.Fold(j.events); err == nil && j.seq > 0 {
		now.title, now.status = state.Title, string(state.Status)
	}
	if d, ok := errors.AsType[*record.DamageError](err); ok {
		return now, d, nil
	}
	if err != nil {
		return now, nil, err
	}
	d := &record.DamageError{Job: id, Seq: j.seq, Kind: record.Mended, Words: "its entry in the list of jobs was damaged and was made again from its events; nothing of them is lost"}
	switch {
	case j.seq == 0:
		d.Kind, d.Words = record.Torn, fmt.Sprintf("none of its %d events is left; the branch relo/%s in its repository is as it was", was.seq, id)
		return now, d, nil
	case was.seq > j.seq:
		d.Kind, d.Words = record.Torn, fmt.Sprintf("its last %d events are missing; it goes on from event %d, the last whole one, and does again what came after", was.seq-j.seq, j.seq)
	case was.whole():
		now.line = was.line
	}
	if err := writeIndex(ctx, tx, now); err != nil {
		return now, nil, err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM snapshots WHERE job = ? AND seq > ?`, id, j.seq); err != nil {
		return now, nil, fmt.Errorf("drop the snapshot of %s: %w", id, err)
	}
	if err := retask(ctx, tx, id, j.events); err != nil {
		return now, nil, err
	}
	return now, d, keepDamage(ctx, tx, d)
}

// retask fills the index of tasks from a job's events again.
func retask(ctx context.Context, tx *sql.Tx, id string, events []job.Event) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM tasks WHERE job = ?`, id); err != nil {
		return fmt.Errorf("clear the tasks of %s: %w", id, err)
	}
	for _, e := range events {
		if added, ok := e.Body.(*job.Added); ok {
			if err := writeTask(ctx, tx, added.ID, id, added.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Verify checks the whole chain of a job and its entry in the index, and changes
// nothing. It fails with a *record.DamageError, or a
// *record.CorruptError.
func (s *Store) Verify(ctx context.Context, id string) error {
	i := index{id: id}
	err := s.reader.QueryRowContext(ctx, `SELECT `+indexColumns+` FROM jobs WHERE id = ?`, id).Scan(i.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = record.ErrUnknown
	}
	if err != nil {
		return s.said("verify job "+id, err)
	}
	j, err := unroll(ctx, s.reader, id, 0, -1)
	if d, ok := errors.AsType[*record.DamageError](err); ok {
		s.note(d)
		return d
	}
	switch {
	case err != nil:
		return s.said("verify job "+id, err)
	case j.seq < i.seq:
		return &record.DamageError{Job: id, Seq: j.seq, Kind: record.Torn, Words: fmt.Sprintf("its last %d events are missing", i.seq-j.seq)}
	case !i.whole():
		return &record.DamageError{Job: id, Seq: j.seq, Kind: record.Mended, Words: "its entry in the list of jobs is damaged; it is made again from its events when it is read"}
	}
	return nil
}

// VerifyAll checks the file's structure and every job. It fails when the file
// itself is corrupt; damage to jobs is its result.
func (s *Store) VerifyAll(ctx context.Context) ([]*record.DamageError, error) {
	if words, err := integrity(ctx, s.reader); err != nil || words != "" {
		if err == nil {
			err = s.corrupt(errors.New(words))
		}
		return nil, s.said("check the record", err)
	}
	return s.verifyJobs(ctx)
}

func (s *Store) verifyJobs(ctx context.Context) ([]*record.DamageError, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT id FROM jobs`)
	if err != nil {
		return nil, s.said("read the jobs", err)
	}
	ids, err := collect(rows, func(id *string) []any { return []any{loosely(id)} })
	if err != nil {
		return nil, s.said("read the jobs", err)
	}
	var out []*record.DamageError
	for _, id := range ids {
		err := s.Verify(ctx, id)
		if d, ok := errors.AsType[*record.DamageError](err); ok {
			out = append(out, d)
		} else if err != nil {
			return out, err
		}
	}
	return out, nil
}

// integrity asks SQLite itself: indexes against tables, order, every page. Words
// are what it found, and empty when all is well.
func integrity(ctx context.Context, db asker) (words string, err error) {
	rows, err := db.QueryContext(ctx, `PRAGMA integrity_check(3)`)
	if err != nil {
		return "", err
	}
	list, err := collect(rows, func(t *string) []any { return []any{t} })
	if err != nil {
		return "", err
	}
	if len(list) == 1 && list[0] == "ok" {
		return "", nil
	}
	return strings.Join(list, "; "), nil
}
