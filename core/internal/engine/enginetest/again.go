package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// long is a conversation with everything in it that an interruption can hit.
var long = [][]string{
	{"say first I look", `echo {"n":1}`},
	{`echo {"n":2}`, `fail {"n":3}`, `echo {"n":4}`},
	{"say I forgot to call a tool"},
	{`nothere {"n":5}`, `quiet {"n":6}`},
	{},
	{`finish {"early":true}`},
	{`echo {"n":7}`, `finish {"summary":"done"}`, `echo {"n":8}`},
}

// book is a model that answers by the transcript it is sent, so that it goes on
// with whoever has it.
type book struct {
	script [][]string
	asked  []provider.Request
}

func (b *book) ask(_ context.Context, r provider.Request) (provider.Response, error) {
	b.asked = append(b.asked, r)
	turn := 0
	nudged := 0
	for _, m := range r.Messages {
		if m.Role == provider.RoleAssistant {
			turn++
		}
		for _, p := range m.Parts {
			if strings.Contains(p.Text, "call a tool now") {
				nudged++
			}
		}
	}
	if turn >= 3 && nudged >= 2 { // the empty answer leaves no message, only the nudge that it got
		turn++
	}
	out := provider.Response{Message: provider.Message{Role: provider.RoleAssistant}, Stop: provider.StopEnd}
	if turn >= len(b.script) {
		return out, fmt.Errorf("asked after the end: %d messages", len(r.Messages))
	}
	for i, line := range b.script[turn] {
		if words, isText := strings.CutPrefix(line, "say "); isText {
			out.Message.Parts = append(out.Message.Parts, provider.Text(words))
			continue
		}
		p := call(0, line)
		p.Call.ID = fmt.Sprintf("t%d-%d", turn, i)
		out.Message.Parts, out.Stop = append(out.Message.Parts, p), provider.StopCalls
	}
	return out, nil
}

var errKilled = errors.New("killed")

// trace keeps entries as files do: as JSON, until the process is killed.
type trace struct {
	lines []string
	most  int // entries that are still written; below 0: all
}

func (k *trace) keep(e engine.Entry) error {
	if k.most >= 0 && len(k.lines) >= k.most {
		return errKilled
	}
	text, err := json.Marshal(e)
	k.lines = append(k.lines, string(text))
	return err
}

