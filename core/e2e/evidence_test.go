package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// A visual task that is called done without the right look is unverified, and
// after its attempts it fails in those words.
func TestCalledDoneUnseen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		agent act
		words string
	}{
		{"without a look", steps(shoots("ui.css", "shots/one.png"), done("it matches")), "looked at"},
		{"with a look at the reference alone", steps(look("ref/login.png"), shoots("ui.css", "shots/one.png"), done("it matches")), "only the reference"},
		{
			"with a look from before the last edit",
			steps(shoots("ui.css", "shots/one.png"), look("shots/one.png"), shell("echo more >> ui.css"), done("it matches")), "before the last edit",
		},
		{
			"with a look at a shot from before the edit",
			steps(shoots("ui.css", "shots/one.png"), shell("sleep 0.1; echo more >> ui.css"), look("shots/one.png"), done("it matches")), "before the last edit",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := mixed()
			l.attempts = 2
			w := newWorld(t, l, &play{plan: planOf(task("look", "hard", eyes("ref/login.png"))), workers: map[string]act{"Do look": c.agent}}).smallRepo()
			r := w.relo("run", "look", "--repo", w.repo, "--standalone", "--json").mustExit(t, 3)
			n := 0
			for _, e := range r.events(t) {
				end, ok := e.Body.(*job.AttemptEnd)
				if !ok {
					continue
				}
				if end.Outcome != job.Unverified || !strings.Contains(end.Reason, c.words) {
					t.Errorf("the attempt ended %s: %s", end.Outcome, end.Reason)
				}
				n++
			}
			if n != 2 {
				t.Errorf("%d attempts, want 2", n)
			}
		})
	}
}

// The second attempt is told what was missing, and mends it.
func TestUnverifiedIsMendedByALook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{
		plan: planOf(task("look", "hard", eyes("ref/login.png"))),
		workers: map[string]act{"Do look": func(ctx ctx, tn turn) double.Reply {
			if tn.attempt == 1 {
				return steps(shoots("ui.css", "shots/one.png"), done("it matches"))(ctx, tn)
			}
			if !strings.Contains(tn.Entries[0].Text, "look at the result") {
				return done("nobody told me what was missing")
			}
			return draws("ui.css", "shots/one.png")(ctx, tn)
		}},
		review: map[string]act{"Do look": looksThenAccepts("shots/one.png")},
	}).smallRepo()
	r := w.relo("run", "look", "--repo", w.repo, "--standalone", "--json").mustExit(t, 0)
	doc := w.show(r.events(t)[0].Job)
	ends := doc.Tasks[0].Attempts
	if len(ends) != 2 || ends[0].Result.Outcome != job.Unverified || ends[1].Result.Outcome != job.Done || ends[1].Result.Visual != job.VisualChecked {
		t.Errorf("the attempts are %s", asJSON(ends))
	}
}

// A reviewer of a visual task who looks at nothing gives no verdict.
func TestAReviewWithoutALookDoesNotCount(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.attempts = 2
	w := newWorld(t, l, &play{
		plan:    planOf(task("look", "hard", eyes("ref/login.png"))),
		workers: map[string]act{"Do look": draws("ui.css", "shots/one.png")},
		review:  map[string]act{"Do look": accept},
	}).smallRepo()
	w.relo("run", "look", "--repo", w.repo, "--standalone", "--json").mustExit(t, 7)
}

// Nobody sees: the work is done knowingly blind, and a person is asked to look.
func TestAnAllBlindLadderNeedsEyes(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.models = map[string]double.Model{"small": {}, "middle": {}, "big": {}, "chief": {}}
	var offered, told bool
	var tools []string
	p := &play{plan: planOf(task("look", "easy", eyes("ref/login.png")))}
	p.before = func(_ ctx, tn turn) {
		if tn.Role == "worker" {
			tools = tn.Tools
			offered = offered || strings.Contains(strings.Join(tn.Tools, " "), "relo_image")
			told = told || strings.Contains(tn.System, "cannot see images")
		}
	}
	w := newWorld(t, l, p).smallRepo()
	r := w.relo("run", "look", "--repo", w.repo, "--standalone", "--json").mustExit(t, 7)
	doc := w.show(r.events(t)[0].Job)
	w.relo("show", doc.ID, "--exit-status").mustExit(t, 7)
	if doc.Status != job.Ready || len(doc.NeedsEyes) != 1 {
		t.Errorf("the job is %s and needs eyes for %v", doc.Status, doc.NeedsEyes)
	}
	for _, e := range r.events(t) {
		if b, ok := e.Body.(*job.Started); ok && e.Model == "open/small" && !slices.Equal(b.Tools, tools) {
			t.Errorf("attempt.started names the tools %v, the model was offered %v", b.Tools, tools)
		}
	}
	if offered || !told {
		t.Errorf("a blind agent was offered relo_image: %t; was told that it cannot see: %t", offered, told)
	}
}

// Nothing changed, but called done.
func TestAnEmptyDiffIsUnverified(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.attempts = 1
	w := newWorld(t, l, &play{plan: planOf(task("one", "easy")), workers: map[string]act{"Do one": finish("all is well")}}).smallRepo()
	r := w.relo("run", "one", "--repo", w.repo, "--standalone", "--json").mustExit(t, 3)
	for _, e := range r.events(t) {
		if end, ok := e.Body.(*job.AttemptEnd); ok && (end.Outcome != job.Unverified || !strings.Contains(end.Reason, "nothing was changed")) {
			t.Errorf("the attempt ended %s: %s", end.Outcome, end.Reason)
		}
	}
}
