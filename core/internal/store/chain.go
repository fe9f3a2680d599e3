package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/record"
)

// genesis is what a job's first event chains from: another for each job, so that
// events of one cannot stand in another.
func genesis(id string) []byte {
	sum := sha256.Sum256([]byte("relo journal 1\x00" + id))
	return sum[:]
}

// link is the hash of an event: SHA-256 of the hash before it, the job, the
// number, the kind and the JSON, each with its end marked.
func link(prev []byte, id string, seq int64, kind string, text []byte) []byte {
	h := sha256.New()
	h.Write(prev)
	var size [8]byte
	for _, part := range [][]byte{[]byte(id), binary.BigEndian.AppendUint64(nil, uint64(seq)), []byte(kind), text} { //nolint:gosec // a count from 1
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return h.Sum(nil)
}

// row is an event as it lies in the file, before anything of it is believed: a
// damaged cell may hold a value of any type.
type row struct{ seq, kind, text, hash any }

func (r *row) fields() []any { return []any{&r.seq, &r.kind, &r.text, &r.hash} }

// follows reports whether r is the event after the one numbered before, whose
// hash is prev, and gives its own hash and JSON.
func (r *row) follows(id string, before int64, prev []byte) (hash, text []byte, ok bool) {
	seq, isSeq := r.seq.(int64)
	kind, isKind := r.kind.(string)
	words, isText := r.text.(string)
	hash, isHash := r.hash.([]byte)
	if !isSeq || !isKind || !isText || !isHash || seq != before+1 {
		return nil, nil, false
	}
	text = []byte(words)
	return hash, text, bytes.Equal(hash, link(prev, id, seq, kind, text))
}

// journal is the part of a job's events that the chain vouches for.
type journal struct {
	events []job.Event
	seq    int64  // of the last
	head   []byte // its hash
}

// asker is a database, or a transaction on it.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// unroll reads the events of a job after a number and checks each against the
// one before it. Behind the first that is not what was written nothing is
// believed: what is before it comes with a *record.DamageError.
func unroll(ctx context.Context, db asker, id string, after int64, limit int) (journal, error) {
	j := journal{seq: after, head: genesis(id)}
	if after > 0 {
		err := db.QueryRowContext(ctx, `SELECT hash FROM events WHERE job = ? AND seq = ?`, id, after).Scan(&j.head)
		if errors.Is(err, sql.ErrNoRows) {
			j.head = nil // what comes after it, if anything does, follows nothing
		} else if err != nil {
			return j, err
		}
	}
	rows, err := db.QueryContext(ctx, `SELECT seq, kind, json, hash FROM events WHERE job = ? AND seq > ? ORDER BY seq LIMIT ?`, id, after, limit)
	if err != nil {
		return j, err
	}
	list, err := collect(rows, (*row).fields)
	if err != nil {
		return j, err
	}
	j.events = make([]job.Event, 0, len(list))
	for _, r := range list {
		hash, text, ok := r.follows(id, j.seq, j.head)
		if !ok {
			return j, flipped(id, j.seq+1)
		}
		var e job.Event
		if err := json.Unmarshal(text, &e); err != nil {
			d := flipped(id, j.seq+1)
			d.Words = fmt.Sprintf("event %d cannot be read (%v). ", j.seq+1, err) + d.Words
			return j, d
		}
		j.events, j.seq, j.head = append(j.events, e), j.seq+1, hash
	}
	return j, nil
}

func flipped(id string, seq int64) *record.DamageError {
	return &record.DamageError{Job: id, Seq: seq, Kind: record.Flipped, Words: fmt.Sprintf(
		"event %d is not what was written. What came before it is shown, nothing from there on is believed, and the job cannot go on; other jobs can. "+
			"The branch relo/%s in its repository is as it was", seq, id)}
}

// applyEvents writes a batch's events, each chained to the one before, and what
// is found by them: the job's row of the index, its tasks, its snapshot.
func applyEvents(ctx context.Context, tx *sql.Tx, b record.Batch) error {
	if len(b.Events) == 0 && b.Line == nil && b.Snapshot == nil {
		return nil
	}
	have, err := readIndex(ctx, tx, b.Job)
	if err != nil {
		return err
	}
	if len(b.Events) == 0 && have.seq == 0 {
		return fmt.Errorf("job %s: %w", b.Job, record.ErrUnknown)
	}
	for _, e := range b.Events {
		if e.Seq != have.seq+1 {
			return fmt.Errorf("write event %d of %s: the last one is %d", e.Seq, b.Job, have.seq)
		}
		text, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event %d of %s: %w", e.Seq, b.Job, err)
		}
		have.head = link(have.head, b.Job, e.Seq, string(e.Kind), text)
		if _, err := tx.ExecContext(ctx, `INSERT INTO events (job, seq, kind, json, hash) VALUES (?, ?, ?, ?, ?)`,
			b.Job, e.Seq, string(e.Kind), string(text), have.head); err != nil {
			return fmt.Errorf("write event %d of %s: %w", e.Seq, b.Job, err)
		}
		have.seq = e.Seq
		if added, ok := e.Body.(*job.Added); ok {
			if err := writeTask(ctx, tx, added.ID, b.Job, added.Key); err != nil {
				return err
			}
		}
	}
	if len(b.Events) > 0 {
		have.title, have.status = b.Title, string(b.Status)
	}
	if b.Line != nil {
		have.line = b.Line
	}
	if err := writeIndex(ctx, tx, have); err != nil {
		return err
	}
	return writeSnapshot(ctx, tx, b.Job, b.Snapshot)
}

func writeTask(ctx context.Context, tx *sql.Tx, id, ofJob, key string) error {
	if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO tasks (id, job, key) VALUES (?, ?, ?)`, id, ofJob, key); err != nil {
		return fmt.Errorf("write task %s: %w", id, err)
	}
	return nil
}
