package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// gate is relo_image for one attempt: it checks role and sight on every call,
// whatever the model was offered, and says of each picture where it came from and
// what it proves. The limits and the answer are those of every call (showing).
type gate struct {
	k        *work
	pictures Pictures
	agent    *showing.Agent
}

func newGate(k *work) *gate {
	tracked := func(name string) bool {
		ctx, cancel := context.WithTimeout(context.Background(), showing.TimePerCall)
		defer cancel()
		return k.w.Trees.Tracked(ctx, k.a.Repo, k.a.Base, name)
	}
	return &gate{k: k, pictures: k.w.Pictures(k.a.Never, tracked), agent: k.w.Rooms.Join(k.a.Job)}
}

// close gives up the attempt's part of its job's room.
func (g *gate) close() { g.agent.Leave() }

// offered reports whether the agent's model is given relo_image: it sees, or
// nobody knows.
func (g *gate) offered() bool { return g.k.a.Eyes != vision.Blind }

// Spec is relo_image.
func (g *gate) Spec() provider.ToolSpec { return prompt.Image() }

// Run prepares up to four files. It fails only when none could be shown.
func (g *gate) Run(ctx context.Context, id string, args json.RawMessage) (tool.Result, error) {
	if !g.offered() {
		return tool.Fail("this model cannot see images, so no picture is shown; report that visual verification was unavailable and what a person or a vision model should check"), nil
	}
	call, refused := g.agent.Call(args, time.Now())
	if refused != "" {
		return tool.Fail(refused), nil
	}
	tree, pictures, err := g.k.watch.look(ctx, time.Now())
	if err != nil {
		return tool.Result{}, err
	}
	answer, err := call.Show(ctx, g.k.a.MaxEdge, g.prepare)
	if err != nil {
		return tool.Result{}, err
	}
	out := tool.Result{Text: answer.Text, IsError: answer.Failed}
	for _, s := range answer.Shown {
		out.Pictures = append(out.Pictures, tool.Shown{Picture: s.Picture, View: g.view(fmt.Sprintf("%s:%d", id, s.At), s.Path, s.Meta, tree, pictures)})
	}
	return out, nil
}

func (g *gate) prepare(ctx context.Context, name string, region *vision.Region, maxEdge int) (vision.Picture, vision.Meta, error) {
	return g.pictures.Prepare(ctx, g.k.dir, name, region, maxEdge)
}

// view says where a picture came from and what it can prove.
func (g *gate) view(id, name string, meta vision.Meta, tree string, pictures map[string]string) vision.View {
	rel := g.relative(name)
	return vision.View{
		ID: id, Path: rel, Role: g.role(rel, pictures), Region: meta.Crop, Source: meta.Source, Tree: tree, Fresh: g.k.watch.fresh(rel),
	}
}

// relative is the slash path in the workspace.
func (g *gate) relative(name string) string {
	if filepath.IsAbs(name) {
		if rel, err := filepath.Rel(g.k.dir, name); err == nil {
			name = rel
		}
	}
	return path.Clean(filepath.ToSlash(name))
}

func (g *gate) role(rel string, pictures map[string]string) vision.Role {
	if slices.Contains(g.k.imagePaths(), rel) {
		return vision.Reference
	}
	if strings.HasPrefix(rel, job.AttachmentDir+"/") {
		return vision.Reference
	}
	if g.k.a.Review != nil {
		for _, f := range g.k.a.Review.Files {
			if f.Path == rel {
				return vision.Result
			}
		}
	}
	if g.k.watch.made(rel, pictures) {
		return vision.Result
	}
	return vision.Other
}

// first is the agent's first message: the words and the task's pictures, in whose
// places a model that cannot see gets words. One that cannot be prepared is named.
func (g *gate) first(words string) []provider.Part {
	parts := []provider.Part{provider.Text(words)}
	for i, name := range g.k.imagePaths() {
		p, meta, err := g.agent.One(context.Background(), showing.Wish{Name: name, MaxEdge: g.k.a.MaxEdge}, g.prepare)
		if err != nil {
			parts = append(parts, provider.Text(fmt.Sprintf("[The task's picture %s cannot be shown: %v]", name, err)))
			continue
		}
		view := vision.View{ID: fmt.Sprintf("first:%d", i), Path: name, Role: vision.Reference, Source: meta.Source, Tree: g.k.watch.tree}
		parts = append(parts, provider.Text("Picture "+name+":"), provider.Show(provider.Picture{Picture: p, View: view}))
	}
	return parts
}
