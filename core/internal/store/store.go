// Package store is the record: one embedded SQLite file with the events of every
// job, the leases, the ledger and the outbox. A commit is on the disk before it
// returns. The package decides nothing, and nothing but it speaks SQL.
package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite", pure Go
)

//go:embed schema.sql
var schema string

// Version of the schema that this program writes.
const Version = 1

// readers bounds the connections that only read: they never wait for the writer
// in WAL mode, and a few serve every view of one person.
const readers = 4

// Store is an open record. It is safe for concurrent use.
type Store struct {
	writer  *sql.DB // one connection
	reader  *sql.DB
	blobs   string
	queue   chan commit
	closing chan struct{}
	done    chan struct{}
	lock    *os.File
}

// Open opens or makes the record in dir and takes its lock. It fails with
// *LockedError when another process owns the record.
func Open(ctx context.Context, dir string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "blobs"), 0o700); err != nil { //nolint:gosec // Relo's own state folder
		return nil, fmt.Errorf("make the record's folder: %w", err)
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{blobs: filepath.Join(dir, "blobs"), queue: make(chan commit), closing: make(chan struct{}), done: make(chan struct{}), lock: lock}
	if err := s.open(ctx, filepath.Join(dir, "record.db")); err != nil {
		return nil, errors.Join(err, s.closeAll())
	}
	go s.write()
	return s, nil
}

func (s *Store) open(ctx context.Context, file string) error {
	dsn := func(extra string) string {
		return "file:" + (&url.URL{Path: file}).EscapedPath() +
			"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_pragma=foreign_keys(ON)" + extra
	}
	// Made here first: the files beside it (-wal, -shm) take its mode.
	made, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // Relo's own state folder
	if err == nil {
		err = errors.Join(made.Chmod(0o600), made.Close())
	}
	if err != nil {
		return fmt.Errorf("protect the record: %w", err)
	}
	if s.writer, err = sql.Open("sqlite", dsn("&_txlock=immediate")); err != nil {
		return fmt.Errorf("open the record: %w", err)
	}
	s.writer.SetMaxOpenConns(1)
	if err := s.checkVersion(ctx); err != nil {
		return err
	}
	if _, err := s.writer.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("prepare the record %s: %w", file, err)
	}
	if s.reader, err = sql.Open("sqlite", dsn("&_pragma=query_only(ON)")); err != nil {
		return fmt.Errorf("open the record for reading: %w", err)
	}
	s.reader.SetMaxOpenConns(readers)
	return nil
}

// checkVersion refuses the record of a later version before anything else in
// it is touched.
func (s *Store) checkVersion(ctx context.Context) error {
	if _, err := s.writer.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`); err != nil {
		return fmt.Errorf("open the record's version: %w", err)
	}
	if _, err := s.writer.ExecContext(ctx, `INSERT OR IGNORE INTO meta VALUES ('schema', ?)`, Version); err != nil {
		return fmt.Errorf("write the record's version: %w", err)
	}
	var have int
	if err := s.writer.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'schema'`).Scan(&have); err != nil {
		return fmt.Errorf("read the record's version: %w", err)
	}
	if have > Version {
		return fmt.Errorf("the record was written by a later Relo (schema %d, this one knows %d): use that version", have, Version)
	}
	return nil
}

// Close waits for commits under way, closes the files and frees the lock. It is
// called once; a commit that comes later is an error.
func (s *Store) Close() error {
	close(s.closing)
	<-s.done
	return s.closeAll()
}

func (s *Store) closeAll() error {
	var errs []error
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}
