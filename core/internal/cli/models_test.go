package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/vision"
)

func readOn() *time.Time { return new(time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)) }

// sighted is an API with models of every kind of answer.
func sighted() *line {
	all := []protocol.ModelDoc{
		{
			Ref: "far/seer", Provider: "far", ID: "seer", Vision: vision.Blind, VisionSource: vision.Refused, VisionDetail: "no images here", Chat: true, Tools: true, Configured: true, Rungs: []int{1, 3}, ListRead: readOn(),
			VisionSays: []protocol.SightDoc{{Source: vision.Refused, Vision: vision.Blind, Detail: "no images here"}, {Source: vision.Configured, Vision: vision.Sees}, {Source: vision.Name, Vision: vision.Unknown}},
		},
		{Ref: "far/dark", Provider: "far", ID: "dark", Chat: true, Tools: true, Configured: true, Shown: true},
		{Ref: "far/embed", Provider: "far", ID: "embed", Listed: true, ListRead: readOn()},
		{Ref: "near/eyes", Provider: "near", ID: "eyes", Vision: vision.Sees, VisionSource: vision.Reported, VisionDetail: "type, 2026-12-01", Chat: true, Tools: true, Listed: true, Shown: true, ListRead: readOn()},
	}
	return newLine().on("models.list", func(body []byte) (any, error) {
		var r protocol.ModelsRequest
		if err := json.Unmarshal(body, &r); err != nil {
			return nil, err
		}
		doc := protocol.ModelsDoc{Models: []protocol.ModelDoc{}}
		for _, m := range all {
			named := len(r.Refs) == 0
			for _, ref := range r.Refs {
				named = named || ref == m.Ref
			}
			if named && (r.All || m.Configured || len(r.Refs) > 0) {
				doc.Models = append(doc.Models, m)
			}
		}
		return doc, nil
	}).on("models.forget", gives(protocol.ForgottenDoc{Forgotten: []protocol.ForgottenModel{
		{Ref: "far/seer", Was: protocol.SightDoc{Source: vision.Refused, Vision: vision.Blind}, Vision: protocol.SightDoc{Source: vision.Configured, Vision: vision.Sees}},
	}}))
}

func TestModelsAreListedAsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   string
		has    []string
		hasNot []string
		note   string
	}{
		{"models", []string{"far/seer  text only", "learned from a refusal (no images here)", "1,3", "not in the provider's list of 2026-12-01", "far/dark"}, []string{"near/eyes"}, ""},
		{"models list --all", []string{"near/eyes", "reported by the endpoint (type, 2026-12-01)", "answers nobody"}, nil, ""},
		{"models --all --sees", []string{"near/eyes"}, []string{"far/"}, "3 models more are not like that"},
		{"models --unknown", []string{"far/dark"}, []string{"far/seer"}, "1 model more is not like that"},
		{"models --provider near", nil, []string{"far/"}, "none of 2 models is like that"},
		{"models list --all --provider near", []string{"near/eyes"}, []string{"far/"}, ""},
	} {
		exit, out, note := (&scene{line: sighted()}).run(t.Context(), strings.Fields(c.args)...)
		exits(t, exit, 0, note)
		has(t, out, c.has...)
		has(t, note, c.note)
		for _, not := range c.hasNot {
			if strings.Contains(out, not) {
				t.Errorf("%s shows %s:\n%s", c.args, not, out)
			}
		}
	}
	exit, _, note := (&scene{line: sighted()}).run(t.Context(), "models", "--sees", "--blind")
	exits(t, exit, exitUsage, note)
	has(t, note, "--blind and --sees exclude each other")
}

