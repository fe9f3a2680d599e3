package orchestrator

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
)

type acting = func(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error)

// diligent writes a file and is done; a reviewer accepts.
func diligent(ctx context.Context, t engine.Task, _ engine.Desk) (engine.End, error) {
	if strings.HasPrefix(t.System, "Role: reviewer") {
		return finished(ctx, t, "submit_review", `{"verdict":"accept","summary":"fine"}`)
	}
	if _, err := use(ctx, t, "write", `{"path":"main.go","content":"package blue"}`); err != nil {
		return engine.End{}, err
	}
	return finished(ctx, t, "finish_task", `{"outcome":"done","summary":"it is blue"}`)
}

// manned is a stage with a planned job and a worker that runs.
func manned(t *testing.T, plan string, slots int, act acting) (*stage, string, *shed) {
	t.Helper()
	s := newStage(t, oneModel)
	s.models.plan = planOf(t, plan)
	x := s.worker(slots, act)
	synctest.Wait()
	return s, s.submit(), x
}

func TestAWorkerTakesAJobToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, x := manned(t, "a easy\nb easy after a", 1, diligent)
		pass(5 * time.Second)
		synctest.Wait()
		if got := s.job(id); got.Status != job.Ready {
			t.Fatalf("%s: %s", got.Status, got.Reason)
		}
		if x.closed != 4 || s.busy("w1") != 0 {
			t.Errorf("%d of 4 boxes closed, %d slots busy", x.closed, s.busy("w1"))
		}
	})
}

func TestAPictureIsSentOnceAndItsLookCarriesTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "eyes:sees:easy other:sees:hard")
		s.models.plan = planOf(t, "a easy vision")
		looks := 0
		s.models.ask = func(_ context.Context, c traffic.Call) (traffic.Answer, error) {
			if c.Traffic == job.TrafficPlanning {
				return answering("submit_plan", s.models.plan), nil
			}
			shown := c.Request.Messages[0].Parts[0].Picture
			if _, err := s.mem.Blob(shown.SHA256); err != nil {
				return traffic.Answer{}, &traffic.MissingError{SHA256: []string{shown.SHA256}}
			}
			looks++
			v := shown.View
			look := job.Look{ID: v.ID, Path: v.Path, Role: v.Role, Tree: v.Tree, Fresh: v.Fresh, How: job.HowPixels}
			return traffic.Answer{}, s.Settle(context.Background(), s.mem.request(c), []job.Look{look})
		}
		s.worker(1, func(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error) {
			for _, file := range []string{"main.go", "shot.png"} {
				if _, err := use(ctx, t, "write", `{"path":"`+file+`","content":"package blue"}`); err != nil {
					return engine.End{}, err
				}
			}
			r, err := use(ctx, t, "relo_image", `{"paths":["shot.png"]}`)
			if err != nil {
				return engine.End{}, err
			}
			p := provider.Show(provider.Picture{Picture: r.Pictures[0].Picture, View: r.Pictures[0].View})
			if _, err := d.Ask(ctx, provider.Request{Messages: []provider.Message{{Parts: []provider.Part{p}}}}); err != nil {
				return engine.End{}, err
			}
			return diligent(ctx, t, d)
		})
		synctest.Wait()
		id := s.submit()
		pass(5 * time.Second)
		synctest.Wait()
		if got := s.job(id); got.Status != job.Ready || looks != 2 {
			t.Errorf("%s: %s after %d looks", got.Status, got.Reason, looks)
		}
		if end := s.task(id, "a").Last().End; end.Visual != job.VisualChecked || end.Seen.ResultAfterLastEdit != 1 {
			t.Errorf("visual %q, seen %+v", end.Visual, end.Seen)
		}
	})
}

func TestAResultIsKeptUntilItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		s, id, x := manned(t, "a easy", 1, func(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error) {
			<-begin
			return diligent(ctx, t, d)
		})
		pass(time.Second)
		x.set(func() { x.away, x.act = true, diligent })
		close(begin)
		pass(10 * time.Second)
		synctest.Wait()
		x.mu.Lock()
		n := len(x.finishes)
		x.mu.Unlock()
		if got := s.task(id, "a").Status; got != job.TaskRunning || n < 3 {
			t.Fatalf("a is %s after the result was sent %d times", got, n)
		}
		x.set(func() { x.away = false })
		pass(10 * time.Second)
		synctest.Wait()
		if got := s.job(id); got.Status != job.Ready || len(s.task(id, "a").Attempts) != 1 {
			t.Errorf("%s with %d attempts", got.Status, len(s.task(id, "a").Attempts))
		}
	})
}

