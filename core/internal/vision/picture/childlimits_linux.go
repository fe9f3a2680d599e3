package picture

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// limitProcess bounds the memory that this process can write to (RLIMIT_DATA
// counts private writable mappings since Linux 4.7, setrlimit(2)) and takes
// from it what it has no use for: new files' bytes and core dumps.
func limitProcess(memory uint64) error {
	for _, l := range []struct {
		what int
		max  uint64
	}{{syscall.RLIMIT_DATA, memory}, {syscall.RLIMIT_CORE, 0}, {syscall.RLIMIT_FSIZE, 0}} {
		if err := lower(l.what, l.max); err != nil {
			return err
		}
	}
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	go func() { // ends with the process
		<-over
		os.Exit(exitCPU)
	}()
	return nil
}

// lower sets a limit and its ceiling, unless the ceiling is lower already.
func lower(what int, most uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(what, &l); err != nil {
		return fmt.Errorf("read a limit of the picture process: %w", err)
	}
	l.Max = min(l.Max, most)
	l.Cur = l.Max
	if err := syscall.Setrlimit(what, &l); err != nil {
		return fmt.Errorf("limit the picture process: %w", err)
	}
	return nil
}

// limitCPU grants this process so much CPU time from now on (RLIMIT_CPU counts
// whole seconds of all threads, from the start of the process).
func limitCPU(more time.Duration) error {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return fmt.Errorf("read the CPU time of the picture process: %w", err)
	}
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CPU, &l); err != nil {
		return fmt.Errorf("read a limit of the picture process: %w", err)
	}
	l.Cur = min(l.Max, uint64(used.Utime.Sec+used.Stime.Sec+1)+uint64(more/time.Second)) //nolint:gosec // CPU time is positive
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &l); err != nil {
		return fmt.Errorf("limit the picture process: %w", err)
	}
	return nil
}
