// Package native is Relo's own engine: it asks the model, runs the tools that it
// calls, shows it the results, and ends when a finishing tool was called. It
// keeps the transcript whole; what a request may hold is decided where requests
// are built. It opens no file and knows no provider.
package native

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// Engine is the native engine. It keeps nothing between runs, so one serves many.
type Engine struct{}

var _ engine.Engine = (*Engine)(nil)

// New makes the engine.
func New() *Engine { return &Engine{} }

// Name is native.
func (*Engine) Name() string { return "native" }

// Run works on a task until a finishing tool succeeds, the model stops calling
// tools, the rounds are spent, or it is laid aside: at a safe point, which lies
// before every request and before every tool call, or at a call that waits for
// the person. Errors are the desk's, a tool's Go error, and the context's.
func (*Engine) Run(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error) {
	l := newLoop(t, d)
	err := l.begin()
	for err == nil {
		switch {
		case l.finish != nil && len(l.open) == 0:
			return engine.End{Finish: l.finish.Name, Args: l.finish.Args, Rounds: l.round}, nil
		case l.why != "":
			return engine.End{Rounds: l.round, Why: l.why}, nil
		case l.asked != nil:
			return engine.End{Rounds: l.round, Paused: true, Asked: l.asked}, nil
		case l.finish == nil && d.Paused != nil && d.Paused():
			return engine.End{Rounds: l.round, Paused: true}, nil
		case len(l.open) > 0:
			err = l.act(ctx)
		case l.round == l.rounds:
			l.why = WhyRounds
		default:
			err = l.turn(ctx)
		}
	}
	return engine.End{Rounds: l.round}, err
}

// turn asks the model once and takes its answer into the transcript.
func (l *loop) turn(ctx context.Context) error {
	l.round++
	if err := l.listen(); err != nil {
		return err
	}
	if err := l.warn(); err != nil {
		return err
	}
	response, err := l.ask(ctx)
	if err != nil {
		return err
	}
	return l.hear(response)
}

// loop is one run.
type loop struct {
	task   engine.Task
	desk   engine.Desk
	rounds int
	tools  map[string]tool.Tool
	specs  []provider.ToolSpec

	messages []provider.Message
	round    int
	nudges   int             // in a row
	open     []provider.Call // of the last answer, not answered yet
	parts    []provider.Part // answers to those before them
	finish   *provider.Call  // the call that ended the work
	why      string          // it ends without one
	asked    json.RawMessage // arguments of a call that waits for the person
	heard    map[string]bool // messages of the person
	back     string          // what the agent is told when it goes on
}

func newLoop(t engine.Task, d engine.Desk) *loop {
	l := &loop{task: t, desk: d, rounds: t.Rounds, tools: make(map[string]tool.Tool, len(t.Tools)), heard: map[string]bool{}}
	if l.rounds <= 0 {
		l.rounds = defaultRounds
	}
	for _, one := range t.Tools {
		spec := one.Spec()
		l.tools[spec.Name] = one
		l.specs = append(l.specs, spec)
	}
	return l
}

// keep writes an entry of the trace.
func (l *loop) keep(e engine.Entry) error {
	if l.desk.Keep == nil {
		return nil
	}
	e.Time = time.Now().UTC()
	if err := l.desk.Keep(e); err != nil {
		return fmt.Errorf("round %d: keep the transcript: %w", l.round, err)
	}
	return nil
}

// ask sends the transcript as it is now; later turns do not change what was sent.
func (l *loop) ask(ctx context.Context) (provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return provider.Response{}, fmt.Errorf("round %d: %w", l.round, err)
	}
	response, err := l.desk.Ask(ctx, provider.Request{
		Model: l.task.Model, System: l.task.System, Messages: slices.Clone(l.messages), Tools: l.specs, MaxTokens: l.task.MaxTokens,
	})
	if err != nil {
		return provider.Response{}, fmt.Errorf("round %d: %w", l.round, err)
	}
	return response, nil
}

