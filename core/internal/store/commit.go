package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/record"
)

// groupMax bounds how many commits share one fsync: far above the number of
// workers on one machine, small enough that one group stays under a millisecond
// of SQL.
const groupMax = 128

// errClosed answers a commit that comes after Close.
var errClosed = errors.New("the record is closed")

type commit struct {
	ctx  context.Context //nolint:containedctx // it travels with the work through the queue, for one commit only
	work func(ctx context.Context, tx *sql.Tx) error
	done chan error
}

// Commit writes a batch whole, or nothing of it: record.ErrStale when a lease
// is not as the batch says. When it returns nil the batch is on the disk.
//
// A job whose journal is damaged in the middle takes no more events: a
// *record.DamageError says so.
func (s *Store) Commit(ctx context.Context, b record.Batch) error {
	if d := s.readOnly(b.Job); d != nil && len(b.Events) > 0 {
		return d
	}
	err := s.do(ctx, func(ctx context.Context, tx *sql.Tx) error { return apply(ctx, tx, b) })
	if d, ok := errors.AsType[*record.DamageError](err); ok {
		s.note(d)
	}
	return err
}

func (s *Store) do(ctx context.Context, work func(context.Context, *sql.Tx) error) error {
	c := commit{ctx: ctx, work: work, done: make(chan error, 1)}
	select {
	case s.queue <- c:
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-c.done // the writer always answers; leaving early would hide what was written
}

// write is the one writer: it takes what has queued up and commits it together,
// so that many small commits share one fsync.
func (s *Store) write() {
	defer close(s.done)
	for {
		var group []commit
		select {
		case first := <-s.queue:
			group = append(group, first)
		case <-s.closing:
			return
		}
	more:
		for len(group) < groupMax {
			select {
			case next := <-s.queue:
				group = append(group, next)
			default:
				break more
			}
		}
		s.commitGroup(group)
	}
}

func (s *Store) commitGroup(group []commit) {
	results := make([]error, len(group))
	err := func() error {
		ctx := context.Background() // a caller that leaves must not tear the others' group apart
		if err := s.breakSeal(); err != nil {
			return err
		}
		tx, err := s.writer.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("begin a commit: %w", err)
		}
		defer func() { _ = tx.Rollback() }() // after Commit it does nothing
		for i, c := range group {
			if results[i], err = inSavepoint(ctx, tx, c); err != nil {
				return err
			}
		}
		if !slices.Contains(results, nil) {
			return nil // nothing was written
		}
		count := s.commits + 1
		if _, err := tx.ExecContext(ctx, `UPDATE meta SET value = ? WHERE key = 'commits'`, count); err != nil {
			return fmt.Errorf("count the commit: %w", err)
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("commit to the record: %w", err)
		}
		s.commits = count
		_ = s.writeMark(count) // the commit is on the disk: a mark that lags only says less
		return nil
	}()
	for i, c := range group {
		if err != nil {
			results[i] = err
		}
		c.done <- s.judge(results[i])
	}
}

// breakSeal takes the seal away before the file changes.
func (s *Store) breakSeal() error {
	if !s.sealed {
		return nil
	}
	if err := unseal(s.file); err != nil {
		return fmt.Errorf("take the seal of the record away: %w", err)
	}
	s.sealed = false
	return nil
}

// inSavepoint runs one commit so that its failure undoes it alone. The second
// error is the transaction's own and ends the group.
func inSavepoint(ctx context.Context, tx *sql.Tx, c commit) (result, broken error) {
	if err := c.ctx.Err(); err != nil {
		return err, nil
	}
	if _, err := tx.ExecContext(ctx, `SAVEPOINT one`); err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	if result = c.work(ctx, tx); result != nil {
		if _, err := tx.ExecContext(ctx, `ROLLBACK TO one`); err != nil {
			return nil, fmt.Errorf("undo a commit: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, `RELEASE one`); err != nil {
		return nil, fmt.Errorf("release a savepoint: %w", err)
	}
	return result, nil
}

func apply(ctx context.Context, tx *sql.Tx, b record.Batch) error {
	if err := applyLeases(ctx, tx, b); err != nil {
		return err
	}
	if err := applyEvents(ctx, tx, b); err != nil {
		return err
	}
	for _, m := range b.Outbox {
		payload := append([]byte{}, m.Payload...) // nil would be NULL
		if _, err := tx.ExecContext(ctx, `INSERT INTO outbox (subject, id, payload) VALUES (?, ?, ?)`, m.Subject, m.ID, payload); err != nil {
			return fmt.Errorf("write the outbox: %w", err)
		}
	}
	if b.Settle != nil {
		return settle(ctx, tx, *b.Settle)
	}
	return nil
}

// applyLeases is where ownership is decided: conditional updates, so that two
// live leases of a task cannot be (05 §1, I6).
func applyLeases(ctx context.Context, tx *sql.Tx, b record.Batch) error {
	if l := b.Held; l != nil {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM leases WHERE task = ? AND attempt = ? AND worker = ? AND epoch = ? AND live = 1`,
			l.Task, l.Attempt, l.Worker, l.Epoch).Scan(&n)
		if err != nil {
			return fmt.Errorf("read a lease: %w", err)
		}
		if n == 0 {
			return record.ErrStale
		}
	}
	for _, l := range b.Free {
		if _, err := tx.ExecContext(ctx, `UPDATE leases SET live = 0 WHERE task = ? AND epoch = ?`, l.Task, l.Epoch); err != nil {
			return fmt.Errorf("end a lease: %w", err)
		}
	}
	for _, l := range b.Grants {
		if err := grant(ctx, tx, l); err != nil {
			return err
		}
	}
	return nil
}

func grant(ctx context.Context, tx *sql.Tx, l record.Lease) error {
	res, err := tx.ExecContext(ctx, `INSERT INTO leases SELECT ?1, ?2, ?3, ?4, ?5, 1 WHERE ?5 = 1 OR EXISTS (SELECT 1 FROM leases WHERE task = ?1)
		ON CONFLICT (task) DO UPDATE SET attempt = excluded.attempt, worker = excluded.worker, epoch = excluded.epoch, live = 1
		WHERE leases.live = 0 AND leases.epoch = excluded.epoch - 1`, l.Task, l.Job, l.Attempt, l.Worker, l.Epoch)
	if err != nil {
		return fmt.Errorf("grant a lease: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("grant a lease: %w", err)
	}
	if n == 0 {
		return record.ErrStale
	}
	return nil
}

func settle(ctx context.Context, tx *sql.Tx, r ledger.Row) error {
	share := r.Reserved // of a budget, where the cost stays unknown
	if r.Cost != nil {
		share = nil
	}
	res, err := tx.ExecContext(ctx, `UPDATE usage SET tokens_in = ?, tokens_out = ?, tokens_cached = ?, pictures = ?, picture_tokens = ?,
		cost = ?, ms = ?, outcome = ?, reserved = ? WHERE id = ?`,
		r.Usage.TokensIn, r.Usage.TokensOut, r.Usage.TokensCached, r.Pictures, r.PictureTokens, r.Cost, r.MS, r.Outcome, share, r.ID)
	if err != nil {
		return fmt.Errorf("settle request %s: %w", r.ID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("settle request %s: %w", r.ID, record.ErrUnknown)
	}
	return nil
}
