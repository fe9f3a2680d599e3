package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/record"
)

// blobRest is how long a blob is left alone at least: it is put before the event
// that names it is committed, and an upload may take its time.
const blobRest = time.Hour

// half is how a blob that is being written is called.
const half = "new-"

// Blobs lists the files of the album.
func (s *Store) Blobs(ctx context.Context) ([]record.Blob, error) {
	var out []record.Blob
	err := s.walkBlobs(ctx, func(_ string, info fs.FileInfo) error {
		if !strings.HasPrefix(info.Name(), half) {
			out = append(out, record.Blob{SHA256: info.Name(), Bytes: info.Size(), Time: info.ModTime()})
		}
		return nil
	})
	return out, err
}

// DropBlobs removes the blobs that keep does not want and that were put before
// olderThan, and at least an hour ago. It gives how many, and how many bytes.
// One that is put again meanwhile stays.
func (s *Store) DropBlobs(ctx context.Context, keep func(sha string) bool, olderThan time.Time) (n int, bytes int64, err error) {
	if young := time.Now().Add(-blobRest); olderThan.After(young) {
		olderThan = young
	}
	err = s.walkBlobs(ctx, func(name string, info fs.FileInfo) error {
		if !info.ModTime().Before(olderThan) || (!strings.HasPrefix(info.Name(), half) && keep(info.Name())) {
			return nil
		}
		gone, err := s.dropBlob(name, olderThan)
		if gone {
			n, bytes = n+1, bytes+info.Size()
		}
		return err
	})
	return n, bytes, err
}

// dropBlob looks again while nobody puts a blob.
func (s *Store) dropBlob(name string, olderThan time.Time) (gone bool, err error) {
	s.album.Lock()
	defer s.album.Unlock()
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !info.ModTime().Before(olderThan)) {
		return false, nil
	}
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil {
		return false, fmt.Errorf("drop a picture: %w", err)
	}
	return true, nil
}

func (s *Store) walkBlobs(ctx context.Context, f func(name string, info fs.FileInfo) error) error {
	err := filepath.WalkDir(s.blobs, func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // dropped or renamed meanwhile
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return f(name, info)
	})
	if err != nil {
		return fmt.Errorf("walk the pictures: %w", err)
	}
	return nil
}

// References lists the SHA-256s that a job's events name, in whatever field:
// whatever has 64 hex digits. Of a damaged job all rows are read, believed or
// not: too many blobs are kept rather than too few.
func (s *Store) References(ctx context.Context, id string) ([]string, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT json FROM events WHERE job = ?`, id)
	if err != nil {
		return nil, s.said("read the events of "+id, err)
	}
	texts, err := collect(rows, func(t *string) []any { return []any{loosely(t)} })
	if err != nil {
		return nil, s.said("read the events of "+id, err)
	}
	var out []string
	for _, t := range texts {
		out = append(out, shas(t)...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// shas finds runs of 64 lower-case hex digits, also at either end of a longer
// one: JSON may write the sign before it as \u003c.
func shas(text string) []string {
	var out []string
	start := 0
	for i := range len(text) + 1 {
		if i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'f') {
			continue
		}
		if i-start >= 64 {
			out = append(out, text[start:start+64], text[i-64:i])
		}
		start = i + 1
	}
	return out
}

// Size gives the bytes that the record takes up.
func (s *Store) Size(ctx context.Context) (record.Size, error) {
	var z record.Size
	for _, name := range []string{s.file, s.file + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			z.DB += info.Size()
		}
	}
	for _, name := range listBackups(s.file) {
		if info, err := os.Stat(name); err == nil {
			z.Backups += info.Size()
		}
	}
	err := s.walkBlobs(ctx, func(_ string, info fs.FileInfo) error {
		z.Blobs += info.Size()
		return nil
	})
	return z, err
}
