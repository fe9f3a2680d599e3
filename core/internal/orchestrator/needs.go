package orchestrator

import (
	"context"
	"encoding/json"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Journal keeps what was decided. A commit is whole and on the disk, or it is not.
type Journal interface {
	Commit(ctx context.Context, b record.Batch) error
	Events(ctx context.Context, job string, after int64, limit int) ([]job.Event, error)
	// Snapshot is a fold of the job's events up to its Seq; false: none is there.
	Snapshot(ctx context.Context, job string) (record.Snapshot, bool, error)
	Jobs(ctx context.Context) ([]record.Entry, error)
	JobsWith(ctx context.Context, statuses ...job.Status) ([]record.Entry, error)
	// Find gives jobs and tasks whose id begins with prefix, FindKey tasks by the plan's own id.
	Find(ctx context.Context, prefix string, limit int) ([]record.Found, error)
	FindKey(ctx context.Context, jobPrefix, key string) ([]record.Found, error)
	Sums(ctx context.Context, job string, since time.Time) ([]record.Sum, error)
	Rows(ctx context.Context, job string, since time.Time) ([]ledger.Row, error)
}

// Outbox holds what must be published at least once.
type Outbox interface {
	Outbox(ctx context.Context, limit int) ([]record.Message, error)
	Published(ctx context.Context, seqs []int64) error
}

// Album keeps pictures by their SHA-256.
type Album interface {
	PutBlob(data []byte) (sha string, err error)
	Blob(sha string) ([]byte, error)
}

// Lanes carry tasks and orders to workers, and news to viewers.
type Lanes interface {
	Send(ctx context.Context, subject, id string, data []byte) error
	Tell(job, id string, data []byte) error
	Order(worker string, data []byte) error
	PrepareMailbox(ctx context.Context, worker string) error
}

// Repos opens the person's folder.
type Repos interface {
	Open(ctx context.Context, dir string) (Repo, error)
}

// Repo is what the conductor needs of a repository: where a job starts, what it
// looks like, how work comes together, and how it reaches the person's files.
type Repo interface {
	// Snapshot makes the person's folder, uncommitted changes and all, a commit.
	Snapshot(ctx context.Context, ref string) (Base, error)
	Look(ctx context.Context, commit string) (View, error)
	Merge(ctx context.Context, m MergeSpec) (Merged, error)
	Apply(ctx context.Context, jobID, base, head string) (Applied, error)
	// Undo puts the files back that an apply changed, and names them.
	Undo(ctx context.Context, jobID string) ([]string, error)
	// Discard removes the job's refs and its attempts' refs and worktrees, and names them.
	Discard(ctx context.Context, jobID string, attempts []string) ([]string, error)
	Compare(ctx context.Context, from, to string, limit int) (Comparison, error)
}

// Base is where a job starts from.
type Base struct {
	Root   string
	Commit string
	Head   string
	Dirty  int      // uncommitted changes that the commit holds
	Notes  []string // what is unusual about the folder, or not carried, in words for the person
}

// View is a repository at a commit.
type View struct {
	Map     string                 // bounded, for the planner
	Project string                 // AGENTS.md or CLAUDE.md
	Exists  func(path string) bool // a regular file at that commit
}

// MergeSpec lays one attempt's commit on the job's branch.
type MergeSpec struct {
	Branch  string // full ref
	Start   string // where the branch begins when it is not there
	Base    string // what the attempt started from
	Commit  string
	Message string
	Job     string
	Task    string
	Attempt string
}

// Merged is the branch's new head, or the paths that stand in the way.
type Merged struct {
	Commit    string
	Conflicts []string
}

// Applied says what reached the person's files, or which paths stand in the way.
type Applied struct {
	BackupRef string
	Files     []string
	Conflicts []string
}

// Comparison is a diff between two commits.
type Comparison struct {
	Files     []job.FileChange
	Diff      string
	Truncated bool
}

// Models gets answers from models; the gateway.
type Models interface {
	Call(ctx context.Context, c traffic.Call) (traffic.Answer, error)
	Look(ctx context.Context, l traffic.Look) (traffic.Seen, error)
}

// Book knows the models of the config.
type Book interface {
	Model(ref catalog.Ref) (catalog.Model, bool)
	// Lookers are the models that may look for one that cannot see, best first.
	Lookers(asker catalog.Ref, private bool) []catalog.Ref
}

// Home is the orchestrator as a worker sees it.
type Home interface {
	Hello(ctx context.Context, h protocol.Hello) (protocol.Welcome, error)
	Claim(ctx context.Context, h protocol.Hold) (protocol.Assignment, error)
	Report(ctx context.Context, r protocol.Report) error
	Finish(ctx context.Context, f protocol.Finish) (protocol.Received, error)
}

// Phone is how a worker reaches a model and sends pictures; errors of the far
// side are *protocol.Error, and ErrAway when nobody answers.
type Phone interface {
	Ask(ctx context.Context, a protocol.Ask) (traffic.Answer, error)
	Look(ctx context.Context, a protocol.LookAsk) (traffic.Seen, error)
	PutBlob(ctx context.Context, data []byte) (sha string, err error)
	Blob(ctx context.Context, sha string) ([]byte, error)
}

// Outside are the person's own tool servers for one attempt.
type Outside interface {
	// Tools starts the servers; notices are for the person.
	Tools(ctx context.Context) (tools []tool.Tool, notices []string)
	// Close ends them with everything that they started.
	Close() error
}

// Mailbox delivers tasks and orders to a worker.
type Mailbox interface {
	Tasks(ctx context.Context, worker string, f func(data []byte) bool) error
	Orders(worker string, f func(data []byte)) (stop func(), err error)
}

// Trees makes and reads the folders that agents work in.
type Trees interface {
	Add(ctx context.Context, repo, path, commit string) error
	// AddAt is Add with the files of another commit, which holds kept work on base.
	AddAt(ctx context.Context, repo, path, base, files string) error
	Remove(ctx context.Context, repo, path string) error
	Commit(ctx context.Context, repo, path string, c CommitSpec) (Committed, error)
	// Sources hashes the sources of a worktree and lists its pictures (path to blob id).
	Sources(ctx context.Context, repo, path string) (hash string, pictures map[string]string, err error)
	Tracked(ctx context.Context, repo, commit, name string) bool
}

// CommitSpec names an attempt's commit.
type CommitSpec struct {
	Message string
	Job     string
	Task    string
	Attempt string
	Time    time.Time
}

// Committed is an attempt's work; Commit equals Parent when nothing changed.
type Committed struct {
	Commit string
	Parent string
	Files  []job.FileChange
	Notes  []string // what was left out, in words
}

// Shop gives an agent its hands.
type Shop interface {
	Open(dir, temp, attempt string, readOnly bool) (Box, error)
	// Sweep ends what an attempt that crashed may have left running.
	Sweep(attempt string)
}

// Box is one agent's tools, and the end of everything that they started.
type Box interface {
	Tools() []tool.Tool
	Run(ctx context.Context, command string, timeout time.Duration) (exit int, output string, err error)
	Close() error
}

// Pictures prepares one file of an agent's workspace for a model to look at.
type Pictures interface {
	Prepare(ctx context.Context, dir, name string, region *vision.Region, maxEdge int) (vision.Picture, vision.Meta, error)
}

// Engines by name.
type Engines map[string]engine.Engine

// raw encodes a document of the bus; these types always encode.
func raw(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a type of ours that cannot be JSON is a fault of the program
	}
	return b
}
