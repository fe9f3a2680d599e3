// Package record says what is committed together: events of one job, leases,
// ledger rows and messages that must be published. It holds nouns only; the
// store keeps them and the orchestrator decides them.
package record

import (
	"errors"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
)

// ErrStale says that a lease's epoch is not the current one, or that another
// live lease is there: the commit left no trace.
var ErrStale = errors.New("the lease is not current")

// ErrUnknown says that there is no such job, row or blob.
var ErrUnknown = errors.New("not in the record")

// Lease gives one task to one worker. Epoch counts the leases of the task from 1.
type Lease struct {
	Task    string
	Job     string
	Attempt string
	Worker  string
	Epoch   int64
}

// Message is published on the bus at least once; ID makes it one for consumers.
type Message struct {
	Seq     int64 // of the outbox; set when read
	Subject string
	ID      string
	Payload []byte
}

// Batch is committed whole or not at all.
type Batch struct {
	Job    string
	Status job.Status  // of the job after the events, for the index of jobs
	Title  string      // likewise
	Events []job.Event // with their Seq set, next after the job's last
	Grants []Lease     // refused with ErrStale unless no lease of the task is live and Epoch is the last one plus 1
	Held   *Lease      // refused with ErrStale unless exactly this lease is live
	Free   []Lease     // ended with this commit; one that is not live is left as it is
	Outbox []Message
	Settle *ledger.Row // replaces the open row of the same ID
	// Line is what a list of jobs shows of this one, a small JSON document; nil
	// leaves the one that is there. It may come without events, for a job that
	// has none yet: one of an older schema, or a mended one.
	Line []byte
	// Snapshot is the job's state at one of its events, this batch's or an older
	// one; nil leaves the one that is there. It may come without events too.
	Snapshot *Snapshot
}

// Snapshot is the fold of a job's events up to Seq, as JSON: it saves reading them.
type Snapshot struct {
	Seq   int64
	State []byte
}

// Entry is a job in the index.
type Entry struct {
	ID     string
	Title  string
	Status job.Status
	Seq    int64
	Line   []byte // as in Batch; nil when none was written or it had to be dropped
}

// Found is a job, or a task of one, that an id or a key means. Task and Key are
// empty when it is the job.
type Found struct {
	Job  string
	Task string
	Key  string
}

// Sum is the ledger's rows of one job, task, attempt, traffic and model. A sum
// of tokens leaves out what is unknown, and is nil when all of it is; Cost is nil
// when the cost of any row is unknown, and Known is then what is known of it.
type Sum struct {
	Job          string
	Task         string
	Attempt      string
	Traffic      string
	Model        catalog.Ref
	Requests     int
	Pictures     int
	TokensIn     *int64
	TokensOut    *int64
	TokensCached *int64
	Cost         *float64 // USD
	Known        float64  // USD
}

// Blob is a file of the album.
type Blob struct {
	SHA256 string
	Bytes  int64
	Time   time.Time // when it was put last
}

// Size is what the record takes up, in bytes.
type Size struct {
	DB      int64 // record.db and its log
	Blobs   int64
	Backups int64
}

// Verdict is the answer to a reservation.
type Verdict int

// The verdicts of a reservation.
const (
	Granted Verdict = iota // the row is written as open
	Wait                   // only reservations under way stand in the way
	Refused                // what is spent already stands in the way
)
