package gateway

import (
	"net/http"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// refuses is an answer with a status and the provider's body.
func refuses(status int, body string) answer {
	return answer{err: &provider.Error{Kind: provider.KindOf(status, "", body), Provider: "p", Status: status, Words: body, Body: body, Sent: true}}
}

// looking is a call with one picture of a user and one of a tool.
func looking(ref catalog.Ref) traffic.Call {
	return traffic.Call{Job: "j", Traffic: "conversation", Chain: []catalog.Ref{ref}, Request: provider.Request{Messages: []provider.Message{
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look"), provider.Show(provider.Picture{Picture: vision.Picture{SHA256: "s1", Width: 1, Height: 1}})}},
	}}}
}

func TestARefusedPictureIsHealedOnceAndRemembered(t *testing.T) {
	m := scripted("p/m", refuses(http.StatusBadRequest, `{"error":{"message":"This model does not support image input"}}`), answer{})
	w := newWorld(m)
	g := w.gate()
	got, err := g.Call(t.Context(), looking("p/m"))
	if err != nil || len(got.Blind) != 1 {
		t.Fatalf("%+v %v", got.Blind, err)
	}
	if w.outcomes() != "p/m:refused p/m:ok" || len(m.seen) != 2 {
		t.Errorf("two requests, both in the ledger: %s, %d", w.outcomes(), len(m.seen))
	}
	if m.Sight.Source != vision.Refused || m.Sight.Detail == "" || len(w.blinded) != 1 || w.blinded[0].Proof != w.settled[1].ID {
		t.Errorf("%+v %+v", m.Sight, w.blinded)
	}
	if _, err := g.Call(t.Context(), looking("p/m")); err != nil || len(m.seen) != 3 || len(w.blinded) != 1 {
		t.Errorf("the next request has words at once: %d requests, %v", len(m.seen), err)
	}
}

func TestWithoutProofNothingIsRemembered(t *testing.T) {
	m := scripted("p/m", refuses(http.StatusBadRequest, "This model does not support image input"), refuses(http.StatusBadRequest, "the prompt is too long"))
	w := newWorld(m)
	if _, err := w.gate().Call(t.Context(), looking("p/m")); err == nil || len(m.seen) != 2 {
		t.Fatalf("%v after %d requests", err, len(m.seen))
	}
	if m.Sight.Source == vision.Refused || len(w.blinded) != 0 {
		t.Errorf("learned without proof: %+v", m.Sight)
	}
}

func TestARefusalOfSomethingElseIsNotHealed(t *testing.T) {
	for _, a := range []answer{
		refuses(http.StatusUnauthorized, "this model does not support image input"),
		refuses(http.StatusBadRequest, "context length exceeded"),
		refuses(http.StatusBadRequest, "animated GIF is not accepted"),
	} {
		m := scripted("p/m", a)
		w := newWorld(m)
		if _, err := w.gate().Call(t.Context(), looking("p/m")); err == nil || len(m.seen) != 1 || len(w.blinded) != 0 {
			t.Errorf("%v: %d requests, %v", a.err, len(m.seen), w.blinded)
		}
	}
	m := scripted("p/m", refuses(http.StatusBadRequest, "this model does not support image input"))
	if _, err := newWorld(m).gate().Call(t.Context(), traffic.Call{Job: "j", Chain: []catalog.Ref{"p/m"}}); err == nil || len(m.seen) != 1 {
		t.Errorf("without a picture there is nothing to heal: %d requests, %v", len(m.seen), err)
	}
}

func (w *world) gate() *Gateway {
	return New(Parts{Book: w, Money: w, Album: w, Darkroom: w, Log: zerolog.Nop(), Now: time.Now})
}
