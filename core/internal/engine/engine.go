// Package engine says what an engine is: something that works on one task with
// one model until the agent reports its end. It holds the nouns and the family's
// interface; the engines themselves are hands.
package engine

import (
	"context"
	"encoding/json"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// Task is what an engine works on.
type Task struct {
	Model     string          // the reference, provider/id
	System    string          // begins with the Role line
	First     []provider.Part // the first user message: words, and pictures when the model may see
	Tools     []tool.Tool
	Finish    []string // names of the tools whose successful call ends the work
	Rounds    int      // at most so many model calls
	MaxTokens int      // of one answer
	// Nudge is what the agent is told when it answers without calling a tool.
	Nudge string
	// Past is the trace of an attempt that was interrupted; the work goes on behind
	// its last entry, and First is not used. No call that it names is made again.
	Past []Entry
	// Answer is what the person said to the call that Past ends with (KindWait).
	Answer string
	// Back is what the agent is told when it goes on: why it was interrupted, and
	// what may have changed meanwhile.
	Back string
}

// Step is one thing that happened, for the timeline.
type Step struct {
	Kind    string `json:"step"` // text, tool, progress
	Tool    string `json:"tool,omitempty"`
	Summary string `json:"summary"`
	MS      int64  `json:"ms"`
	Failed  bool   `json:"failed,omitempty"` // the tool's result was an error
}

// Desk is how an engine reaches the world.
type Desk struct {
	// Ask sends one request to the task's model. The request's Model is set by
	// the one who answers. Errors end the work.
	Ask func(ctx context.Context, r provider.Request) (provider.Response, error)
	// Step reports progress; it does not block.
	Step func(Step)
	// Keep writes an entry of the trace to a place that outlives this process,
	// before what it speaks of is acted on. An error ends the work. Nil: no trace.
	Keep func(Entry) error
	// Paused reports whether the work is to be laid aside at the next safe point.
	// Nil: never.
	Paused func() bool
	// Said gives what the person said and the agent has not heard in this run; it
	// is asked at every safe point. Nil: nothing.
	Said func() []Words
}

// Words are a message of the person; one ID is heard once in a trace.
type Words struct {
	ID   string
	Text string
}

// End says how the work ended without an error.
type End struct {
	Finish string          // the finishing tool that was called; empty: none was
	Args   json.RawMessage // its arguments
	Rounds int
	Why    string // when Finish is empty: out of rounds, or the model stopped
	Paused bool   // laid aside at a safe point; the trace goes on from there
	// Asked are the arguments of the call that waits for the person (tool.ErrWait).
	Asked json.RawMessage
}

// Engine works on a task. Run returns when the work has ended and everything
// that it started is gone; a cancelled ctx ends it soon.
type Engine interface {
	Name() string
	Run(ctx context.Context, t Task, d Desk) (End, error)
}
