package routing

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/vision"
)

func TestWhoMayLookForABlindModel(t *testing.T) {
	model := func(ref string, sight vision.Sight, price float64, private bool) catalog.Model {
		m := catalog.Model{Ref: catalog.Ref(ref), Chat: true, Sight: vision.Answer{Sight: sight}, Private: private, TakesPictures: true}
		m.Provider, m.ID = m.Ref.Split()
		if price > 0 {
			m.Price = catalog.Price{Input: &price, Output: &price}
		}
		return m
	}
	asker := model("a/blind", vision.Blind, 1, false)
	known := []catalog.Model{
		model("b/eye", vision.Sees, 1, false), model("a/dear", vision.Sees, 9, false), model("a/cheap", vision.Sees, 2, false),
		model("here/eye", vision.Sees, 0, true), asker, model("a/unknown", vision.Unknown, 1, false),
	}
	noChat := model("a/embed", vision.Sees, 1, false)
	noChat.Chat = false
	atHome := asker
	atHome.Private = true
	tests := []struct {
		name string
		q    Looking
		want []catalog.Ref
	}{
		{"its own provider's first, the cheapest first", Looking{Known: known, Asker: asker}, []catalog.Ref{"a/cheap", "a/dear", "b/eye"}},
		{"nobody knows who asks: in the person's order", Looking{Known: known}, []catalog.Ref{"b/eye", "a/dear", "a/cheap"}},
		{"private", Looking{Known: known, Asker: asker, Private: true}, []catalog.Ref{"here/eye"}},
		{"a private asker", Looking{Known: known, Asker: atHome}, []catalog.Ref{"here/eye"}},
		{"the route, as it stands", Looking{Route: []catalog.Model{model("z/unknown", vision.Unknown, 0, false), model("z/blind", vision.Blind, 0, false), model("b/eye", vision.Sees, 1, false)}, Known: known, Asker: asker}, []catalog.Ref{"z/unknown", "b/eye"}},
		{"a route of others' machines for what is private", Looking{Route: []catalog.Model{model("b/eye", vision.Sees, 1, false)}, Known: known, Asker: atHome}, nil},
		{"never itself", Looking{Route: []catalog.Model{asker}, Asker: asker}, nil},
		{"no model that does not chat", Looking{Known: []catalog.Model{noChat}}, nil},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Lookers(c.q)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
