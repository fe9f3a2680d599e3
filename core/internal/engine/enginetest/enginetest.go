// Package enginetest is the suite that every engine passes: what a task's tools,
// its desk and its end promise each other. A scripted model answers; no engine
// gets a network or a file here.
package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Run runs the whole suite against engines that open makes, one a story.
func Run(t *testing.T, open func(t *testing.T) engine.Engine) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) { s.play(t, open(t)) })
	}
	t.Run("pictures of a tool reach the model with their view", func(t *testing.T) { pictures(t, open(t)) })
	t.Run("steps tell what happened", func(t *testing.T) { steps(t, open(t)) })
	t.Run("a cancelled context ends the work", func(t *testing.T) { cancelled(t, open(t)) })
	t.Run("a context that ends inside a tool ends the work", func(t *testing.T) { cancelledInTool(t, open(t)) })
	t.Run("the desk's error ends the work and keeps its kind", func(t *testing.T) { deskError(t, open(t)) })
	t.Run("a tool's Go error ends the work", func(t *testing.T) { toolError(t, open(t)) })
	t.Run("the first message, the system prompt and the tools arrive as given", func(t *testing.T) { firstRequest(t, open(t)) })
	t.Run("interrupted anywhere, it goes on and runs no tool twice", func(t *testing.T) { goesOn(t, open) })
	t.Run("a call that a person answers lays the work aside", func(t *testing.T) { asks(t, open) })
	t.Run("what the person says is heard once", func(t *testing.T) { hears(t, open) })
	t.Run("it has a name", func(t *testing.T) {
		if open(t).Name() == "" {
			t.Error("no name")
		}
	})
}

// call is a tool call of the scripted model: "name {json}".
func call(id int, line string) provider.Part {
	name, args, _ := strings.Cut(line, " ")
	return provider.Part{Kind: provider.PartCall, Call: &provider.Call{ID: fmt.Sprintf("c%d", id), Name: name, Args: json.RawMessage(args)}}
}

// model answers from a script, one line a part: "name {json}" is a call, "say
// words" is text. After the script it answers with nothing.
type model struct {
	script [][]string
	stops  map[int]provider.Stop // by turn, counted from 0

	mu    sync.Mutex
	asked []provider.Request
	ids   int
}