func TestWhyAnAnswerIsWhatItIs(t *testing.T) {
	t.Parallel()
	exit, out, note := (&scene{line: sighted()}).run(t.Context(), "models", "why", "far/seer", "far/dark")
	exits(t, exit, 0, note)
	has(t, out, "far/seer: text only, learned from a refusal\n", "  counts  learned from a refusal    text only     no images here\n", "set by you                images\n",
		"so it gets words instead of pictures", "it is on rung 1 and 3 of the ladder", "relo models forget far/seer forgets the refusal", "relo models probe far/seer shows it a tiny picture",
		"far/dark: images unknown", "nobody knows, so pictures are sent to it", "its provider's list was never read")
	exit, out, note = (&scene{line: sighted()}).run(t.Context(), "models", "why", "far/seer", "--json")
	exits(t, exit, 0, note)
	if !json.Valid([]byte(out)) || strings.Count(out, "\n") != 1 {
		t.Errorf("%q", out)
	}
	exit, _, note = (&scene{line: sighted()}).run(t.Context(), "models", "why", "far/seeer")
	exits(t, exit, exitUsage, note)
	has(t, note, "far/seer")
	exit, _, note = (&scene{line: sighted()}).run(t.Context(), "models", "why")
	exits(t, exit, exitUsage, note)
}

func TestTenThousandIDsAreGuessedAsTheyCome(t *testing.T) {
	t.Parallel()
	exit, out, note := (&scene{stdin: strings.Repeat("gpt-4o\nnobody-knows-7b\n", 5000)}).run(t.Context(), "models", "guess", "--json")
	exits(t, exit, 0, note)
	var doc struct{ Models []struct{ Vision string } }
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Models) != 10_000 || doc.Models[0].Vision != "yes" {
		t.Errorf("%d models, %v", len(doc.Models), err)
	}
}

// provider is a real one, played: it sees, is blind, and has a list.
func played(t *testing.T, home string) {
	t.Helper()
	dbl := double.New(double.Options{
		Models: map[string]double.Model{"eyes": {Sees: true}, "text": {}, "lost": {Drops: true}},
		Play: func(_ context.Context, turn double.Turn) double.Reply {
			if len(turn.Pictures) == 0 {
				return double.Reply{Text: "mauve"}
			}
			word, _ := probe.Decode(turn.Pictures[0].Bytes)
			return double.Reply{Text: word}
		},
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `{"data":[{"id":"eyes"},{"id":"text","supports_vision":false},{"id":"more","supports_vision":true}]}`)
			return
		}
		dbl.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	text := fmt.Sprintf(`{"providers": {"here": {"api": "openai-chat", "url": "%s/v1"}, "gone": {"api": "openai-chat", "url": "http://127.0.0.1:1/v1"}},
		"ladder": [{"model": "here/eyes"}, {"model": "here/text"}], "primary": "here/eyes"}`, srv.URL)
	if err := os.WriteFile(filepath.Join(home, "relo.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestProbesAndListsOverTheRealWire(t *testing.T) {
	t.Parallel()
	m := machine(t, "", nil)
	played(t, m.env["RELO_HOME"])
	for _, c := range []struct {
		args string
		exit int
		out  []string
		err  string
	}{
		{"models probe --ladder", 0, []string{"here/eyes: images; it named the colour", "here/text: text only; the picture was refused:"}, ""},
		{"models probe here/lost", 0, []string{"here/lost: text only; the picture was lost on the way: ", "leaves pictures out"}, ""},
		{"models probe gone/x", 1, []string{"gone/x: no answer; "}, ""},
		{"models probe", 2, nil, "REF is missing"},
		{"providers discover here", 0, []string{"here: ok    3 models, 2 with images, 1 text only"}, ""},
		{"providers discover here gone", 1, []string{"gone: fail"}, ""},
		{"models probe here/eye", 2, nil, "did you mean here/eyes"},
		{"models refresh --catalog=false", 1, []string{"here: ok", "gone: fail"}, ""},
		{"providers discover nobody", 2, nil, "nobody"},
		{"models forget", 0, nil, "there is nothing to forget"},
	} {
		exit, out, note := m.real(t.Context(), strings.Fields(c.args)...)
		exits(t, exit, c.exit, c.args+": "+out+note)
		has(t, out, c.out...)
		has(t, note, c.err)
	}
	for args, exit := range map[string]int{
		"models probe here/eyes here/text --json": 0, "providers discover here --json": 0, "models refresh --catalog=false --json": 1, "models forget --json": 0,
	} {
		got, out, note := m.real(t.Context(), strings.Fields(args)...)
		exits(t, got, exit, note)
		if !json.Valid([]byte(out)) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s prints %q", args, out)
		}
	}
}

func TestForgettingGoesToTheDaemonThatLearned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, out, note string
		daemon          bool
		exit            int
		asks            string
	}{
		{"models forget", "far/seer: its refusal is forgotten; now images, set by you\n", "", true, 0, "models.forget"},
		{"models forget far/seer far/dark", "far/seer: its refusal is forgotten", "far/dark refused no picture since the daemon started", true, 0, "models.list models.forget"},
		{"models forget far/seeer", "", "did you mean far/seer", true, exitUsage, "models.list models.list"},
		{"models forget", "", "no daemon is running, so there is nothing to forget", false, 0, ""},
	} {
		s := &scene{line: sighted(), daemon: c.daemon}
		exit, out, note := s.run(t.Context(), strings.Fields(c.args)...)
		exits(t, exit, c.exit, note)
		has(t, out, c.out)
		has(t, note, c.note)
		if got := s.line.asked(); got != c.asks {
			t.Errorf("%s asks %q", c.args, got)
		}
	}
	s := &scene{line: newLine().on("models.forget", gives(protocol.ForgottenDoc{})), daemon: true}
	exit, out, note := s.run(t.Context(), "models", "forget", "--json")
	exits(t, exit, 0, note)
	has(t, note, "no model refused a picture since the daemon started")
	if out != "{\"forgotten\":[]}\n" {
		t.Errorf("%q", out)
	}
}

