package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/vision"
)

// believed makes the config say that a model sees, whatever its endpoint does.
func (w *world) believed(id string) {
	w.t.Helper()
	file := filepath.Join(w.home, "relo.json")
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	said := strings.Replace(string(text), `"`+id+`": {"vision": false`, `"`+id+`": {"vision": true`, 1)
	if said == string(text) {
		w.t.Fatalf("%s is not said to be blind in\n%s", id, text)
	}
	w.write(file, said)
}

// model asks the program what is known of one model.
func (w *world) model(ref string) protocol.ModelDoc {
	w.t.Helper()
	var doc protocol.ModelsDoc
	r := w.relo("models", "list", "--all", "--json").mustExit(w.t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		w.t.Fatal(err)
	}
	for _, m := range doc.Models {
		if m.Ref == ref {
			return m
		}
	}
	w.t.Fatalf("%s is not listed: %s", ref, r.stdout)
	return protocol.ModelDoc{}
}

// A model that the person believed to see refuses a picture: the job goes on with
// words, everybody knows it from then on, the next job is routed around it, and one
// command forgets it.
func TestARefusedPictureIsLearnedShownAndForgotten(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.models = map[string]double.Model{"small": {}, "middle": {}, "big": {}, "chief": {Sees: true}}
	l.ladder = `[{"model":"open/small","difficulty":"easy"},{"model":"open/big","difficulty":"normal"}]`
	l.review = false
	w := newWorld(t, l, &play{plan: planOf(task("one", "easy", eyes("ref/login.png")))}).smallRepo()
	w.believed("big")
	w.serve()

	first := w.relo("run", "look at it", "--repo", w.repo, "--json").events(t)
	var blinded *job.Blinded
	var ids []string
	for _, e := range first {
		switch b := e.Body.(type) {
		case *job.Blinded:
			blinded = b
		case *job.UsageBody:
			ids = append(ids, b.Request)
		case *job.Routed:
			want := "open/big"
			if blinded != nil {
				want = "anth/chief" // the task goes on at once where it is seen
			}
			if e.Model != want || b.Sight != vision.Sees || b.SightSource != vision.Configured {
				t.Errorf("routed to %s, %s by %s", e.Model, b.Sight, b.SightSource)
			}
		}
	}
	if blinded == nil || blinded.Class != "blind" || blinded.Phrase == "" {
		t.Fatalf("nothing was learned: %+v\n%s", blinded, w.logs())
	}
	if !strings.Contains(strings.Join(ids, " "), blinded.Proof) || !strings.Contains(blinded.Words, `"vision": true`) {
		t.Errorf("the proof %s is no request of the job, or the words do not name the config: %s", blinded.Proof, blinded.Words)
	}
	if m := w.model("open/big"); m.Vision != vision.Blind || m.VisionSource != vision.Refused || m.Shown || m.VisionDetail != blinded.Phrase {
		t.Errorf("relo models: %+v", m)
	}

	for _, e := range w.relo("run", "look again", "--repo", w.repo, "--json").events(t) {
		if r, ok := e.Body.(*job.Routed); ok && e.Model != "anth/chief" {
			t.Errorf("the next job's task that needs eyes went to %s: %+v", e.Model, r.Reasons)
		}
	}

	w.relo("models", "forget", "open/big").mustExit(t, 0)
	if m := w.model("open/big"); m.Vision != vision.Sees || m.VisionSource != vision.Configured || !m.Shown {
		t.Errorf("after forgetting: %+v", m)
	}
}

// The daemon reads the providers' lists by itself, and what another process finds out
// with a probe counts in it at once: the next job is routed by it.
func TestTheDaemonKnowsWhatListsAndProbesSay(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.models = map[string]double.Model{"small": {}, "middle": {}, "big": {Drops: true}, "chief": {Sees: true}, "more": {Sees: true}}
	l.ladder = `[{"model":"open/small","difficulty":"easy"},{"model":"open/big","difficulty":"normal"}]`
	l.review = false
	w := newWorld(t, l, &play{plan: planOf(task("one", "easy", eyes("ref/login.png")))}).smallRepo()
	text, err := os.ReadFile(filepath.Join(w.home, "relo.json"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.home, "relo.json"), strings.ReplaceAll(strings.ReplaceAll(string(text), `"vision": false, `, ""), `"vision": true, `, ""))
	w.serve()
	w.wait("the providers' lists were read", func() bool {
		r := w.relo("models", "list", "--all", "--json").mustExit(t, 0)
		return strings.Contains(r.stdout, `"ref":"open/more"`) && strings.Contains(r.stdout, `"ref":"anth/more"`)
	})
	if m := w.model("open/more"); m.Configured || !m.Listed {
		t.Errorf("%+v", m)
	}
	w.relo("models", "probe", "open/big", "anth/chief", "open/small").mustExit(t, 0)
	for ref, want := range map[string]vision.Sight{"open/big": vision.Blind, "anth/chief": vision.Sees, "open/small": vision.Blind} {
		if m := w.model(ref); m.Vision != want || m.VisionSource != vision.Probed || !strings.Contains(m.VisionDetail, w.url) {
			t.Errorf("%s: %+v", ref, m)
		}
	}
	for _, e := range w.relo("run", "look", "--repo", w.repo, "--json").events(t) {
		if r, ok := e.Body.(*job.Routed); ok && (e.Model != "anth/chief" || r.SightSource != vision.Probed) {
			t.Errorf("a task that needs eyes went to %s, by %s: %+v", e.Model, r.SightSource, r.Reasons)
		}
	}
}
