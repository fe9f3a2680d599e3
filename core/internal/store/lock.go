package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LockedError says who owns the record.
type LockedError struct {
	PID  int
	File string
}

// Error names the owner and what to do.
func (e *LockedError) Error() string {
	return fmt.Sprintf("the record is in use by process %d (%s): use that daemon, or set RELO_HOME to another folder", e.PID, e.File)
}

type owner struct {
	PID  int    `json:"pid"`
	Boot string `json:"boot"` // tells a lock of an earlier boot from one whose pid was given out again
}

// takeLock takes the advisory lock that one orchestrator a record holds. The
// kernel frees it with the process, so a crash leaves no stale lock.
func takeLock(dir string) (*os.File, error) {
	name := filepath.Join(dir, "record.lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is Relo's own state folder
	if err != nil {
		return nil, fmt.Errorf("open the record's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		var o owner
		_ = json.NewDecoder(f).Decode(&o) // an unreadable owner is pid 0
		_ = f.Close()
		return nil, &LockedError{PID: o.PID, File: name}
	}
	text, err := json.Marshal(owner{PID: os.Getpid(), Boot: bootID()})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write the record's lock: %w", err)
	}
	return f, nil
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
