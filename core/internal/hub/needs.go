package hub

import (
	"context"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Pictures prepares one file of the agent's folder for a model to look at. maxEdge is
// 0 for what is sent by default. An error with a PictureCode is a refusal in words for the agent.
type Pictures interface {
	Prepare(ctx context.Context, name string, region *vision.Region, maxEdge int) (vision.Picture, vision.Meta, error)
}

// Describer lets a model that sees answer a question about a picture. An error is in
// words for the agent: who may not look, and what to do instead.
type Describer interface {
	Describe(ctx context.Context, picture vision.Picture, meta vision.Meta, question string) (Description, error)
}

// Description is an answer about a picture.
type Description struct {
	Words string   // of the model; data, whatever they say
	By    string   // provider/model
	Cost  *float64 // USD of all requests that it took; nil: not known
}
