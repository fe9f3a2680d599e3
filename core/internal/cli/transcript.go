package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
)

// What is printed of one text without --full: enough to see what it is about.
const (
	entryLines = 12
	entryRunes = 1200
)

// teller prints the entries of a transcript for a person.
type teller struct {
	out   *paper
	full  bool
	calls map[string]string // names of tools by the ids of their calls
}

func (t *teller) tell(e engine.Entry) {
	switch e.Kind {
	case engine.KindFirst:
		t.head(e, "Relo")
		t.message(e.Message)
		t.text(e.Text)
	case engine.KindAnswer:
		t.head(e, "Model")
		t.message(e.Message)
		if e.Stop != "" && e.Stop != provider.StopEnd && e.Stop != provider.StopCalls {
			t.text("(it stopped: " + string(e.Stop) + ")")
		}
	case engine.KindResult:
		if e.Result != nil {
			t.result(e)
		}
	case engine.KindWait:
		t.head(e, "waits for you")
	case engine.KindSaid:
		who := "Relo"
		if e.ID != "" {
			who = "You"
		}
		t.head(e, who)
		t.text(e.Text)
	case engine.KindCall, engine.KindState: // the answer named the call; a state is nothing that was said
	}
}

func (t *teller) head(e engine.Entry, who string) {
	t.out.line("  %s  %s", e.Time.Local().Format(time.TimeOnly), who)
}

func (t *teller) message(m *provider.Message) {
	if m == nil {
		return
	}
	for _, p := range m.Parts {
		switch p.Kind {
		case provider.PartText:
			t.text(p.Text)
		case provider.PartReasoning:
			if strings.TrimSpace(p.Text) != "" {
				t.text("(thinks) " + p.Text)
			}
		case provider.PartCall:
			if p.Call != nil {
				t.call(*p.Call)
			}
		case provider.PartPicture:
			if p.Picture != nil {
				t.picture(*p.Picture)
			}
		case provider.PartResult: // results have entries of their own
		}
	}
}

func (t *teller) call(c provider.Call) {
	if t.calls == nil {
		t.calls = map[string]string{}
	}
	t.calls[c.ID] = c.Name
	t.text("calls " + flat(c.Name, titleRunes) + " " + readable(c.Args))
}

// readable is JSON as a person reads it: with < and & as they are.
func readable(args json.RawMessage) string {
	var value any
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return string(args) // as it came
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return string(args)
	}
	return strings.TrimSpace(text.String())
}

func (t *teller) result(e engine.Entry) {
	name := e.Result.Name
	if name == "" {
		name = t.calls[e.Result.ID]
	}
	if e.Result.IsError {
		name += " failed"
	}
	t.head(e, flat(name, titleRunes))
	t.text(e.Result.Text)
	for _, p := range e.Result.Pictures {
		t.picture(p)
	}
}

func (t *teller) picture(p provider.Picture) {
	t.text(fmt.Sprintf("picture %s (%s, %dx%d, sha256 %s)", p.View.Path, p.View.Role, p.Width, p.Height, p.SHA256))
}

// text prints a text under its head, bounded unless all of it was asked for.
func (t *teller) text(text string) {
	text = strings.TrimRight(calm(text), "\n ")
	if text == "" {
		return
	}
	left := 0
	if !t.full {
		text, left = bounded(text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		t.out.line("    %s", line)
	}
	if left > 0 {
		t.out.line("    ... %s more (--full prints all)", count(left, "character", "characters"))
	}
}

// bounded gives the beginning of a text and how many characters are left out.
func bounded(text string) (string, int) {
	all := []rune(text)
	cut := all[:min(len(all), entryRunes)]
	lines := 0
	for i, r := range cut {
		if r != '\n' {
			continue
		}
		if lines++; lines == entryLines {
			cut = cut[:i]
			break
		}
	}
	return string(cut), len(all) - len(cut)
}
