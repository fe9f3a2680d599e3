package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/record"
)

// Events gives the events of a job after seq, oldest first, at most limit of
// them (0: all). Each is checked against the one before it. Where the journal is
// damaged in the middle the events before that place come with a
// *record.DamageError. Where its end is missing the job goes on from the last
// whole event, and Found says what was lost.
func (s *Store) Events(ctx context.Context, id string, after int64, limit int) ([]job.Event, error) {
	if limit <= 0 {
		limit = -1
	}
	var last int64 // read first: events may be added meanwhile, and are never taken away
	err := s.reader.QueryRowContext(ctx, `SELECT seq FROM jobs WHERE id = ?`, id).Scan(loosely(&last))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, s.said("read the events of "+id, err)
	}
	j, err := unroll(ctx, s.reader, id, after, limit)
	if d, ok := errors.AsType[*record.DamageError](err); ok {
		s.note(d)
		return j.events, d
	}
	if err != nil {
		return nil, s.said("read the events of "+id, err)
	}
	if all := limit < 0 || len(j.events) < limit; all && j.seq < last {
		if _, err := s.mend(ctx, id); err != nil {
			return j.events, err
		}
	}
	return j.events, nil
}

// Leases lists the live leases.
func (s *Store) Leases(ctx context.Context) ([]record.Lease, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT task, job, attempt, worker, epoch FROM leases WHERE live = 1`)
	if err != nil {
		return nil, s.said("read the leases", err)
	}
	list, err := collect(rows, func(l *record.Lease) []any { return []any{&l.Task, &l.Job, &l.Attempt, &l.Worker, &l.Epoch} })
	return list, s.said("read the leases", err)
}

// errRow says that a cell holds what is never written there.
var errRow = errors.New("a row cannot be read")

// collect reads every row into a T through the places that fields gives.
func collect[T any](rows *sql.Rows, fields func(*T) []any) ([]T, error) {
	defer func() { _ = rows.Close() }()
	var out []T
	for rows.Next() {
		var one T
		if err := rows.Scan(fields(&one)...); err != nil {
			return nil, fmt.Errorf("%w: %w", errRow, err)
		}
		out = append(out, one)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	return out, nil
}

// Outbox gives the oldest messages that wait to be published.
func (s *Store) Outbox(ctx context.Context, limit int) ([]record.Message, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT seq, subject, id, payload FROM outbox ORDER BY seq LIMIT ?`, limit)
	if err != nil {
		return nil, s.said("read the outbox", err)
	}
	list, err := collect(rows, func(m *record.Message) []any { return []any{&m.Seq, &m.Subject, &m.ID, &m.Payload} })
	return list, s.said("read the outbox", err)
}

// Published takes messages out of the outbox.
func (s *Store) Published(ctx context.Context, seqs []int64) error {
	return s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, q := range seqs {
			if _, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE seq = ?`, q); err != nil {
				return fmt.Errorf("clear the outbox: %w", err)
			}
		}
		return nil
	})
}
