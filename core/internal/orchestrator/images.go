package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
)

// The limits of relo_image (contracts §6).
const (
	picturesPerCall = 4
	bytesPerCall    = 12 << 20
	callsPerMinute  = 30
	prepareTime     = 30 * time.Second
)

// gate is relo_image for one attempt: it checks role, sight and limits on every
// call, whatever the model was offered, and says of each picture where it came
// from and what it proves.
type gate struct {
	k        *work
	pictures Pictures

	mu    sync.Mutex
	calls []time.Time
}

func newGate(k *work) *gate {
	tracked := func(name string) bool {
		ctx, cancel := context.WithTimeout(context.Background(), prepareTime)
		defer cancel()
		return k.w.Trees.Tracked(ctx, k.a.Repo, k.a.Base, name)
	}
	return &gate{k: k, pictures: k.w.Pictures(k.a.Never, tracked)}
}

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
	in, faults := prompt.DecodeImage(args)
	if len(faults) > 0 {
		return tool.Fail(strings.Join(faults, "; ")), nil
	}
	if !g.allow(time.Now()) {
		return tool.Fail(fmt.Sprintf("busy: at most %d calls a minute; wait a little, or show up to %d pictures in one call", callsPerMinute, picturesPerCall)), nil
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	return g.show(ctx, id, in)
}

// allow counts the calls of the last minute.
func (g *gate) allow(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = slices.DeleteFunc(g.calls, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	if len(g.calls) >= callsPerMinute {
		return false
	}
	g.calls = append(g.calls, now)
	return true
}

// shownJSON is one path's entry in the answer.
type shownJSON struct {
	*vision.Meta
	Path  string     `json:"path"`
	Error *faultJSON `json:"error,omitempty"`
}

type faultJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// coded is an error of picture preparation: a code and words for the agent.
type coded interface {
	error
	PictureCode() string
}

func (g *gate) show(ctx context.Context, id string, in prompt.ImageArgs) (tool.Result, error) {
	tree, pictures, err := g.k.watch.look(ctx, time.Now())
	if err != nil {
		return tool.Result{}, err
	}
	maxEdge := in.MaxEdge
	if maxEdge == 0 {
		maxEdge = g.k.a.MaxEdge
	}
	var out tool.Result
	var entries []shownJSON
	total := 0
	for i, name := range in.Paths {
		p, meta, err := g.pictures.Prepare(ctx, g.k.dir, name, in.Region, maxEdge)
		if err == nil && total+len(p.Bytes) > bytesPerCall {
			err = fmt.Errorf("the pictures of one call may have %d MiB together; show this one in a call of its own", bytesPerCall>>20)
		}
		if err != nil {
			entries = append(entries, shownJSON{Path: name, Error: pictureFault(err)})
			continue
		}
		total += len(p.Bytes)
		meta.Index = len(out.Pictures)
		entries = append(entries, shownJSON{Meta: &meta, Path: name})
		out.Pictures = append(out.Pictures, tool.Shown{Picture: p, View: g.view(fmt.Sprintf("%s:%d", id, i), name, meta, tree, pictures)})
	}
	text, err := json.Marshal(map[string]any{"images": entries})
	if err != nil {
		return tool.Result{}, fmt.Errorf("describe the pictures: %w", err)
	}
	out.Text, out.IsError = string(text), len(out.Pictures) == 0
	return out, nil
}

func pictureFault(err error) *faultJSON {
	f := &faultJSON{Code: "corrupt", Message: err.Error()}
	if c, ok := errors.AsType[coded](err); ok {
		f.Code = c.PictureCode()
	}
	return f
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

// first is the agent's first message: the words, and the task's pictures when
// the model may see them. One that cannot be prepared is named in words.
func (g *gate) first(words string) []provider.Part {
	parts := []provider.Part{provider.Text(words)}
	if !g.offered() {
		return parts
	}
	for i, name := range g.k.imagePaths() {
		p, meta, err := g.pictures.Prepare(context.Background(), g.k.dir, name, nil, g.k.a.MaxEdge)
		if err != nil {
			parts = append(parts, provider.Text(fmt.Sprintf("[The task's picture %s cannot be shown: %v]", name, err)))
			continue
		}
		view := vision.View{ID: fmt.Sprintf("first:%d", i), Path: name, Role: vision.Reference, Source: meta.Source, Tree: g.k.watch.tree}
		parts = append(parts, provider.Text("Picture "+name+":"), provider.Show(provider.Picture{Picture: p, View: view}))
	}
	return parts
}
