package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/relo-dev/relo/core/internal/record"
)

// writeSnapshot keeps the newest snapshot of a job, with the chain's hash there.
func writeSnapshot(ctx context.Context, tx *sql.Tx, id string, p *record.Snapshot) error {
	if p == nil {
		return nil
	}
	var head []byte
	if err := tx.QueryRowContext(ctx, `SELECT hash FROM events WHERE job = ? AND seq = ?`, id, p.Seq).Scan(&head); err != nil {
		return fmt.Errorf("snapshot of %s at %d: %w", id, p.Seq, err)
	}
	state := append([]byte{}, p.State...) // nil would be NULL
	_, err := tx.ExecContext(ctx, `INSERT INTO snapshots (job, seq, head, state, sum) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (job) DO UPDATE SET seq = excluded.seq, head = excluded.head, state = excluded.state, sum = excluded.sum`,
		id, p.Seq, head, state, digest(id, p.Seq, head, state))
	if err != nil {
		return fmt.Errorf("write the snapshot of %s: %w", id, err)
	}
	return nil
}

// Snapshot gives the newest snapshot of a job; Events from its Seq go on where
// it ends. ok is false when there is none, or none that can be believed: one that
// is damaged, or of another history than the journal's. The events are the truth
// then.
func (s *Store) Snapshot(ctx context.Context, id string) (p record.Snapshot, ok bool, err error) {
	if s.readOnly(id) != nil {
		return p, false, nil
	}
	p, ok, err = readSnapshot(ctx, s.reader, id)
	if errors.Is(err, errSnapshot) {
		s.note(&record.DamageError{Job: id, Seq: p.Seq, Kind: record.Mended, Words: "its snapshot is damaged; its state is made from its events, nothing is lost"})
		return record.Snapshot{}, false, nil
	}
	return p, ok, s.said("read the snapshot of "+id, err)
}

// errSnapshot says that a snapshot is there and is not believed.
var errSnapshot = errors.New("the snapshot is damaged")

func readSnapshot(ctx context.Context, db asker, id string) (p record.Snapshot, ok bool, err error) {
	var head, sum, hash []byte
	err = db.QueryRowContext(ctx, `SELECT seq, head, state, sum, (SELECT hash FROM events e WHERE e.job = s.job AND e.seq = s.seq)
		FROM snapshots s WHERE job = ?`, id).Scan(loosely(&p.Seq), loosely(&head), loosely(&p.State), loosely(&sum), loosely(&hash))
	if errors.Is(err, sql.ErrNoRows) {
		return record.Snapshot{}, false, nil
	}
	if err != nil {
		return record.Snapshot{}, false, err
	}
	if !bytes.Equal(head, hash) || !bytes.Equal(sum, digest(id, p.Seq, head, p.State)) {
		return p, false, errSnapshot
	}
	return p, true, nil
}
