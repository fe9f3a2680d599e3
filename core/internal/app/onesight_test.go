package app

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/gateway"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/store"
	"github.com/relo-dev/relo/core/internal/vision"
)

// drawn is one combination of what the sources say of one model.
type drawn struct {
	API        string
	ID         string
	Configured *bool
	Probed     vision.Sight
	Reported   vision.Sight
	InList     bool
	Refused    bool
}

// combinations is how many are tried.
const combinations = 200

func drawCombinations() []drawn {
	sights := []vision.Sight{vision.Unknown, vision.Unknown, vision.Sees, vision.Blind}
	one := rapid.Custom(func(t *rapid.T) drawn {
		d := drawn{
			API: rapid.SampledFrom([]string{"openai-chat", "openrouter", "vllm", "anthropic", "deepseek", "cerebras"}).Draw(t, "api"),
			ID: rapid.SampledFrom([]string{
				"gpt-5.4-mini", "claude-haiku-4-5", "glm-4.6", "deepseek-chat", "nobody-knows-7b", "somebody/else", "house-vl-7b", "llama-2-7b-chat", "my-claude-distill",
			}).Draw(t, "id"),
			Configured: rapid.SampledFrom([]*bool{nil, nil, nil, new(true), new(false)}).Draw(t, "configured"),
			Probed:     rapid.SampledFrom(sights).Draw(t, "probed"),
			InList:     rapid.Bool().Draw(t, "listed"),
			Refused:    rapid.IntRange(0, 5).Draw(t, "refused") == 0,
		}
		if d.InList {
			d.Reported = rapid.SampledFrom(sights).Draw(t, "reported")
		}
		return d
	})
	var all []drawn
	for i := range combinations {
		all = append(all, one.Example(i))
	}
	return all
}

// takes says whether the service behind a preset takes pictures at all.
func (d drawn) takes() bool { return d.API != "deepseek" && d.API != "cerebras" }

// want is the answer by the order of the sources, worked out without the program's
// own resolving: the first that knows.
func (d drawn) want(url string) vision.Answer {
	known, _ := catalog.Find(d.API, url, d.ID)
	guess, _ := vision.Guess(d.ID)
	switch {
	case d.Refused:
		return vision.Answer{Sight: vision.Blind, Source: vision.Refused}
	case d.Configured != nil:
		return vision.Answer{Sight: vision.Of(*d.Configured), Source: vision.Configured}
	case d.Probed != vision.Unknown:
		return vision.Answer{Sight: d.Probed, Source: vision.Probed}
	case d.Reported != vision.Unknown:
		return vision.Answer{Sight: d.Reported, Source: vision.Reported}
	case known.Sight.Sight != vision.Unknown:
		return vision.Answer{Sight: known.Sight.Sight, Source: vision.Catalog}
	case guess.Sight != vision.Unknown:
		return vision.Answer{Sight: guess.Sight, Source: vision.Name}
	}
	return vision.Answer{}
}

// TestEverybodyHasTheSameAnswer runs a real job for each of the drawn combinations:
// the real orchestrator, worker, engine, gate, gateway and wire, with a model that is
// scripted. Whoever is asked has to say the same: relo models, the router, the prompt,
// the tools offered, the gate of relo_image, and what of the pictures reaches the wire.
func TestEverybodyHasTheSameAnswer(t *testing.T) {
	t.Parallel()
	all, tally := drawCombinations(), map[string]int{}
	for part := range slices.Chunk(all, 50) { // the almanac keeps the lists of 64 endpoints
		s := newSightStage(t, part)
		for i, d := range part {
			s.check(i, d, tally)
			if t.Failed() {
				t.FailNow() // one combination says it all
			}
		}
	}
	t.Logf("%d combinations: %v", len(all), tally)
	if len(tally) < 10 {
		t.Errorf("only %d kinds of answer were drawn", len(tally))
	}
}

func (s *sightStage) check(i int, d drawn, tally map[string]int) {
	s.t.Helper()
	name := fmt.Sprintf("%d: %+v", i, d)
	ref := catalog.Ref(fmt.Sprintf("p%d/%s", i, d.ID))
	want := d.want(s.cfgURL(i, d))
	eyes := want.Sight
	if eyes == vision.Unknown && !d.takes() {
		eyes = vision.Blind
	}
	tally[fmt.Sprintf("%s by %s", eyes, want.Source)]++
	s.checkDocument(name, ref, want, eyes)
	s.checkRouter(name, ref, eyes)
	s.checkJob(name, ref, want, eyes)
}

