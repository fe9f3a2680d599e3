package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// act runs the next open call. When all are answered, the answers go into one
// message: a call without an answer makes the next request wrong on every wire.
func (l *loop) act(ctx context.Context) error {
	c := l.open[0]
	if l.finish != nil {
		l.step(engine.Step{Kind: "tool", Tool: c.Name, Summary: summary(c) + " (not run: the task is finished)", Failed: true})
		return l.answer(c, tool.Fail("not run: the task is finished"))
	}
	if err := l.keep(engine.Entry{Kind: engine.KindCall, ID: c.ID, Text: c.Name}); err != nil {
		return err
	}
	began := time.Now()
	result, err := l.run(ctx, c)
	if errors.Is(err, tool.ErrWait) {
		l.step(engine.Step{Kind: "tool", Tool: c.Name, Summary: summary(c)})
		l.asked = c.Args
		return l.keep(engine.Entry{Kind: engine.KindWait, ID: c.ID})
	}
	l.step(engine.Step{
		Kind: "tool", Tool: c.Name, Summary: summary(c), MS: time.Since(began).Milliseconds(), Failed: result.IsError || err != nil,
	})
	if err != nil {
		return fmt.Errorf("round %d: %s: %w", l.round, c.Name, err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("round %d: %w", l.round, err)
	}
	l.round = min(l.rounds, l.round+result.Rounds)
	return l.answer(c, result)
}

// answer keeps a call's result; the call is no longer open.
func (l *loop) answer(c provider.Call, r tool.Result) error {
	p := answer(c, r)
	if err := l.keep(engine.Entry{Kind: engine.KindResult, ID: c.ID, Result: p.Result}); err != nil {
		return err
	}
	l.took(c, p)
	return nil
}

// took takes an answer to the first open call into the transcript.
func (l *loop) took(c provider.Call, p provider.Part) {
	l.parts, l.open = append(l.parts, p), l.open[1:]
	if l.finish == nil && !p.Result.IsError && slices.Contains(l.task.Finish, c.Name) {
		l.finish = &c
	}
	if len(l.open) == 0 {
		l.messages = append(l.messages, provider.Message{Role: provider.RoleTool, Parts: l.parts})
		l.parts = nil
	}
}

// run runs one call. What the model did wrong, and a tool's panic, are results.
func (l *loop) run(ctx context.Context, c provider.Call) (result tool.Result, err error) {
	t, known := l.tools[c.Name]
	if !known {
		return tool.Fail(fmt.Sprintf("there is no tool %q; the tools are %s", oneLine(c.Name, maxSummary),
			strings.Join(slices.Sorted(maps.Keys(l.tools)), ", "))), nil
	}
	args := c.Args
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil || object == nil {
		return tool.Fail(fmt.Sprintf("the arguments of %s are not a JSON object; pass one such as {\"name\": \"value\"}. They were: %s",
			c.Name, oneLine(string(args), maxQuoted))), nil
	}
	defer func() {
		if p := recover(); p != nil {
			result, err = tool.Fail(fmt.Sprintf("%s broke (a fault of Relo's, not yours): %v; try another way\n%s",
				c.Name, p, where(debug.Stack()))), nil
		}
	}()
	return t.Run(ctx, c.ID, args)
}

// where is the place of a panic: the first frame below the runtime's own.
func where(stack []byte) string {
	_, after, found := bytes.Cut(stack, []byte("panic("))
	if !found {
		return ""
	}
	lines := strings.SplitN(string(after), "\n", 5)
	if len(lines) < 3 {
		return ""
	}
	name, _, _ := strings.Cut(lines[2], "(0x")
	return "at " + name
}

// answer turns a tool's result into the transcript's.
func answer(c provider.Call, r tool.Result) provider.Part {
	text := r.Text
	if text == "" && len(r.Pictures) == 0 {
		text = "(no output)" // an empty result is refused by some wires
	}
	out := &provider.Result{ID: c.ID, Name: c.Name, Text: text, IsError: r.IsError}
	for i, shown := range r.Pictures {
		if shown.View.ID == "" {
			shown.View.ID = fmt.Sprintf("%s/%d", c.ID, i)
		}
		out.Pictures = append(out.Pictures, provider.Picture{Picture: shown.Picture, View: shown.View})
	}
	return provider.Part{Kind: provider.PartResult, Result: out}
}

// telling are the arguments that say most about a call, the best first.
var telling = []string{"path", "command", "pattern", "paths", "question", "name", "summary", "action", "query", "url"}

// summary is a call in one line, such as "edit src/a.go".
func summary(c provider.Call) string {
	var args map[string]any
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return oneLine(c.Name, maxSummary)
	}
	for _, key := range telling {
		switch v := args[key].(type) {
		case string:
			return oneLine(c.Name+" "+v, maxSummary)
		case []any:
			return oneLine(c.Name+" "+strings.Trim(fmt.Sprint(v), "[]"), maxSummary)
		}
	}
	return oneLine(c.Name, maxSummary)
}

// oneLine makes words fit for a timeline: one line, nothing that a terminal
// obeys, at most most characters.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
