package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Kind names what happened.
type Kind string

// The kinds of events; each has a body type of its own, below.
const (
	KindSubmitted       Kind = "job.submitted"
	KindPlanned         Kind = "job.planned"
	KindJobStatus       Kind = "job.status"
	KindFinished        Kind = "job.finished"
	KindApplied         Kind = "job.applied"
	KindBudget          Kind = "job.budget"
	KindTaskAdded       Kind = "task.added"
	KindRouted          Kind = "task.routed"
	KindTaskWaiting     Kind = "task.waiting"
	KindEscalated       Kind = "task.escalated"
	KindTaskStatus      Kind = "task.status"
	KindMerged          Kind = "task.merged"
	KindStarted         Kind = "attempt.started"
	KindStep            Kind = "attempt.step"
	KindLook            Kind = "attempt.look"
	KindUsage           Kind = "attempt.usage"
	KindCheck           Kind = "check.result"
	KindAttemptFinished Kind = "attempt.finished"
	KindVerdict         Kind = "review.verdict"
	KindBlinded         Kind = "model.blinded"
	KindNotice          Kind = "notice"
	KindSaid            Kind = "person.said"
	KindChosen          Kind = "task.chosen"
	KindTrace           Kind = "attempt.trace"
)

// Event is one thing that happened to a job. In JSON it is flat: the fields of
// Body stand beside the header's. Seq is the job's own count from 1, given by
// the record.
type Event struct {
	Seq     int64
	Time    time.Time
	Job     string
	Kind    Kind
	Task    string
	Attempt string
	Worker  string
	Model   string
	Body    any // a pointer to the body type of Kind
}

type header struct {
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Job     string    `json:"job"`
	Kind    Kind      `json:"kind"`
	Task    string    `json:"task,omitempty"`
	Attempt string    `json:"attempt,omitempty"`
	Worker  string    `json:"worker,omitempty"`
	Model   string    `json:"model,omitempty"`
}

// Submitted is the body of job.submitted.
type Submitted struct {
	Text    string   `json:"text"`
	Title   string   `json:"title"`
	Repo    string   `json:"repo"`
	Base    string   `json:"base"` // commit that the job starts from; holds the person's uncommitted changes
	Head    string   `json:"head"` // the person's HEAD at that moment
	Dirty   int      `json:"dirty"`
	Images  []Image  `json:"images,omitempty"`
	Chosen  string   `json:"chosen,omitempty"` // a model set by the person: not escalated
	Budget  *float64 `json:"budget"`           // USD; nil: none
	Private bool     `json:"private,omitempty"`
	Approve string   `json:"approve,omitempty"` // never, plan
	// Attended says that somebody can answer an agent's question.
	Attended bool `json:"attended,omitempty"`
}

// Planned is the body of job.planned.
type Planned struct {
	Tasks   int    `json:"tasks"`
	Summary string `json:"summary"`
	// Edited says that the person's plan takes the place of the one before, whose
	// tasks are gone; none of them had begun.
	Edited bool `json:"edited,omitempty"`
}

// StatusChange is the body of job.status and task.status. Epoch is set where a
// lease was granted.
type StatusChange struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason,omitempty"`
	Epoch  int64  `json:"epoch,omitempty"`
	// Anew says that the next attempt does not go on from the last point.
	Anew bool `json:"anew,omitempty"`
}

