package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/screen"
)

// The person left the view before the job rested.
var (
	errQuit = errors.New("the view was left with q")
	errLeft = errors.New("the view was left with Ctrl-C")
)

const (
	// frameTime is the time between two frames: fast enough to follow, slow enough
	// to cost nothing while a job runs for an hour.
	frameTime = 120 * time.Millisecond
	// maxDiff is the longest diff that is shown in the view; relo diff prints all of it.
	maxDiff = 256 << 10
)

// see shows the job until it rests: live, as lines, or not at all. It ends with
// errQuit or errLeft when the person left, and with the error of ctx.
func (v *view) see(ctx context.Context, l *link) error {
	if v.progress != progressTTY || v.rests() {
		return v.talk(ctx, l)
	}
	in, ok := v.sh.in.(*os.File)
	out, isFile := v.sh.note.w.(*os.File)
	if !ok || !isFile {
		return v.talk(ctx, l)
	}
	scr, err := screen.Open(in, out, v.sh.colours(out))
	if err != nil {
		v.progress = progressPlain // the terminal cannot be taken over: lines will do
		return v.talk(ctx, l)
	}
	v.sh.note.hold()
	err = v.play(ctx, l, scr)
	size := scr.Size()
	closed := scr.Close()
	last := v.last(size)
	if v.rests() && v.state.Status == job.AwaitingApproval {
		last = nil // the plan itself is shown next
	}
	for _, line := range last {
		if _, werr := out.WriteString(screen.Paint(line, v.sh.colours(out)) + "\n"); werr != nil {
			closed = errors.Join(closed, werr)
		}
	}
	v.sh.note.release()
	if v.asking() != nil && v.rests() && (errors.Is(err, errQuit) || errors.Is(err, errLeft)) {
		return closed // nothing goes on that was left: the question stays
	}
	if errors.Is(err, errQuit) && l.here { // this process does the work: it goes on, in lines
		v.progress = progressPlain
		return errors.Join(closed, v.talk(ctx, l))
	}
	return errors.Join(err, closed)
}

// talk follows in lines; a question that holds the whole job is put to the
// person. One that was there before, or is left without an answer, stays.
func (v *view) talk(ctx context.Context, l *link) error {
	before := v.until
	for {
		if err := v.follow(ctx, l.Client); err != nil {
			return err
		}
		t := v.asking()
		if t == nil || v.brief || v.progress != progressPlain || v.sh.json || !v.sh.asks() || v.state.Seq <= before {
			return nil
		}
		answer, err := v.sh.ask(ctx, "Your answer (empty leaves the question): ")
		if err != nil || answer == "" {
			return err
		}
		if _, err = l.Say(ctx, t.ID, answer); err == nil {
			err = v.sh.moved(ctx, l, v, nil)
		}
		if err != nil {
			return err
		}
	}
}

// asking is the task whose question holds the whole job.
func (v *view) asking() *job.Task {
	if v.state.Status != job.WaitingForPerson {
		return nil
	}
	for _, t := range v.state.List() {
		if t.Question != "" && !t.Status.Terminal() {
			return t
		}
	}
	return nil
}

// stayed follows on while a question holds the job: its answer is given in the view.
func (s *stage) stayed(follow func() error) error {
	var asked *job.Finished // the end that a question was, also when it is answered already
	for {
		err := follow()
		s.mu.Lock()
		if s.asking() != nil {
			asked = s.state.End
		}
		stays := err == nil && s.board.Answers && s.rests() && s.state.Status == job.WaitingForPerson && asked != nil && asked == s.state.End
		s.mu.Unlock()
		if !stays {
			return err
		}
	}
}

func (v *view) last(size board.Size) []board.Line {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.board.Last(size, v.clock())
}

// stage is a live view on a terminal.
type stage struct {
	*view
	l       *link
	scr     *screen.Screen
	answers chan func(*board.Board)
}