func TestAModelThatSawIsNoLongerTakenForBlindByTheDaemon(t *testing.T) {
	t.Parallel()
	m := machine(t, "", nil)
	played(t, m.env["RELO_HOME"])
	m.daemon, m.terminal = true, true
	m.line = newLine().on("models.forget", func(body []byte) (any, error) {
		if string(body) != `{"refs":["here/eyes"]}` {
			t.Errorf("forgets %s", body)
		}
		return protocol.ForgottenDoc{Forgotten: []protocol.ForgottenModel{{Ref: "here/eyes"}}}, nil
	})
	exit, _, note := m.real(t.Context(), "models", "probe", "here/eyes", "here/text")
	exits(t, exit, 0, note)
	has(t, note, "here/eyes had refused a picture since the daemon started; that is forgotten", "showing 2 models tiny pictures …")
	m.line = newLine() // which knows no models.forget
	exit, _, note = m.real(t.Context(), "models", "probe", "here/text")
	exits(t, exit, 0, note)
	if asked := m.line.asked(); asked != "" {
		t.Errorf("of a model that does not see %s is asked", asked)
	}
}

func TestModelsAndProvidersComplete(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"models why ":      {"near/eyes\timages", "far/dark\timages unknown"},
		"models probe ":    {"near/eyes\timages"},
		"models forget x ": {"far/seer\ttext only"},
	} {
		exit, out, note := (&scene{line: sighted()}).run(t.Context(), append([]string{"__complete"}, strings.Split(args, " ")...)...)
		exits(t, exit, 0, note)
		has(t, out, want...)
		if strings.Contains(out, "far/embed") {
			t.Errorf("%s offers a model that answers nobody:\n%s", args, out)
		}
	}
	for _, args := range []string{"providers test ", "providers discover here ", "providers remove ", "models --provider "} {
		m := machine(t, `{"providers": {"here": {"api": "ollama"}}}`, nil)
		exit, out, note := m.real(t.Context(), append([]string{"__complete"}, strings.Split(args, " ")...)...)
		exits(t, exit, 0, note)
		has(t, out, "here\tollama")
	}
}

func TestIDsThatBreakOffEndTheirDocument(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxID+1)
	for stdin, want := range map[string]int{long: 0, strings.Repeat("gpt-4o\n", guessBlock) + long: guessBlock} {
		exit, out, note := (&scene{stdin: stdin}).run(t.Context(), "models", "guess", "--json")
		exits(t, exit, exitUsage, note)
		var doc struct {
			Models []guessDoc
			Error  struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Models) != want || doc.Error.Code != protocol.CodeUsage {
			t.Errorf("%d models, error %+v, %v", len(doc.Models), doc.Error, err)
		}
	}
}