// Finished is the body of job.finished.
type Finished struct {
	Outcome   Status   `json:"outcome"`
	Branch    string   `json:"branch,omitempty"`
	Cost      *float64 `json:"cost"` // USD; nil: at least one request's price is unknown
	NeedsEyes []string `json:"needsEyes,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Code      string   `json:"code,omitempty"` // CodeKey: a key is missing or was refused
}

// AppliedBody is the body of job.applied.
type AppliedBody struct {
	Commit    string   `json:"commit"`
	BackupRef string   `json:"backupRef"`
	Files     []string `json:"files,omitempty"`
}

// Said is the body of person.said: words of the person, to a task or, when the
// event has none, to the whole job.
type Said struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// ChosenBody is the body of task.chosen: the person set the model of the task's
// next attempts.
type ChosenBody struct {
	Chosen string `json:"chosen"`
}

// TraceBody is the body of attempt.trace: what an attempt left that ended
// without a result.
type TraceBody struct {
	Trace  string `json:"trace"` // SHA-256
	Commit string `json:"commit,omitempty"`
}

// CodeKey marks an end that a missing or refused key caused: trying again is
// useless before the person has mended it.
const CodeKey = "key"

// CodeWorkspace marks an end that came before the model was asked anything: the
// folder of the attempt could not be made ready. It says nothing about the model.
const CodeWorkspace = "workspace"

// CodeBlind marks an end that was brought about because the model turned out not to see
// and another one of the ladder does: the task goes on there.
const CodeBlind = "blind"

// NewBudget is the body of job.budget: the person set another bound.
type NewBudget struct {
	Budget *float64 `json:"budget"` // USD
}

// Added is the body of task.added.
type Added struct {
	ID           string     `json:"id"`
	Key          string     `json:"key"` // the plan's own id, unique in the job
	Title        string     `json:"title"`
	Instructions string     `json:"instructions"`
	TaskKind     TaskKind   `json:"taskKind"`
	Difficulty   Difficulty `json:"difficulty"`
	Vision       bool       `json:"vision"`
	Images       []Image    `json:"images,omitempty"`
	DependsOn    []string   `json:"dependsOn,omitempty"` // ids
	ReviewOf     string     `json:"reviewOf,omitempty"`  // the task that a review or debug task looks at
	OfAttempt    string     `json:"ofAttempt,omitempty"` // the attempt that it looks at
	Files        []string   `json:"files,omitempty"`
	Checks       []string   `json:"checks,omitempty"`
}

// Reason is one reason of a routing decision: a code for programs, words for people.
type Reason struct {
	Code  string `json:"code"`
	Words string `json:"words"`
}

// Routed is the body of task.routed; the event's Model is the chosen one.
type Routed struct {
	Rung        int           `json:"rung"`
	Reasons     []Reason      `json:"reasons"`
	Sight       vision.Sight  `json:"sight"`
	SightSource vision.Source `json:"sightSource,omitempty"`
}

// WorkerReason says why a worker cannot take a task now.
type WorkerReason struct {
	Worker string `json:"worker"`
	Reason string `json:"reason"`
}

// WaitingBody is the body of task.waiting.
type WaitingBody struct {
	For     string         `json:"for"`
	Workers []WorkerReason `json:"workers,omitempty"`
}

// Escalated is the body of task.escalated; From and To are model references.
type Escalated struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// Merged is the body of task.merged.
type Merged struct {
	Commit string `json:"commit"` // on the job's branch
	Branch string `json:"branch"`
}

// Started is the body of attempt.started.
type Started struct {
	Number int      `json:"number"`
	Engine string   `json:"engine"`
	Epoch  int64    `json:"epoch"`
	Tools  []string `json:"tools"`
	Base   string   `json:"base"`
	From   string   `json:"from,omitempty"` // the attempt that this one goes on from
}

// Step is the body of attempt.step.
type Step struct {
	Step    string `json:"step"`
	Tool    string `json:"tool,omitempty"`
	Summary string `json:"summary"`
	MS      int64  `json:"ms"`
	Failed  bool   `json:"failed,omitempty"`
}

// Look is the body of attempt.look: a picture that was in a request which got
// a 2xx (how pixels), or that was left out of one (how described, dropped).
type Look struct {
	ID            string         `json:"id"` // of the view: the same picture shown twice has two
	SHA256        string         `json:"sha256"`
	Path          string         `json:"path"`
	Role          vision.Role    `json:"role"`
	Place         string         `json:"place"`
	Region        *vision.Region `json:"region,omitempty"`
	Source        vision.Size    `json:"source"`
	Sent          vision.Size    `json:"sent"`
	Bytes         int            `json:"bytes"`
	MediaType     string         `json:"mediaType"`
	How           string         `json:"how"`
	By            string         `json:"by"` // model reference
	RequestID     string         `json:"requestId,omitempty"`
	AfterLastEdit bool           `json:"afterLastEdit"` // as far as known when it was sent; the attempt's end decides
	Tree          string         `json:"tree,omitempty"`
	Fresh         bool           `json:"fresh"`
	Doubted       bool           `json:"doubted,omitempty"` // it was sent, and whether it came to the model was not found out
}

// The values of Look.How.
const (
	HowPixels    = "pixels"
	HowDescribed = "described"
	HowDropped   = "dropped"
)

// The classes of traffic.
const (
	TrafficPlanning     = "planning"
	TrafficConversation = "conversation"
	TrafficReview       = "review"
	TrafficVision       = "vision"
)

// UsageBody is the body of attempt.usage: one request that was sent.
type UsageBody struct {
	Request       string   `json:"request"` // the ledger row's id
	Traffic       string   `json:"traffic"`
	TokensIn      *int64   `json:"tokensIn"`
	TokensOut     *int64   `json:"tokensOut"`
	TokensCached  *int64   `json:"tokensCached"`
	Pictures      int      `json:"pictures"`
	PictureTokens int64    `json:"pictureTokens"`
	Cost          *float64 `json:"cost"`
	MS            int64    `json:"ms"`
	Outcome       string   `json:"outcome"` // ok, refused, busy, cut, …, lost
}

// CheckResult is the body of check.result.
type CheckResult struct {
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Output  string `json:"output"` // its tail
}

// FileChange is one changed file of an attempt.
type FileChange struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // added, modified, deleted, renamed
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// Seen counts the pictures that reached the model, by role.
type Seen struct {
	Reference           int `json:"reference"`
	Result              int `json:"result"`
	ResultAfterLastEdit int `json:"resultAfterLastEdit"`
	Other               int `json:"other"`
}

// AttemptEnd is the body of attempt.finished.
type AttemptEnd struct {
	Outcome Outcome      `json:"outcome"`
	Commit  string       `json:"commit,omitempty"`
	Base    string       `json:"base,omitempty"`
	Tree    string       `json:"tree,omitempty"` // hash of the sources at the end, as in Look.Tree
	Files   []FileChange `json:"files,omitempty"`
	Summary string       `json:"summary"`
	Notes   string       `json:"notes,omitempty"`
	Reason  string       `json:"reason,omitempty"` // why it is not done
	Code    string       `json:"code,omitempty"`   // CodeKey, CodeWorkspace, or empty
	Seen    Seen         `json:"seen"`
	Visual  string       `json:"visual,omitempty"`
	Epoch   int64        `json:"epoch"`
	Rounds  int          `json:"rounds"`
	Trace   string       `json:"trace,omitempty"` // SHA-256 of the whole transcript
	// Question and Picture are what the agent asked the person; the outcome is then paused.
	Question string `json:"question,omitempty"`
	Picture  string `json:"picture,omitempty"` // workspace path
}

// Finding is one remark of a reviewer.
type Finding struct {
	Severity string `json:"severity"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text"`
}

