package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// story is one dialogue: what the model says, and what must come of it.
type story struct {
	name   string
	script [][]string
	stops  map[int]provider.Stop
	rounds int      // 0: ten
	ran    []string // the calls that reached a tool, in order
	heard  []string // words in the last request, in this order
	finish string   // the arguments of the finishing call; empty: there was none
	why    string   // words in Why
	asked  int      // requests
}

var stories = []story{
	{
		name:   "a task ends with its finishing call",
		script: [][]string{{`echo {"n":1}`}, {`finish {"summary":"done"}`}},
		ran:    []string{`echo {"n":1}`, `finish {"summary":"done"}`},
		heard:  []string{"user: do it", `assistant: call c1 echo {"n":1}`, `tool: result c1 error=false echoed {"n":1}`},
		finish: `{"summary":"done"}`, asked: 2,
	},
	{
		name:   "calls of one turn run in order, and all are answered in one message",
		script: [][]string{{"say first", `echo {"n":1}`, `fail {}`, `quiet {}`, `echo {"n":2}`}, {`finish {}`}},
		ran:    []string{`echo {"n":1}`, `fail {}`, `quiet {}`, `echo {"n":2}`, `finish {}`},
		heard: []string{
			"assistant: first", "tool: result c1 error=false", "tool: result c2 error=true it did not work",
			"tool: result c3 error=false (no output)", "tool: result c4 error=false",
		},
		finish: `{}`, asked: 2,
	},
	{
		name:   "calls before the finishing one are run, those after it are not",
		script: [][]string{{`echo {"n":1}`, `finish {}`, `echo {"n":2}`}},
		ran:    []string{`echo {"n":1}`, `finish {}`}, finish: `{}`, asked: 1,
	},
	{
		name:   "a finishing call that is refused does not end the task",
		script: [][]string{{`finish {"early":true}`, `echo {}`}, {`finish {"summary":"now"}`}},
		ran:    []string{`finish {"early":true}`, `echo {}`, `finish {"summary":"now"}`},
		heard:  []string{"error=true not yet"}, finish: `{"summary":"now"}`, asked: 2,
	},
	{
		name:   "an unknown tool is answered with the names of the tools",
		script: [][]string{{`delete {"path":"/"}`}, {`finish {}`}},
		ran:    []string{`finish {}`}, heard: []string{`error=true there is no tool "delete"`, "echo"}, finish: `{}`, asked: 2,
	},
	{
		name:   "arguments that are no JSON object are answered, and do not reach the tool or the next request",
		script: [][]string{{`echo {"n":`, `echo [1]`, `echo null`, `echo "x"`}, {`finish {}`}},
		ran:    []string{`finish {}`},
		heard:  []string{"assistant: call c1 echo {}", "c1 error=true", "c2 error=true", "c3 error=true", "c4 error=true"}, finish: `{}`, asked: 2,
	},
	{
		name: "a call without arguments gets an empty object", script: [][]string{{`echo`}, {`finish {}`}},
		ran: []string{`echo {}`, `finish {}`}, finish: `{}`, asked: 2,
	},
	{
		name: "a tool that panics is answered as an error", script: [][]string{{`panic {}`}, {`finish {}`}},
		ran: []string{`panic {}`, `finish {}`}, heard: []string{"error=true", "boom"}, finish: `{}`, asked: 2,
	},
	{
		name: "an answer without calls is nudged", script: [][]string{{"say I am done"}, {`finish {}`}},
		ran: []string{`finish {}`}, heard: []string{"assistant: I am done", "user: call a tool now"}, finish: `{}`, asked: 2,
	},
	{
		name:   "three nudges in a row are enough",
		script: [][]string{{"say one"}, {"say two"}, {"say three"}, {"say four"}, {`finish {}`}}, why: "stopped", asked: 4,
	},
	{
		name:   "a call in between begins the count anew",
		script: [][]string{{"say one"}, {"say two"}, {"say three"}, {`echo {}`}, {"say one"}, {"say two"}, {"say three"}, {`finish {}`}},
		ran:    []string{`echo {}`, `finish {}`}, finish: `{}`, asked: 8,
	},
	{
		name: "an empty answer is nudged and leaves no empty message", script: [][]string{{}, {`finish {}`}},
		ran: []string{`finish {}`}, heard: []string{"user: do it", "user: call a tool now"}, finish: `{}`, asked: 2,
	},
	{
		name: "an answer that was cut is told so", script: [][]string{{"say a long story"}, {`finish {}`}},
		stops: map[int]provider.Stop{0: provider.StopLength},
		ran:   []string{`finish {}`}, heard: []string{"cut off", "length"}, finish: `{}`, asked: 2,
	},
	{
		name: "whole calls of a cut answer are run", script: [][]string{{`echo {}`}, {`finish {}`}},
		stops: map[int]provider.Stop{0: provider.StopLength},
		ran:   []string{`echo {}`, `finish {}`}, finish: `{}`, asked: 2,
	},
	{
		name: "rounds are counted, and the end is announced", rounds: 3,
		script: [][]string{{`echo {"n":1}`}, {`echo {"n":2}`}, {`echo {"n":3}`}, {`finish {}`}},
		ran:    []string{`echo {"n":1}`, `echo {"n":2}`, `echo {"n":3}`},
		heard:  []string{`result c1`, "2 more", "finish", `result c2`}, why: "out of rounds", asked: 3,
	},
	{
		name: "a finishing call in the last round counts", rounds: 2, script: [][]string{{`echo {}`}, {`finish {}`}},
		ran: []string{`echo {}`, `finish {}`}, finish: `{}`, asked: 2,
	},
}

