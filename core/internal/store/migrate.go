package store

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
)

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

// steps lead from each schema to the next, forward only; a new record takes them
// all. A step that was released is never changed: the next one mends it. It
// must not call code that a later step would want otherwise, but for the chain.
var steps = [Version]func(ctx context.Context, tx *sql.Tx) error{
	func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, schema1)
		return err
	},
	func(ctx context.Context, tx *sql.Tx) error {
		// Schema 1 was made without a transaction: a crash may have left half of it.
		if _, err := tx.ExecContext(ctx, schema1+schema2); err != nil {
			return err
		}
		return chainAll(ctx, tx)
	},
}

// Version of the schema that this program writes.
const Version = 2

// migrate takes the record from its schema to this program's, each step in a
// transaction of its own and after a backup; a crash leaves it between two
// steps. A record of a later schema is refused before anything else is touched.
func (s *Store) migrate(ctx context.Context) error {
	have, err := s.version(ctx)
	if err != nil {
		return s.said("read the record's version", err)
	}
	if have > Version {
		return fmt.Errorf("the record was written by a later Relo (schema %d, this one knows %d): use that version", have, Version)
	}
	old := have > 0 // there is something to keep: a new record grows through the same steps
	for ; have < Version; have++ {
		if err := s.step(ctx, have, old); err != nil {
			return s.said(fmt.Sprintf("bring the record from schema %d to %d", have, have+1), err)
		}
	}
	return nil
}

func (s *Store) step(ctx context.Context, have int, old bool) error {
	saved := ""
	if old {
		words, err := integrity(ctx, s.writer)
		if err != nil {
			return err
		}
		if words != "" {
			return s.corrupt(fmt.Errorf("SQLite says: %s", words))
		}
		if saved, err = backup(ctx, s.file, have, time.Now()); err != nil {
			return fmt.Errorf("back it up before: %w", err)
		}
	}
	err := s.alone(ctx, func(tx *sql.Tx) error {
		if err := steps[have](ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, have+1))
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO meta VALUES ('schema', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1`, have+1)
		}
		return err
	})
	if err != nil && saved != "" {
		return errors.Join(err, os.Remove(saved)) // the record is as it was: a copy of it would push out a better one
	}
	return err
}

// version gives the schema of the record; 0 for a new one. It stands in two
// places since schema 2, so that a damaged number is not taken for another schema.
func (s *Store) version(ctx context.Context) (int, error) {
	var tables, header int
	if err := s.writer.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	if err := s.writer.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&header); err != nil {
		return 0, err
	}
	var text string
	err := s.writer.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'schema'`).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) && header == 0 {
		return 0, nil // a crash in the middle of making it
	}
	if err != nil {
		return 0, s.corrupt(err)
	}
	have, err := strconv.Atoi(text)
	if err != nil || have < 1 || have != max(header, 1) {
		return 0, s.corrupt(fmt.Errorf("its schema is %q in one place and %d in another", text, header))
	}
	return have, nil
}

// chainAll gives the events of schema 1 their chain, and each job its head and
// its tasks. Numbers that are missing stay missing: the chain shows the gap.
func chainAll(ctx context.Context, tx *sql.Tx) error {
	ids, err := jobsOfEvents(ctx, tx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := chainOne(ctx, tx, id); err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
	}
	return nil
}

func jobsOfEvents(ctx context.Context, tx *sql.Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT DISTINCT job FROM events`)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(id *string) []any { return []any{id} })
}

func chainOne(ctx context.Context, tx *sql.Tx, id string) error {
	type old struct {
		seq        int64
		kind, text string
	}
	rows, err := tx.QueryContext(ctx, `SELECT seq, kind, json FROM events WHERE job = ? ORDER BY seq`, id)
	if err != nil {
		return err
	}
	list, err := collect(rows, func(o *old) []any { return []any{&o.seq, &o.kind, &o.text} })
	if err != nil {
		return err
	}
	head, seq, broken := genesis(id), int64(0), false
	for _, o := range list {
		// A gap, or what is no JSON, is damage of old: nothing is chained from there
		// on, so that it shows as what it is.
		if o.seq == seq+1 && !broken && json.Valid([]byte(o.text)) {
			head = link(head, id, o.seq, o.kind, []byte(o.text))
		} else {
			broken = true
		}
		seq = o.seq
		if _, err := tx.ExecContext(ctx, `UPDATE events SET hash = ? WHERE job = ? AND seq = ?`, head, id, o.seq); err != nil {
			return err
		}
		if o.kind == string(job.KindTaskAdded) {
			var added struct{ ID, Key string }
			if json.Unmarshal([]byte(o.text), &added) == nil && added.ID != "" {
				if err := writeTask(ctx, tx, added.ID, id, added.Key); err != nil {
					return err
				}
			}
		}
	}
	i := index{id: id}
	err = tx.QueryRowContext(ctx, `SELECT title, status, seq FROM jobs WHERE id = ?`, id).Scan(&i.title, &i.status, &i.seq)
	if err != nil || i.seq != seq {
		return nil //nolint:nilerr // no entry, or one of another length: inspect makes it again and says so
	}
	i.head = head
	return writeIndex(ctx, tx, i)
}
