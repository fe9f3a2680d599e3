// Package store is the record: one embedded SQLite file with the events of every
// job, the leases, the ledger and the outbox. A commit is on the disk before it
// returns. The package decides nothing, and nothing but it speaks SQL.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", pure Go

	"github.com/relo-dev/relo/core/internal/record"
)

// readers bounds the connections that only read: they never wait for the writer
// in WAL mode, and a few serve every view of one person.
const readers = 4

// Store is an open record. It is safe for concurrent use.
type Store struct {
	writer  *sql.DB // one connection
	reader  *sql.DB
	file    string
	blobs   string
	album   sync.RWMutex // over names in blobs: one is not dropped while it is put again
	queue   chan commit
	closing chan struct{}
	done    chan struct{}
	lock    *os.File
	mark    *os.File

	// The writer's own, once it runs.
	commits int64 // in this record, ever
	sealed  bool  // the seal on the disk is of the file as it is
	healthy bool  // Open came to its end: Close may seal

	mu    sync.Mutex
	found []*record.DamageError
}

// Open opens or makes the record in dir, takes its lock and brings it to this
// program's schema. It fails with *LockedError when another process owns the
// record and with *record.CorruptError when the file is damaged so that nothing
// in it is believed. Less than that is mended where it can be, and Found says it.
func Open(ctx context.Context, dir string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "blobs"), 0o700); err != nil { //nolint:gosec // Relo's own state folder
		return nil, fmt.Errorf("make the record's folder: %w", err)
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{
		file: filepath.Join(dir, "record.db"), blobs: filepath.Join(dir, "blobs"),
		queue: make(chan commit), closing: make(chan struct{}), done: make(chan struct{}), lock: lock,
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.closeAll())
	}
	s.healthy = true
	go s.write()
	return s, nil
}

// dsn names a database and how a connection to it behaves.
func dsn(file, extra string) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() +
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_pragma=foreign_keys(ON)&_pragma=cell_size_check(ON)" + extra
}

func (s *Store) open(ctx context.Context) error {
	dir := filepath.Dir(s.file)
	changed, ok, err := sealed(s.file)
	if err != nil {
		return fmt.Errorf("compare the record with its seal: %w", err)
	}
	s.sealed = ok && len(changed) == 0
	marked := int64(0)
	if s.mark, marked, err = openMark(dir); err != nil {
		return fmt.Errorf("open the record's mark: %w", err)
	}
	// Made here first: the files beside it (-wal, -shm) take its mode.
	made, err := os.OpenFile(s.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(made.Chmod(0o600), made.Close())
	}
	if err != nil {
		return fmt.Errorf("protect the record: %w", err)
	}
	if s.writer, err = sql.Open("sqlite", dsn(s.file, "&_txlock=immediate")); err != nil {
		return fmt.Errorf("open the record: %w", err)
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite", dsn(s.file, "&_pragma=query_only(ON)")); err != nil {
		return fmt.Errorf("open the record for reading: %w", err)
	}
	s.reader.SetMaxOpenConns(readers)
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if err := s.compareMark(ctx, marked); err != nil {
		return err
	}
	if len(changed) > 0 {
		if err := s.suspect(ctx, changed); err != nil {
			return err // the seal stays: the next Open looks again
		}
	}
	if !s.sealed {
		if err := unseal(s.file); err != nil {
			return fmt.Errorf("take the seal of the record away: %w", err)
		}
	}
	return s.inspect(ctx)
}

// compareMark tells what SQLite does not: that commits which were confirmed are
// not in the file.
func (s *Store) compareMark(ctx context.Context, marked int64) error {
	if err := s.writer.QueryRowContext(ctx, `SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'commits'`).Scan(&s.commits); err != nil {
		return s.said("read the record's count of commits", err)
	}
	if marked <= s.commits {
		return nil
	}
	d := &record.DamageError{Kind: record.Torn, Words: fmt.Sprintf(
		"the last %d commits to the record %s are missing although they were confirmed: the file, or the log %s-wal beside it, was cut, damaged, "+
			"or put back from a backup. What is there is whole, and jobs go on from it", marked-s.commits, s.file, s.file)}
	name, err := keepLog(ctx, s.file, time.Now().UTC().Format(stampForm))
	if err != nil {
		return fmt.Errorf("keep the damaged log of the record: %w", err)
	}
	if name != "" {
		d.Words += "; the damaged log is kept as " + name
	}
	s.note(d)
	if err := s.alone(ctx, func(tx *sql.Tx) error { return keepDamage(ctx, tx, d) }); err != nil {
		return s.said("write down what is missing", err)
	}
	if err := s.writeMark(s.commits); err != nil {
		return fmt.Errorf("write the record's mark: %w", err)
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
	for _, db := range []*sql.DB{s.reader, s.writer} { // the last one moves the log into the file
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.healthy && !s.sealed && errors.Join(errs...) == nil {
		errs = append(errs, s.seal())
	}
	if s.mark != nil {
		errs = append(errs, s.mark.Close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// seal seals the file when SQLite has moved all of its log into it.
func (s *Store) seal() error {
	if log, err := os.Stat(s.file + "-wal"); err == nil && log.Size() > 0 {
		return nil
	}
	if err := sealFile(s.file); err != nil {
		return fmt.Errorf("seal the record: %w", err)
	}
	return nil
}
