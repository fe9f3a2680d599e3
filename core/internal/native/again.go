package native

import (
	"errors"
	"fmt"
	"slices"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// begin starts the transcript, or takes it up where the trace ends.
func (l *loop) begin() error {
	if len(l.task.Past) == 0 {
		first := provider.Message{Role: provider.RoleUser, Parts: slices.Clone(l.task.First)}
		l.messages = []provider.Message{first}
		return l.keep(engine.Entry{Kind: engine.KindFirst, Message: &first})
	}
	p, err := l.replay()
	if err != nil {
		return err
	}
	l.back = l.task.Back
	return l.takeUp(p)
}

// past is what a trace says about calls of its last answer.
type past struct {
	began, waits map[string]bool
	unnudged     *provider.Stop // the last answer had no calls and nothing was said to it
}

// replay builds the transcript out of the trace, without any effect.
func (l *loop) replay() (past, error) {
	p := past{began: map[string]bool{}, waits: map[string]bool{}}
	for i, e := range l.task.Past {
		switch e.Kind {
		case engine.KindFirst:
			if e.Message == nil || len(l.messages) > 0 {
				return p, fmt.Errorf("entry %d of the trace is not where it can be: %s", i, e.Kind)
			}
			l.messages = []provider.Message{*e.Message}
		case engine.KindAnswer:
			if e.Message == nil || len(l.messages) == 0 || len(l.open) > 0 {
				return p, fmt.Errorf("entry %d of the trace is not where it can be: %s", i, e.Kind)
			}
			l.round++
			l.answered(*e.Message)
			clear(p.began)
			for _, part := range e.Message.Parts {
				if part.Call != nil {
					l.open = append(l.open, *part.Call)
				}
			}
			p.unnudged = nil
			if len(l.open) == 0 {
				p.unnudged = &e.Stop
			} else {
				l.nudges = 0
			}
		case engine.KindCall:
			p.began[e.ID] = true
		case engine.KindWait:
			p.waits[e.ID] = true
		case engine.KindResult:
			if len(l.open) == 0 || e.Result == nil || e.Result.ID != l.open[0].ID {
				return p, fmt.Errorf("entry %d of the trace answers no open call", i)
			}
			l.took(l.open[0], provider.Part{Kind: provider.PartResult, Result: e.Result})
		case engine.KindSaid:
			if p.unnudged != nil && e.ID == "" {
				p.unnudged = nil
				l.nudges++
			}
			l.heard[e.ID] = true
			l.say(e.Text)
		case engine.KindState:
		}
	}
	if len(l.messages) == 0 {
		return p, errors.New("the trace has no beginning")
	}
	return p, nil
}

// takeUp answers the calls that the interruption hit. Those that had not begun
// stay open and are made now; none is made twice.
func (l *loop) takeUp(p past) error {
	for len(l.open) > 0 {
		c := l.open[0]
		switch {
		case p.waits[c.ID]:
			words := unanswered
			if l.task.Answer != "" {
				words = "The person answers: " + l.task.Answer
			}
			if err := l.answer(c, tool.Result{Text: words}); err != nil {
				return err
			}
		case p.began[c.ID] && !slices.Contains(l.task.Finish, c.Name): // a report has no effect but its result: it is taken again
			if err := l.answer(c, tool.Fail(interrupted)); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	if p.unnudged != nil {
		return l.nudge(*p.unnudged)
	}
	return nil
}
