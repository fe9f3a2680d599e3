package almanac

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock is a file that one writer holds at a time. Each write adds a byte to it: its
// length counts them.
type lock string

// hold waits for the lock, calls f and counts it. The kernel frees the lock of a
// process that dies.
func (l lock) hold(f func() error) error {
	if err := os.MkdirAll(filepath.Dir(string(l)), 0o700); err != nil {
		return fmt.Errorf("make Relo's folder: %w", err)
	}
	file, err := os.OpenFile(string(l), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := take(file); err != nil {
		return errors.Join(err, file.Close())
	}
	err = f()
	_, counted := file.Write([]byte{'.'}) // also after a failure: something may have changed
	return errors.Join(err, counted, file.Close())
}

func take(f *os.File) error {
	for deadline := time.Now().Add(lockTime); ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("lock %s: %w", filepath.Base(f.Name()), err)
		case time.Now().After(deadline):
			return fmt.Errorf("lock %s: another process holds it for more than %s", filepath.Base(f.Name()), lockTime)
		}
		time.Sleep(lockPause)
	}
}
