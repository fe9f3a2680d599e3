package rehearsal

import (
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/rehearsal/rehearsaltest"
	"github.com/relo-dev/relo/core/internal/vision"
)

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
func workerOn(t *testing.T, id, model string) rehearsaltest.Stage {
	t.Helper()
	x := taskOf(t, id)
	s := rehearsaltest.Stage{URL: listen(t).URL(), Model: model, Dir: settle(t), Sees: model == Large}
	s.System, s.First = prompt.Worker(prompt.WorkBrief{
		Title: x.Title, Instructions: x.Instructions, Sight: vision.Of(model == Large), Vision: x.Vision, Images: x.Images, Checks: x.Checks,
		Project: get(t, s.Dir, "AGENTS.md"),
	})
	return s
}

// reviewerOn is a reviewer of what lies in dir.
func reviewerOn(t *testing.T, id, model, dir, diff string) rehearsaltest.Stage {
	t.Helper()
	x := taskOf(t, id)
	s := rehearsaltest.Stage{URL: listen(t).URL(), Model: model, Dir: dir, Sees: model == Large, Review: true}
	s.System, s.First = prompt.Reviewer(prompt.ReviewBrief{
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