func TestAnAgentEndsWithItsLeaseByItsOwnClock(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(*shed)
	}{
		{"the daemon is away", func(x *shed) { x.away = true }},
		{"the daemon hangs", func(x *shed) { x.hangs = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, ended := make(chan time.Time, 1), make(chan time.Time, 1)
				_, _, x := manned(t, "a easy", 1, func(ctx context.Context, _ engine.Task, _ engine.Desk) (engine.End, error) {
					began <- time.Now()
					<-ctx.Done()
					ended <- time.Now()
					return engine.End{}, ctx.Err()
				})
				from := <-began
				x.set(func() { c.cut(x) })
				took := (<-ended).Sub(from)
				if took > leaseTime || took < leaseTime-2*leaseTime/beatsPerLease {
					t.Errorf("it went on for %s with a lease of %s", took, leaseTime)
				}
				x.set(func() { x.away, x.hangs = false, false })
			})
		})
	}
}

func TestAnOrderStopsOnlyItsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan string, 2)
		s, id, x := manned(t, "a easy\nb easy", 2, func(ctx context.Context, t engine.Task, _ engine.Desk) (engine.End, error) {
			<-ctx.Done()
			stopped <- t.First[0].Text
			return engine.End{}, ctx.Err()
		})
		pass(time.Second)
		x.orders(raw(protocol.Order{Stop: []string{s.task(id, "a").Current, "another"}}))
		synctest.Wait()
		if len(stopped) != 1 || !strings.Contains(<-stopped, "Do a") {
			t.Errorf("%d agents stopped beside the first", len(stopped))
		}
		if got := s.task(id, "b").Status; got != job.TaskRunning {
			t.Errorf("b is %s", got)
		}
	})
}

func TestATaskWaitsForASlotWithoutLosingItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, most := 0, 0
		free := make(chan struct{})
		s, id, x := manned(t, "a easy", 1, func(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error) {
			now++
			most = max(most, now)
			<-free
			now--
			return diligent(ctx, t, d)
		})
		pass(time.Second)
		s.crew.mu.Lock()
		s.crew.members["w1"].slots = 2 // the daemon believes in more slots than there are
		s.crew.mu.Unlock()
		second := s.submit()
		for range 3 {
			pass(leaseTime)
		}
		synctest.Wait()
		if got := s.task(second, "a"); most != 1 || got.Status == job.TaskRunning {
			t.Errorf("%d agents at once, the second is %s", most, got.Status)
		}
		x.mu.Lock()
		last := x.hellos[len(x.hellos)-1].Running
		x.mu.Unlock()
		if n := s.task(second, "a").Losses; n != 0 && !slices.ContainsFunc(last, func(h protocol.Hold) bool { return h.Job == second }) {
			t.Errorf("%d losses of a task that waits in the worker's hand", n)
		}
		close(free)
		pass(10 * time.Second)
		synctest.Wait()
		if s.job(id).Status != job.Ready || s.job(second).Status != job.Ready {
			t.Errorf("%s and %s", s.job(id).Status, s.job(second).Status)
		}
	})
}

func TestACheckThatCouldNotBeReportedIsNoDoneWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id, x := manned(t, "a easy check go test ./...", 1, diligent)
		x.set(func() {
			x.reports = func(r protocol.Report) error {
				if len(r.Checks) > 0 {
					return protocol.ErrAway
				}
				return nil
			}
		})
		pass(5 * time.Second)
		synctest.Wait()
		for i, a := range s.task(id, "a").Attempts {
			if a.End == nil || a.End.Outcome != job.OutFailed {
				t.Errorf("attempt %d ended %+v", i+1, a.End)
			}
		}
	})
}

func TestChecksDecideWhateverTheAgentSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan *shed, 3)
		s, id, x := manned(t, "a easy check go vet", 1, func(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error) {
			x := <-begin
			x.set(func() {
				x.exits["go vet"] = map[bool]int{true: 0, false: 2}[strings.Contains(t.First[0].Text, "exit code 2")]
			})
			return diligent(ctx, t, d)
		})
		for range cap(begin) { // two attempts and a review
			begin <- x
		}
		pass(5 * time.Second)
		synctest.Wait()
		got := s.task(id, "a")
		if got.Status != job.TaskAccepted || len(got.Attempts) != 2 || got.Attempts[0].End.Outcome != job.OutFailed || got.Attempts[0].Checks[0].Exit != 2 {
			t.Errorf("%s (%s) after %d attempts", got.Status, got.Reason, len(got.Attempts))
		}
	})
}

func TestWhatEndsAnAttemptHasItsOwnOutcome(t *testing.T) {
	stops := func(context.Context, engine.Task, engine.Desk) (engine.End, error) {
		return engine.End{Why: "out of rounds"}, nil
	}
	waits := func(ctx context.Context, _ engine.Task, _ engine.Desk) (engine.End, error) {
		<-ctx.Done()
		return engine.End{}, ctx.Err()
	}
	blocked := func(ctx context.Context, t engine.Task, _ engine.Desk) (engine.End, error) {
		return finished(ctx, t, "finish_task", `{"outcome":"blocked","summary":"no password"}`)
	}
	for name, c := range map[string]struct {
		act    acting
		want   job.Outcome
		code   string
		reason string
	}{
		"out of rounds": {stops, job.OutFailed, "", "the agent stopped without a result: out of rounds"},
		"the budget":    {failing(&protocol.Error{Code: protocol.CodeBudget, Message: "reached"}), job.OutBudget, "", "reached"},
		"a key":         {failing(&protocol.Error{Code: protocol.CodeKey, Message: "401"}), job.OutFailed, job.CodeKey, "401"},
		"stale":         {failing(&protocol.Error{Code: protocol.CodeStale, Message: "x"}), job.OutCancelled, "", "the attempt was stopped"},
		"too long":      {waits, job.OutFailed, "", "the attempt took longer than 1 minutes"},
		"blocked":       {blocked, job.OutBlocked, "", "blocked: no password"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := &shed{s: &stage{t: t, mem: newMemory()}, start: map[string]map[string]string{}, act: c.act}
				k := newWork(x.made(1), protocol.Assignment{Hold: protocol.Hold{Attempt: "x"}, Engine: "scripted", Minutes: 1, Kind: job.Work}, &holding{}, x.made(1).Log)
				got := k.do(t.Context()).End
				if got.Outcome != c.want || got.Code != c.code || got.Reason != c.reason {
					t.Errorf("%s %q %q", got.Outcome, got.Code, got.Reason)
				}
				if x.closed != 1 {
					t.Errorf("the box was closed %d times", x.closed)
				}
			})
		})
	}
}

func failing(err error) acting {
	return func(context.Context, engine.Task, engine.Desk) (engine.End, error) { return engine.End{}, err }
}

func TestAReportThatBreaksTheRulesGoesBack(t *testing.T) {
	k, _ := alone(t, protocol.Assignment{Kind: job.Work}, nil)
	review, _ := alone(t, protocol.Assignment{Kind: job.Review}, nil)
	for _, c := range []struct {
		k    *work
		args string
		ok   bool
	}{
		{k, `{"outcome":"done","summary":"s"}`, true},
		{k, `{"outcome":"perfect","summary":"s"}`, false},
		{k, `{"outcome":"done"}`, false},
		{k, `{`, false},
		{review, `{"verdict":"accept","summary":"s"}`, true},
		{review, `{"verdict":"rework","summary":"s"}`, false},
		{review, `{"outcome":"done","summary":"s"}`, false},
	} {
		r, err := finishTool{c.k}.Run(t.Context(), "call", []byte(c.args))
		if err != nil || r.IsError == c.ok {
			t.Errorf("%s %s: %v %v", c.k.a.Kind, c.args, r, err)
		}
	}
	if r, err := (askPerson{}).Run(t.Context(), "call", []byte(`{"question":"Which blue?"}`)); err != nil || r.IsError || !strings.Contains(r.Text, "Nobody is there") {
		t.Errorf("%v %v", r, err)
	}
	if r, err := (askPerson{}).Run(t.Context(), "call", []byte(`{}`)); err != nil || !r.IsError {
		t.Errorf("%v %v", r, err)
	}
}
