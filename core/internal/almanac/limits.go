package almanac

import "time"

const (
	// maxReport is the largest file of one endpoint's list: some 40,000 models.
	maxReport = 16 << 20
	// maxProbes is the largest file of probes: far more than anybody pays for.
	maxProbes = 4 << 20
	// reportModels bounds what is kept of one list; the largest in use have some hundreds.
	reportModels = 20_000
	// reportsKept bounds the files of lists: those of endpoints that are no longer asked go first.
	reportsKept = 64
	// probesKept bounds the probes: the oldest go first.
	probesKept = 4_000
	// lockTime is how long a write waits for another process; one takes milliseconds.
	lockTime = 5 * time.Second
	// lockPause is how often it tries.
	lockPause = 2 * time.Millisecond
)