func (m *model) ask(ctx context.Context, r provider.Request) (provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return provider.Response{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	turn := len(m.asked)
	m.asked = append(m.asked, r)
	out := provider.Response{Message: provider.Message{Role: provider.RoleAssistant}, Stop: provider.StopEnd}
	if turn < len(m.script) {
		for _, line := range m.script[turn] {
			if words, isText := strings.CutPrefix(line, "say "); isText {
				out.Message.Parts = append(out.Message.Parts, provider.Text(words))
				continue
			}
			m.ids++
			out.Stop = provider.StopCalls
			out.Message.Parts = append(out.Message.Parts, call(m.ids, line))
		}
	}
	if stop, set := m.stops[turn]; set {
		out.Stop = stop
	}
	return out, nil
}

// heard is everything that the request of a turn said to the model after its
// first message, one line a part.
func (m *model) heard(turn int) string {
	var out strings.Builder
	for _, msg := range m.asked[turn].Messages {
		for _, p := range msg.Parts {
			switch {
			case p.Result != nil:
				fmt.Fprintf(&out, "%s: result %s error=%v %s\n", msg.Role, p.Result.ID, p.Result.IsError, p.Result.Text)
			case p.Call != nil:
				fmt.Fprintf(&out, "%s: call %s %s %s\n", msg.Role, p.Call.ID, p.Call.Name, p.Call.Args)
			default:
				fmt.Fprintf(&out, "%s: %s\n", msg.Role, p.Text)
			}
		}
	}
	return out.String()
}

// act is a tool made of a function.
type act struct {
	name string
	run  func(ctx context.Context, args json.RawMessage) (tool.Result, error)
}

func (a act) Spec() provider.ToolSpec {
	return provider.ToolSpec{Name: a.name, Description: a.name + " of the suite", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (a act) Run(ctx context.Context, _ string, args json.RawMessage) (tool.Result, error) {
	return a.run(ctx, args)
}

// shelf is the suite's tools, with a list of what was run.
type shelf struct{ ran []string }

func (s *shelf) tools() []tool.Tool {
	log := func(name string, result func(args json.RawMessage) tool.Result) tool.Tool {
		return act{name, func(_ context.Context, args json.RawMessage) (tool.Result, error) {
			s.ran = append(s.ran, name+" "+string(args))
			return result(args), nil
		}}
	}
	return []tool.Tool{
		log("echo", func(args json.RawMessage) tool.Result { return tool.Result{Text: "echoed " + string(args)} }),
		log("fail", func(json.RawMessage) tool.Result { return tool.Fail("it did not work") }),
		log("quiet", func(json.RawMessage) tool.Result { return tool.Result{} }),
		log("panic", func(json.RawMessage) tool.Result { panic("boom") }),
		log("finish", func(args json.RawMessage) tool.Result {
			if strings.Contains(string(args), "early") {
				return tool.Fail("not yet: the report lacks a summary")
			}
			return tool.Result{Text: "thank you"}
		}),
	}
}

func (s *shelf) task(rounds int) engine.Task {
	return engine.Task{
		Model: "suite/model", System: "Role: worker", First: []provider.Part{provider.Text("do it")},
		Tools: s.tools(), Finish: []string{"finish"}, Rounds: rounds, MaxTokens: 1000, Nudge: "call a tool now",
	}
}

func pictures(t *testing.T, e engine.Engine) {
	t.Helper()
	shown := tool.Shown{
		Picture: vision.Picture{SHA256: "abc", MediaType: "image/png", Width: 2, Height: 1, Bytes: []byte("png")},
		View:    vision.View{Path: "shot.png", Role: vision.Result, Source: vision.Size{Width: 2, Height: 1}},
	}
	s := shelf{}
	task := s.task(10)
	task.Tools = append(task.Tools, act{"look", func(context.Context, json.RawMessage) (tool.Result, error) {
		return tool.Result{Text: "here", Pictures: []tool.Shown{shown, shown}}, nil
	}})
	m := &model{script: [][]string{{`look {}`}, {`finish {}`}}}
	if _, err := e.Run(t.Context(), task, engine.Desk{Ask: m.ask}); err != nil {
		t.Fatal(err)
	}
	var got []provider.Picture
	for _, msg := range m.asked[1].Messages {
		for _, p := range msg.Parts {
			if p.Result != nil {
				got = append(got, p.Result.Pictures...)
			}
		}
	}
	if len(got) != 2 {
		t.Fatalf("%d pictures arrived, want 2", len(got))
	}
	for _, p := range got {
		if p.SHA256 != "abc" || string(p.Bytes) != "png" || p.View.Path != "shot.png" || p.View.ID == "" {
			t.Errorf("a picture arrived as %+v", p)
		}
	}
	if got[0].View.ID == got[1].View.ID {
		t.Error("two looks have one id")
	}
}

func steps(t *testing.T, e engine.Engine) {
	t.Helper()
	s := shelf{}
	m := &model{script: [][]string{{"say " + strings.Repeat("long ", 200), `echo {"path":"src/a.go"}`, `fail {}`}, {`finish {}`}}}
	var seen []engine.Step
	if _, err := e.Run(t.Context(), s.task(10), engine.Desk{Ask: m.ask, Step: func(st engine.Step) { seen = append(seen, st) }}); err != nil {
		t.Fatal(err)
	}
	seen = slices.DeleteFunc(seen, func(st engine.Step) bool { return st.Kind == "progress" })
	var kinds []string
	for _, st := range seen {
		kinds = append(kinds, fmt.Sprintf("%s %s %v", st.Kind, st.Tool, st.Failed))
		if st.Summary == "" || strings.ContainsAny(st.Summary, "\n\x1b") || len([]rune(st.Summary)) > 400 {
			t.Errorf("summary %q is not a bounded line", st.Summary)
		}
	}
	want := []string{"text  false", "tool echo false", "tool fail true", "tool finish false"}
	if !slices.Equal(kinds, want) {
		t.Errorf("steps = %q, want %q", kinds, want)
	}
	if len(seen) > 1 && !strings.Contains(seen[1].Summary, "src/a.go") {
		t.Errorf("summary %q does not name the file", seen[1].Summary)
	}
}
