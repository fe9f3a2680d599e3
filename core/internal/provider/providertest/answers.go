package providertest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

const poem = "Grüße: a few words that are long enough to come in more than one piece, with <tags> & \"quotes\"."

func words(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: always(double.Reply{Text: poem})}, patient)
	var pieces []string
	resp, err := s.client.Stream(t.Context(), ask(sees), func(d provider.Delta) { pieces = append(pieces, d.Text) })
	if err != nil {
		t.Fatal(err)
	}
	if got := text(resp.Message); got != poem {
		t.Errorf("the text is %q", got)
	}
	if strings.Join(pieces, "") != poem || len(pieces) < 2 {
		t.Errorf("the pieces are %q", pieces)
	}
	if resp.Stop != provider.StopEnd || resp.Message.Role != provider.RoleAssistant || (resp.RequestID == "") != w.lacks(t, LackRequestID) {
		t.Errorf("stop %q, role %q, request id %q", resp.Stop, resp.Message.Role, resp.RequestID)
	}
	if resp.Usage.TokensIn == nil || *resp.Usage.TokensIn <= 0 || resp.Usage.TokensOut == nil || *resp.Usage.TokensOut <= 0 {
		t.Errorf("usage is not counted: %+v", resp.Usage)
	}
	if len(resp.Receipts) != 0 {
		t.Errorf("receipts without a picture: %v", resp.Receipts)
	}
}

func arrives(t *testing.T, w Wire) {
	var turn double.Turn
	s := open(t, w, double.Options{Play: func(_ context.Context, got double.Turn) double.Reply {
		turn = got
		return double.Reply{Text: "ok"}
	}}, patient)
	r := ask(sees, user(provider.Text(poem)), assistant(provider.Text("Yes.")), user(provider.Text("Go on.")))
	if _, err := s.client.Stream(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if turn.Role != "worker" || turn.System != r.System || turn.Model != sees || turn.Wire != w.Name {
		t.Errorf("role %q, system %q, model %q, wire %q", turn.Role, turn.System, turn.Model, turn.Wire)
	}
	want := []double.Entry{{Role: "user", Text: poem}, {Role: "assistant", Text: "Yes."}, {Role: "user", Text: "Go on."}}
	if diff := cmp.Diff(want, turn.Entries); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"read", "relo_image"}, turn.Tools); diff != "" {
		t.Error(diff)
	}
}

func toolRound(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: func(_ context.Context, turn double.Turn) double.Reply {
		last := turn.Entries[len(turn.Entries)-1]
		if last.Role == "tool" {
			return double.Reply{Text: last.ResultOf + " said " + last.Text}
		}
		return double.Reply{Text: "I look.", Calls: []double.Call{{Name: "read", Args: map[string]any{"path": "a/b.go"}}}}
	}}, patient)
	r := ask(sees)
	resp, err := s.client.Stream(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	made := calls(resp.Message)
	if len(made) != 1 || made[0].Name != "read" || made[0].ID == "" || resp.Stop != provider.StopCalls {
		t.Fatalf("want one call of read, got %+v, stop %q", resp.Message, resp.Stop)
	}
	var args struct{ Path string }
	if err := json.Unmarshal(made[0].Args, &args); err != nil || args.Path != "a/b.go" {
		t.Errorf("arguments %s: %v", made[0].Args, err)
	}
	r.Messages = append(r.Messages, resp.Message, results(provider.Result{ID: made[0].ID, Name: "read", Text: "error: no such file", IsError: true}))
	resp, err = s.client.Stream(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(resp.Message); got != "read said error: no such file" {
		t.Errorf("the second answer is %q", got)
	}
	bare := results(provider.Result{ID: made[0].ID, Name: "read"})
	r.Messages[len(r.Messages)-1] = bare
	if _, err := s.client.Stream(t.Context(), r, nil); err != nil {
		t.Errorf("a result of nothing: %v", err)
	}
}

func thinking(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: always(double.Reply{
		Reasoning: "First I think about it.", Text: "Done.", Calls: []double.Call{{Name: "read"}},
	})}, patient)
	r := ask(sees)
	resp, err := s.client.Stream(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := resp.Message.Parts[0]
	if first.Kind != provider.PartReasoning || first.Text != "First I think about it." {
		t.Fatalf("the first part is %+v", first)
	}
	id := calls(resp.Message)[0].ID
	r.Messages = append(r.Messages, resp.Message, results(provider.Result{ID: id, Name: "read", Text: "x"}))
	if _, err := s.client.Stream(t.Context(), r, nil); err != nil {
		t.Errorf("thinking that goes back: %v", err) // the double checks the signature
	}
	r.Messages[1].Parts[0] = provider.Part{Kind: provider.PartReasoning, Text: "of another wire, unsigned"}
	if _, err := s.client.Stream(t.Context(), r, nil); err != nil {
		t.Errorf("unsigned thinking of another wire: %v", err)
	}
}

func foreignIDs(t *testing.T, w Wire) {
	s := open(t, w, double.Options{}, patient)
	long := "functions.read:0/" + strings.Repeat("x", 80)
	r := ask(sees, user(provider.Text("go")),
		assistant(call(long, "read", `{}`), call("a.b", "read", `{}`)),
		results(provider.Result{ID: long, Name: "read", Text: "1"}, provider.Result{ID: "a.b", Name: "read", Text: "2"}))
	if _, err := s.client.Stream(t.Context(), r, nil); err != nil {
		t.Error(err)
	}
}

func noUsage(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: always(double.Reply{Text: "ok", NoUsage: true})}, patient)
	resp, err := s.client.Stream(t.Context(), ask(sees), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(provider.Usage{}, resp.Usage); diff != "" {
		t.Error(diff)
	}
}

func cachedTokens(t *testing.T, w Wire) {
	in, out, cached := int64(1000), int64(7), int64(900)
	s := open(t, w, double.Options{Play: always(double.Reply{
		Text: "ok", Usage: double.Usage{In: &in, Out: &out, Cached: &cached},
	})}, patient)
	resp, err := s.client.Stream(t.Context(), ask(sees), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := provider.Usage{TokensIn: &in, TokensOut: &out, TokensCached: &cached}
	if w.lacks(t, LackCached) {
		want.TokensCached = nil
	}
	if diff := cmp.Diff(want, resp.Usage); diff != "" {
		t.Error(diff)
	}
}

func tokenLimit(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: always(double.Reply{
		Text: "I begin", Length: true, Calls: []double.Call{{Name: "read", Args: `{"path":"unfin`}},
	})}, patient)
	resp, err := s.client.Stream(t.Context(), ask(sees), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Stop != provider.StopLength || len(calls(resp.Message)) != 0 || text(resp.Message) != "I begin" {
		t.Errorf("stop %q, message %+v", resp.Stop, resp.Message)
	}
}
