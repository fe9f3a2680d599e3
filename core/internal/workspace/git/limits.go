package git

import "time"

const (
	// minMajor and minMinor: `git merge-tree --write-tree` came with 2.38.
	minMajor, minMinor = 2, 38
	// maxOutput bounds what one git call may answer: a listing of a million
	// paths fits, a runaway does not.
	maxOutput = 256 << 20
	// maxWords bounds git's own words in an error: enough for a person to read.
	maxWords = 4 << 10
	// maxBlob bounds a file that is read into memory for a model or a person.
	maxBlob = 32 << 20
	// lockTries and lockPause bound the wait for a lock that another git holds:
	// about six seconds in all, longer than any commit of a person takes.
	lockTries = 12
	lockPause = 20 * time.Millisecond
	maxPause  = time.Second
	// mergeTries bounds lost races for a branch. Every lost race means that
	// somebody else got through, so eight at once need at most eight.
	mergeTries = 40
	// quietTime is how long a cancelled git may take to remove its lock files.
	quietTime = 3 * time.Second
	// maxListed bounds the paths named in one error.
	maxListed = 20
	// maxAdmin bounds a file that git keeps about a worktree: one path.
	maxAdmin = 64 << 10
	// maxFile bounds a file that is carried: GitHub refuses one of more than
	// 100 MiB (docs.github.com, "About large files on GitHub"), so a bigger one
	// was hardly meant for a commit. Files of LFS are not bounded by it.
	maxFile = 100 << 20
	// maxShadowFiles and maxShadowBytes bound a folder without git: far above any
	// project of a person, far below a home folder or a disk. All of it is copied
	// once into Relo's state.
	maxShadowFiles = 100_000
	maxShadowBytes = 2 << 30
	// shadowLook bounds the look through a folder without git: 100,000 files take
	// a second or two; what takes a minute is a disk or a network drive.
	shadowLook = time.Minute
	// maxFill bounds the bytes of LFS files that are copied into one worktree:
	// every attempt has its own.
	maxFill = 4 << 30
	// bigFile is from where on git takes a file for binary when it compares: it
	// would hold it in memory whole.
	bigFile = "16m"
	// maxModuleDepth bounds submodules of submodules of submodules.
	maxModuleDepth = 5
)
