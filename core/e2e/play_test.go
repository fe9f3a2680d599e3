package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/probe"
)

// ctx keeps the players' lines short.
type ctx = context.Context

// turn is what a scripted agent knows of where it stands: all of it read from
// the request, as a real model would.
type turn struct {
	double.Turn
	title   string
	attempt int // 1-based
	step    int // answers given before in this attempt
}

// act answers one turn of one task.
type act func(ctx context.Context, t turn) double.Reply

// play is the script: a plan, what workers do by title, what reviewers do.
type play struct {
	mu      sync.Mutex
	plan    plan
	primary act // nil: submits the plan
	workers map[string]act
	review  map[string]act
	delay   time.Duration
	// planUsage is what the plan's answer says of its tokens.
	planUsage double.Usage
	// before is called with every turn before it is answered.
	before func(ctx context.Context, t turn)
}

type plan struct {
	Summary string     `json:"summary"`
	Tasks   []planTask `json:"tasks"`
}

type planTask struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Instructions string   `json:"instructions"`
	Difficulty   string   `json:"difficulty"`
	Vision       bool     `json:"vision"`
	Images       []string `json:"images"`
	DependsOn    []string `json:"depends_on"`
	Files        []string `json:"files"`
	Checks       []string `json:"checks"`
}

// task is a row of a plan; options change it.
func task(id, difficulty string, change ...func(*planTask)) planTask {
	t := planTask{
		ID: id, Title: "Do " + id, Instructions: "Do what " + id + " says.", Difficulty: difficulty,
		Images: []string{}, DependsOn: []string{}, Files: []string{}, Checks: []string{},
	}
	for _, c := range change {
		c(&t)
	}
	return t
}

func after(ids ...string) func(*planTask) { return func(t *planTask) { t.DependsOn = ids } }

func eyes(images ...string) func(*planTask) {
	return func(t *planTask) { t.Vision, t.Images = true, images }
}

func checked(commands ...string) func(*planTask) { return func(t *planTask) { t.Checks = commands } }

func planOf(tasks ...planTask) plan { return plan{Summary: "the plan", Tasks: tasks} }

func (p *play) answer(ctx context.Context, dt double.Turn) double.Reply {
	t := turn{Turn: dt, attempt: 1}
	for _, e := range dt.Entries {
		if e.Role == "assistant" {
			t.step++
		}
	}
	if len(dt.Entries) > 0 {
		first := dt.Entries[0].Text
		if _, rest, ok := strings.Cut(first, "# Task: "); ok {
			t.title, _, _ = strings.Cut(rest, "\n")
		}
		t.attempt += strings.Count(first, "\nAttempt ")
	}
	if p.before != nil {
		p.before(ctx, t)
	}
	reply := p.pick(t)(ctx, t)
	if reply.Delay == 0 {
		reply.Delay = p.delay
	}
	return reply
}

func (p *play) pick(t turn) act {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch t.Role {
	case "primary":
		if p.primary != nil {
			return p.primary
		}
		r := call("submit_plan", p.plan)
		r.Usage = p.planUsage
		return func(context.Context, turn) double.Reply { return r }
	case "reviewer":
		if f := p.review[t.title]; f != nil {
			return f
		}
		return accept
	case "debugger":
		return finish("it fails because of the second line")
	}
	if f := p.workers[t.title]; f != nil {
		return f
	}
	if strings.Contains(t.System, "You look at one picture") {
		return describes
	}
	if t.Role == "" && t.title == "" {
		return probed
	}
	return writes
}

// describes is a model that looks for another: what it says is of the picture that came.
func describes(_ context.Context, t turn) double.Reply {
	if len(t.Pictures) == 0 {
		return double.Reply{Text: "no picture came"}
	}
	return double.Reply{Text: fmt.Sprintf("a drawing of %d by %d", t.Pictures[0].Width, t.Pictures[0].Height)}
}

// probed answers a probe as a model that sees does: a double that is blind or loses
// pictures gives it none.
func probed(_ context.Context, t turn) double.Reply {
	if len(t.Pictures) == 0 {
		return double.Reply{Text: "mauve"}
	}
	word, _ := probe.Decode(t.Pictures[0].Bytes)
	return double.Reply{Text: word}
}

func call(name string, args any) double.Reply {
	return double.Reply{Calls: []double.Call{{Name: name, Args: args}}}
}

type object = map[string]any

func done(summary string) double.Reply {
	return call("finish_task", object{"outcome": "done", "summary": summary})
}

func finish(summary string) act {
	return func(context.Context, turn) double.Reply { return done(summary) }
}

// slug is a file name made of a title.
func slug(title string) string { return strings.ToLower(strings.ReplaceAll(title, " ", "-")) }

// writes makes one file named after the task and finishes.
func writes(_ context.Context, t turn) double.Reply {
	if t.step == 0 {
		return call("write", object{"path": "out/" + slug(t.title) + ".txt", "content": fmt.Sprintf("work of %s\n", t.title)})
	}
	return done("wrote the file")
}

func accept(context.Context, turn) double.Reply {
	return call("submit_review", object{"verdict": "accept", "summary": "as asked"})
}

// steps answers with one reply after the other; the last repeats.
func steps(replies ...double.Reply) act {
	return func(_ context.Context, t turn) double.Reply { return replies[min(t.step, len(replies)-1)] }
}

func look(paths ...string) double.Reply { return call("relo_image", object{"paths": paths}) }

func shell(command string) double.Reply { return call("bash", object{"command": command}) }

// shoots changes a source and makes a picture of the result, in this order.
func shoots(source, shot string) double.Reply {
	return shell(fmt.Sprintf("mkdir -p $(dirname %s) && echo changed >> %s && cp ref/login.png %s && printf x >> %s", shot, source, shot, shot))
}

// draws is the whole of an honest visual task.
func draws(source, shot string) act {
	return steps(look("ref/login.png"), shoots(source, shot), look("ref/login.png", shot), done("it matches"))
}

// looksThenAccepts is an honest reviewer of a visual task.
func looksThenAccepts(shot string) act {
	return steps(look("ref/login.png", shot), call("submit_review", object{"verdict": "accept", "summary": "the pictures match"}))
}

// asJSON is for messages of tests.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
