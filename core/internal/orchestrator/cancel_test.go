package orchestrator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// quiet checks that nothing happens to a job any more but notices.
func quiet(t *testing.T, s *stage, id string, f func()) {
	t.Helper()
	before := s.job(id).Seq
	f()
	pass(2 * leaseTime)
	synctest.Wait()
	events, err := s.mem.Events(t.Context(), id, before, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind != job.KindNotice {
			t.Errorf("after the end: %s", e.Kind)
		}
	}
	if got := s.job(id).Status; got != job.Cancelled {
		t.Errorf("the job is %s", got)
	}
}

func TestCancelWhilePlanningHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, oneModel)
		ended := false
		s.models.ask = func(ctx context.Context, _ traffic.Call) (traffic.Answer, error) {
			<-ctx.Done()
			ended = true
			return traffic.Answer{}, ctx.Err()
		}
		id := s.submit()
		if err := s.Cancel(t.Context(), protocol.Resolved{Job: id}, "enough"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !ended {
			t.Error("the planner's call goes on")
		}
		quiet(t, s, id, func() {})
	})
}

func TestAPlanThatComesAfterTheCancelIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, oneModel)
		answer := make(chan traffic.Answer)
		s.models.ask = func(context.Context, traffic.Call) (traffic.Answer, error) { return <-answer, nil } // a model that does not hear
		id := s.submit()
		if err := s.Cancel(t.Context(), protocol.Resolved{Job: id}, "enough"); err != nil {
			t.Fatal(err)
		}
		quiet(t, s, id, func() { answer <- answering("submit_plan", planOf(t, "a easy")) })
		if n := len(s.job(id).Notices); n != 0 {
			t.Errorf("%d notices: %v", n, s.job(id).Notices)
		}
	})
}

func TestCancelWhileDispatchedTakesTheTaskBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy\nb easy after a")
		if err := s.Cancel(t.Context(), protocol.Resolved{Job: id}, "enough"); err != nil {
			t.Fatal(err)
		}
		quiet(t, s, id, func() {
			if _, ok := h.claim(); ok {
				t.Error("a cancelled task was claimed")
			}
		})
		if s.busy("w1") != 0 || len(s.mem.live()) != 0 {
			t.Errorf("%d slots busy, %d leases live", s.busy("w1"), len(s.mem.live()))
		}
		for _, task := range s.job(id).Tasks {
			if task.Status != job.TaskCancelled || task.Reason != "enough" {
				t.Errorf("%s is %s: %s", task.Key, task.Status, task.Reason)
			}
		}
	})
}

func TestCancelWhileRunningHangsUpAndOrdersAndKeepsTheResultOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy")
		a, _ := h.claim()
		var asked error
		s.models.ask = func(ctx context.Context, _ traffic.Call) (traffic.Answer, error) {
			<-ctx.Done()
			return traffic.Answer{}, ctx.Err()
		}
		go func() { _, asked = s.Ask(context.Background(), protocol.Ask{Hold: a.Hold}) }()
		synctest.Wait()
		if err := s.Cancel(t.Context(), protocol.Resolved{Job: id}, "enough"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if asked == nil {
			t.Error("the call goes on")
		}
		want := []protocol.Order{{Stop: []string{a.Attempt}, Reason: "enough"}}
		if diff := cmp.Diff(want, s.lanes.orders["w1"]); diff != "" {
			t.Error(diff)
		}
		quiet(t, s, id, func() {
			if stop := h.beat().Stop; len(stop) != 1 {
				t.Errorf("told to stop %v", stop)
			}
			if got := h.finish(done(a, "a.go")); !got.Late {
				t.Error("the result was taken")
			}
		})
		if s.repo.times[a.Attempt] != 0 {
			t.Error("it was merged")
		}
	})
}

func TestAJobIsCancelledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, _ := planned(t, "a easy")
		if err := s.Cancel(t.Context(), protocol.Resolved{Job: id}, "enough"); err != nil {
			t.Fatal(err)
		}
		if err := s.Cancel(t.Context(), protocol.Resolved{Job: id}, "again"); codeOf(err) != protocol.CodeNotReady {
			t.Errorf("answered %v", err)
		}
	})
}

func TestTheNextJobGetsTheSlotOfACancelledOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy")
		second := s.submit()
		if err := s.Cancel(t.Context(), protocol.Resolved{Job: id}, "enough"); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		synctest.Wait()
		if a, ok := h.claim(); !ok || a.Job != second {
			t.Errorf("claimed %v of %s", ok, a.Job)
		}
	})
}

// What a job asks is held against the rules before anything of it is kept.
func TestASubmitThatCannotBeTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "weak:blind:easy strong:sees:hard", func(r *Rules) { r.AskUnknown = true })
		for ref, m := range s.book {
			m.Price = catalog.Price{}
			s.book[ref] = m
		}
		s.rules.Ladder = s.rules.Ladder[:1]
		s.rules.Ladder[0].Models[0].Price = catalog.Price{}
		below := -1.0
		for _, c := range []struct {
			code string
			sub  protocol.Submit
		}{
			{protocol.CodeUsage, protocol.Submit{Repo: t.TempDir()}},
			{protocol.CodeUsage, protocol.Submit{Text: "x", Repo: "/nowhere"}},
			{protocol.CodeUsage, protocol.Submit{Text: "x", Repo: t.TempDir(), Model: "p/nobody"}},
			{protocol.CodeUsage, protocol.Submit{Text: "x", Repo: t.TempDir(), Budget: &below}},
			{protocol.CodeUnknown, protocol.Submit{Text: "x", Repo: t.TempDir()}},
			{protocol.CodeMissing, protocol.Submit{Text: "x", Repo: t.TempDir(), AllowUnknown: true, Images: []protocol.Attachment{{Name: "a.png", SHA256: "none"}}}},
		} {
			if _, err := s.Submit(t.Context(), c.sub); codeOf(err) != c.code {
				t.Errorf("%+v: %v, want %s", c.sub, err, c.code)
			}
		}
		noTools := s.rules.Ladder[0].Models[0]
		noTools.Tools = false
		s.book[noTools.Ref] = noTools
		if _, err := s.Submit(t.Context(), protocol.Submit{Text: "x", Repo: t.TempDir(), AllowUnknown: true}); codeOf(err) != protocol.CodeConfig {
			t.Errorf("a ladder without a model that calls tools: %v", err)
		}
		if list, err := s.List(t.Context()); err != nil || len(list.Jobs) != 0 {
			t.Errorf("%+v %v", list, err)
		}
	})
}
