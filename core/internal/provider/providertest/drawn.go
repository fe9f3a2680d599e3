package providertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// wellFormed draws transcripts as an agent's rounds make them, odd texts and
// empty answers included. The provider must take every one of them, and the
// receipts must be exactly the pictures that it got.
func wellFormed(t *testing.T, w Wire) {
	var mu sync.Mutex
	var turn double.Turn
	s := open(t, w, double.Options{Play: func(_ context.Context, got double.Turn) double.Reply {
		mu.Lock()
		defer mu.Unlock()
		turn = got
		return double.Reply{Text: "ok"}
	}}, patient)
	var pictures []provider.Picture
	for i := range uint8(8) {
		pictures = append(pictures, draw(t, fmt.Sprintf("dir \"x\"/shot %d.png", i), i))
	}
	rapid.Check(t, func(t *rapid.T) {
		d := drawer{pictures: pictures}
		r := provider.Request{Model: sees, System: d.text(t), Messages: d.transcript(t)}
		resp, err := s.client.Stream(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("%v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		var got, claimed []string
		for _, p := range turn.Pictures {
			got = append(got, p.Place+" "+p.SHA256)
		}
		for _, c := range resp.Receipts {
			claimed = append(claimed, c.Place+" "+c.SHA256)
		}
		if len(got) != d.shown || !slices.Equal(got, claimed) {
			t.Fatalf("%d were shown; the provider got %q, the receipts claim %q", d.shown, got, claimed)
		}
	})
}

// drawer draws a transcript and counts the pictures in it.
type drawer struct {
	pictures []provider.Picture
	shown    int
	calls    int
}

func (d *drawer) text(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "\n", "ok", "</tool> & \"q\"", "error: x", "data:image/png;base64,AAAA", "\u2028\u202e"}),
		rapid.String(),
	).Draw(t, "text")
}

func (d *drawer) some(t *rapid.T) []provider.Picture {
	var all []provider.Picture
	for range rapid.IntRange(0, 2).Draw(t, "pictures") {
		all = append(all, rapid.SampledFrom(d.pictures).Draw(t, "picture"))
		d.shown++
	}
	return all
}

func (d *drawer) transcript(t *rapid.T) []provider.Message {
	all := []provider.Message{user(provider.Text("begin " + d.text(t)))}
	for range rapid.IntRange(0, 5).Draw(t, "rounds") {
		m := assistant(provider.Text(d.text(t)))
		if rapid.Bool().Draw(t, "thinks") {
			m.Parts = append([]provider.Part{{Kind: provider.PartReasoning, Text: d.text(t)}}, m.Parts...)
		}
		var answers []provider.Result
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			d.calls++
			id := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"call_", "functions.read:", "é ", ""}).Draw(t, "id"), d.calls)
			m.Parts = append(m.Parts, provider.Part{Kind: provider.PartCall, Call: &provider.Call{ID: id, Name: "read", Args: json.RawMessage(`{"a":"<b>"}`)}})
			answers = append(answers, provider.Result{
				ID: id, Name: "read", Text: d.text(t), Pictures: d.some(t), IsError: rapid.Bool().Draw(t, "fails"),
			})
		}
		all = append(all, m)
		for len(answers) > 0 { // in one message or in several
			n := rapid.IntRange(1, len(answers)).Draw(t, "together")
			all = append(all, results(answers[:n]...))
			answers = answers[n:]
		}
		if rapid.Bool().Draw(t, "person") {
			said := user(provider.Text(d.text(t)))
			for _, p := range d.some(t) {
				said.Parts = append(said.Parts, provider.Show(p))
			}
			all = append(all, said)
		}
	}
	return all
}
