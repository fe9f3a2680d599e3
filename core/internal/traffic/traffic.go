// Package traffic holds the nouns between those who need a model's answer and
// the gateway that gets it: the call, the answer, and why there is none.
package traffic

import (
	"fmt"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
)

// Call is one request on behalf of a job.
type Call struct {
	Job     string
	Task    string // empty for planning
	Attempt string
	Traffic string        // planning, conversation, review, vision
	Chain   []catalog.Ref // who may answer, best first
	Request provider.Request
	Budget  ledger.Budget
	Shown   map[string]bool // views whose look was told before; may be nil
}

// Answer is a response and who gave it.
type Answer struct {
	provider.Response
	By    catalog.Ref `json:"by"`
	Blind []string    `json:"blind,omitempty"` // views that went as words
}

// BudgetError says that the budget allows no further request.
type BudgetError struct{ Words string }

// Error gives the words.
func (e *BudgetError) Error() string { return e.Words }

// MissingError lists pictures whose bytes are not at hand: send them and ask again.
type MissingError struct{ SHA256 []string }

// Error counts them.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%d pictures of the request are not at hand", len(e.SHA256))
}
