// Package tool says what a tool is: a spec that the model reads and an act that
// returns a result. A tool's own failure is a result that the model reads; a Go
// error from Run ends the turn.
package tool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Shown is a picture that a tool returns, with where it came from.
type Shown struct {
	Picture vision.Picture
	View    vision.View
}

// Result is what the model gets back: text first, then the pictures.
type Result struct {
	Text     string
	Pictures []Shown
	IsError  bool
	Rounds   int // rounds of the agent that it used up beside its own: another model was asked
}

// Fail makes a result that tells the model what went wrong and what to do next.
func Fail(words string) Result { return Result{Text: words, IsError: true} }

// ErrWait is what a tool returns whose answer a person gives later: the engine
// lays the work aside there, and the call is answered when it goes on.
var ErrWait = errors.New("a person answers this call later")

// Tool is one thing an agent can do. Implementations must be safe for one call
// at a time and must stop soon after ctx ends, with everything they started.
type Tool interface {
	Spec() provider.ToolSpec
	// Run gets the call's id and arguments (a JSON object, not yet checked).
	Run(ctx context.Context, id string, args json.RawMessage) (Result, error)
}
