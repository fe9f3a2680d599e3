package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// treeLock, in git's common folder, is held while git's list of worktrees is
// changed. Git itself takes no lock for that: one `worktree add` reads the
// entries of all others and fails on one that is half made ("failed to read
// …/commondir"). Workers are processes of their own, so the lock is a file's.
const treeLock = "relo-worktrees.lock"

// lockTrees waits for the lock; unlock gives it back. The kernel frees it with
// the process that holds it.
func (r *Repo) lockTrees(ctx context.Context) (unlock func(), err error) {
	r.adding.Lock()
	f, err := os.OpenFile(filepath.Join(r.common, treeLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		r.adding.Unlock()
		return nil, fmt.Errorf("lock the worktrees: %w", err)
	}
	free := func() {
		_ = f.Close() // which also unlocks
		r.adding.Unlock()
	}
	for pause := lockPause; ; pause = min(2*pause, maxPause) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return free, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			free()
			return nil, fmt.Errorf("lock the worktrees: %w", err)
		}
		if err := wait(ctx, pause); err != nil {
			free()
			return nil, err
		}
	}
}
