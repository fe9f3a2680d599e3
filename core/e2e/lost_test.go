package e2e

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// paintsPage is an honest visual task on a picture that costs some hundred tokens.
func paintsPage() *play {
	return &play{
		plan: planOf(task("page", "easy", eyes("ref/page.png"))),
		workers: map[string]act{"Do page": steps(
			look("ref/page.png"), shell("mkdir -p out && echo changed >> ui.css && cp ref/page.png out/page.png && printf x >> out/page.png"),
			look("out/page.png"), done("it matches"))},
	}
}

// lossy is a repository with that picture, and a config whose open/small and further
// models are what the test says.
func lossy(t *testing.T, models map[string]double.Model, rows, ladder string) *world {
	t.Helper()
	l := mixed()
	l.review = false
	maps.Copy(l.models, models)
	l.ladder = ladder
	w := newWorld(t, l, paintsPage()).smallRepo()
	w.write(filepath.Join(w.repo, "ref", "page.png"), string(drawing(t, 900, 600)))
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "a page")
	w.edit(`"small": {"vision": false,`, rows+`"small": {"vision": false,`)
	return w
}

// tiny counts the requests that showed a model a picture of a probe.
func (w *world) tiny(model string) (n int) {
	for _, r := range w.dbl.Requests() {
		if r.Model == model && len(r.Pictures) == 1 && r.Pictures[0].Width == 64 {
			n++
		}
	}
	return n
}

// Some proxies answer and drop the picture. Whether their count of tokens shows it or not,
// the model is found out once, and the task goes to one that sees.
func TestPicturesThatAreDroppedSilently(t *testing.T) {
	t.Parallel()
	const priced = `"context": 200000, "price": {"input": 1, "output": 2}}, `
	for _, c := range []struct {
		name, id, row string
		model         double.Model
		tiny          int // pictures of probes: two are enough to see that it does not see
		lost          bool
	}{
		{"set to see, the count is honest", "lossy", `"lossy": {"vision": true, ` + priced, double.Model{Drops: true}, 2, true},
		{"known by its name, the count lies", "acme-vl-9b", `"acme-vl-9b": {` + priced, double.Model{Drops: true, Lies: true}, 2, true},
		{"nobody knows it, the count lies", "dark-horse", `"dark-horse": {` + priced, double.Model{Drops: true, Lies: true}, 0, false},
		{"set to see, and it sees", "fine", `"fine": {"vision": true, ` + priced, double.Model{Sees: true}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := lossy(t, map[string]double.Model{c.id: c.model}, c.row, `[{"model":"open/`+c.id+`","difficulty":"easy"},{"model":"open/big","difficulty":"hard"}]`)
			r := w.relo("run", "page", "--repo", w.repo, "--standalone", "--json").mustExit(t, 0)
			doc := w.show(r.events(t)[0].Job)
			attempts := doc.Tasks[0].Attempts
			last := attempts[len(attempts)-1]
			var learned []string
			for _, e := range r.events(t) {
				if b, ok := e.Body.(*job.Blinded); ok {
					learned = append(learned, e.Model+": "+b.Phrase)
				}
			}
			tiny := w.tiny(c.id)
			if c.lost && tiny == 4 { // what it guessed was right once, by chance: it was asked again
				tiny = 2
			}
			if (len(learned) == 1) != c.lost || tiny != c.tiny {
				t.Errorf("learned %q with %d tiny pictures", learned, w.tiny(c.id))
			}
			want := "open/" + c.id
			if c.lost || c.id == "dark-horse" { // a router gives a visual task to nobody of whom it does not know
				want = "open/big"
			}
			if last.Model != want || last.Result.Visual != job.VisualChecked || last.Result.Outcome != job.Done {
				t.Errorf("the task was done by %s: %s", last.Model, asJSON(last.Result))
			}
			for _, l := range attempts[0].Looks {
				if c.lost && l.How == job.HowPixels {
					t.Errorf("a look that never was: %s", asJSON(l))
				}
			}
			if c.lost && len(attempts) != 2 {
				t.Errorf("%d attempts: %s", len(attempts), asJSON(attempts))
			}
		})
	}
}

