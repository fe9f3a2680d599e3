package app

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/relo-dev/relo/core/internal/api"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// LookQuestion is what relo look asks.
type LookQuestion struct {
	Path     string
	Region   *vision.Region
	Question string
	Private  bool
}

// Looked is what a model that sees said of a picture.
type Looked struct {
	Words string      `json:"words"`
	By    string      `json:"by"`
	Cost  *float64    `json:"cost"` // USD; null: not known
	Meta  vision.Meta `json:"picture"`
}

const lookName = "picture.look"

// lookAsk is the API's request: the picture was brought with blob.put.
type lookAsk struct {
	Picture  provider.Picture `json:"picture"`
	Question string           `json:"question"`
	Private  bool             `json:"private,omitempty"`
}

// LookAt prepares a file of e.Dir as relo_image does and has a model that sees answer a
// question about it: through the running daemon, else in this process. The ledger has it
// either way.
func LookAt(ctx context.Context, e Env, cfg *config.Config, q LookQuestion) (Looked, error) {
	g, err := OpenGallery(e, cfg)
	if err != nil {
		return Looked{}, err
	}
	defer func() { _ = g.Close() }() // opened for reading only
	p, meta, err := g.Prepare(ctx, q.Path, q.Region, 0)
	if err != nil {
		return Looked{}, err
	}
	seen, err := lookThere(ctx, e, cfg, Any, lookAsk{Picture: pictureOf(p, meta), Question: q.Question, Private: q.Private})
	return Looked{Meta: meta, Words: seen.Words, By: string(seen.By), Cost: seen.Cost}, err
}

func pictureOf(p vision.Picture, meta vision.Meta) provider.Picture {
	return provider.Picture{Picture: p, View: vision.View{ID: job.NewID(), Path: meta.Path, Role: vision.Other, Region: meta.Crop, Source: meta.Source}}
}

func lookThere(ctx context.Context, e Env, cfg *config.Config, mode Mode, ask lookAsk) (traffic.Seen, error) {
	var seen traffic.Seen
	l, err := Open(ctx, e, cfg, mode)
	if err != nil {
		return seen, err
	}
	defer func() { _ = l.Close() }() // it was asked
	if _, err := l.PutBlob(ctx, ask.Picture.Bytes); err != nil {
		return seen, err
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return seen, err
	}
	answer, err := l.line.Request(ctx, lookName, text)
	if err != nil {
		return seen, err
	}
	return seen, json.Unmarshal(answer, &seen)
}

// lookEndpoint is the API's row for a question about a picture on behalf of no job.
func (c *core) lookEndpoint(look func(context.Context, traffic.Look) (traffic.Seen, error)) api.Endpoint {
	return api.Endpoint{Name: lookName, Description: "a question about a picture, of no job", Handle: func(ctx context.Context, body []byte) ([]byte, error) {
		var q lookAsk
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, &protocol.Error{Code: protocol.CodeUsage, Message: lookName + ": " + err.Error()}
		}
		cfg, _, err := c.settings.of("")
		if err != nil {
			return nil, configFault(err)
		}
		data, err := c.store.Blob(q.Picture.SHA256)
		if err != nil {
			return nil, &protocol.Error{Code: protocol.CodeMissing, Message: "the picture is not at hand: " + err.Error(), Retryable: true}
		}
		q.Picture.Bytes = data
		seen, err := look(ctx, traffic.Look{
			Attempt: "look", Private: q.Private, Picture: q.Picture, Question: q.Question,
			Budget: ledger.Budget{PerDay: cfg.Budget.PerDay, DenyUnknown: cfg.Budget.UnknownPrice == "deny"},
			Rules:  traffic.PictureRules{Keep: cfg.Pictures.Keep, Settle: cfg.Pictures.SettleDoubt},
		})
		if err != nil {
			return nil, lookError(err)
		}
		return json.Marshal(seen)
	}}
}

// lookError gives what went wrong a code that crosses the bus.
func lookError(err error) error {
	code := protocol.CodeProvider
	if _, ok := errors.AsType[*traffic.NobodyError](err); ok {
		code = protocol.CodeNobody
	}
	if _, ok := errors.AsType[*traffic.BudgetError](err); ok {
		code = protocol.CodeBudget
	}
	words := err.Error()
	if e, ok := asProvider(err); ok && e.Kind == provider.KindKey {
		code = protocol.CodeKey
	}
	return &protocol.Error{Code: code, Message: words}
}
