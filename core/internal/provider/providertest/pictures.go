package providertest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/secret"
)

// look sends the request and checks that its receipts are what the provider got:
// every picture, with its hash, at its place, and nothing else.
func look(t *testing.T, w Wire, r provider.Request, want ...provider.Picture) double.Turn {
	t.Helper()
	var turn double.Turn
	s := open(t, w, double.Options{Play: func(_ context.Context, got double.Turn) double.Reply {
		turn = got
		return double.Reply{Text: "seen"}
	}}, patient)
	resp, err := s.client.Stream(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	type claim struct{ SHA256, Place, MediaType, Path string }
	var claimed, got, due []claim
	for _, c := range resp.Receipts {
		claimed = append(claimed, claim{c.SHA256, c.Place, c.MediaType, c.View.Path})
		if c.Bytes == 0 || c.Size.Width == 0 || c.Size.Height == 0 {
			t.Errorf("a receipt without sizes: %+v", c)
		}
	}
	for i, p := range turn.Pictures {
		path := ""
		if i < len(want) {
			path = want[i].View.Path
			due = append(due, claim{want[i].SHA256, p.Place, want[i].MediaType, path})
		}
		got = append(got, claim{p.SHA256, p.Place, p.MediaType, path})
	}
	if len(turn.Pictures) != len(want) {
		t.Fatalf("%d pictures arrived, %d were sent", len(turn.Pictures), len(want))
	}
	if diff := gocmp.Diff(due, got); diff != "" {
		t.Errorf("other pictures arrived than were sent:\n%s", diff)
	}
	if diff := gocmp.Diff(got, claimed); diff != "" {
		t.Errorf("the receipts are not what arrived:\n%s", diff)
	}
	recorded := s.double.Requests()
	if n := len(recorded); n != 1 || !recorded[0].Answered {
		t.Errorf("%d requests were recorded", n)
	}
	return turn
}

// insidePlace is after the text of the first result, whatever a wire calls a result.
var insidePlace = regexp.MustCompile(`\]\.content\[0\]\.(\w+\.)?content\[1\]$|^input\[\d+\]\.output\[1\]$|\.functionResponse\.parts\[0\]$`)

func personPicture(t *testing.T, w Wire) {
	p := draw(t, "shots/menu.png", 1)
	turn := look(t, w, ask(sees, user(provider.Text("before"), provider.Show(p), provider.Text("after"))), p)
	last := turn.Entries[len(turn.Entries)-1]
	if last.Role != "user" || len(last.Pictures) != 1 || last.Text != "before\nafter" {
		t.Errorf("the picture is not in the person's message: %+v", last)
	}
}

func parallelPictures(t *testing.T, w Wire) {
	a, b, c := draw(t, "shots/a.png", 1), draw(t, "shots/b.png", 2), draw(t, "shots/c.png", 3)
	r := ask(sees,
		user(provider.Text("Compare them.")),
		assistant(provider.Text("I look."), call("one", "relo_image", `{"path":"a"}`), call("two", "read", `{}`), call("three", "relo_image", `{}`)),
		results(
			provider.Result{ID: "one", Name: "relo_image", Text: "two pictures", Pictures: []provider.Picture{a, b}},
			provider.Result{ID: "two", Name: "read", Text: "words"},
		),
		results(provider.Result{ID: "three", Name: "relo_image", Pictures: []provider.Picture{c}}),
	)
	usual := provider.PlaceAfter
	if w.Inside {
		usual = provider.PlaceInside
	}
	var told []provider.Placement
	if p, ok := w.New("http://127.0.0.1:1", secret.New(key), patient).(provider.Placer); ok {
		told = p.Placements(sees)
	}
	if len(told) > 0 {
		usual = told[0]
	}
	if (usual == provider.PlaceInside) != w.Inside {
		t.Errorf("the usual place is told to be %q", usual)
	}
	for _, place := range append([]provider.Placement{""}, told...) {
		t.Run("place "+string(place), func(t *testing.T) {
			r := r
			r.Placement = place
			placed(t, w, look(t, w, r, a, b, c), cmp.Or(place, usual))
		})
	}
}

// placed checks that the three pictures are where they are due.
func placed(t *testing.T, w Wire, turn double.Turn, place provider.Placement) {
	t.Helper()
	var tools []double.Entry
	for _, e := range turn.Entries {
		if e.Role == "tool" {
			tools = append(tools, e)
		}
	}
	if len(tools) != 3 || tools[0].ResultOf != "relo_image" || tools[1].ResultOf != "read" || tools[1].Text != "words" {
		t.Fatalf("the results are not in order: %+v", tools)
	}
	if place == provider.PlaceInside {
		if len(tools[0].Pictures) != 2 || len(tools[1].Pictures) != 0 || len(tools[2].Pictures) != 1 {
			t.Errorf("the pictures are not inside their results: %+v", turn.Entries)
		}
		if !insidePlace.MatchString(turn.Pictures[0].Place) {
			t.Errorf("the first picture is not after its result's text: %s", turn.Pictures[0].Place)
		}
		return
	}
	last := turn.Entries[len(turn.Entries)-1]
	if last.Role != "user" || len(last.Pictures) != 3 {
		t.Fatalf("the pictures are not in one message after the results: %+v", last)
	}
	for _, words := range []string{"relo_image", "shots/a.png", "shots/b.png", "shots/c.png", "tool output"} {
		if !strings.Contains(last.Text, words) {
			t.Errorf("the words of the pictures lack %q: %q", words, last.Text)
		}
	}
	before := turn.Entries[len(turn.Entries)-2]
	if (place == provider.PlaceBridged) != (before.Role == "assistant" && strings.TrimSpace(before.Text) == "") {
		t.Errorf("before the pictures is %+v", before)
	}
}

func manyTurns(t *testing.T, w Wire) {
	first := draw(t, "reference.png", 9)
	messages := []provider.Message{user(provider.Text("Make it so."), provider.Show(first))}
	want := []provider.Picture{first}
	for i := range 3 {
		p := draw(t, fmt.Sprintf("shot-%d.png", i), uint8(i+1))
		id := fmt.Sprintf("call-%d", i)
		messages = append(messages,
			assistant(call(id, "relo_image", `{}`)),
			results(provider.Result{ID: id, Name: "relo_image", Text: "here", Pictures: []provider.Picture{p}}))
		want = append(want, p)
	}
	messages = append(messages, user(provider.Text("And now?"), provider.Show(first)))
	look(t, w, ask(sees, messages...), append(want, first)...)
}

func blindRefusal(t *testing.T, w Wire) {
	s := open(t, w, double.Options{}, patient)
	r := ask(blind, user(provider.Text("What is it?"), provider.Show(draw(t, "a.png", 1))))
	resp, err := s.client.Stream(t.Context(), r, nil)
	status, kind := w.BlindStatus, provider.KindBusy // of a 500; what it means is told by its words
	if status == 0 {
		status, kind = 400, provider.KindRefused
	}
	e := fails(t, err, kind)
	if e.Status != status || !e.Sent || !strings.Contains(e.Body, e.Words) || !strings.Contains(strings.ToLower(e.Words), "image") {
		t.Errorf("status %d, sent %v, words %q, body %q", e.Status, e.Sent, e.Words, e.Body)
	}
	if len(resp.Receipts) != 0 {
		t.Errorf("a refused request gave receipts: %v", resp.Receipts)
	}
	r.Messages = []provider.Message{user(provider.Text("What is it?"))}
	if _, err := s.client.Stream(t.Context(), r, nil); err != nil {
		t.Errorf("the same without the picture: %v", err)
	}
}

func silentDrop(t *testing.T, w Wire) {
	s := open(t, w, double.Options{}, patient)
	r := ask(drops, user(provider.Text("What is it?"), provider.Show(draw(t, "a.png", 1))))
	resp, err := s.client.Stream(t.Context(), r, nil)
	if err != nil || len(resp.Receipts) != 1 {
		t.Errorf("want an answer and the receipt of what was sent, got %v, %v", resp.Receipts, err)
	}
}

func falsePicture(t *testing.T, w Wire) {
	s := open(t, w, double.Options{}, patient)
	changed := draw(t, "a.png", 1)
	changed.Bytes = append([]byte{}, changed.Bytes...)
	changed.Bytes[len(changed.Bytes)-1]++
	empty := draw(t, "b.png", 1)
	empty.Bytes = nil
	for _, p := range []provider.Picture{changed, empty} {
		_, err := s.client.Stream(t.Context(), ask(sees, user(provider.Show(p))), nil)
		if e := fails(t, err, provider.KindRefused); e.Sent || e.Status != 0 {
			t.Errorf("it was sent: %#v", e)
		}
	}
	if n := len(s.double.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
