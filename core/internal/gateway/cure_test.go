package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// rounds is a call whose tool showed s1 in an answered turn and s2 in the one under way.
func rounds(ref catalog.Ref) traffic.Call {
	shown := func(id, sha string) provider.Message {
		return provider.Message{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{
			ID: id, Name: "relo_image", Text: "shown", Pictures: []provider.Picture{picture(sha, id+"/0", vision.Result)},
		}}}}
	}
	called := func(id string) provider.Message {
		return provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartCall, Call: &provider.Call{ID: id, Name: "relo_image"}}}}
	}
	return traffic.Call{Job: "j", Task: "t", Attempt: "a", Traffic: "conversation", Chain: []catalog.Ref{ref}, Request: provider.Request{Messages: []provider.Message{
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("go")}}, called("c1"), shown("c1", "s1"), called("c2"), shown("c2", "s2"),
	}}}
}

// pictures are the ones of a request, in order, by their bytes.
func pictures(r provider.Request) string {
	var out []string
	for _, s := range collect(r.Messages, 100) {
		out = append(out, string(s.picture.Bytes))
	}
	return strings.Join(out, ",")
}

func textIn(r provider.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			b.WriteString(p.Text)
			if p.Result != nil {
				b.WriteString(p.Result.Text)
			}
		}
	}
	return b.String()
}

func TestAWrongPlaceIsMendedByTheOtherOneAndRemembered(t *testing.T) {
	m := scripted("p/m", refuses(http.StatusBadRequest, "Unexpected role 'user' after role 'tool'"), answer{})
	m.places = []provider.Placement{provider.PlaceAfter, provider.PlaceBridged}
	w := newWorld(m)
	g := w.gate()
	for range 2 {
		if _, err := g.Call(t.Context(), rounds("p/m")); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.seen) != 3 || m.seen[0].Placement != "" || m.seen[1].Placement != provider.PlaceBridged || m.seen[2].Placement != provider.PlaceBridged {
		t.Fatalf("%d requests", len(m.seen))
	}
	if pictures(m.seen[1]) != "one,two" || m.Sight.Source == vision.Refused || len(w.blinded) != 0 || len(w.notices) != 1 {
		t.Errorf("pictures %q, %v, notices %q", pictures(m.seen[1]), w.blinded, w.notices)
	}
}

func TestAWrongShapeWithoutAnotherPlaceGetsWords(t *testing.T) {
	m := scripted("p/m", refuses(http.StatusBadRequest, "image_url': expected an object, but got a string instead"), answer{})
	w := newWorld(m)
	got, err := w.gate().Call(t.Context(), rounds("p/m"))
	if err != nil || len(got.Blind) != 2 || len(m.seen) != 2 || len(w.blinded) != 0 || m.Sight.Source == vision.Refused {
		t.Errorf("%v: %v, %d requests, %v", err, got.Blind, len(m.seen), w.blinded)
	}
}

func TestAnUnreadablePictureBecomesWordsAloneAndStaysThem(t *testing.T) {
	m := scripted("p/m", refuses(http.StatusBadRequest, "Could not process image"), answer{})
	w := newWorld(m)
	g := w.gate()
	for range 2 {
		if _, err := g.Call(t.Context(), rounds("p/m")); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.seen) != 3 || pictures(m.seen[1]) != "one" || pictures(m.seen[2]) != "one" || !strings.Contains(textIn(m.seen[1]), "could not be read") {
		t.Errorf("%d requests; then %q %q", len(m.seen), pictures(m.seen[1]), textIn(m.seen[1]))
	}
	if len(w.blinded) != 0 || m.Sight.Source == vision.Refused {
		t.Error("it was taken for blindness")
	}
}

func TestTwoRefusalsOfOneTurnAreItsError(t *testing.T) {
	m := scripted("p/m", refuses(http.StatusBadRequest, "Could not process image"), refuses(http.StatusBadRequest, "This model does not support image input"), answer{})
	w := newWorld(m)
	if _, err := w.gate().Call(t.Context(), rounds("p/m")); err == nil || len(m.seen) != 2 || len(w.blinded) != 0 || len(w.notices) != 0 {
		t.Errorf("%v after %d requests; %v %v", err, len(m.seen), w.blinded, w.notices)
	}
}

func TestOlderPicturesOfABlindModelAreAPlainLineWhenItIsFoundOut(t *testing.T) {
	m := scripted("p/m", refuses(http.StatusBadRequest, "This model does not support image input"), answer{})
	eye := scripted("p/eye")
	w := newWorld(m, eye)
	w.lookers = []catalog.Ref{"p/eye"}
	got, err := w.gate().Call(t.Context(), rounds("p/m"))
	if err != nil || len(eye.seen) != 1 || pictures(eye.seen[0]) != "two" {
		t.Fatalf("%v: %d looks", err, len(eye.seen))
	}
	if len(got.Blind) != 2 || len(got.Described) != 1 || got.Described[0] != "c2/0" || !strings.Contains(textIn(m.seen[1]), "p/eye looked at it") {
		t.Errorf("%v %v %q", got.Blind, got.Described, textIn(m.seen[1]))
	}
	var how []string
	for _, l := range w.looks {
		how = append(how, l.ID+" "+l.How+" "+l.By)
	}
	if strings.Join(how, ", ") != "c1/0 dropped p/m, c2/0 described p/eye" {
		t.Errorf("looks %q", how)
	}
}
