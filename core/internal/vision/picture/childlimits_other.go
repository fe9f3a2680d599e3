//go:build !linux

package picture

import "time"

// limitProcess does nothing here: the deadline, the header's limits and the Go
// runtime's soft memory limit are what holds on this system.
func limitProcess(uint64) error { return nil }

func limitCPU(time.Duration) error { return nil }
