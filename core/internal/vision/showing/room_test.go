package showing

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// take waits for a place and says when it came.
func take(t *testing.T, a *Agent, came func()) (release func()) {
	t.Helper()
	release, err := a.Place(t.Context())
	if err != nil {
		return nil
	}
	came()
	return release
}

// P101: the third at once waits, and an agent with many pictures does not keep
// another from its first.
func TestAgentsOfAJobTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rooms := NewRooms()
		greedy, modest := rooms.Join("job"), rooms.Join("job")
		var mu sync.Mutex
		var order []string
		var work sync.WaitGroup
		use := func(name string, a *Agent) {
			work.Go(func() {
				release := take(t, a, func() {
					mu.Lock()
					order = append(order, name)
					mu.Unlock()
				})
				time.Sleep(time.Second)
				release()
			})
			synctest.Wait()
		}
		for range 8 {
			use("greedy", greedy)
		}
		if len(order) != AtOnce {
			t.Fatalf("%d are prepared at once", len(order))
		}
		use("modest", modest)
		work.Wait()
		if order[AtOnce] != "greedy" || order[AtOnce+1] != "modest" {
			t.Errorf("the turns were %v", order)
		}
	})
}

func TestJobsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	rooms := NewRooms()
	a, b := rooms.Join("one"), rooms.Join("other")
	for range AtOnce {
		take(t, a, func() {})
	}
	if take(t, b, func() {}) == nil {
		t.Error("another job's pictures stand in the way")
	}
	a.Leave()
	b.Leave()
	if len(rooms.open) != 0 {
		t.Errorf("rooms without agents stay: %v", rooms.open)
	}
}

// Whatever agents do, no more than AtOnce have a place, no place is lost, and nobody
// who is left waits beside a free place.
func TestPlacesAreNeverLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rooms := NewRooms()
		agents := []*Agent{rooms.Join("j"), rooms.Join("j"), rooms.Join("j")}
		r := agents[0].room
		type turn struct {
			a *Agent
			c chan struct{}
		}
		held, waiting := 0, []turn{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				a := agents[rapid.IntRange(0, 2).Draw(t, "who")]
				if c := r.ask(a); c != nil {
					waiting = append(waiting, turn{a, c})
				} else {
					held++
				}
			case 1:
				if held > 0 {
					held--
					r.release()
				}
			case 2:
				if len(waiting) > 0 {
					i := rapid.IntRange(0, len(waiting)-1).Draw(t, "gone")
					r.leave(waiting[i].a, waiting[i].c)
					waiting = append(waiting[:i:i], waiting[i+1:]...)
				}
			}
			still := waiting[:0:0]
			for _, w := range waiting {
				select {
				case <-w.c:
					held++
				default:
					still = append(still, w)
				}
			}
			waiting = still
			if held > AtOnce || r.free != AtOnce-held || (r.free > 0 && len(waiting) > 0) {
				t.Fatalf("%d held, %d free, %d wait", held, r.free, len(waiting))
			}
		}
	})
}

func TestATurnThatNobodyWaitsForGoesToTheNext(t *testing.T) {
	t.Parallel()
	rooms := NewRooms()
	a, b := rooms.Join("j"), rooms.Join("j")
	first := take(t, a, func() {})
	take(t, a, func() {})
	gone, next := a.room.ask(a), b.room.ask(b)
	first()               // the turn of gone comes …
	a.room.leave(a, gone) // … just as it leaves
	select {
	case <-next:
	default:
		t.Error("the place was lost")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Place(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
