package gateway

import (
	"context"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/packing"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Book knows the models and who speaks to them.
type Book interface {
	Model(ref catalog.Ref) (catalog.Model, bool)
	// Client gives the wire to a model's provider; it fails when the key is missing.
	Client(ctx context.Context, ref catalog.Ref) (provider.Client, error)
	// Endpoint names where a model is asked: models of one endpoint share its patience.
	Endpoint(ref catalog.Ref) string
	// Limits are those of the requests to a model.
	Limits(ref catalog.Ref) packing.Limits
	// Lookers are the models that may look at a picture for one that cannot see, best
	// first; asker may be empty. private: only those on the person's own machines.
	Lookers(asker catalog.Ref, private bool) []catalog.Ref
	// Blinded remembers that a model does not see at its endpoint: from now on Model
	// says so. phrase is the endpoint's own, or what a tiny picture showed.
	Blinded(ref catalog.Ref, phrase string)
	// Probed keeps what a tiny picture showed, with its date.
	Probed(ref catalog.Ref, f probe.Finding)
}

// Money holds requests against budgets.
type Money interface {
	Reserve(ctx context.Context, r ledger.Row, b ledger.Budget) (record.Verdict, string, error)
	Unsent(ctx context.Context, id string) error
	// Settle ends a row and tells the job what was paid and which pictures arrived.
	Settle(ctx context.Context, r ledger.Row, looks []job.Look) error
	// TellBlinded tells a job what was learned from one of its requests.
	TellBlinded(ctx context.Context, asked ledger.Row, b job.Blinded) error
	// Notice tells a job what a person should know of one of its requests.
	Notice(ctx context.Context, asked ledger.Row, words string) error
}

// Album keeps pictures by their SHA-256.
type Album interface {
	Blob(sha string) ([]byte, error)
	PutBlob(data []byte) (sha string, err error)
}

// Darkroom makes a picture fit: smaller, in fewer bytes, of another kind. One that
// fits comes back as it is. Errors are in words for an agent.
type Darkroom interface {
	Fit(ctx context.Context, data []byte, name string, f vision.Fit) (vision.Picture, error)
}
