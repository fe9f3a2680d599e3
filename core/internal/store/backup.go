package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// backups is how many backups are kept: enough to go back behind a bad update,
// few enough not to fill a disk.
const backups = 3

// stampForm sorts by time.
const stampForm = "20060102T150405.000Z"

// Backup writes a whole copy of the record beside it, on the disk before it
// returns, and keeps the newest three. It gives the copy's name.
func (s *Store) Backup(ctx context.Context) (string, error) {
	name, err := backup(ctx, s.file, Version, time.Now())
	return name, s.said("back up the record", err)
}

func backup(ctx context.Context, file string, version int, now time.Time) (name string, err error) {
	name = fmt.Sprintf("%s.v%d-%s.bak", file, version, now.UTC().Format(stampForm))
	half := file + ".bak.new"
	// Made here first, with its mode: SQLite takes an empty file as none.
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		return "", err
	}
	db, err := sql.Open("sqlite", dsn(file, ""))
	if err != nil {
		return "", err
	}
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, half)
	if err = errors.Join(err, db.Close()); err == nil {
		err = syncFile(half)
	}
	if err == nil {
		err = os.Rename(half, name)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(half))
	}
	if err := syncDir(filepath.Dir(file)); err != nil {
		return "", err
	}
	for _, old := range listBackups(file)[min(backups, len(listBackups(file))):] {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return name, nil
}

// syncFile brings a file that something else wrote to the disk.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) //nolint:gosec // Relo's own state folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// listBackups gives the backups beside a record, newest first.
func listBackups(file string) []string {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(file)+".v") && strings.HasSuffix(e.Name(), ".bak") {
			out = append(out, filepath.Join(filepath.Dir(file), e.Name()))
		}
	}
	stamp := func(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(stamp(b), stamp(a)) })
	return out
}

func newestBackup(file string) string {
	if list := listBackups(file); len(list) > 0 {
		return list[0]
	}
	return ""
}
