package protocol

import (
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Hold names the lease under which a worker speaks.
type Hold struct {
	Job     string `json:"job"`
	Task    string `json:"task"`
	Attempt string `json:"attempt"`
	Worker  string `json:"worker"`
	Epoch   int64  `json:"epoch"`
}

// Hello is a worker's heartbeat: it renews the leases that it lists.
type Hello struct {
	Worker  string   `json:"worker"`
	PID     int      `json:"pid"`
	Boot    string   `json:"boot"` // made anew with each process
	Slots   int      `json:"slots"`
	Engines []string `json:"engines"`
	Version string   `json:"version"`
	Running []Hold   `json:"running,omitempty"`
	Leaving bool     `json:"leaving,omitempty"` // takes no more tasks
}

// Welcome answers a hello.
type Welcome struct {
	LeaseMS int64    `json:"leaseMs"`
	BeatMS  int64    `json:"beatMs"`
	Stop    []string `json:"stop,omitempty"`  // attempts that are no longer the worker's
	Pause   []string `json:"pause,omitempty"` // attempts to be laid aside at their next safe point
	Heed    []Heed   `json:"heed,omitempty"`  // what the person said to agents; told again until the attempt ends
	Leave   bool     `json:"leave,omitempty"`
}

// Assignment is the answer to a claim: everything that the worker needs.
type Assignment struct {
	Hold
	Number       int             `json:"number"`
	Kind         job.TaskKind    `json:"taskKind"`
	Title        string          `json:"title"`
	Instructions string          `json:"instructions"`
	Vision       bool            `json:"vision"`
	Images       []job.Image     `json:"images,omitempty"`
	Attachments  []job.Image     `json:"attachments,omitempty"`
	Checks       []string        `json:"checks,omitempty"`
	Model        string          `json:"model"`
	Eyes         vision.Sight    `json:"eyes"`              // what pictures sent to the model come to (catalog.Model.Eyes)
	Private      bool            `json:"private,omitempty"` // only the person's own machines may be asked for anything
	Lookers      bool            `json:"lookers,omitempty"` // some model may look for one that cannot see
	MaxOutput    int             `json:"maxOutput,omitempty"`
	Engine       string          `json:"engine"`
	Repo         string          `json:"repo"`
	Base         string          `json:"base"` // commit of the worktree
	Rounds       int             `json:"rounds"`
	Minutes      int             `json:"minutes"`
	MaxEdge      int             `json:"maxEdge"`
	Never        []string        `json:"never,omitempty"`
	Earlier      []Earlier       `json:"earlier,omitempty"`
	Siblings     []string        `json:"siblings,omitempty"`
	Review       *ReviewMaterial `json:"review,omitempty"`
	Continue     *Continue       `json:"continue,omitempty"` // goes on from an earlier attempt
	Said         []Words         `json:"said,omitempty"`     // by the person, to this task
	Attended     bool            `json:"attended,omitempty"` // a person can be asked
}

// Earlier is an attempt before this one, as the next is told of it.
type Earlier struct {
	Number   int      `json:"number"`
	Outcome  string   `json:"outcome"`
	Summary  string   `json:"summary"`
	Findings []string `json:"findings,omitempty"`
}

// ReviewMaterial is what a reviewer or debugger is given of the author's work.
type ReviewMaterial struct {
	Diff    string            `json:"diff"`
	Summary string            `json:"summary"`
	Visual  string            `json:"visual,omitempty"`
	Checks  []job.CheckResult `json:"checks,omitempty"`
	Looks   []job.Look        `json:"looks,omitempty"`
	Files   []job.FileChange  `json:"files,omitempty"`
}

// Report carries what happened since the last one.
type Report struct {
	Hold
	Steps  []job.Step        `json:"steps,omitempty"`
	Checks []job.CheckResult `json:"checks,omitempty"`
}

// Finish is the end of an attempt. The worker sends it until it is answered.
type Finish struct {
	Hold
	End     job.AttemptEnd `json:"end"`
	Verdict *job.Verdict   `json:"verdict,omitempty"`
}

// Received answers a Finish: the record has it, or it came too late.
type Received struct {
	Late bool `json:"late"`
}

// Ask is a model call under a lease; pictures travel by SHA-256.
type Ask struct {
	Hold
	Request provider.Request `json:"request"`
}

// LookAsk is a question about one picture, whose bytes were brought with blob.put, for an
// agent whose model cannot see. It is asked of a model that sees.
type LookAsk struct {
	Hold
	Picture  provider.Picture `json:"picture"`
	Question string           `json:"question"`
}

// Order is a signed message to a worker.
type Order struct {
	Stop   []string `json:"stop,omitempty"`  // attempts to end at once
	Pause  []string `json:"pause,omitempty"` // attempts to lay aside at their next safe point
	Heed   []Heed   `json:"heed,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Leave  bool     `json:"leave,omitempty"`
}
