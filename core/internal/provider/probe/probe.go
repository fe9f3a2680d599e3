// Package probe finds out whether a model sees by showing it a tiny picture: first
// one of one colour, then one of a digit. It draws the pictures, words the questions
// and reads the answers; who asks, and what is remembered, is not its matter.
package probe

import (
	"context"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Verdict is what a probe showed.
type Verdict string

// The verdicts.
const (
	Saw     Verdict = "saw"      // it named what was drawn
	Guessed Verdict = "guessed"  // it named something else: politely, and wrongly
	NoImage Verdict = "no-image" // it said that no picture came, or that it cannot see
	Dropped Verdict = "dropped"  // the picture was lost before the model: usage did not grow
	Refused Verdict = "refused"  // the endpoint refused the picture for want of sight
	Failed  Verdict = "failed"   // something else went wrong: no answer about sight
)

// Finding is the outcome of one probe.
type Finding struct {
	Sight    vision.Sight // Unknown with Failed
	Verdict  Verdict
	Words    string         // for people: what was drawn, what was said
	Requests int            // that were sent
	Usage    provider.Usage // summed; nil where any is unknown
	Err      error          // with Failed and Refused: the provider's own
}

// Ask sends one request to the model; the error is the provider's.
type Ask func(ctx context.Context, r provider.Request) (provider.Response, error)
