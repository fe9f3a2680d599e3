package rehearsal

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/native"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/chat"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/toolbox"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/picture"
)

// stage lets one agent of the rehearsal work with real tools over real HTTP.
type stage struct {
	model  string
	system string
	first  string
	dir    string
	review bool
	// spoil may change a request before it is sent; nil: it goes as it is.
	spoil func(*provider.Request)
}

func noPause(double.Turn) time.Duration { return 0 }

func listen(t *testing.T) *Server {
	t.Helper()
	s, err := start(t.Context(), noPause)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// play runs the agent to its end, which it must report.
func (s stage) play(t *testing.T) engine.End {
	t.Helper()
	server := listen(t)
	box, err := toolbox.New(toolbox.Options{Dir: s.dir, TempDir: t.TempDir(), ReadOnly: s.review})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	end := prompt.FinishTask()
	if s.review {
		end = prompt.SubmitReview()
	}
	tools := append(box.Tools(), report{end})
	if s.model == Large {
		tools = append(tools, shower{t, s.dir})
	}
	client := chat.New(chat.Options{Provider: "rehearsal", BaseURL: server.URL()})
	got, err := native.New().Run(t.Context(), engine.Task{
		Model: s.model, System: s.system, First: []provider.Part{provider.Text(s.first)}, Tools: tools, Finish: []string{end.Name}, Rounds: 20,
	}, engine.Desk{
		Ask: func(ctx context.Context, r provider.Request) (provider.Response, error) {
			if s.spoil != nil {
				s.spoil(&r)
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

// loses takes the picture of a path out of every request, as a careless proxy does.
func loses(path string) func(*provider.Request) {
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

func taskOf(t *testing.T, id string) prompt.PlanTask {
	t.Helper()
	for _, x := range plan().Tasks {
		if x.ID == id {
			return x
		}
	}
	t.Fatal("no task " + id)
	return prompt.PlanTask{}
}

// workerOn is a worker on a task of the plan, in a fresh project.
func workerOn(t *testing.T, id, model string) stage {
	t.Helper()
	x := taskOf(t, id)
	s := stage{model: model, dir: settle(t)}
	s.system, s.first = prompt.Worker(prompt.WorkBrief{
		Title: x.Title, Instructions: x.Instructions, Sight: vision.Of(model == Large), Vision: x.Vision, Images: x.Images, Checks: x.Checks,
		Project: get(t, s.dir, "AGENTS.md"),
	})
	return s
}

// reviewerOn is a reviewer of what lies in dir.
func reviewerOn(t *testing.T, id, model, dir, diff string) stage {
	t.Helper()
	x := taskOf(t, id)
	s := stage{model: model, dir: dir, review: true}
	s.system, s.first = prompt.Reviewer(prompt.ReviewBrief{
		Title: x.Title, Instructions: x.Instructions, Sight: vision.Of(model == Large), Vision: x.Vision, Images: x.Images, Diff: diff, Summary: "done",
	})
	return s
}

func finishOf(t *testing.T, e engine.End) prompt.Finish {
	t.Helper()
	f, faults := prompt.DecodeFinish(e.Args)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if !strings.Contains(f.Summary, Words) {
		t.Errorf("the report does not say that it is a rehearsal: %s", f.Summary)
	}
	return f
}

func verdictOf(t *testing.T, e engine.End) prompt.Review {
	t.Helper()
	v, faults := prompt.DecodeReview(e.Args)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if !strings.Contains(v.Summary, Words) {
		t.Errorf("the verdict does not say that it is a rehearsal: %s", v.Summary)
	}
	return v
}
