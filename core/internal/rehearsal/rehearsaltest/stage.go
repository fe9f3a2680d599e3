// Package rehearsaltest puts one agent on a stage: the native engine, the real
// tools and pictures, and the chat client over real HTTP, so that a test sees what
// a scripted model does. It knows no script and judges nothing.
package rehearsaltest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/native"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/chat"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/toolbox"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/picture"
)

// Stage is one agent and where it works.
type Stage struct {
	URL           string // the provider's base URL
	Model         string
	System, First string // the prompts
	Dir           string // the workspace
	Sees          bool   // it is offered relo_image
	Anthropic     bool   // it is asked over the messages wire, not over chat
	Review        bool   // it ends with submit_review, and cannot write
	// Spoil may change a request before it is sent; nil: it goes as it is.
	Spoil func(*provider.Request)
}

const rounds = 20 // more than any script has steps

// Play runs the agent to its end, which it must report.
func (s Stage) Play(t *testing.T) engine.End {
	t.Helper()
	box, err := toolbox.New(toolbox.Options{Dir: s.Dir, TempDir: t.TempDir(), ReadOnly: s.Review})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	end := prompt.FinishTask()
	if s.Review {
		end = prompt.SubmitReview()
	}
	tools := append(box.Tools(), report{end})
	if s.Sees {
		tools = append(tools, shower{t, s.Dir})
	}
	var client provider.Client = chat.New(chat.Options{Provider: "rehearsal", BaseURL: s.URL})
	if s.Anthropic {
		client = anthropic.New(anthropic.Options{Provider: "rehearsal", BaseURL: s.URL})
	}
	got, err := native.New().Run(t.Context(), engine.Task{
		Model: s.Model, System: s.System, First: []provider.Part{provider.Text(s.First)}, Tools: tools, Finish: []string{end.Name}, Rounds: rounds,
	}, engine.Desk{
		Ask: func(ctx context.Context, r provider.Request) (provider.Response, error) {
			if s.Spoil != nil {
				s.Spoil(&r)
			}
			return client.Stream(ctx, r, nil)
		},
		Step: func(step engine.Step) { t.Log(step.Kind, step.Tool, step.Summary) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Finish == "" {
		t.Fatal("the agent reported no end: " + got.Why)
	}
	return got
}

// report takes every report.
type report struct{ spec provider.ToolSpec }

// Spec is the tool that ends the work.
func (r report) Spec() provider.ToolSpec { return r.spec }

func (report) Run(context.Context, string, json.RawMessage) (tool.Result, error) {
	return tool.Result{Text: "received"}, nil
}

// shower is relo_image with the real preparation of pictures.
type shower struct {
	t   *testing.T
	dir string
}

func (shower) Spec() provider.ToolSpec { return prompt.Image() }

func (s shower) Run(ctx context.Context, _ string, args json.RawMessage) (out tool.Result, err error) {
	in, faults := prompt.DecodeImage(args)
	if len(faults) > 0 {
		return tool.Fail(strings.Join(faults, "; ")), nil
	}
	roots, err := picture.OpenRoots(s.dir)
	if err != nil {
		return tool.Result{}, err
	}
	defer func() {
		if err := roots.Close(); err != nil {
			s.t.Error(err)
		}
	}()
	var told struct {
		Images []vision.Meta `json:"images"`
	}
	for i, name := range in.Paths {
		p, meta, err := picture.New(picture.Options{}).Prepare(ctx, roots, name, picture.Params{MaxEdge: in.MaxEdge})
		if err != nil {
			return tool.Fail(err.Error()), nil
		}
		meta.Index = i
		told.Images = append(told.Images, meta)
		out.Pictures = append(out.Pictures, tool.Shown{Picture: p, View: vision.View{Path: name}})
	}
	text, err := json.Marshal(told)
	out.Text = string(text)
	return out, err
}

// Loses takes the picture of a path out of every request, as a careless proxy does.
func Loses(path string) func(*provider.Request) {
	return func(r *provider.Request) {
		for i, m := range r.Messages {
			parts := append([]provider.Part(nil), m.Parts...)
			for k, p := range parts {
				if p.Result == nil {
					continue
				}
				result := *p.Result
				result.Pictures = nil
				for _, pic := range p.Result.Pictures {
					if pic.View.Path != path {
						result.Pictures = append(result.Pictures, pic)
					}
				}
				parts[k].Result = &result
			}
			r.Messages[i].Parts = parts
		}
	}
}

// Ask sends one question without a stage.
func Ask(t *testing.T, url string, r provider.Request, first string) (provider.Response, error) {
	t.Helper()
	r.Messages = []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.Text(first)}}}
	return chat.New(chat.Options{Provider: "rehearsal", BaseURL: url}).Stream(t.Context(), r, nil)
}
