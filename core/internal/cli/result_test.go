package cli

import (
	"testing"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func TestAttemptsAreCountedAsTheyAreNumbered(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]int{
		"0 attempts": nil, "1 attempt": {1}, "2 attempts": {1, 2}, "1 attempt (1 interruption)": {1, 1}, "2 attempts (3 interruptions)": {1, 1, 2, 2, 2},
	} {
		var all []protocol.AttemptDoc
		for _, n := range numbers {
			all = append(all, protocol.AttemptDoc{Number: n})
		}
		if got := tries(all); got != want {
			t.Errorf("%v are %q, not %q", numbers, got, want)
		}
	}
}

func TestATaskThatWasLaidAsideWaitsForNobody(t *testing.T) {
	t.Parallel()
	held := protocol.TaskDoc{Status: job.TaskHeld, Reason: "paused"}
	if got := stateOf(held, job.Running); got != board.WordPaused {
		t.Error(got)
	}
	held.Question = "Which colour?"
	if got := stateOf(held, job.Running); got != board.WordYou {
		t.Error(got)
	}
	if got := stateOf(protocol.TaskDoc{Status: job.TaskHeld, Reason: "no model fits"}, job.Running); got != board.WordYou {
		t.Error(got)
	}
}

func TestADroppedPlanIsNotTold(t *testing.T) {
	t.Parallel()
	v := newView(&shell{}, jobID)
	if got := v.lines(job.Event{Kind: job.KindPlanned, Body: &job.Planned{Edited: true}}); got != nil {
		t.Errorf("%q", got)
	}
	if got := v.lines(job.Event{Kind: job.KindPlanned, Body: &job.Planned{Edited: true, Tasks: 2}}); len(got) != 1 || got[0] != "your plan has 2 tasks" {
		t.Errorf("%q", got)
	}
	v.state.Status = job.Running
	if got := v.stateWords(&job.Task{}, job.TaskHeld, &job.StatusChange{To: "held", Reason: "paused"}); got != board.WordPaused {
		t.Errorf("%q", got)
	}
}
