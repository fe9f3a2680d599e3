// Package protocol holds the documents of the bus's API: what people's tools ask
// and get, and what workers and the orchestrator say to each other. Only these
// shapes cross a process boundary; nothing here acts.
package protocol

import (
	"errors"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Version of the API; a daemon and a client of other versions refuse each other.
const Version = "1"

// Error is the JSON document of every failure.
type Error struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Retryable bool   `json:"retryable"`
}

// Error gives the message.
func (e *Error) Error() string { return e.Message }

// ErrAway says that nobody answers on the bus: the daemon is not there, or fell silent.
var ErrAway = errors.New("the daemon does not answer")

// Codes of Error that programs act on.
const (
	CodeInternal    = "internal"
	CodeUsage       = "usage"
	CodeConfig      = "config"
	CodeNotFound    = "not_found"
	CodeAmbiguous   = "ambiguous"
	CodeNotReady    = "not_ready"
	CodeConflict    = "conflict"
	CodeKey         = "key"
	CodeBudget      = "budget_stopped"
	CodeStale       = "stale"
	CodeMissing     = "pictures_missing"
	CodeUnknown     = "unknown_price"
	CodeProvider    = "provider"
	CodeBlind       = "model_blind" // the model turned out not to see; the task goes to another
	CodeNobody      = "nobody_may_look"
	CodeUnreachable = "unreachable"
	CodeUnapplied   = "unapplied_work"
	CodeDamaged     = "damaged"
)

// Attachment is a picture that comes with a job. Its bytes were put as a blob before.
type Attachment struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// Submit asks for a new job.
type Submit struct {
	Text         string       `json:"text"`
	Repo         string       `json:"repo"` // absolute folder on the daemon's machine
	Images       []Attachment `json:"images,omitempty"`
	Model        string       `json:"model,omitempty"`
	Private      bool         `json:"private,omitempty"`
	Budget       *float64     `json:"budget,omitempty"` // USD; absent: the config's
	Approve      string       `json:"approve,omitempty"`
	AllowUnknown bool         `json:"allowUnknown,omitempty"` // go on although a price is not known
	Attended     bool         `json:"attended,omitempty"`     // somebody can answer an agent's question
}

// Accepted answers a submit: the job is in the record.
type Accepted struct {
	Job string `json:"job"`
}

// Ref names a job or a task: an id, a unique prefix of one, @last, or
// JOB/KEY with the plan's own id of a task.
type Ref struct {
	ID string `json:"id"`
}

// Resolved is what a Ref means.
type Resolved struct {
	Job  string `json:"job"`
	Task string `json:"task,omitempty"`
}

// JobLine is one row of the list of jobs.
type JobLine struct {
	ID     string     `json:"id"`
	Title  string     `json:"title"`
	Status job.Status `json:"status"`
	Tasks  int        `json:"tasks"`
	Done   int        `json:"done"`
	Cost   *float64   `json:"cost"`
	Branch string     `json:"branch"`
	Fault  string     `json:"fault,omitempty"` // why the job cannot be read
}

// JobList lists jobs, newest first.
type JobList struct {
	Jobs []JobLine `json:"jobs"`
}

// EventsQuery asks for events after a sequence number.
type EventsQuery struct {
	Job   string `json:"job"`
	After int64  `json:"after"`
	Limit int    `json:"limit,omitempty"`
}

// EventPage answers it; More says that the limit cut it.
type EventPage struct {
	Events []job.Event `json:"events"`
	More   bool        `json:"more"`
}

// JobDoc is a job with its tasks, attempts and looks.
type JobDoc struct {
	ID          string        `json:"id"`
	Title       string        `json:"title"`
	Text        string        `json:"text"`
	Status      job.Status    `json:"status"`
	Reason      string        `json:"reason,omitempty"`
	Repo        string        `json:"repo"`
	Base        string        `json:"base"`
	Branch      string        `json:"branch"`
	Budget      *float64      `json:"budget"`
	Cost        *float64      `json:"cost"`
	KnownCost   float64       `json:"knownCost"`
	Unpriced    int           `json:"unpriced"` // requests whose price is not known
	Requests    int           `json:"requests"`
	Summary     string        `json:"summary,omitempty"`
	NeedsEyes   []string      `json:"needsEyes,omitempty"`
	BackupRef   string        `json:"backupRef,omitempty"`
	Seq         int64         `json:"seq"`
	Tasks       []TaskDoc     `json:"tasks"`
	Notices     []job.Notice  `json:"notices,omitempty"`
	Attachments []job.Image   `json:"images,omitempty"`
	At          time.Time     `json:"time"`
	End         *job.Finished `json:"end,omitempty"`
	Pausing     bool          `json:"pausing,omitempty"` // paused, but agents still finish a step
	Approve     string        `json:"approve,omitempty"`
}