// play runs the live view until the job rests or the person leaves.
func (v *view) play(ctx context.Context, l *link, scr *screen.Screen) error {
	ctx, stop := context.WithCancel(ctx)
	s := &stage{view: v, l: l, scr: scr, answers: make(chan func(*board.Board))}
	v.board.Here, v.board.Plan = l.here, v.sh.planHint(v.id)
	v.board.Answers = v.sh.asks() && !v.brief
	followed, orders := make(chan error, 1), make(chan board.Order, 1)
	quiet := make(chan struct{}, 2)
	go func() {
		followed <- s.stayed(func() error { return v.stream(ctx, l.Client) })
		quiet <- struct{}{}
	}()
	go func() {
		s.serve(ctx, orders)
		quiet <- struct{}{}
	}()
	defer func() { stop(); <-quiet; <-quiet }()
	return s.loop(ctx, followed, orders)
}

func (s *stage) loop(ctx context.Context, followed <-chan error, orders chan<- board.Order) error {
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for {
		if err := s.draw(); err != nil {
			return err
		}
		select {
		case err := <-followed:
			return errors.Join(err, s.draw())
		case <-ctx.Done():
			return ctx.Err()
		case f := <-s.answers:
			s.mu.Lock()
			f(s.board)
			s.mu.Unlock()
		case <-tick.C:
		case k, ok := <-s.scr.Keys():
			if !ok {
				return errLeft // the terminal is gone
			}
			if err := s.key(k, orders); err != nil {
				return err
			}
		}
	}
}

func (s *stage) draw() error {
	size := s.scr.Size()
	s.mu.Lock()
	lines := s.frame(size)
	s.mu.Unlock()
	return s.scr.Draw(lines, size)
}

func (s *stage) key(k string, orders chan<- board.Order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	order := s.board.Key(k, s.scr.Size().Height)
	switch order.Verb {
	case "":
		return nil
	case board.Quit:
		return errQuit
	case board.Leave:
		return errLeft
	case board.Pause, board.Resume, board.SayTo, board.Look:
	}
	select {
	case orders <- order:
	default:
		s.board.Tell("one moment: the last order is not answered yet")
	}
	return nil
}

// serve carries orders out, one after the other, beside the drawing.
func (s *stage) serve(ctx context.Context, orders <-chan board.Order) {
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-orders:
			answer := s.carryOut(ctx, o)
			select {
			case <-ctx.Done():
				return
			case s.answers <- answer:
			}
		}
	}
}

func (s *stage) carryOut(ctx context.Context, o board.Order) func(*board.Board) {
	words, err := "", error(nil)
	switch o.Verb {
	case board.Pause:
		_, err = s.l.Pause(ctx, s.id)
		words = "paused; running steps still end"
	case board.Resume:
		_, err = s.l.Resume(ctx, protocol.Resume{ID: s.id})
		words = "it goes on"
	case board.SayTo:
		id := o.Task
		if id == "" {
			id = s.id
		}
		var doc protocol.SayDoc
		doc, err = s.l.Say(ctx, id, o.Text)
		words = saidWords(doc)
	case board.Look:
		return s.look(ctx, o.Task)
	case board.Quit, board.Leave:
	}
	if err != nil {
		words = "relo: " + err.Error()
	}
	return func(b *board.Board) { b.Tell(words) }
}

// look fetches what a task changed.
func (s *stage) look(ctx context.Context, task string) func(*board.Board) {
	doc, err := s.l.Diff(ctx, task)
	if err != nil { // a task that has done nothing yet has no changes
		return func(b *board.Board) { b.Show(task, "") }
	}
	return func(b *board.Board) { b.Show(task, doc.Diff[:min(len(doc.Diff), maxDiff)]) }
}

// learn tells the board which models are local, so that their cost reads so.
func (v *view) learn(ctx context.Context, l *link) {
	if v.progress != progressTTY {
		return
	}
	models, err := l.Models(ctx, protocol.ModelsRequest{})
	if err != nil {
		return // their cost is then unknown
	}
	local := map[string]bool{}
	for _, m := range models.Models {
		local[m.Ref] = m.Private
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.board.Local = func(model string) bool { return local[model] }
}
