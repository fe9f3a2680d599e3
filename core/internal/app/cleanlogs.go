package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// logMost bounds one log, and logRest is what is kept of it when it is cut: weeks
	// of an ordinary day.
	logMost = 10 << 20
	logRest = 5 << 20
	// writeRest is how old a file must be that somebody was writing when he ended.
	writeRest = time.Hour
)

// logs cuts logs that grew long, and removes those that nobody writes any more.
// They are cut in place: their writers append, and go on.
func (b *broom) logs() error {
	names, err := filepath.Glob(filepath.Join(globbed(b.c.env.places().State), "logs", "*.log*"))
	if err != nil {
		return fmt.Errorf("list the logs: %w", err)
	}
	var errs []error
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case err != nil:
		case info.ModTime().Before(b.cutoff):
			b.removed(info.Size(), "log %s", filepath.Base(name))
			if !b.doc.DryRun {
				errs = append(errs, os.Remove(name))
			}
		case info.Size() > logMost && strings.HasSuffix(name, ".log"):
			b.removed(info.Size()-logRest, "the older part of log %s", filepath.Base(name))
			if !b.doc.DryRun {
				errs = append(errs, cutLog(name))
			}
		}
	}
	return errors.Join(errs...)
}

// cutLog moves the last part of a log beside it and empties it. A line that is
// written in just this moment may be lost.
func cutLog(name string) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0o600) //nolint:gosec // Relo's own log
	if err != nil {
		return fmt.Errorf("cut a log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("cut a log: %w", err)
	}
	from := max(info.Size()-logRest, 0)
	rest, err := os.OpenFile(name+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // beside it
	if err != nil {
		return fmt.Errorf("cut a log: %w", err)
	}
	_, err = io.Copy(rest, io.NewSectionReader(f, from, info.Size()-from))
	if err = errors.Join(err, rest.Close()); err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		return fmt.Errorf("cut a log: %w", err)
	}
	return nil
}

// leftovers removes what workers left that are no longer there, and files that
// somebody was writing when he was killed.
func (b *broom) leftovers() error {
	state := b.c.env.places().State
	hired := map[string]bool{}
	for i := range b.c.cfg.Workers.Local {
		hired[localID(i)] = true
	}
	var errs []error
	drop := func(name, words string) {
		b.removed(weigh(name), "%s", words)
		if !b.doc.DryRun {
			errs = append(errs, os.Remove(name))
		}
	}
	joins, _ := filepath.Glob(filepath.Join(globbed(state), "workers", "*.join")) // the pattern is right
	for _, name := range joins {
		id := strings.TrimSuffix(filepath.Base(name), ".join")
		lock := strings.TrimSuffix(name, ".join") + ".lock"
		if !hired[id] && lockOwner(lock) == 0 {
			drop(name, "the invitation of worker "+id)
			if _, err := os.Stat(lock); err == nil {
				drop(lock, "the lock of worker "+id)
			}
		}
	}
	for _, dir := range []string{state, b.c.env.places().Run} {
		halves, _ := filepath.Glob(filepath.Join(globbed(dir), "new-*")) // the pattern is right
		for _, name := range halves {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && b.now.Sub(info.ModTime()) > writeRest {
				drop(name, "the unfinished file "+filepath.Base(name))
			}
		}
	}
	return errors.Join(errs...)
}

// globbed keeps a folder's own name from being read as a pattern.
func globbed(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
