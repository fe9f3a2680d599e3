package envelope

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
)

// script is what the model behind a desk answers.
type script struct {
	resp   provider.Response
	deltas []string
	kind   provider.Kind // fails with it: before the stream, or after the deltas when there are any
	status int
	words  string
}

// desk serves a wire as the proxy does: it opens what a vendor's own client sends, reads it
// into Relo's nouns and answers in the wire's words.
type desk struct {
	*httptest.Server
	mu       sync.Mutex
	requests []provider.Request
	bodies   [][]byte
}

var paths = map[string]Wire{"/v1/chat/completions": Chat, "/v1/responses": Responses, "/v1/messages": Messages}

func newDesk(t *testing.T, s script) *desk {
	t.Helper()
	d := &desk{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		status, kind, out := d.serve(t, paths[r.URL.Path], body, s)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		for _, piece := range out {
			if _, err := w.Write(piece); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *desk) serve(t *testing.T, wire Wire, body []byte, s script) (status int, kind string, out [][]byte) {
	const document, events = "application/json", "text/event-stream; charset=utf-8"
	e, err := Open(wire, body)
	var r provider.Request
	if err == nil {
		r, err = e.Request()
	}
	d.mu.Lock()
	d.bodies, d.requests = append(d.bodies, body), append(d.requests, r)
	d.mu.Unlock()
	if f, ok := err.(*Fault); ok { //nolint:errorlint // what Open and Request return
		return f.Status, document, [][]byte{f.Body(wire)}
	}
	if same, _, err := e.Seal(Changes{}); err != nil || string(same) != string(body) {
		t.Errorf("%v: the body changed", err)
	}
	a := NewAnswer(e, "1", 1_700_000_000)
	switch {
	case s.kind != "" && len(s.deltas) == 0:
		status, body := a.Fail(s.status, s.kind, s.words)
		return status, document, [][]byte{body}
	case !e.Stream:
		return 200, document, [][]byte{a.Whole(s.resp)}
	}
	for _, text := range s.deltas {
		out = append(out, a.Ping(), a.Delta(text))
	}
	if s.kind != "" {
		return 200, events, append(out, a.FailEvent(s.kind, s.words), a.Done(s.resp), a.Delta("late"))
	}
	return 200, events, append(out, a.Done(s.resp), a.Done(s.resp), a.Delta("late"), a.FailEvent(provider.KindCut, "late"))
}

// asked gives the newest request.
func (d *desk) asked() provider.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.requests[len(d.requests)-1]
}

const answerText = "Hällo <wörld> & \"more\"\n"

// full is an answer with everything in it.
var full = script{
	deltas: []string{"Hällo <w", "", "örld> & "}, // the rest comes with the whole answer
	resp: provider.Response{
		Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
			{Kind: provider.PartReasoning, Text: "a thought", Signature: "sig=="},
			provider.Text(answerText),
			{Kind: provider.PartCall, Call: &provider.Call{ID: "call.1:x", Name: "look", Args: json.RawMessage(`{"path":"a b","n":1.50}`)}},
			{Kind: provider.PartCall, Call: &provider.Call{ID: "call_2", Name: "stop"}},
		}},
		Stop:  provider.StopCalls,
		Usage: provider.Usage{TokensIn: new(int64(100)), TokensOut: new(int64(20)), TokensCached: new(int64(60))},
	},
}

// plain is the shortest answer.
var plain = script{resp: provider.Response{Message: provider.Message{Parts: []provider.Part{provider.Text("yes")}}, Stop: provider.StopEnd}}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}
