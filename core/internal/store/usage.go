package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/record"
)

const openRow = `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?, NULL, 0, ?)`

// Reserve holds a request against the budget and, when it is allowed, writes
// its row as open: one transaction, so that callers at once cannot pass the
// bound together. Words say why when it is not granted. A settled request
// without a known cost counts as what its row still reserves.
func (s *Store) Reserve(ctx context.Context, r ledger.Row, b ledger.Budget) (v record.Verdict, words string, err error) {
	err = s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		settled, all, err := spent(ctx, tx, r)
		if err != nil {
			return err
		}
		if ok, why := b.Allow(settled, r.Reserved); !ok {
			v, words = record.Refused, why
			return nil
		}
		if ok, why := b.Allow(all, r.Reserved); !ok {
			v, words = record.Wait, why
			return nil
		}
		v = record.Granted
		_, err = tx.ExecContext(ctx, openRow,
			r.ID, r.Time.UnixMilli(), r.Job, r.Task, r.Attempt, r.Traffic, string(r.Model), r.Place, r.Reserved, r.Pictures, r.PictureTokens, ledger.OutcomeOpen)
		if err != nil {
			return fmt.Errorf("reserve: %w", err)
		}
		return nil
	})
	return v, words, err
}

// spent sums what the job and the day have cost: settled alone, and with what
// is under way. A settled row of unknown cost counts as its reservation.
func spent(ctx context.Context, tx *sql.Tx, r ledger.Row) (settled, all ledger.Spent, err error) {
	day := r.Time.UTC().Truncate(24 * time.Hour)
	const sums = `SELECT coalesce(sum(CASE WHEN outcome != 'open' THEN coalesce(cost, reserved, 0) END), 0), coalesce(sum(coalesce(cost, reserved, 0)), 0) FROM usage WHERE `
	if err := tx.QueryRowContext(ctx, sums+`job = ?`, r.Job).Scan(&settled.Job, &all.Job); err != nil {
		return settled, all, fmt.Errorf("sum the job's costs: %w", err)
	}
	if err := tx.QueryRowContext(ctx, sums+`time >= ?`, day.UnixMilli()).Scan(&settled.Day, &all.Day); err != nil {
		return settled, all, fmt.Errorf("sum the day's costs: %w", err)
	}
	return settled, all, nil
}

// SettleRow ends a row that belongs to no job, and so to no event.
func (s *Store) SettleRow(ctx context.Context, r ledger.Row) error {
	return s.do(ctx, func(ctx context.Context, tx *sql.Tx) error { return settle(ctx, tx, r) })
}

// Unsent takes back a reservation whose request never left this machine.
func (s *Store) Unsent(ctx context.Context, id string) error {
	return s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM usage WHERE id = ? AND outcome = ?`, id, ledger.OutcomeOpen); err != nil {
			return fmt.Errorf("take back request %s: %w", id, err)
		}
		return nil
	})
}

// Rows gives the ledger's rows, oldest first: of one job, or of all jobs since
// a time when id is empty.
func (s *Store) Rows(ctx context.Context, id string, since time.Time) ([]ledger.Row, error) {
	where, args := ofJob(id, since)
	//nolint:gosec // where is one of two fixed texts; what comes from outside is in args
	rows, err := s.reader.QueryContext(ctx, `SELECT id, time, job, task, attempt, traffic, model, place, reserved, tokens_in, tokens_out,
		tokens_cached, pictures, picture_tokens, cost, ms, outcome FROM usage WHERE `+where+` ORDER BY time, id`, args...)
	if err != nil {
		return nil, s.said("read the ledger", err)
	}
	type flat struct {
		ledger.Row
		ms int64
	}
	list, err := collect(rows, func(f *flat) []any {
		return []any{
			&f.ID, &f.ms, &f.Job, &f.Task, &f.Attempt, &f.Traffic, &f.Model, &f.Place, &f.Reserved, &f.Usage.TokensIn, &f.Usage.TokensOut,
			&f.Usage.TokensCached, &f.Pictures, &f.PictureTokens, &f.Cost, &f.MS, &f.Outcome,
		}
	})
	if err != nil {
		return nil, s.said("read the ledger", err)
	}
	out := make([]ledger.Row, len(list))
	for i, f := range list {
		f.Time = time.UnixMilli(f.ms).UTC()
		out[i] = f.Row
	}
	return out, nil
}

// ofJob is the condition of rows of one job, or of all, since a time.
func ofJob(id string, since time.Time) (where string, args []any) {
	if id == "" {
		return `time >= ?`, []any{since.UnixMilli()}
	}
	return `job = ? AND time >= ?`, []any{id, since.UnixMilli()}
}

// Sums gives the ledger's rows summed by job, task, attempt, traffic and model,
// of one job or of all (id empty), since a time: ordered by job, then by the time
// of their first rows.
func (s *Store) Sums(ctx context.Context, id string, since time.Time) ([]record.Sum, error) {
	where, args := ofJob(id, since)
	//nolint:gosec // as above
	rows, err := s.reader.QueryContext(ctx, `SELECT job, task, attempt, traffic, model, count(*), sum(pictures), sum(tokens_in), sum(tokens_out),
		sum(tokens_cached), CASE WHEN count(cost) = count(*) THEN sum(cost) END, total(cost) FROM usage WHERE `+where+`
		GROUP BY job, task, attempt, traffic, model ORDER BY job, min(time)`, args...)
	if err != nil {
		return nil, s.said("sum the ledger", err)
	}
	list, err := collect(rows, func(m *record.Sum) []any {
		return []any{
			&m.Job, &m.Task, &m.Attempt, &m.Traffic, &m.Model, &m.Requests, &m.Pictures, &m.TokensIn, &m.TokensOut, &m.TokensCached, &m.Cost, &m.Known,
		}
	})
	return list, s.said("sum the ledger", err)
}
