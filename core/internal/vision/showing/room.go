package showing

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Rooms are the places of the jobs of one process: in each, AtOnce pictures are
// prepared at a time. It is safe for concurrent use.
type Rooms struct {
	mu   sync.Mutex
	open map[string]*room // by job, while it has agents
}

// NewRooms gives places that nobody has taken.
func NewRooms() *Rooms { return &Rooms{open: map[string]*room{}} }

// room holds the places of one job. Agents that wait take turns, so that one with
// many pictures does not keep the others from theirs.
type room struct {
	agents int

	mu    sync.Mutex
	free  int
	turns []*Agent // those that wait, next first
}

// Agent is one agent's part in its job's room, and its calls of the last minute.
type Agent struct {
	rooms *Rooms
	job   string
	room  *room

	waiting []chan struct{} // under the room's lock

	mu    sync.Mutex
	calls []time.Time
}

// Join lets an agent of a job in. It leaves with Leave.
func (r *Rooms) Join(job string) *Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[job] == nil {
		r.open[job] = &room{free: AtOnce}
	}
	r.open[job].agents++
	return &Agent{rooms: r, job: job, room: r.open[job]}
}

// Leave ends an agent's part. The last of a job closes its room.
func (a *Agent) Leave() {
	a.rooms.mu.Lock()
	defer a.rooms.mu.Unlock()
	if a.room.agents--; a.room.agents == 0 {
		delete(a.rooms.open, a.job)
	}
}

// Place waits for a place to prepare one picture; release gives it back. It fails
// only when ctx ends, with its error.
func (a *Agent) Place(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	turn := a.room.ask(a)
	if turn == nil {
		return a.room.release, nil
	}
	select {
	case <-turn:
		return a.room.release, nil
	case <-ctx.Done():
		a.room.leave(a, turn)
		return nil, ctx.Err()
	}
}

// ask takes a free place, or gives the turn to wait for.
func (r *room) ask(a *Agent) (turn chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.free > 0 {
		r.free--
		return nil
	}
	turn = make(chan struct{})
	a.waiting = append(a.waiting, turn)
	if len(a.waiting) == 1 {
		r.turns = append(r.turns, a)
	}
	return turn
}

// release hands a place to whose turn it is.
func (r *room) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hand()
}

func (r *room) hand() {
	if len(r.turns) == 0 {
		r.free++
		return
	}
	a := r.turns[0]
	r.turns = r.turns[1:]
	close(a.waiting[0])
	if a.waiting = a.waiting[1:]; len(a.waiting) > 0 {
		r.turns = append(r.turns, a)
	}
}

// leave takes a turn back; one that has just come goes to the next.
func (r *room) leave(a *Agent, turn chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(a.waiting, turn)
	if i < 0 {
		r.hand()
		return
	}
	if a.waiting = slices.Delete(a.waiting, i, i+1); len(a.waiting) == 0 {
		r.turns = slices.DeleteFunc(r.turns, func(x *Agent) bool { return x == a })
	}
}

// allow counts a call among those of the minute before now. When there are too many,
// wait is how long until there is room for another.
func (a *Agent) allow(now time.Time) (wait time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = slices.DeleteFunc(a.calls, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	if len(a.calls) >= CallsPerMinute {
		return time.Minute - now.Sub(a.calls[0]), false
	}
	a.calls = append(a.calls, now)
	return 0, true
}
