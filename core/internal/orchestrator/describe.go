package orchestrator

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// describeTool is relo_describe for an agent whose model cannot see: the picture goes to
// a model that does, and only words come back.
type describeTool struct{ k *work }

// Spec is relo_describe.
func (describeTool) Spec() provider.ToolSpec { return prompt.Describe() }

// Run prepares the file as relo_image does and asks about it. It counts as a round.
func (d describeTool) Run(ctx context.Context, id string, args json.RawMessage) (tool.Result, error) {
	in, faults := prompt.DecodeDescribe(args)
	if len(faults) > 0 {
		return tool.Fail(strings.Join(faults, "; ")), nil
	}
	g := d.k.gate
	if refused := g.agent.Count(time.Now()); refused != "" {
		return tool.Fail(refused), nil
	}
	p, meta, err := g.agent.One(ctx, showing.Wish{Name: in.Path, Region: in.Region, MaxEdge: d.k.a.MaxEdge}, g.prepare)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Fail(showing.Refusal(err)), nil
	}
	rel := g.relative(in.Path)
	shown := provider.Picture{Picture: p, View: vision.View{ID: id, Path: rel, Role: vision.Other, Region: meta.Crop, Source: meta.Source}}
	seen, err := d.k.desk.look(ctx, protocol.LookAsk{Hold: d.k.a.Hold, Picture: shown, Question: in.Question})
	switch {
	case codeOf(err) == protocol.CodeNobody, codeOf(err) == protocol.CodeProvider:
		return tool.Fail(err.Error()), nil
	case err != nil:
		return tool.Result{}, err
	}
	return tool.Result{Text: prompt.Described(seen.Words) + "\n" + showing.Looked(string(seen.By), seen.Cost, in.Path, meta), Rounds: 1}, nil
}
