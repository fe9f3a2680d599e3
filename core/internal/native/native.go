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
// tools, or the rounds are spent. Errors are the desk's, a tool's Go error, and
// the context's.
func (*Engine) Run(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error) {
	l := newLoop(t, d)
	for l.round = 1; l.round <= l.rounds; l.round++ {
		l.warn()
		response, err := l.ask(ctx)
		if err != nil {
			return engine.End{Rounds: l.round}, err
		}
		calls := l.hear(response)
		if len(calls) == 0 {
			if why := l.nudge(response.Stop); why != "" {
				return engine.End{Rounds: l.round, Why: why}, nil
			}
			continue
		}
		l.nudges = 0
		if err := l.act(ctx, calls); err != nil {
			return engine.End{Rounds: l.round}, err
		}
		if l.finish != nil {
			return engine.End{Finish: l.finish.Name, Args: l.finish.Args, Rounds: l.round}, nil
		}
	}
	return engine.End{Rounds: l.rounds, Why: WhyRounds}, nil
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
	nudges   int            // in a row
	finish   *provider.Call // the call that ended the work
}

func newLoop(t engine.Task, d engine.Desk) *loop {
	l := &loop{task: t, desk: d, rounds: t.Rounds, tools: make(map[string]tool.Tool, len(t.Tools))}
	if l.rounds <= 0 {
		l.rounds = defaultRounds
	}
	for _, one := range t.Tools {
		spec := one.Spec()
		l.tools[spec.Name] = one
		l.specs = append(l.specs, spec)
	}
	l.messages = []provider.Message{{Role: provider.RoleUser, Parts: slices.Clone(t.First)}}
	return l
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

// hear takes the model's answer into the transcript and returns its calls.
func (l *loop) hear(r provider.Response) []provider.Call {
	var calls []provider.Call
	parts := make([]provider.Part, 0, len(r.Message.Parts))
	for _, p := range r.Message.Parts {
		switch {
		case p.Kind == provider.PartText && strings.TrimSpace(p.Text) != "":
			l.step(engine.Step{Kind: "text", Summary: oneLine(p.Text, maxText)})
		case p.Kind == provider.PartCall && p.Call != nil:
			calls = append(calls, *p.Call)
			p = provider.Part{Kind: provider.PartCall, Call: repeatable(*p.Call)}
		}
		parts = append(parts, p)
	}
	if len(parts) > 0 { // an empty message is refused by most wires
		l.messages = append(l.messages, provider.Message{Role: provider.RoleAssistant, Parts: parts})
	}
	return calls
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

// nudge answers a turn without calls. The reason, when there is one, ends the work.
func (l *loop) nudge(stop provider.Stop) (why string) {
	if l.nudges == maxNudges {
		if stop == provider.StopRefusal {
			return WhyRefused
		}
		return WhyStopped
	}
	l.nudges++
	words := l.task.Nudge
	if words == "" {
		words = "Go on with the task by calling a tool. When you are done, call " + l.finishers() + "."
	}
	if stop == provider.StopLength {
		words = cutWords + "\n" + words
	}
	l.say(words)
	return ""
}

// warn tells the agent that the end is near, in time to report what it has.
func (l *loop) warn() {
	if left := l.rounds - l.round + 1; left == warnRounds || (l.round == 1 && left < warnRounds) {
		l.say(fmt.Sprintf("You have %d more %s. Finish now: call %s and report honestly what is done and what is not.",
			left, plural(left, "answer", "answers"), l.finishers()))
	}
}

func (l *loop) finishers() string {
	if len(l.task.Finish) == 0 {
		return "the tool that finishes the task"
	}
	return strings.Join(l.task.Finish, " or ")
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