func (k *trace) entries(t *testing.T) []engine.Entry {
	t.Helper()
	var out []engine.Entry
	for _, line := range k.lines {
		var e engine.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// goesOn interrupts the long conversation at every entry of its trace and at
// every safe point, and goes on in another engine.
func goesOn(t *testing.T, open func(t *testing.T) engine.Engine) {
	t.Helper()
	whole, all := &shelf{}, &trace{most: -1}
	want, err := open(t).Run(t.Context(), whole.task(20), engine.Desk{Ask: (&book{script: long}).ask, Keep: all.keep})
	if err != nil || want.Finish != "finish" || len(whole.ran) != 8 {
		t.Fatalf("%+v %v %q", want, err, whole.ran)
	}
	for n := 1; n < len(all.lines); n++ {
		s, k, b := &shelf{}, &trace{most: n}, &book{script: long}
		if _, err := open(t).Run(t.Context(), s.task(20), engine.Desk{Ask: b.ask, Keep: k.keep}); !errors.Is(err, errKilled) {
			t.Fatalf("killed after %d entries: %v", n, err)
		}
		again(t, open(t), s, k, b, want, whole.ran, fmt.Sprintf("killed after %d entries", n))
	}
	for n := 0; ; n++ {
		s, k, b, left := &shelf{}, &trace{most: -1}, &book{script: long}, n
		end, err := open(t).Run(t.Context(), s.task(20), engine.Desk{Ask: b.ask, Keep: k.keep, Paused: func() bool { left--; return left < 0 }})
		if err != nil {
			t.Fatal(err)
		}
		if !end.Paused {
			if n < 8 {
				t.Errorf("only %d safe points", n)
			}
			break
		}
		again(t, open(t), s, k, b, want, whole.ran, fmt.Sprintf("paused at safe point %d", n))
		if text := strings.Join(k.lines, "\n"); strings.Contains(text, "interrupted") {
			t.Errorf("a pause hit a call:\n%s", text)
		}
	}
}

// again goes on from a trace: the end is the same, every tool ran once, and
// every request was one that a provider takes.
func again(t *testing.T, e engine.Engine, s *shelf, k *trace, b *book, want engine.End, ran []string, when string) {
	t.Helper()
	task := s.task(20)
	task.Past = k.entries(t)
	k.most = -1
	end, err := e.Run(t.Context(), task, engine.Desk{Ask: b.ask, Keep: k.keep})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if diff := cmp.Diff(want, end); diff != "" {
		t.Errorf("%s:\n%s", when, diff)
	}
	sorted := slices.Sorted(slices.Values(s.ran))
	// A report whose result was lost is made again: it has no effect but that result.
	sorted = slices.CompactFunc(sorted, func(x, y string) bool { return x == y && strings.HasPrefix(x, "finish ") })
	if diff := cmp.Diff(slices.Sorted(slices.Values(ran)), sorted); diff != "" {
		t.Errorf("%s: a tool ran not once:\n%s", when, diff)
	}
	for _, r := range b.asked {
		paired(t, r, when)
	}
}

// paired holds a request against the rule of every wire: the calls of an answer
// are answered, all and only they, in the message behind it.
func paired(t *testing.T, r provider.Request, when string) {
	t.Helper()
	var due []string
	for i, m := range r.Messages {
		var calls, results []string
		for _, p := range m.Parts {
			if p.Call != nil {
				calls = append(calls, p.Call.ID)
			}
			if p.Result != nil {
				results = append(results, p.Result.ID)
			}
		}
		if !slices.Equal(due, results) {
			t.Errorf("%s: message %d answers %q, want %q", when, i, results, due)
		}
		due = calls
	}
	if len(due) > 0 {
		t.Errorf("%s: calls %q are not answered", when, due)
	}
}

// asks lays the work aside at a call that a person answers.
func asks(t *testing.T, open func(t *testing.T) engine.Engine) {
	t.Helper()
	script := [][]string{{`echo {"n":1}`, `person {"question":"which blue?"}`, `echo {"n":2}`}, {`finish {}`}}
	for _, answer := range []string{"the light one", ""} {
		s, k, b := &shelf{}, &trace{most: -1}, &book{script: script}
		task := s.task(9)
		person := act{"person", func(context.Context, json.RawMessage) (tool.Result, error) { return tool.Result{}, tool.ErrWait }}
		task.Tools = append(task.Tools, person)
		end, err := open(t).Run(t.Context(), task, engine.Desk{Ask: b.ask, Keep: k.keep})
		if err != nil || !end.Paused || !strings.Contains(string(end.Asked), "which blue?") || len(s.ran) != 1 {
			t.Fatalf("%+v %v %q", end, err, s.ran)
		}
		task = s.task(9)
		task.Tools, task.Past, task.Answer, task.Back = append(task.Tools, person), k.entries(t), answer, "you were away"
		end, err = open(t).Run(t.Context(), task, engine.Desk{Ask: b.ask, Keep: k.keep})
		if err != nil || end.Finish != "finish" || len(s.ran) != 3 {
			t.Fatalf("%+v %v %q", end, err, s.ran)
		}
		last := b.asked[len(b.asked)-1]
		paired(t, last, "after the answer")
		text, err := json.Marshal(last.Messages)
		if err != nil {
			t.Fatal(err)
		}
		words := "The person answers: the light one"
		if answer == "" {
			words = "No answer came"
		}
		if !strings.Contains(string(text), words) || strings.Count(string(text), "you were away") != 1 {
			t.Errorf("the model was told %s", text)
		}
	}
}

// hears tells the agent what the person said, once, also across an interruption.
func hears(t *testing.T, open func(t *testing.T) engine.Engine) {
	t.Helper()
	script := [][]string{{`echo {"n":1}`}, {`echo {"n":2}`}, {`finish {}`}}
	s, k, b := &shelf{}, &trace{most: -1}, &book{script: script}
	said := func() []engine.Words {
		if len(s.ran) == 0 {
			return nil
		}
		return []engine.Words{{ID: "m1", Text: "make it darker"}}
	}
	checks := 0
	end, err := open(t).Run(t.Context(), s.task(9), engine.Desk{Ask: b.ask, Keep: k.keep, Said: said, Paused: func() bool { checks++; return len(s.ran) == 2 }})
	if err != nil || !end.Paused {
		t.Fatalf("%+v %v", end, err)
	}
	task := s.task(9)
	task.Past = k.entries(t)
	if end, err = open(t).Run(t.Context(), task, engine.Desk{Ask: b.ask, Keep: k.keep, Said: said}); err != nil || end.Finish != "finish" {
		t.Fatalf("%+v %v", end, err)
	}
	for i, r := range b.asked {
		text, err := json.Marshal(r.Messages)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "make it darker"); (i == 0 && n != 0) || (i > 0 && n != 1) {
			t.Errorf("request %d tells it %d times", i, n)
		}
	}
}
