package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

func blindModel(ref string) *model {
	m := scripted(ref, answer{})
	m.Sight = vision.Answer{Sight: vision.Blind, Source: vision.Configured}
	return m
}

func TestTheSamePictureInTwoTasksAtOnceIsLookedAtOnce(t *testing.T) {
	m, eye := blindModel("p/m"), scripted("p/eye")
	both := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Add(2)
	eye.play = func(r provider.Request) (provider.Response, error) {
		<-both
		return answered(r), nil
	}
	w := newWorld(m, eye)
	w.lookers = []catalog.Ref{"p/eye"}
	g := w.gate()
	errs := make(chan error, 2)
	for _, task := range []string{"t1", "t2"} {
		go func() {
			c := looking("p/m")
			c.Task = task
			waiting.Done()
			_, err := g.Call(context.Background(), c)
			errs <- err
		}()
	}
	waiting.Wait()
	time.AfterFunc(20*time.Millisecond, func() { close(both) })
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if len(eye.seen) != 1 || len(m.seen) != 2 {
		t.Errorf("%d looks for %d requests", len(eye.seen), len(m.seen))
	}
	for _, r := range m.seen {
		if !strings.Contains(textIn(r), "p/eye looked at it") {
			t.Errorf("the model was told %q", textIn(r))
		}
	}
}

func TestAQuestionIsAskedOnceAndASecondOneAgain(t *testing.T) {
	m, eye := blindModel("p/m"), scripted("p/eye")
	w := newWorld(m, eye)
	w.lookers = []catalog.Ref{"p/eye"}
	g := w.gate()
	l := traffic.Look{Job: "j", Asker: "p/m", Picture: picture("s1", "v", vision.Other), Question: "What colour?"}
	for i, want := range []struct {
		question string
		asked    int
		cached   bool
	}{{"What colour?", 1, false}, {"What colour?", 1, true}, {"What shape?", 2, false}} {
		l.Question = want.question
		seen, err := g.Look(t.Context(), l)
		if err != nil || seen.Words != "ok" || seen.By != "p/eye" || seen.Cached != want.cached || len(eye.seen) != want.asked {
			t.Errorf("%d: %+v %v after %d questions", i, seen, err, len(eye.seen))
		}
		if cost := seen.Cost; cost == nil || (*cost == 0) != want.cached {
			t.Errorf("%d: cost %v", i, cost)
		}
	}
	if len(w.looks) != 0 {
		t.Errorf("a look for another is no look of an attempt's own: %+v", w.looks)
	}
	for _, r := range w.settled {
		if r.Traffic != "vision" || r.Job != "j" {
			t.Errorf("row %+v", r)
		}
	}
}

func TestWhatIsPrivateIsLookedAtAtHomeOrNotAtAll(t *testing.T) {
	m, cloud := blindModel("here/m"), scripted("cloud/eye")
	m.Private = true
	w := newWorld(m, cloud)
	w.lookers = []catalog.Ref{"cloud/eye"}
	g := w.gate()
	if _, err := g.Call(t.Context(), looking("here/m")); err != nil {
		t.Fatal(err)
	}
	if len(cloud.seen) != 0 || !strings.Contains(textIn(m.seen[0]), "own machines") {
		t.Errorf("%d looks elsewhere; told %q", len(cloud.seen), textIn(m.seen[0]))
	}
	_, err := g.Look(t.Context(), traffic.Look{Private: true, Picture: picture("s1", "v", vision.Other), Question: "?"})
	if e, ok := errors.AsType[*traffic.NobodyError](err); !ok || !strings.Contains(e.Words, "own machines") {
		t.Errorf("%v", err)
	}
	eye := scripted("here/eye")
	eye.Private = true
	w.models["here/eye"], w.lookers = eye, []catalog.Ref{"cloud/eye", "here/eye"}
	if _, err := g.Call(t.Context(), looking("here/m")); err != nil || len(eye.seen) != 1 || len(cloud.seen) != 0 {
		t.Errorf("%v: %d here, %d elsewhere", err, len(eye.seen), len(cloud.seen))
	}
}

func TestAPrivateCallAsksNobodyElsewhere(t *testing.T) {
	cloud := scripted("cloud/m", answer{})
	w := newWorld(cloud)
	c := looking("cloud/m")
	c.Private = true
	if _, err := w.gate().Call(t.Context(), c); err == nil || len(cloud.seen) != 0 || !strings.Contains(err.Error(), "own machines") {
		t.Errorf("%v, %d requests", err, len(cloud.seen))
	}
}

func TestALookerThatTurnsOutBlindIsFollowedByTheNext(t *testing.T) {
	m := blindModel("p/m")
	first := scripted("p/first", refuses(400, "This model does not support image input"), answer{})
	second := scripted("p/second")
	w := newWorld(m, first, second)
	w.lookers = []catalog.Ref{"p/first", "p/second"}
	if _, err := w.gate().Call(t.Context(), looking("p/m")); err != nil {
		t.Fatal(err)
	}
	if len(first.seen) != 2 || len(second.seen) != 1 || !strings.Contains(textIn(m.seen[0]), "p/second looked at it") {
		t.Errorf("%d and %d looks; told %q", len(first.seen), len(second.seen), textIn(m.seen[0]))
	}
}

func TestWhatIsKeptIsBoundedAndTheLeastUsedGoesFirst(t *testing.T) {
	k := newKept[int](2)
	get := func(key string) bool {
		_, first, err := k.get(t.Context(), key, func(context.Context) (int, int64, error) { return 1, 1, nil })
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	got := []bool{get("a"), get("b"), get("a"), get("c"), get("a"), get("b")}
	want := []bool{true, true, false, true, false, true}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d: made %v, want %v", i, got[i], want[i])
		}
	}
	failing := errors.New("no")
	for range 2 {
		if _, first, err := k.get(t.Context(), "f", func(context.Context) (int, int64, error) { return 0, 1, failing }); !first || !errors.Is(err, failing) {
			t.Errorf("a failure is not kept: %v %v", first, err)
		}
	}
}

func TestAMakingGoesOnWhileSomebodyWaitsAndEndsWithTheLast(t *testing.T) {
	k := newKept[int](2)
	began, ended, release := make(chan struct{}), make(chan error, 1), make(chan struct{})
	produce := func(ctx context.Context) (int, int64, error) {
		close(began)
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
			return 0, 0, ctx.Err()
		case <-release:
			ended <- nil
			return 7, 1, nil
		}
	}
	first, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { _, _, err := k.get(first, "k", produce); left <- err }()
	<-began
	second := make(chan int, 1)
	joined := make(chan struct{})
	go func() {
		close(joined)
		v, _, _ := k.get(context.Background(), "k", produce)
		second <- v
	}()
	<-joined
	for waiting := 0; waiting < 2; { // until the second waits too
		k.mu.Lock()
		waiting = k.making["k"].waiting
		k.mu.Unlock()
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(release)
	if err := <-ended; err != nil || <-second != 7 {
		t.Errorf("the second was left alone: %v", err)
	}
	alone, leave2 := context.WithCancel(t.Context())
	began, release = make(chan struct{}), make(chan struct{})
	go func() { _, _, err := k.get(alone, "x", produce); left <- err }()
	<-began
	leave2()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits, and it goes on: %v", err)
	}
	<-left
}