// TaskDoc is one task of a JobDoc.
type TaskDoc struct {
	ID         string           `json:"id"`
	Key        string           `json:"key"`
	Title      string           `json:"title"`
	Kind       job.TaskKind     `json:"taskKind"`
	Difficulty job.Difficulty   `json:"difficulty"`
	Vision     bool             `json:"vision"`
	Status     job.TaskState    `json:"status"`
	Reason     string           `json:"reason,omitempty"`
	Model      string           `json:"model,omitempty"`
	Sight      vision.Sight     `json:"sight"`
	Reasons    []job.Reason     `json:"reasons,omitempty"`
	Escalated  []job.Escalated  `json:"escalated,omitempty"`
	DependsOn  []string         `json:"dependsOn,omitempty"`
	ReviewOf   string           `json:"reviewOf,omitempty"`
	Images     []job.Image      `json:"images,omitempty"`
	Merged     string           `json:"merged,omitempty"`
	Waiting    *job.WaitingBody `json:"waiting,omitempty"`
	Attempts   []AttemptDoc     `json:"attempts,omitempty"`
	Verdicts   []job.Verdict    `json:"verdicts,omitempty"`
	Checks     []string         `json:"checks,omitempty"`
	Question   string           `json:"question,omitempty"`  // of the agent, not answered yet
	Said       []Words          `json:"said,omitempty"`      // by the person
	Continues  bool             `json:"continues,omitempty"` // the next attempt can go on from the last point
	Chosen     string           `json:"chosen,omitempty"`    // a model set by the person
}

// AttemptDoc is one attempt of a TaskDoc.
type AttemptDoc struct {
	ID     string            `json:"id"`
	Number int               `json:"number"`
	Worker string            `json:"worker"`
	Model  string            `json:"model"`
	Epoch  int64             `json:"epoch"`
	Cost   *float64          `json:"cost"`
	Step   string            `json:"step,omitempty"`
	Result *job.AttemptEnd   `json:"result,omitempty"`
	Looks  []job.Look        `json:"looks,omitempty"`
	Checks []job.CheckResult `json:"checks,omitempty"`
	Trace  string            `json:"trace,omitempty"` // SHA-256 of the whole transcript
	From   string            `json:"from,omitempty"`  // the attempt that it went on from
}

// WhyList answers a why: one task, or every task of a job.
type WhyList struct {
	Tasks []WhyDoc `json:"tasks"`
}

// WhyDoc says why a task has its model and its state.
type WhyDoc struct {
	Job   string   `json:"job"`
	Task  string   `json:"task"`
	Title string   `json:"title"`
	Lines []string `json:"lines"`
}

// DiffDoc is a diff against the job's base.
type DiffDoc struct {
	Job       string           `json:"job"`
	Base      string           `json:"base"`
	Commit    string           `json:"commit"`
	Files     []job.FileChange `json:"files"`
	Diff      string           `json:"diff"`
	Truncated bool             `json:"truncated"`
}

// ApplyDoc answers an apply.
type ApplyDoc struct {
	Job       string   `json:"job"`
	Commit    string   `json:"commit"`
	BackupRef string   `json:"backupRef"`
	Files     []string `json:"files"`
	Already   bool     `json:"already,omitempty"` // it was applied before; nothing was changed now
}

// CostsQuery asks for the ledger: of one job, or of the last days.
type CostsQuery struct {
	ID   string `json:"id,omitempty"`
	Days int    `json:"days,omitempty"`
}

// CostRow sums the requests of one job, task, attempt, traffic and model.
type CostRow struct {
	Job          string   `json:"job"`
	Task         string   `json:"task,omitempty"`
	Attempt      string   `json:"attempt,omitempty"`
	Traffic      string   `json:"traffic"`
	Model        string   `json:"model"`
	Requests     int      `json:"requests"`
	TokensIn     *int64   `json:"tokensIn"`
	TokensOut    *int64   `json:"tokensOut"`
	TokensCached *int64   `json:"tokensCached"`
	Pictures     int      `json:"pictures"`
	Cost         *float64 `json:"cost"`
}

