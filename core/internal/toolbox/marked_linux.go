package toolbox

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// dieWithParent has the kernel kill the shell when Relo dies.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// KillMarked kills every process whose environment says that it belongs to the
// attempt, and returns how many there were. A worker that starts again calls it
// for attempts that it finds unfinished. It finds no process that has thrown its
// environment away, and on other systems than Linux none at all (0).
func KillMarked(attempt string) int {
	if attempt == "" {
		return 0
	}
	return killEnviron(markAttempt + attempt)
}

// killEnviron kills in rounds, until a round finds nothing marked any more: a
// process may start another while it is looked at, and a killed one still shows
// its environment until the kernel has taken it down.
func killEnviron(entry string) int {
	const (
		longest = 2 * time.Second // a process in the middle of a disk write dies only after it
		pause   = time.Millisecond
	)
	killed := map[int]struct{}{}
	for end := time.Now().Add(longest); time.Now().Before(end); time.Sleep(pause) {
		found := false
		for _, pid := range processes() {
			if pid != os.Getpid() && marked(pid, entry) && killIfMarked(pid, entry) {
				killed[pid] = struct{}{}
				found = true
			}
		}
		if !found {
			break
		}
	}
	return len(killed)
}

func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1) // what could be read is enough
	_ = dir.Close()
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// marked looks into a process's environment as it was when its program began.
// Other users' processes cannot be read, and are not ours.
func marked(pid int, entry string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if string(one) == entry {
			return true
		}
	}
	return false
}

// killIfMarked holds the process by a handle before it looks again, so that a
// number that went to somebody else in between is not hit.
func killIfMarked(pid int, entry string) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return marked(pid, entry) && p.Signal(syscall.SIGKILL) == nil
}
