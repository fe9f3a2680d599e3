package protocol

import "github.com/relo-dev/relo/core/internal/job"

// Resume lets a paused job, or one that stopped at its budget, go on. Budget,
// when set, is the job's new bound in USD.
type Resume struct {
	ID     string   `json:"id"`
	Budget *float64 `json:"budget,omitempty"`
}

// Say hands a person's words to the agents of a job or a task. They reach a
// running agent at its next safe point, the others at their start.
type Say struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// SayDoc says whom the words reached.
type SayDoc struct {
	Resolved
	Now     []string `json:"now"`               // titles of tasks whose agents run: told at their next safe point
	Later   []string `json:"later"`             // titles of tasks that are told when they begin or go on
	Answers string   `json:"answers,omitempty"` // the question that the words answer
	Replans bool     `json:"replans,omitempty"` // the plan waited for approval: another is made with the words
}

// Approve lets a plan that waits begin. Plan, when set, takes its place first.
type Approve struct {
	ID   string   `json:"id"`
	Plan *PlanDoc `json:"plan,omitempty"`
}

// PlanDoc is a plan as a person reads and edits it.
type PlanDoc struct {
	Summary string     `json:"summary"`
	Tasks   []PlanTask `json:"tasks"`
}

// PlanTask is one task of a PlanDoc, with the plan's own ids. Model, Reasons and
// Sight are what Relo would choose now; they are not read back. A Model that the
// person sets in an edited plan goes into Use.
type PlanTask struct {
	ID           string         `json:"id"`
	Title        string         `json:"title"`
	Instructions string         `json:"instructions"`
	Difficulty   job.Difficulty `json:"difficulty"`
	Vision       bool           `json:"vision"`
	Images       []string       `json:"images,omitempty"`
	DependsOn    []string       `json:"dependsOn,omitempty"`
	Files        []string       `json:"files,omitempty"`
	Checks       []string       `json:"checks,omitempty"`
	Use          string         `json:"use,omitempty"` // model reference set by the person
	Model        string         `json:"model,omitempty"`
	Reason       string         `json:"reason,omitempty"` // one sentence
}

// Discard gives a job's work up. Force is needed when work would be lost that is
// not in the person's files.
type Discard struct {
	ID    string `json:"id"`
	Force bool   `json:"force,omitempty"`
}

// DiscardDoc says what was removed.
type DiscardDoc struct {
	Job     string   `json:"job"`
	Removed []string `json:"removed"` // refs and folders
}

// UndoDoc answers the undo of an apply.
type UndoDoc struct {
	Job   string   `json:"job"`
	Files []string `json:"files"`
}

// LogsDoc lists the attempts of a job or a task with where their traces are. A
// trace is a file of one JSON engine.Entry a line, fetched as a blob.
type LogsDoc struct {
	Job      string    `json:"job"`
	Attempts []LogLine `json:"attempts"`
}

// LogLine is one attempt in a LogsDoc.
type LogLine struct {
	Task    string       `json:"task"`
	Key     string       `json:"key"`
	Title   string       `json:"title"`
	Kind    job.TaskKind `json:"taskKind"`
	Attempt string       `json:"attempt"`
	Number  int          `json:"number"`
	Worker  string       `json:"worker"`
	Model   string       `json:"model"`
	Outcome job.Outcome  `json:"outcome,omitempty"` // empty: under way
	Reason  string       `json:"reason,omitempty"`
	Trace   string       `json:"trace,omitempty"` // SHA-256; empty: none (yet)
}

// Words is a message of the person for an agent.
type Words struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Heed lists messages for one attempt.
type Heed struct {
	Attempt string  `json:"attempt"`
	Words   []Words `json:"words"`
}

// Continue says where an attempt goes on instead of beginning anew.
type Continue struct {
	Attempt string `json:"attempt"` // the one that it goes on from
	// Chain are the attempts that went before it in the same work, the newest first:
	// when it left nothing, what they left is taken.
	Chain  []string `json:"chain,omitempty"`
	Trace  string   `json:"trace,omitempty"`  // SHA-256; empty: only the worker's own folder has it
	Commit string   `json:"commit,omitempty"` // the files as they were, on Base
	Base   string   `json:"base"`
	Why    string   `json:"why"`              // why it was interrupted, in words for the agent
	Answer string   `json:"answer,omitempty"` // to the question that it waited with
	// Answered are the ids of the messages that Answer is made of.
	Answered []string `json:"answered,omitempty"`
}
