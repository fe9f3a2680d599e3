package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/record"
)

// index is a job's row in the index of jobs. All of it but line can be made
// again from the events.
type index struct {
	id, title, status string
	seq               int64
	line, head, sum   []byte
}

const indexColumns = `id, title, status, seq, line, head, sum`

func (i *index) fields() []any {
	return []any{loosely(&i.id), loosely(&i.title), loosely(&i.status), loosely(&i.seq), loosely(&i.line), loosely(&i.head), loosely(&i.sum)}
}

// loose takes a cell of any type, since a damaged one may hold one that was
// never written there: it is then empty, and the digest does not fit.
type loose[T any] struct{ to *T }

func loosely[T any](to *T) sql.Scanner { return loose[T]{to} }

// Scan never fails.
func (l loose[T]) Scan(v any) error {
	if b, ok := v.([]byte); ok {
		v = bytes.Clone(b) // the driver's own memory
	}
	*l.to, _ = v.(T)
	return nil
}

// digest guards the row: what a list shows is not looked up in the events.
func (i *index) digest() []byte { return digest(i.id, i.title, i.status, i.seq, i.line, i.head) }

func digest(parts ...any) []byte {
	h := sha256.New()
	for _, p := range parts {
		var text []byte
		switch p := p.(type) {
		case string:
			text = []byte(p)
		case []byte:
			text = p
		case int64:
			text = binary.BigEndian.AppendUint64(nil, uint64(p)) //nolint:gosec // all its bits
		}
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write(text)
	}
	return h.Sum(nil)
}

func (i *index) whole() bool { return bytes.Equal(i.sum, i.digest()) }

func (i *index) entry() record.Entry {
	return record.Entry{ID: i.id, Title: i.title, Status: job.Status(i.status), Seq: i.seq, Line: i.line}
}

// readIndex gives what a job's next event chains to. It refuses a job whose
// newest event is not the one that the index names.
func readIndex(ctx context.Context, tx *sql.Tx, id string) (index, error) {
	i := index{id: id}
	var last []byte
	err := tx.QueryRowContext(ctx, `SELECT `+indexColumns+`, (SELECT hash FROM events e WHERE e.job = jobs.id AND e.seq = jobs.seq) FROM jobs WHERE id = ?`, id).
		Scan(append(i.fields(), &last)...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		i.head = genesis(id)
		return i, nil
	case err != nil:
		return i, fmt.Errorf("read the index of %s: %w", id, err)
	case !bytes.Equal(i.head, last) || !i.whole():
		return i, flipped(id, i.seq)
	}
	return i, nil
}

func writeIndex(ctx context.Context, tx *sql.Tx, i index) error {
	i.sum = i.digest()
	_, err := tx.ExecContext(ctx, `INSERT INTO jobs (`+indexColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET title = excluded.title, status = excluded.status, seq = excluded.seq, line = excluded.line,
		head = excluded.head, sum = excluded.sum`, i.id, i.title, i.status, i.seq, i.line, i.head, i.sum)
	if err != nil {
		return fmt.Errorf("write the index of %s: %w", i.id, err)
	}
	return nil
}

// Jobs lists the index of jobs, newest first.
func (s *Store) Jobs(ctx context.Context) ([]record.Entry, error) {
	return s.entries(ctx, `ORDER BY id DESC`)
}

// JobsWith lists the jobs that stand at one of these, newest first.
func (s *Store) JobsWith(ctx context.Context, statuses ...job.Status) ([]record.Entry, error) {
	args := make([]any, len(statuses))
	for i, st := range statuses {
		args[i] = string(st)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(statuses)), ", ")
	return s.entries(ctx, `WHERE status IN (`+marks+`) ORDER BY id DESC`, args...)
}

// Job gives a job's row of the index; ok is false when there is no such job.
func (s *Store) Job(ctx context.Context, id string) (e record.Entry, ok bool, err error) {
	list, err := s.entries(ctx, `WHERE id = ?`, id)
	if err != nil || len(list) == 0 {
		return e, false, err
	}
	return list[0], true, nil
}

// entries reads rows of the index. One that is damaged is made again from the
// job's events before it is given out.
func (s *Store) entries(ctx context.Context, where string, args ...any) ([]record.Entry, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT `+indexColumns+` FROM jobs `+where, args...) //nolint:gosec // fixed words; what comes from outside is in args
	if err != nil {
		return nil, s.said("read the jobs", err)
	}
	list, err := collect(rows, (*index).fields)
	if err != nil {
		return nil, s.said("read the jobs", err)
	}
	out := make([]record.Entry, 0, len(list))
	for _, i := range list {
		if i.whole() {
			out = append(out, i.entry())
			continue
		}
		again, err := s.mend(ctx, i.id)
		if err != nil {
			return nil, err
		}
		out = append(out, again.entry())
	}
	return out, nil
}

// maxText follows every text that begins with a prefix, in SQLite's order of bytes.
const maxText = "\U0010FFFF"

// Find gives the jobs and tasks whose id begins with prefix, at most limit of
// them; an empty prefix means nothing.
func (s *Store) Find(ctx context.Context, prefix string, limit int) ([]record.Found, error) {
	if prefix == "" {
		return nil, nil
	}
	return s.lookUp(ctx, `SELECT id, '', '' FROM jobs WHERE id >= ?1 AND id < ?2
		UNION ALL SELECT job, id, key FROM tasks WHERE id >= ?1 AND id < ?2 LIMIT ?3`, prefix, prefix+maxText, limit)
}

// FindKey gives the tasks with this key of the jobs whose id begins with jobPrefix.
func (s *Store) FindKey(ctx context.Context, jobPrefix, key string) ([]record.Found, error) {
	return s.lookUp(ctx, `SELECT job, id, key FROM tasks WHERE key = ? AND job >= ? AND job < ? ORDER BY job`, key, jobPrefix, jobPrefix+maxText)
}

func (s *Store) lookUp(ctx context.Context, query string, args ...any) ([]record.Found, error) {
	rows, err := s.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.said("look for an id", err)
	}
	list, err := collect(rows, func(f *record.Found) []any { return []any{&f.Job, &f.Task, &f.Key} })
	return list, s.said("look for an id", err)
}
