// Package job holds the nouns of a job: its tasks and attempts, the tables of
// moves they make, the events that happen to them, and the fold of those events
// into a state. Everything is a function of its arguments; nothing here reads a
// clock, a file or a network.
package job

import "github.com/google/uuid"

// NewID makes an id that sorts by the time it was made (UUID version 7).
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// TaskKind says what a task is for.
type TaskKind string

// The kinds of tasks. Work is planned by the Primary; reviews and debugging are
// queued by Relo itself.
const (
	Work   TaskKind = "work"
	Review TaskKind = "review"
	Debug  TaskKind = "debug"
)

// Difficulty is what the Primary thinks a task asks for.
type Difficulty string

// The difficulties, easiest first.
const (
	Easy   Difficulty = "easy"
	Normal Difficulty = "normal"
	Hard   Difficulty = "hard"
)

// Known reports whether d is one of the three.
func (d Difficulty) Known() bool { return d == Easy || d == Normal || d == Hard }

// Image names a picture that belongs to a task: a repository path at the base,
// or an attachment (Attachment true), which lies at .relo/attachments/NAME.
type Image struct {
	Path       string `json:"path"`
	SHA256     string `json:"sha256,omitempty"` // of the file's bytes; set for attachments
	Attachment bool   `json:"attachment,omitempty"`
	Bytes      int    `json:"bytes,omitempty"`
}

// AttachmentDir is where a job's attachments lie in a workspace; git ignores it.
const AttachmentDir = ".relo/attachments"

// WorkspacePath is where an agent finds the picture.
func (i Image) WorkspacePath() string {
	if i.Attachment {
		return AttachmentDir + "/" + i.Path
	}
	return i.Path
}

// Outcome is how an attempt ended.
type Outcome string

// The outcomes of an attempt.
const (
	Done         Outcome = "done"
	OutBlocked   Outcome = "blocked"
	OutFailed    Outcome = "failed"
	Unverified   Outcome = "unverified"
	OutCancelled Outcome = "cancelled"
	OutLost      Outcome = "lost"
	OutBudget    Outcome = "budget"
	OutPaused    Outcome = "paused" // laid aside at a safe point; the next attempt goes on from there
)

// What an attempt can say of its pictures.
const (
	VisualChecked     = "checked"
	VisualUnavailable = "unavailable"
)

// The verdicts of a review.
const (
	VerdictAccept = "accept"
	VerdictRework = "rework"
	VerdictReject = "reject"
)