func (s *sightStage) checkDocument(name string, ref catalog.Ref, want vision.Answer, eyes vision.Sight) {
	s.t.Helper()
	doc := s.book().documents(protocol.ModelsRequest{Refs: []string{string(ref)}})
	if len(doc.Models) != 1 {
		s.t.Fatalf("%s: relo models lists %d of it", name, len(doc.Models))
	}
	m := doc.Models[0]
	if m.Vision != want.Sight || m.VisionSource != want.Source || m.Shown != (eyes != vision.Blind) {
		s.t.Errorf("%s: relo models says %s by %q, shown %v; want %s by %q", name, m.Vision, m.VisionSource, m.Shown, want.Sight, want.Source)
	}
}

func (s *sightStage) checkRouter(name string, ref catalog.Ref, eyes vision.Sight) {
	s.t.Helper()
	subject, _ := s.book().Model(ref)
	other, _ := s.book().Model("eyes/m")
	ladder := routing.Ladder{{Models: []catalog.Model{subject}, Difficulty: job.Easy}, {Models: []catalog.Model{other}, Difficulty: job.Hard}}
	got := ladder.Pick(job.Easy, routing.Need{Vision: true, Tools: true})
	if wish := map[bool]catalog.Ref{true: ref, false: "eyes/m"}[eyes == vision.Sees]; got.Model.Ref != wish {
		s.t.Errorf("%s: the router gives a task that needs eyes to %s (%s)", name, got.Model.Ref, got.Words())
	}
}

// checkJob runs a job on the model and looks at what the provider got.
func (s *sightStage) checkJob(name string, ref catalog.Ref, want vision.Answer, eyes vision.Sight) {
	s.t.Helper()
	routed := s.run(ref)
	if routed.Sight != want.Sight || routed.SightSource != want.Source {
		s.t.Errorf("%s: task.routed says %s by %q, want %s by %q", name, routed.Sight, routed.SightSource, want.Sight, want.Source)
	}
	turns := s.took()
	if len(turns) != 2 {
		s.t.Fatalf("%s: %d requests of the worker, want 2", name, len(turns))
	}
	first, second := turns[0], turns[1]
	told := vision.Sees
	switch {
	case strings.Contains(first.System, "cannot see images"):
		told = vision.Blind
	case strings.Contains(first.System, "does not know whether this model reads images"):
		told = vision.Unknown
	}
	if told != eyes {
		s.t.Errorf("%s: the prompt says %s, want %s", name, told, eyes)
	}
	shown := eyes != vision.Blind
	if got := slices.Contains(first.Tools, "relo_image"); got != shown {
		s.t.Errorf("%s: relo_image offered: %v, want %v", name, got, shown)
	}
	if got := len(first.Pictures); (got == 1) != shown || got > 1 {
		s.t.Errorf("%s: %d pictures of the task reached the wire, want them: %v", name, got, shown)
	}
	if got := len(second.Pictures); (got == 2) != shown || got == 1 {
		s.t.Errorf("%s: after relo_image %d pictures are on the wire, want them: %v", name, got, shown)
	}
	refused := false
	for _, e := range second.Entries {
		refused = refused || e.Role == "tool" && e.IsError
	}
	if refused == shown {
		s.t.Errorf("%s: the gate refused: %v, want %v", name, refused, !shown)
	}
}

// sightStage is a record, a conductor and a worker in one process, over the settings
// of a real config file.
type sightStage struct {
	*settings
	t    *testing.T
	all  []drawn
	url  string
	home string
	orch *orchestrator.Orchestrator
	box  chan []byte

	mu    sync.Mutex
	turns []double.Turn
}