// Verdict is the body of review.verdict; the event's Task is the reviewed one.
type Verdict struct {
	Review   string    `json:"review"` // the review task's id
	Verdict  string    `json:"verdict"`
	Summary  string    `json:"summary,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// Blinded is the body of model.blinded: an endpoint refused a picture and took the
// same request without it, so the model is known not to see there. The event's model
// is the one.
type Blinded struct {
	Class  string `json:"class"`
	Phrase string `json:"phrase"` // the endpoint's own, that decided
	Proof  string `json:"proof"`  // the ledger row of the request that was taken
	Words  string `json:"words"`  // for people
}

// Notice is the body of notice.
type Notice struct {
	Level string `json:"level"` // info, warn, error
	Words string `json:"words"`
}

var bodies = map[Kind]func() any{
	KindSubmitted: func() any { return &Submitted{} }, KindPlanned: func() any { return &Planned{} },
	KindJobStatus: func() any { return &StatusChange{} }, KindFinished: func() any { return &Finished{} },
	KindApplied: func() any { return &AppliedBody{} }, KindBudget: func() any { return &NewBudget{} }, KindTaskAdded: func() any { return &Added{} },
	KindRouted: func() any { return &Routed{} }, KindTaskWaiting: func() any { return &WaitingBody{} },
	KindEscalated: func() any { return &Escalated{} }, KindTaskStatus: func() any { return &StatusChange{} },
	KindMerged: func() any { return &Merged{} }, KindStarted: func() any { return &Started{} },
	KindStep: func() any { return &Step{} }, KindLook: func() any { return &Look{} },
	KindUsage: func() any { return &UsageBody{} }, KindCheck: func() any { return &CheckResult{} },
	KindAttemptFinished: func() any { return &AttemptEnd{} }, KindVerdict: func() any { return &Verdict{} },
	KindNotice: func() any { return &Notice{} }, KindSaid: func() any { return &Said{} }, KindChosen: func() any { return &ChosenBody{} },
	KindTrace: func() any { return &TraceBody{} }, KindBlinded: func() any { return &Blinded{} },
}

// MarshalJSON writes one flat object: the header, then the body's fields.
func (e Event) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(header{e.Seq, e.Time.UTC(), e.Job, e.Kind, e.Task, e.Attempt, e.Worker, e.Model})
	if err != nil || e.Body == nil {
		return head, err
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("body of %s: %w", e.Kind, err)
	}
	if bytes.Equal(body, []byte("{}")) || bytes.Equal(body, []byte("null")) {
		return head, nil
	}
	if len(body) == 0 || body[0] != '{' {
		return nil, fmt.Errorf("body of %s is not an object", e.Kind)
	}
	head[len(head)-1] = ','
	return append(head, body[1:]...), nil
}

// UnmarshalJSON reads a flat object. A kind that this version does not know
// keeps its header and has no body.
func (e *Event) UnmarshalJSON(b []byte) error {
	var h header
	if err := json.Unmarshal(b, &h); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	*e = Event{h.Seq, h.Time, h.Job, h.Kind, h.Task, h.Attempt, h.Worker, h.Model, nil}
	if make, ok := bodies[h.Kind]; ok {
		e.Body = make()
		if err := json.Unmarshal(b, e.Body); err != nil {
			return fmt.Errorf("event %s: %w", h.Kind, err)
		}
	}
	return nil
}