func (s story) play(t *testing.T, e engine.Engine) {
	t.Helper()
	rounds := s.rounds
	if rounds == 0 {
		rounds = 10
	}
	m, tools := &model{script: s.script, stops: s.stops}, shelf{}
	end, err := e.Run(t.Context(), tools.task(rounds), engine.Desk{Ask: m.ask, Step: func(engine.Step) {}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tools.ran, s.ran) {
		t.Errorf("ran %q, want %q", tools.ran, s.ran)
	}
	if len(m.asked) != s.asked || end.Rounds != s.asked {
		t.Errorf("asked %d times and counted %d, want %d", len(m.asked), end.Rounds, s.asked)
	}
	if (end.Finish != "") != (s.finish != "") || string(end.Args) != s.finish || !strings.Contains(end.Why, s.why) || (end.Why == "") != (s.why == "") {
		t.Errorf("end = %+v (args %s), want finish %q, why %q", end, end.Args, s.finish, s.why)
	}
	said := m.heard(len(m.asked) - 1)
	at := 0
	for _, want := range s.heard {
		i := strings.Index(said[at:], want)
		if i < 0 {
			t.Fatalf("the last request does not say %q at its place:\n%s", want, said)
		}
		at += i
	}
	wellFormed(t, m)
}

// wellFormed checks what every wire needs of every request.
func wellFormed(t *testing.T, m *model) {
	t.Helper()
	for _, r := range m.asked {
		var open []string
		for i, msg := range r.Messages {
			if len(msg.Parts) == 0 {
				t.Errorf("message %d is empty", i)
			}
			if i > 0 && msg.Role == r.Messages[i-1].Role {
				t.Errorf("messages %d and %d are both the %s's", i-1, i, msg.Role)
			}
			for _, p := range msg.Parts {
				switch {
				case p.Call != nil:
					open = append(open, p.Call.ID)
					if !json.Valid(p.Call.Args) {
						t.Errorf("arguments %q go back as they are", p.Call.Args)
					}
				case p.Result != nil:
					if len(open) == 0 || open[0] != p.Result.ID || msg.Role != provider.RoleTool {
						t.Fatalf("result %s does not answer the next call of %q", p.Result.ID, open)
					}
					open = open[1:]
				case len(open) > 0 && msg.Role == provider.RoleUser:
					t.Errorf("calls %q have no answer before the user speaks", open)
				}
			}
		}
		if len(open) > 0 {
			t.Errorf("calls %q have no answer", open)
		}
	}
}

// soon bounds how long an engine may take to end.
const soon = 5 * time.Second

func ends(ctx context.Context, t *testing.T, e engine.Engine, task engine.Task, d engine.Desk) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := e.Run(ctx, task, d)
		done <- err
	}()
	late := time.NewTimer(soon)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		t.Fatal("the engine did not end")
		return nil
	}
}

func cancelled(t *testing.T, e engine.Engine) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := shelf{}
	err := ends(ctx, t, e, s.task(10), engine.Desk{Ask: func(ctx context.Context, _ provider.Request) (provider.Response, error) {
		cancel()
		<-ctx.Done()
		return provider.Response{}, ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func cancelledInTool(t *testing.T, e engine.Engine) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := shelf{}
	task := s.task(10)
	task.Tools = append(task.Tools, act{"wait", func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
		cancel()
		<-ctx.Done()
		return tool.Fail("interrupted"), nil
	}})
	m := &model{script: [][]string{{`wait {}`, `echo {}`}, {`finish {}`}}}
	if err := ends(ctx, t, e, task, engine.Desk{Ask: m.ask}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if len(s.ran) > 0 || len(m.asked) != 1 {
		t.Errorf("it went on: ran %q, asked %d times", s.ran, len(m.asked))
	}
}

func deskError(t *testing.T, e engine.Engine) {
	t.Helper()
	s := shelf{}
	err := ends(t.Context(), t, e, s.task(10), engine.Desk{Ask: func(context.Context, provider.Request) (provider.Response, error) {
		return provider.Response{}, &provider.Error{Kind: provider.KindKey, Words: "no such key"}
	}})
	if !provider.Is(err, provider.KindKey) {
		t.Errorf("err = %v", err)
	}
}

func toolError(t *testing.T, e engine.Engine) {
	t.Helper()
	broken := errors.New("the disk is full")
	s := shelf{}
	task := s.task(10)
	task.Tools = append(task.Tools, act{"save", func(context.Context, json.RawMessage) (tool.Result, error) { return tool.Result{}, broken }})
	m := &model{script: [][]string{{`save {}`}, {`finish {}`}}}
	if err := ends(t.Context(), t, e, task, engine.Desk{Ask: m.ask}); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
}

func firstRequest(t *testing.T, e engine.Engine) {
	t.Helper()
	s := shelf{}
	task := s.task(10)
	task.First = append(task.First, provider.Show(provider.Picture{}))
	m := &model{script: [][]string{{`finish {}`}}}
	if err := ends(t.Context(), t, e, task, engine.Desk{Ask: m.ask}); err != nil {
		t.Fatal(err)
	}
	r := m.asked[0]
	if r.System != task.System || r.MaxTokens != task.MaxTokens {
		t.Errorf("system %q, max tokens %d", r.System, r.MaxTokens)
	}
	if len(r.Messages) != 1 || len(r.Messages[0].Parts) != 2 || r.Messages[0].Parts[1].Kind != provider.PartPicture {
		t.Errorf("first message = %+v", r.Messages)
	}
	var names []string
	for _, spec := range r.Tools {
		names = append(names, spec.Name)
	}
	if strings.Join(names, " ") != "echo fail quiet panic finish" {
		t.Errorf("tools = %v", names)
	}
}
