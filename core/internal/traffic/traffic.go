// Package traffic holds the nouns between those who need a model's answer and
// the gateway that gets it: the call, the answer, and why there is none.
package traffic

import (
	"fmt"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
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
	Private bool            // only models on the person's own machines may be asked, and may look
	Rules   PictureRules
	Deliver Delivery // nil: the answer is wanted when it is whole
}

// Delivery is how an answer reaches another program while it comes. Once anything has
// been handed over, no other model is asked and nothing is sent again.
type Delivery interface {
	// Wire is the program's own: chat, responses or anthropic.
	Wire() string
	// Seal gives the program's own body for a model, with other pictures or words in the
	// places that it names by view.
	Seal(model string, pictures map[string]Replacement) ([]byte, []provider.Receipt, error)
	// Header are the program's own that its wire's provider should get.
	Header() map[string]string
	// Pass takes bytes of an answer in the program's wire.
	Pass(contentType string, data []byte) error
	// Delta takes words of an answer in another wire.
	Delta(text string)
	// Begun reports whether anything was handed over.
	Begun() bool
}

// Replacement is what stands in a picture's place: another picture, or words.
type Replacement struct {
	Picture *vision.Picture
	Words   string
}

// PictureRules are the person's rules about pictures of requests.
type PictureRules struct {
	Keep   int  // of a tool's pictures at least so many of the newest stay pictures; 0: 3
	Settle bool // a doubt whether a model got a picture is settled by showing it a tiny one
}

// Answer is a response and who gave it.
type Answer struct {
	provider.Response
	By        catalog.Ref `json:"by"`
	Blind     []string    `json:"blind,omitempty"`     // views that went as words, whichever
	Described []string    `json:"described,omitempty"` // those of them that another model looked at
	Cost      *float64    `json:"cost,omitempty"`      // USD of all requests that it took; nil: not known
}

// Look is a question about one picture, on behalf of somebody who cannot see it.
type Look struct {
	Job, Task, Attempt string
	Asker              catalog.Ref // the model that cannot see; empty: nobody knows who asks
	Private            bool        // only models on the person's own machines may look
	Picture            provider.Picture
	Question           string // empty: what an agent wants to know of any picture
	Budget             ledger.Budget
	Rules              PictureRules
}

// Seen is what a model that sees says of a picture.
type Seen struct {
	Words  string
	By     catalog.Ref
	Cost   *float64 // USD of the requests that it took now; nil: not known
	Cached bool     // it was said before, or somebody else asks the same at this moment
}

// NobodyError says that no model may look at a picture, and what to do instead.
type NobodyError struct{ Words string }

// Error gives the words.
func (e *NobodyError) Error() string { return e.Words }

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
