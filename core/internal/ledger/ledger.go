// Package ledger counts money and tokens: what a request cost, what it may cost
// at most, and whether a budget allows it. Unknown is never 0. Rows are kept by
// the record; the rules here are pure.
package ledger

import (
	"fmt"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
)

// Row is one request that was sent to a provider, or is about to be.
type Row struct {
	ID       string
	Time     time.Time
	Job      string
	Task     string
	Attempt  string
	Traffic  string
	Model    catalog.Ref
	Place    int      // in the route: 0 is the first of the chain
	Reserved *float64 // USD held back while it is under way; nil: no known price
	Usage    provider.Usage
	Pictures int
	// PictureTokens is our own estimate: providers do not report it apart.
	PictureTokens int64
	Cost          *float64 // USD; nil: unknown
	MS            int64
	Outcome       string // OutcomeOpen until it is settled
}

// The outcomes of a row. The others are a provider.Kind.
const (
	OutcomeOpen = "open"
	OutcomeOK   = "ok"
	OutcomeLost = "lost" // Relo ended while the request was under way
)

const million = 1e6

// Cost is what a request cost in USD: nil when tokens or price are unknown.
// Cached input is charged at the cached price, at the full one when that is unknown;
// it is never more than the input.
func Cost(u provider.Usage, p catalog.Price) *float64 {
	if !p.Known() || u.TokensIn == nil || u.TokensOut == nil {
		return nil
	}
	in, cached := float64(*u.TokensIn), 0.0
	if u.TokensCached != nil && p.Cached != nil {
		cached = min(float64(*u.TokensCached), in)
	}
	rate := *p.Input
	if p.Cached != nil {
		rate = *p.Cached
	}
	sum := ((in-cached)*(*p.Input) + cached*rate + float64(*u.TokensOut)*(*p.Output)) / million
	return &sum
}

// Estimation constants, on the safe side: a reservation that is too small would
// let a budget be crossed.
const (
	// bytesPerToken is low on purpose: code and JSON run near 3 bytes a token,
	// prose near 4 (OpenAI's tokenizer guide gives 4 for English).
	bytesPerToken = 2.5
	// pixelsPerToken follows Anthropic's documented w×h/750.
	pixelsPerToken = 750
	// DefaultMaxOutput is assumed when a model's limit is not known.
	DefaultMaxOutput = 8192
)

// PictureTokens estimates what a picture of w×h pixels costs in tokens.
func PictureTokens(w, h int) int64 { return int64((w*h + pixelsPerToken - 1) / pixelsPerToken) }

// Estimate is the most that a request with a body of text bytes and pictures
// may cost in USD when the answer has maxOutput tokens; nil without a price.
func Estimate(textBytes int, pictureTokens int64, maxOutput int, p catalog.Price) *float64 {
	if !p.Known() {
		return nil
	}
	in := float64(textBytes)/bytesPerToken + float64(pictureTokens)
	rate := *p.Input
	if p.Cached != nil {
		rate = max(rate, *p.Cached)
	}
	sum := (in*rate + float64(maxOutput)*(*p.Output)) / million
	return &sum
}

// Budget bounds the spending of a job and of a day, in USD; nil: no bound.
type Budget struct {
	PerJob *float64
	PerDay *float64
	// DenyUnknown refuses requests whose price is not known.
	DenyUnknown bool
}

// Spent is what a budget is held against: settled costs and reservations.
type Spent struct {
	Job float64
	Day float64
}

// Allow reports whether a request may be sent, given what is spent and under
// way; words say why not. The sum never passes the bound.
func (b Budget) Allow(s Spent, estimate *float64) (ok bool, words string) {
	if estimate == nil {
		if b.DenyUnknown {
			return false, "the model's price is not known and budget.unknownPrice is deny"
		}
		return true, ""
	}
	if b.PerJob != nil && s.Job+*estimate > *b.PerJob {
		return false, overWords("the job's", *b.PerJob, s.Job, *estimate)
	}
	if b.PerDay != nil && s.Day+*estimate > *b.PerDay {
		return false, overWords("the day's", *b.PerDay, s.Day, *estimate)
	}
	return true, ""
}

// overWords says why a bound is in the way: most often not what was spent, but
// what the next request may cost at most.
func overWords(whose string, bound, spent, estimate float64) string {
	return fmt.Sprintf("%s budget of %.4g USD cannot hold the next request: %.4g is spent, and it may cost up to %.4g", whose, bound, spent, estimate)
}
