package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// defaultGrace is how long a job may take to end after a signal.
const defaultGrace = 20 * time.Second

// stay says what whoever stays with a job does for it.
type stay struct {
	apply bool          // when it is ready
	yes   bool          // a plan that waits is approved unasked
	dry   bool          // the plan is all that is wanted
	grace time.Duration // how long it may take to end after a signal
}

// attend stays with a job until it rests, applies it when asked to, prints the
// result and ends with its exit code. A signal cancels the job, or leaves it.
func (s *shell) attend(ctx context.Context, l *link, v *view, how stay) error {
	v.here = l.here
	if !s.asks() {
		v.patience = awayMost
	}
	v.learn(ctx, l)
	for {
		if err := v.see(ctx, l); err != nil {
			return s.left(ctx, l, v, how, err)
		}
		if v.state.Status != job.AwaitingApproval {
			break
		}
		again, err := s.decide(ctx, l, v, how)
		if err != nil && ctx.Err() != nil {
			return s.leave(ctx, l, v, how.grace)
		}
		if err != nil || !again {
			return err
		}
	}
	var applied *protocol.ApplyDoc
	var refused error
	if how.apply && v.state.Status == job.Ready {
		doc, err := s.bring(ctx, l, v)
		applied, refused = &doc, err
		if err != nil {
			applied = nil
		}
	}
	if s.json {
		return cmp.Or(refused, ended(outcomeCode(v.state.Status, v.state.End)))
	}
	doc, costs, err := s.whole(ctx, l, v.id)
	if err != nil {
		return errors.Join(refused, err)
	}
	s.result(doc, costs, applied, false)
	return cmp.Or(refused, ended(outcomeCode(doc.Status, doc.End)))
}

// left is the end of a view before the job rested.
func (s *shell) left(ctx context.Context, l *link, v *view, how stay, err error) error {
	switch {
	case errors.Is(err, errQuit):
		return s.goesOn(v, exitRunning)
	case errors.Is(err, errLeft) && !l.here:
		return s.goesOn(v, exitInterrupt)
	case errors.Is(err, errLeft):
		return s.callOff(ctx, l, v, how.grace, "interrupted", exitInterrupt)
	case ctx.Err() != nil:
		return s.leave(ctx, l, v, how.grace)
	}
	return err
}

// bring applies the job and tells the events of it.
func (s *shell) bring(ctx context.Context, l *link, v *view) (protocol.ApplyDoc, error) {
	doc, err := l.Apply(context.WithoutCancel(ctx), v.id) // it is never left half done
	if err != nil {
		return doc, err
	}
	v.want = job.Applied
	return doc, v.follow(ctx, l.Client)
}

// whole fetches what a result is made of.
func (s *shell) whole(ctx context.Context, l *link, id string) (protocol.JobDoc, bill, error) {
	doc, err := l.Show(ctx, id)
	if err != nil {
		return doc, bill{}, err
	}
	costs, err := l.Costs(ctx, id, 0)
	if err != nil {
		return doc, bill{}, err
	}
	return doc, s.bill(ctx, l, costs), nil
}

// leave ends the view before the job rests: by a signal, or by --timeout.
func (s *shell) leave(ctx context.Context, l *link, v *view, grace time.Duration) error {
	over := errors.Is(context.Cause(ctx), errTimeout)
	code := signalCode(ctx)
	if over {
		code = exitTimeout
	}
	interrupt := code == exitInterrupt
	if !l.here && (over || (interrupt && s.terminal(s.note.w))) {
		if !over {
			s.afterSignal()
		}
		return s.goesOn(v, code)
	}
	reason := "interrupted"
	if over {
		reason = errTimeout.Error()
	}
	return s.callOff(ctx, l, v, grace, reason, code)
}

// callOff cancels the job and waits for its end.
func (s *shell) callOff(ctx context.Context, l *link, v *view, grace time.Duration, reason string, code int) error {
	s.note.line("%s: cancelling the job", reason)
	grace = cmp.Or(grace, defaultGrace)
	if v.isAway() {
		grace = min(grace, lastTry)
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	v.progress, v.plan = progressPlain, false
	if _, err := l.Cancel(last, v.id, reason); err != nil {
		if !l.here && (errors.Is(err, protocol.ErrAway) || last.Err() != nil) {
			return s.notCancelled(v, code)
		}
		s.note.loud("relo: the job could not be cancelled: %v", err)
	} else if err := v.follow(last, l.Client); err != nil {
		if last.Err() != nil {
			err = fmt.Errorf("it did not end within %v", grace)
		}
		s.note.loud("relo: the end of the job was not seen: %v", err)
	}
	if !s.json {
		s.out.line("%s: %s", flat(v.state.Title, titleRunes), jobState(v.state.Status))
		s.out.line("  %s says what was done", s.hint("show", v.id))
	}
	return &endError{code}
}

// goesOn leaves the view and not the job.
func (s *shell) goesOn(v *view, code int) error {
	words, hint := "goes on", fmt.Sprintf("%s follows it, %s ends it", s.hint("watch", v.id), s.hint("cancel", v.id))
	switch {
	case v.isAway():
		words, hint = "waits until a daemon runs", startWords
	case v.state.Status == job.AwaitingApproval:
		words, hint = "waits for your word on its plan", fmt.Sprintf("%s begins it, %s ends it", s.hint("approve", v.id), s.hint("cancel", v.id))
	}
	if code == exitTimeout {
		s.fail(errorDoc{Error: protocol.Error{Code: "timeout", Message: errTimeout.Error() + "; the job " + words, Hint: hint, Retryable: true}})
		return &endError{code}
	}
	s.note.loud("job %s %s; %s", short(v.id), words, hint)
	return &endError{code}
}
