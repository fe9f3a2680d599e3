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
}

// End says how the work ended without an error.
type End struct {
	Finish string          // the finishing tool that was called; empty: none was
	Args   json.RawMessage // its arguments
	Rounds int
	Why    string // when Finish is empty: out of rounds, or the model stopped
}

// Engine works on a task. Run returns when the work has ended and everything
// that it started is gone; a cancelled ctx ends it soon.
type Engine interface {
	Name() string
	Run(ctx context.Context, t Task, d Desk) (End, error)
}
