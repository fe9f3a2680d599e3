package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
)

const oneModel = "weak:blind:easy strong:sees:hard"

// planned is a stage with a job of one plan and one worker that was heard of.
func planned(t *testing.T, plan string, change ...func(*Rules)) (*stage, string, *hand) {
	t.Helper()
	s := newStage(t, oneModel, change...)
	s.models.plan = planOf(t, plan)
	h := s.hand("w1", 1)
	h.beat()
	id := s.submit()
	return s, id, h
}

func TestATaskThatTheBrokerLostIsPostedAgainWithTheSameEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, oneModel)
		s.models.plan = planOf(t, "a easy")
		lost := 0
		s.lanes.lose = func(string) bool { lost++; return lost <= 2 }
		h := s.hand("w1", 1)
		h.beat()
		id := s.submit()
		pass(leaseTime/2 + time.Second)
		synctest.Wait()
		if lost != 3 || s.lanes.waiting("w1") != 1 {
			t.Fatalf("sent %d times, %d arrived", lost, s.lanes.waiting("w1"))
		}
		a, ok := h.claim()
		if !ok || a.Epoch != 1 {
			t.Fatalf("claimed %v in epoch %d", ok, a.Epoch)
		}
		if got := s.task(id, "a"); got.Losses != 0 || len(got.Attempts) != 1 {
			t.Errorf("%d losses, %d attempts", got.Losses, len(got.Attempts))
		}
	})
}

func TestATaskThatNobodyClaimsIsLostWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, _ := planned(t, "a easy")
		pass(leaseTime + time.Second)
		synctest.Wait()
		got := s.task(id, "a")
		if got.Status != job.TaskReady || got.Losses != 1 || got.Tried() != 0 {
			t.Errorf("%s after %d losses, %d tried", got.Status, got.Losses, got.Tried())
		}
		if n := s.busy("w1"); n != 0 {
			t.Errorf("%d slots are still busy", n)
		}
	})
}

func TestABeatKeepsALeaseAndAResultAfterItsEndIsKeptOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy")
		a, _ := h.claim()
		for range 10 {
			pass(leaseTime / beatsPerLease)
			h.beat()
		}
		if got := s.task(id, "a"); got.Status != job.TaskRunning {
			t.Fatalf("%s although it beats", got.Status)
		}
		pass(leaseTime + time.Second)
		synctest.Wait()
		if stop := h.beat().Stop; !slices.Equal(stop, []string{a.Attempt}) {
			t.Errorf("told to stop %v", stop)
		}
		before := s.job(id)
		for range 2 {
			if got := h.finish(done(a, "a.go")); !got.Late {
				t.Error("a result of an older epoch was taken")
			}
		}
		after := s.job(id)
		if len(after.Notices) != len(before.Notices)+1 || !strings.Contains(after.Notices[len(before.Notices)].Words, "refs/relo/attempt/"+a.Attempt) {
			t.Errorf("notices: %v", after.Notices)
		}
	})
}

func TestAResultThatWasTakenIsAnsweredInTheSameWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy vision")
		a, _ := h.claim()
		f := done(a, "a.css") // unseen, so it becomes unverified
		for range 3 {
			if h.finish(f).Late {
				t.Error("sent again, it was called late")
			}
			synctest.Wait()
		}
		if n := len(s.job(id).Notices); n != 0 {
			t.Errorf("%d notices", n)
		}
	})
}

func TestARestartKnowsWhoseSlotsAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy\nb easy")
		s.restart()
		h.beat()
		synctest.Wait()
		if n := s.lanes.waiting("w1"); n != 1 {
			t.Errorf("%d tasks in the mailbox of a worker with one slot", n)
		}
		if got := s.task(id, "b").Status; got != job.TaskReady {
			t.Errorf("b is %s", got)
		}
	})
}

func TestAWorkerWhoseMailboxWasNotMadeIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, oneModel)
		s.models.plan = planOf(t, "a easy")
		id := s.submit()
		s.lanes.mute = errors.New("the broker is away")
		hello := protocol.Hello{Worker: "w1", Boot: "first", Slots: 1, Version: protocol.Version}
		if _, err := s.Hello(t.Context(), hello); err == nil {
			t.Fatal("a worker without a mailbox was welcomed")
		}
		pass(time.Second)
		if got := s.task(id, "a").Status; got != job.TaskReady {
			t.Fatalf("a is %s: given to a worker without a mailbox", got)
		}
		s.lanes.mute = nil
		if _, err := s.Hello(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s.lanes.ready["w1"] != 1 || s.task(id, "a").Status != job.TaskDispatched {
			t.Errorf("%d mailboxes made, a is %s", s.lanes.ready["w1"], s.task(id, "a").Status)
		}
	})
}

func TestAnotherVersionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, oneModel)
		_, err := s.Hello(t.Context(), protocol.Hello{Worker: "w1", Version: "0"})
		if codeOf(err) != protocol.CodeUsage {
			t.Errorf("answered %v", err)
		}
	})
}

func TestOnlyTheHolderMayAskReportAndClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, h := planned(t, "a easy")
		asked := 0
		s.models.ask = func(context.Context, traffic.Call) (traffic.Answer, error) { asked++; return traffic.Answer{}, nil }
		a, _ := h.claim()
		if _, err := s.Ask(t.Context(), protocol.Ask{Hold: a.Hold}); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*protocol.Hold){
			"another worker": func(x *protocol.Hold) { x.Worker = "w2" }, "an older epoch": func(x *protocol.Hold) { x.Epoch = 0 },
			"another attempt": func(x *protocol.Hold) { x.Attempt = job.NewID() }, "a task that is not there": func(x *protocol.Hold) { x.Task = "t" },
		} {
			x := a.Hold
			change(&x)
			if _, err := s.Ask(t.Context(), protocol.Ask{Hold: x}); codeOf(err) != protocol.CodeStale {
				t.Errorf("%s asked: %v", name, err)
			}
			if err := s.Report(t.Context(), protocol.Report{Hold: x}); codeOf(err) != protocol.CodeStale {
				t.Errorf("%s reported: %v", name, err)
			}
			if got, err := s.Finish(t.Context(), protocol.Finish{Hold: x}); err != nil || !got.Late {
				t.Errorf("%s finished: %v %v", name, got, err)
			}
		}
		if _, err := s.Claim(t.Context(), a.Hold); codeOf(err) != protocol.CodeStale {
			t.Errorf("claimed twice: %v", err)
		}
		if asked != 1 {
			t.Errorf("%d calls reached a model", asked)
		}
	})
}

func TestAPrivateTaskHasOnlyPrivateModelsBehindIt(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(s *stage, h *hand) // after the first claim
	}{
		{"at once", func(*stage, *hand) {}},
		{"after a restart", func(s *stage, h *hand) { s.restart(); h.beat() }},
		{"after a loss", func(s *stage, h *hand) { h.boot, h.holds = "second", nil; h.beat() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, "own-a:blind+cloud:blind+own-b:blind:easy own-big:sees:hard")
				s.models.plan = planOf(t, "a easy")
				h := s.hand("w1", 1)
				h.beat()
				s.submit(func(x *protocol.Submit) { x.Private = true })
				a, _ := h.claim()
				c.then(s, h)
				synctest.Wait()
				if again, ok := h.claim(); ok {
					a = again
				}
				var chain []catalog.Ref
				s.models.ask = func(_ context.Context, c traffic.Call) (traffic.Answer, error) {
					chain = c.Chain
					return traffic.Answer{}, nil
				}
				if _, err := s.Ask(t.Context(), protocol.Ask{Hold: a.Hold}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]catalog.Ref{"p/own-a", "p/own-b"}, chain); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestAPrivateJobIsNotPlannedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "own-a:blind:easy cloud:sees:hard")
		s.models.ask = func(_ context.Context, c traffic.Call) (traffic.Answer, error) {
			t.Errorf("asked %v", c.Chain)
			return traffic.Answer{}, errors.New("no")
		}
		id := s.submit(func(x *protocol.Submit) { x.Private = true })
		if got := s.job(id); got.Status != job.Failed || !strings.Contains(got.Reason, "private") {
			t.Errorf("%s: %s", got.Status, got.Reason)
		}
	})
}

func TestACommitThatFailsLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy")
		a, _ := h.claim()
		h.finish(done(a, "a.go"))
		synctest.Wait()
		review, _ := h.claim()
		s.mem.refusing(1, func(b record.Batch) bool { return b.Held != nil })
		if _, err := s.Finish(t.Context(), done(review)); !errors.Is(err, errFull) {
			t.Fatalf("answered %v", err)
		}
		if s.busy("w1") != 1 {
			t.Error("the slot was freed although the attempt goes on")
		}
		h.finish(done(review))
		synctest.Wait()
		if got := s.job(id).Status; got != job.Ready {
			t.Errorf("the job is %s: the merge was forgotten with the commit", got)
		}
	})
}

func TestNothingIsWrittenOnAStateThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, h := planned(t, "a easy")
		a, _ := h.claim()
		s.mem.refusing(1, nil)
		s.mem.blind = true
		for range 2 {
			if _, err := s.Finish(t.Context(), done(a, "a.go")); err == nil {
				t.Fatal("taken")
			}
		}
		s.mem.blind = false
		h.finish(done(a, "a.go"))
		if got := s.task(id, "a").Status; got != job.TaskReviewing {
			t.Errorf("a is %s", got)
		}
	})
}

func TestWhatDoesNotWorkIsToldOnceAndTriedAgainAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, oneModel)
		s.models.plan = planOf(t, "a easy")
		gone := errors.New("the folder is gone")
		s.repo.errs = []error{gone, gone, gone}
		id := s.submit()
		pass(2*retryEffect + time.Second)
		synctest.Wait()
		if got := s.job(id); got.Status != job.Planning || len(got.Notices) != 1 || len(s.repo.errs) != 0 {
			t.Fatalf("%s with %d notices, %d tries left", got.Status, len(got.Notices), len(s.repo.errs))
		}
		pass(retryEffect)
		synctest.Wait()
		if got := s.job(id).Status; got != job.Running {
			t.Errorf("the job is %s", got)
		}
	})
}

func TestAShortIdHoldsTheWholeTimeOfAnId(t *testing.T) {
	first, second := "019ad5b2-7c31-7abc-8def-0123456789ab", "019ad5b2-7c32-7abc-8def-0123456789ab" // a millisecond apart
	if short(first) != "019ad5b2-7c31" || short(second) == short(first) {
		t.Errorf("%s and %s", short(first), short(second))
	}
	if short("work-a-1") != "work-a-1" {
		t.Error("a short word was changed")
	}
}

func TestTheHeadIsWhatWasLaidLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, oneModel, func(o *Rules) { o.AutoReview = false })
		s.models.plan = planOf(t, "a easy\nb easy")
		answer := make(chan struct{})
		s.repo.slow = map[string]chan struct{}{"a": answer}
		h := s.hand("w1", 2)
		h.beat()
		id := s.submit()
		for range 2 {
			a, _ := h.claim()
			h.finish(done(a, "a.go"))
			synctest.Wait()
		}
		close(answer) // the first merge's answer comes after the second was due
		synctest.Wait()
		got, err := s.Apply(t.Context(), id)
		if err != nil || got.Commit != "merge2" {
			t.Errorf("applied %q, %v: not the last of two merges", got.Commit, err)
		}
	})
}
