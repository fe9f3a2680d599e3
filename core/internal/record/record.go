// Package record says what is committed together: events of one job, leases,
// ledger rows and messages that must be published. It holds nouns only; the
// store keeps them and the orchestrator decides them.
package record

import (
	"errors"

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
}

// Entry is a job in the index.
type Entry struct {
	ID     string
	Title  string
	Status job.Status
	Seq    int64
}

// Verdict is the answer to a reservation.
type Verdict int

// The verdicts of a reservation.
const (
	Granted Verdict = iota // the row is written as open
	Wait                   // only reservations under way stand in the way
	Refused                // what is spent already stands in the way
)
