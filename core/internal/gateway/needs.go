package gateway

import (
	"context"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/record"
)

// Book knows the models and who speaks to them.
type Book interface {
	Model(ref catalog.Ref) (catalog.Model, bool)
	// Client gives the wire to a model's provider; it fails when the key is missing.
	Client(ctx context.Context, ref catalog.Ref) (provider.Client, error)
	// Blinded remembers that a model does not see at its endpoint: from now on Model
	// says so. phrase is the endpoint's own.
	Blinded(ref catalog.Ref, phrase string)
}

// Money holds requests against budgets.
type Money interface {
	Reserve(ctx context.Context, r ledger.Row, b ledger.Budget) (record.Verdict, string, error)
	Unsent(ctx context.Context, id string) error
	// Settle ends a row and tells the job what was paid and which pictures arrived.
	Settle(ctx context.Context, r ledger.Row, looks []job.Look) error
	// TellBlinded tells a job what was learned from the refusal of one of its requests.
	TellBlinded(ctx context.Context, refused ledger.Row, b job.Blinded) error
}

// Album gives the bytes of a picture by its SHA-256.
type Album interface {
	Blob(sha string) ([]byte, error)
}