// When nobody else sees, the work is done in words, and a person is asked to look.
func TestWhenEveryModelDropsPicturesAPersonIsAskedToLook(t *testing.T) {
	t.Parallel()
	all := map[string]double.Model{"lossy": {Drops: true}, "big": {Drops: true}, "chief": {Drops: true}}
	w := lossy(t, all, `"lossy": {"vision": true, "context": 200000, "price": {"input": 1, "output": 2}}, `, `[{"model":"open/lossy","difficulty":"easy"}]`)
	w.edit(`"chief": {"vision": false`, `"chief": {"vision": true`)
	w.edit(`"primary": "anth/chief"`, `"primary": "open/lossy"`)
	r := w.relo("run", "page", "--repo", w.repo, "--standalone", "--json").mustExit(t, 7)
	doc := w.show(r.events(t)[0].Job)
	if doc.Status != job.Ready || len(doc.NeedsEyes) != 1 {
		t.Errorf("the job is %s and needs eyes for %v", doc.Status, doc.NeedsEyes)
	}
}

// A model that sees is shown a tiny picture once, however many jobs it does.
func TestAModelThatSeesIsDoubtedOnce(t *testing.T) {
	t.Parallel()
	w := lossy(t, map[string]double.Model{"acme-vl-9b": {Sees: true}}, `"acme-vl-9b": {"context": 200000, "price": {"input": 1, "output": 2}}, `, `[{"model":"open/acme-vl-9b","difficulty":"easy"}]`)
	for range 3 {
		w.relo("run", "page", "--repo", w.repo, "--standalone", "--json").mustExit(t, 0)
	}
	if n := w.tiny("acme-vl-9b"); n != 2 { // a colour and a digit
		t.Errorf("%d tiny pictures", n)
	}
}

// The costs that a person reads are what the provider counted, looks and probes and all.
func TestCostsAreWhatTheProviderCounted(t *testing.T) {
	t.Parallel()
	w := lossy(t, nil, "", `[{"model":"open/small","difficulty":"easy"}]`)
	w.edit(`"primary": "anth/chief"`, `"primary": "open/small"`)
	w.edit(`"limits"`, `"routes": {"vision": ["anth/chief"]}, "limits"`)
	w.play.workers["Do page"] = steps(
		call("relo_describe", object{"path": "ref/page.png", "question": "What is it?"}), call("relo_describe", object{"path": "ref/page.png", "question": "What is it?"}),
		call("relo_describe", object{"path": "ref/page.png", "question": "Which colour?"}), shell("echo changed >> ui.css"), done("drawn"))
	w.play.before = nil
	r := w.relo("run", "page", "--repo", w.repo, "--standalone", "--json").mustExit(t, 7)
	id := r.events(t)[0].Job
	var costs protocol.CostsDoc
	if err := json.Unmarshal([]byte(w.relo("costs", id, "--json").mustExit(t, 0).stdout), &costs); err != nil {
		t.Fatal(err)
	}
	requests, looks := 0, 0
	for _, row := range costs.Rows {
		requests += row.Requests
		if row.Traffic == job.TrafficVision {
			looks += row.Requests
		}
	}
	answered, asked := 0, 0
	for _, q := range w.dbl.Requests() {
		if q.Wire == "" {
			continue
		}
		answered++
		if strings.Contains(string(q.Body), "You look at one picture") {
			asked++
		}
	}
	// The task's own picture in words, and two questions; the second of the same is answered from memory.
	if requests != answered || looks != asked || asked != 3 {
		t.Errorf("costs has %d requests, %d of them looks; the provider got %d, %d of them looks", requests, looks, answered, asked)
	}
	for _, tn := range w.dbl.Requests() {
		if tn.Model == "small" && len(tn.Pictures) > 0 {
			t.Error("a blind model was sent a picture")
		}
	}
}