func newSightStage(t *testing.T, all []drawn) *sightStage {
	t.Helper()
	s := &sightStage{t: t, all: all, home: t.TempDir(), box: make(chan []byte, 8)}
	models := map[string]double.Model{"m": {Sees: true}}
	for _, d := range all {
		models[d.ID] = double.Model{Sees: true} // the provider takes every picture: what arrives is Relo's choice
	}
	dbl := double.New(double.Options{Models: models, Play: s.play})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/") // each provider has a path of its own
		r.URL.Path = "/" + rest
		dbl.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	e := Env{Getenv: func(n string) string { return map[string]string{"RELO_HOME": s.home, "HOME": s.home}[n] }}
	s.settings = newSettings(e, zerolog.Nop())
	if err := os.WriteFile(filepath.Join(s.home, "relo.json"), []byte(s.config()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.know()
	s.start()
	return s
}

// cfgURL is the base URL of a combination's provider.
func (s *sightStage) cfgURL(i int, d drawn) string {
	if d.API == "anthropic" {
		return fmt.Sprintf("%s/p%d", s.url, i)
	}
	return fmt.Sprintf("%s/p%d/v1", s.url, i)
}

func (s *sightStage) config() string {
	rows := []string{fmt.Sprintf(`"eyes": {"api": "openai-chat", "url": "%s/eyes/v1", "models": {"m": {"vision": true}}}`, s.url)}
	for i, d := range s.all {
		facts := `"context": 100000`
		if d.Configured != nil {
			facts += fmt.Sprintf(`, "vision": %t`, *d.Configured)
		}
		rows = append(rows, fmt.Sprintf(`"p%d": {"api": %q, "url": %q, "models": {%q: {%s}}}`, i, d.API, s.cfgURL(i, d), d.ID, facts))
	}
	return `{"providers": {` + strings.Join(rows, ",\n") + `}, "ladder": [{"model": "eyes/m"}], "primary": "eyes/m", "review": {"auto": false},
	  "budget": {"perJob": null}, "limits": {"attempts": 1}, "pictures": {"settleDoubt": false}}` // nothing is to be found out about the drawn ones
}

// know puts into the almanac and among the refusals what was drawn.
func (s *sightStage) know() {
	s.t.Helper()
	cfg, _, err := s.of("")
	if err != nil {
		s.t.Fatal(err)
	}
	for i, d := range s.all {
		at := endpointOf(cfg.Providers[fmt.Sprintf("p%d", i)])
		if d.InList {
			err = s.known.almanac.Keep(discovery.Report{Endpoint: at, At: time.Now(), Models: []provider.Listed{{ID: d.ID, Sight: d.Reported}}})
		}
		if err == nil && d.Probed != vision.Unknown {
			err = s.known.almanac.KeepProbe(catalog.Probe{Endpoint: at, ID: d.ID, Sight: d.Probed, At: time.Now()})
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if d.Refused {
			s.known.refusals.learn(spot{at, d.ID}, "no images here")
		}
	}
}

func (s *sightStage) book() *book {
	s.t.Helper()
	_, b, err := s.of("")
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// play is every model: the Primary plans one task that needs eyes, a worker asks for a
// picture whatever it was told, and reports its end.
func (s *sightStage) play(_ context.Context, t double.Turn) double.Reply {
	if t.Role == "primary" {
		return double.Reply{Calls: []double.Call{{Name: "submit_plan", Args: map[string]any{"summary": "one", "tasks": []any{
			map[string]any{"id": "a", "title": "A", "instructions": "Look.", "difficulty": "easy", "vision": true, "images": []string{"mock.png"}},
		}}}}}
	}
	if t.Role == "" { // one that looks for a worker that cannot see
		return double.Reply{Text: "a picture"}
	}
	s.mu.Lock()
	s.turns = append(s.turns, t)
	n := len(s.turns)
	s.mu.Unlock()
	if n == 1 {
		return double.Reply{Calls: []double.Call{{Name: "relo_image", Args: map[string]any{"paths": []string{"shot.png"}}}}}
	}
	return double.Reply{Calls: []double.Call{{Name: "finish_task", Args: map[string]any{"outcome": "blocked", "summary": "looked"}}}}
}

func (s *sightStage) took() []double.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns := s.turns
	s.turns = nil
	return turns
}

func (s *sightStage) start() {
	s.t.Helper()
	record, err := store.Open(s.t.Context(), filepath.Join(s.home, "record"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = record.Close() })
	cash := &money{Store: record}
	s.orch = orchestrator.New(orchestrator.Options{Lease: time.Minute, Subject: func(string) string { return "" }}, orchestrator.Parts{
		Journal: record, Outbox: record, Album: record, Lanes: sightLanes{s.box}, Repos: sightRepo{}, Rules: s.rules, Log: zerolog.Nop(),
		Models: gateway.New(gateway.Parts{Book: s.shelf, Money: cash, Album: record, Darkroom: new(Darkroom), Log: zerolog.Nop(), Now: time.Now}), Prepare: new(Darkroom).attachment,
	})
	cash.orch = s.orch
	if err := s.orch.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.orch.Stop)
	w := orchestrator.NewWorker(orchestrator.WorkerOptions{ID: "w", Dir: filepath.Join(s.home, "work"), Slots: 1}, orchestrator.WorkerParts{
		Home: s.orch, Phone: sightPhone{s.orch, record}, Mailbox: sightMailbox{s.box}, Trees: sightTrees{}, Shop: shop{}, Pictures: new(Darkroom).open,
		Engines: engines(), Log: zerolog.Nop(),
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	var work sync.WaitGroup
	work.Go(func() { _ = w.Run(ctx) })
	s.t.Cleanup(func() { cancel(); work.Wait() })
}

// run hands a job in and gives what the router said once it has ended.
func (s *sightStage) run(ref catalog.Ref) job.Routed {
	s.t.Helper()
	got, err := s.orch.Submit(s.t.Context(), protocol.Submit{Text: "look", Repo: s.home, Model: string(ref), AllowUnknown: true})
	if err != nil {
		s.t.Fatal(err)
	}
	var routed job.Routed
	for after := int64(0); ; {
		events, err := s.orch.Journal.Events(s.t.Context(), got.Job, after, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			after = e.Seq
			if r, ok := e.Body.(*job.Routed); ok {
				routed = *r
			}
			if e.Kind == job.KindFinished {
				return routed
			}
		}
		select {
		case <-s.t.Context().Done():
			s.t.Fatal("the job did not end")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// sightLanes hand orders for the worker on.
type sightLanes struct{ box chan []byte }

func (l sightLanes) Send(_ context.Context, _, _ string, data []byte) error {
	l.box <- data
	return nil
}
func (sightLanes) Tell(string, string, []byte) error            { return nil }
func (sightLanes) Order(string, []byte) error                   { return nil }
func (sightLanes) PrepareMailbox(context.Context, string) error { return nil }

type sightMailbox struct{ box chan []byte }

func (m sightMailbox) Tasks(ctx context.Context, _ string, f func(data []byte) bool) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case data := <-m.box:
			f(data)
		}
	}
}

func (sightMailbox) Orders(string, func([]byte)) (func(), error) { return func() {}, nil }

type sightPhone struct {
	*orchestrator.Orchestrator
	record *store.Store
}

func (p sightPhone) PutBlob(_ context.Context, data []byte) (string, error) {
	return p.record.PutBlob(data)
}

func (p sightPhone) Blob(_ context.Context, sha string) ([]byte, error) { return p.record.Blob(sha) }

// sightRepo is a folder whose work nobody keeps.
type sightRepo struct{ orchestrator.Repo }

func (r sightRepo) Open(context.Context, string) (orchestrator.Repo, error) { return r, nil }
func (sightRepo) Snapshot(context.Context, string) (orchestrator.Base, error) {
	return orchestrator.Base{Root: "/", Commit: "base", Head: "head"}, nil
}

func (sightRepo) Look(context.Context, string) (orchestrator.View, error) {
	return orchestrator.View{Exists: func(string) bool { return true }}, nil
}

// sightTrees make folders with two pictures in them.
type sightTrees struct{}

func (sightTrees) Add(_ context.Context, _, path, _ string) error {
	err := os.MkdirAll(path, 0o700)
	for i, name := range []string{"mock.png", "shot.png"} {
		var b bytes.Buffer
		if err == nil {
			err = png.Encode(&b, image.NewGray(image.Rect(0, 0, 40+i, 40)))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(path, name), b.Bytes(), 0o600)
		}
	}
	return err
}

func (x sightTrees) AddAt(ctx context.Context, repo, path, base, _ string) error {
	return x.Add(ctx, repo, path, base)
}
func (sightTrees) Remove(_ context.Context, _, path string) error { return os.RemoveAll(path) }
func (sightTrees) Commit(context.Context, string, string, orchestrator.CommitSpec) (orchestrator.Committed, error) {
	return orchestrator.Committed{Commit: "base", Parent: "base"}, nil
}

func (sightTrees) Sources(context.Context, string, string) (string, map[string]string, error) {
	return "tree", map[string]string{"mock.png": "1", "shot.png": "2"}, nil
}
func (sightTrees) Tracked(context.Context, string, string, string) bool { return true }