// CostsDoc sums what it shows; Total is null when a row's cost is unknown.
type CostsDoc struct {
	Total *float64  `json:"total"`
	Known float64   `json:"known"`
	Rows  []CostRow `json:"rows"`
}

// SightDoc is what one source says of a model's sight.
type SightDoc struct {
	Source vision.Source `json:"source"`
	Vision vision.Sight  `json:"vision"`
	Detail string        `json:"detail,omitempty"`
}

// ModelsRequest says which models to list; the zero value is those of the config.
type ModelsRequest struct {
	All  bool     `json:"all,omitempty"`  // those too that only their provider's list names
	Refs []string `json:"refs,omitempty"` // only these, whoever names them
}

// ForgetRequest names models of which learned refusals are forgotten; none: all.
type ForgetRequest struct {
	Refs []string `json:"refs,omitempty"`
}

// ForgottenDoc lists what was forgotten.
type ForgottenDoc struct {
	Forgotten []ForgottenModel `json:"forgotten"`
}

// ForgottenModel is a learned refusal that counts no more, and what counts now.
type ForgottenModel struct {
	Ref    string   `json:"ref"`
	Was    SightDoc `json:"was"`
	Vision SightDoc `json:"now"`
}

// ModelDoc is one model: of the config, or of a provider's list.
type ModelDoc struct {
	Ref          string        `json:"ref"`
	Provider     string        `json:"provider"`
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Vision       vision.Sight  `json:"vision"`
	VisionSource vision.Source `json:"visionSource,omitempty"`
	VisionDetail string        `json:"visionDetail,omitempty"`
	VisionSays   []SightDoc    `json:"visionSays"` // every source that was asked, strongest first
	Shown        bool          `json:"shown"`      // pictures are sent to it; else it gets words
	Chat         bool          `json:"chat"`
	Context      int           `json:"context,omitempty"`
	Price        PriceDoc      `json:"price"`
	Tools        bool          `json:"tools"`
	Private      bool          `json:"private"`
	Configured   bool          `json:"configured"`         // the config names it; else only its provider's list does
	Listed       bool          `json:"listed"`             // its provider's list, when last read, names it
	ListRead     *time.Time    `json:"listRead,omitempty"` // when that was; absent: there is no list
	Rungs        []int         `json:"rungs,omitempty"`    // 1-based, weakest first
}

// PriceDoc is USD a million tokens; null is unknown.
type PriceDoc struct {
	Input  *float64 `json:"input"`
	Output *float64 `json:"output"`
	Cached *float64 `json:"cached,omitempty"`
}

// ModelsDoc lists models.
type ModelsDoc struct {
	Models []ModelDoc `json:"models"`
	Left   int        `json:"left,omitempty"` // of the providers' lists, that one answer has no room for
}

// StatusDoc says how the daemon is.
type StatusDoc struct {
	Version string      `json:"version"`
	API     string      `json:"api"`
	PID     int         `json:"pid"`
	Workers []WorkerDoc `json:"workers"`
	Jobs    int         `json:"jobs"` // active
	Here    bool        `json:"standalone,omitempty"`
	Started time.Time   `json:"started"`
	Home    string      `json:"home,omitempty"`    // folder of the record
	Damages []string    `json:"damages,omitempty"` // found in the record since the start, in words
}

// WorkerDoc is one worker.
type WorkerDoc struct {
	ID      string  `json:"id"`
	PID     int     `json:"pid"`
	Slots   int     `json:"slots"`
	Busy    int     `json:"busy"`
	SeenAgo float64 `json:"seenSecondsAgo"`
}

// BlobChunk carries a piece of a file; Data is base64 in JSON. The file is kept
// when all of Size is there and its hash is SHA256.
type BlobChunk struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Offset int64  `json:"offset"`
	Data   []byte `json:"data"`
}

// BlobQuery asks for a piece of a kept file from Offset.
type BlobQuery struct {
	SHA256 string `json:"sha256"`
	Offset int64  `json:"offset"`
}

// CancelQuery ends a job.
type CancelQuery struct {
	ID     string `json:"id"` // a job, or one task of it
	Reason string `json:"reason,omitempty"`
}

// Retry gives a job or a task another attempt; Budget, when set, is the job's
// new bound in USD.
type Retry struct {
	ID     string   `json:"id"`
	Budget *float64 `json:"budget,omitempty"`
	Model  string   `json:"model,omitempty"` // of the task's next attempts; not escalated
	Anew   bool     `json:"anew,omitempty"`  // begin afresh instead of going on from the last point
}

// Empty is the document of a call that says nothing more.
type Empty struct{}
