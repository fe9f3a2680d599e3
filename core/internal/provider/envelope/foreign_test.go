package envelope

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/provider"
)

func TestForeignThoughtsAreLeftOutAndTheRestStays(t *testing.T) {
	const (
		foreign = `{"type":"thinking","thinking":"a","signature":"relo.x"}`
		bare    = `{"type":"thinking","thinking":"b","signature":""}`
		hidden  = `{"type":"redacted_thinking","data":"relo.y"}`
		own     = `{"type":"thinking", "thinking":"c","signature":"EqQB"}`
		text    = `{"type":"text","text":"t"}`
	)
	for _, c := range []struct{ in, want string }{
		{`[ ` + own + ` , ` + text + ` ]`, `[ ` + own + ` , ` + text + ` ]`},
		{`[ ` + foreign + ` , ` + text + ` ]`, `[ ` + text + ` ]`},
		{`[ ` + foreign + `, ` + bare + `,` + hidden + ` , ` + text + ` ]`, `[ ` + text + ` ]`},
		{`[ ` + text + ` , ` + foreign + ` ]`, `[ ` + text + ` ]`},
		{`[ ` + own + ` , ` + foreign + `,` + text + ` , ` + bare + `, ` + hidden + ` ]`, `[ ` + own + `,` + text + ` ]`},
		{`[ ` + foreign + ` , ` + bare + ` ]`, `[ {"type":"text","text":"(thinking)"} ]`},
		{`[]`, `[]`},
		{`"text"`, `"text"`},
	} {
		body := func(content string) string {
			return `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` + content + `}]}`
		}
		e := opened(t, Messages, body(c.in))
		got, _, err := e.Seal(Changes{NoForeign: true})
		if err != nil || string(got) != body(c.want) {
			t.Errorf("%v\n got %s\nwant %s", err, got, body(c.want))
		}
		if got, _, err := e.Seal(Changes{}); err != nil || string(got) != body(c.in) {
			t.Errorf("%v: it was not asked for, and %s", err, got)
		}
	}
	in := `{"model":"m","input":[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"relo."},{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAA"}]}`
	want := `{"model":"m","input":[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAA"}]}`
	if got, _, err := opened(t, Responses, in).Seal(Changes{NoForeign: true}); err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	all := `{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"relo."}]}`
	if got, _, err := opened(t, Responses, all).Seal(Changes{NoForeign: true}); err != nil || string(got) != all {
		t.Errorf("%v: %s", err, got)
	}
}

// What a model behind another wire thought comes back to it as it was, and nothing of it
// reaches the wire's own provider.
func TestForeignThoughtsAreKnownWhenTheyComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wire := rapid.SampledFrom([]Wire{Responses, Messages}).Draw(t, "wire")
		r := drawnAnswer(t)
		dialogue := map[Wire]string{Responses: "input", Messages: "messages"}[wire]
		a := NewAnswer(opened2(t, wire, []byte(`{"model":"m","`+dialogue+`":[]}`)), "1", 1)
		a.Foreign()
		var whole struct {
			Output  json.RawMessage `json:"output"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(a.Whole(r), &whole); err != nil {
			t.Fatal(err)
		}
		turn := strings.Trim(string(whole.Output), "[]")
		if wire == Messages {
			turn = `{"role":"assistant","content":` + string(whole.Content) + `}`
		}
		e := opened2(t, wire, []byte(`{"model":"m","`+dialogue+`":[{"role":"user","content":"hi"},`+turn+`]}`))
		back, err := e.Request()
		if err != nil {
			t.Fatal(err)
		}
		want, got := sorted(r, true), sorted(provider.Response{Message: back.Messages[1]}, true)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q, want %q", got, want)
		}
		body, _, err := e.Seal(Changes{NoForeign: true})
		if err != nil || strings.Contains(string(body), `"`+foreignMark) {
			t.Fatalf("%v: %s", err, body)
		}
		if _, err := opened2(t, wire, body).Request(); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
	})
}