// hear takes the model's answer into the transcript; its calls are open then.
func (l *loop) hear(r provider.Response) error {
	var calls []provider.Call
	m := provider.Message{Role: provider.RoleAssistant, Parts: make([]provider.Part, 0, len(r.Message.Parts))}
	for _, p := range r.Message.Parts {
		switch {
		case p.Kind == provider.PartText && strings.TrimSpace(p.Text) != "":
			l.step(engine.Step{Kind: "text", Summary: oneLine(p.Text, maxText)})
		case p.Kind == provider.PartCall && p.Call != nil:
			calls = append(calls, *p.Call)
			p = provider.Part{Kind: provider.PartCall, Call: repeatable(*p.Call), Signature: p.Signature}
		}
		m.Parts = append(m.Parts, p)
	}
	if err := l.keep(engine.Entry{Kind: engine.KindAnswer, Message: &m, Stop: r.Stop}); err != nil {
		return err
	}
	l.answered(m)
	l.open = calls
	if len(calls) > 0 {
		l.nudges = 0
		return nil
	}
	return l.nudge(r.Stop)
}

// answered adds the model's message; an empty one is refused by most wires.
func (l *loop) answered(m provider.Message) {
	if len(m.Parts) > 0 {
		l.messages = append(l.messages, m)
	}
}

// repeatable is the call as it can be sent back: arguments that are not JSON
// would break the next request, so they are left out there. The error that
// answers the call quotes them.
func repeatable(c provider.Call) *provider.Call {
	if len(c.Args) == 0 || !json.Valid(c.Args) {
		c.Args = json.RawMessage("{}")
	}
	return &c
}

// nudge answers a turn without calls, or ends the work when it has before.
func (l *loop) nudge(stop provider.Stop) error {
	if l.nudges == maxNudges {
		l.why = WhyStopped
		if stop == provider.StopRefusal {
			l.why = WhyRefused
		}
		return nil
	}
	l.nudges++
	words := l.task.Nudge
	if words == "" {
		words = "Go on with the task by calling a tool. When you are done, call " + l.finishers() + "."
	}
	if stop == provider.StopLength {
		words = cutWords + "\n" + words
	}
	return l.tell("", words)
}

// listen tells the agent what was said meanwhile.
func (l *loop) listen() error {
	if l.back != "" {
		words := l.back
		l.back = ""
		if err := l.tell("", words); err != nil {
			return err
		}
	}
	if l.desk.Said == nil {
		return nil
	}
	for _, w := range l.desk.Said() {
		if l.heard[w.ID] {
			continue
		}
		if err := l.tell(w.ID, personWords+w.Text); err != nil {
			return err
		}
		l.step(engine.Step{Kind: "text", Summary: oneLine("you said: "+w.Text, maxText)})
	}
	return nil
}

// warn tells the agent that the end is near, in time to report what it has.
func (l *loop) warn() error {
	if left := l.rounds - l.round + 1; left == warnRounds || (l.round == 1 && left < warnRounds) {
		return l.tell("", fmt.Sprintf("You have %d more %s. Finish now: call %s and report honestly what is done and what is not.",
			left, plural(left, "answer", "answers"), l.finishers()))
	}
	return nil
}

func (l *loop) finishers() string {
	if len(l.task.Finish) == 0 {
		return "the tool that finishes the task"
	}
	return strings.Join(l.task.Finish, " or ")
}

// tell says words and keeps them. id is that of the person's message.
func (l *loop) tell(id, words string) error {
	if err := l.keep(engine.Entry{Kind: engine.KindSaid, ID: id, Text: words}); err != nil {
		return err
	}
	l.heard[id] = true
	l.say(words)
	return nil
}

// say adds words of the user: to the last message when that is the user's, so
// that turns alternate.
func (l *loop) say(words string) {
	last := len(l.messages) - 1
	if l.messages[last].Role != provider.RoleUser {
		l.messages = append(l.messages, provider.Message{Role: provider.RoleUser, Parts: []provider.Part{provider.Text(words)}})
		return
	}
	m := l.messages[last]
	m.Parts = append(slices.Clip(slices.Clone(m.Parts)), provider.Text(words))
	l.messages[last] = m
}

func (l *loop) step(s engine.Step) {
	if l.desk.Step != nil {
		l.desk.Step(s)
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
