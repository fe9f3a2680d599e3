package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/vision"
)

// bigModule is a real project of more than a thousand files.
const bigModule = "golang.org/x/tools@v0.52.0"

// bigRepo copies a module out of Go's cache and makes it a repository.
func (w *world) bigRepo() *world {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "go", "mod", "download", "-json", bigModule)
	cmd.Dir = w.t.TempDir() // outside any module
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	var got struct{ Dir string }
	if err != nil || json.Unmarshal(out, &got) != nil {
		w.t.Fatalf("get %s: %v\n%s", bigModule, err, out)
	}
	w.repo = filepath.Join(w.t.TempDir(), "tools")
	if err := os.CopyFS(w.repo, os.DirFS(got.Dir)); err != nil {
		w.t.Fatal(err)
	}
	if err := exec.CommandContext(w.t.Context(), "chmod", "-R", "u+w", w.repo).Run(); err != nil {
		w.t.Fatal(err)
	}
	w.commitRepo()
	if n := strings.Count(w.git("ls-files"), "\n"); n < 1000 {
		w.t.Fatalf("the repository has only %d files", n)
	}
	return w
}

// sixTasks: two with eyes, dependencies, one that is sent back once.
func sixTasks() *play {
	return &play{
		plan: planOf(
			task("alpha", "easy"), task("beta", "normal"),
			task("look", "easy", eyes("ref/login.png")),
			task("gamma", "normal", after("alpha", "beta")),
			task("shot", "normal", eyes("ref/login.png"), after("look")),
			task("omega", "easy", after("gamma", "shot"), checked("test -f out/do-gamma.txt && test -f shots/two.png")),
		),
		workers: map[string]act{
			"Do look":  draws("README.md", "shots/one.png"),
			"Do shot":  draws("CONTRIBUTING.md", "shots/two.png"),
			"Do gamma": gammaTwice,
		},
		review: map[string]act{
			"Do look": looksThenAccepts("shots/one.png"), "Do shot": looksThenAccepts("shots/two.png"),
			"Do gamma": reworkOnce,
		},
	}
}

// gammaTwice writes something else on its second attempt.
func gammaTwice(ctx context.Context, t turn) double.Reply {
	if t.step == 0 && t.attempt > 1 {
		return call("write", object{"path": "out/do-gamma.txt", "content": "work of Do gamma, mended\n"})
	}
	return writes(ctx, t)
}

// reworkOnce sends the work back until it is mended: it reads the diff.
func reworkOnce(ctx context.Context, t turn) double.Reply {
	if strings.Contains(t.Entries[0].Text, "mended") {
		return accept(ctx, t)
	}
	return call("submit_review", object{
		"verdict": "rework", "summary": "not mended yet",
		"findings": []object{{"severity": "high", "file": "out/do-gamma.txt", "line": 1, "text": "the text is wrong"}},
	})
}

func TestSixTasksOverBothWiresGiveTheSameTreeThreeTimes(t *testing.T) {
	t.Parallel()
	trees := make([]string, 3)
	t.Run("run", func(t *testing.T) {
		for i := range trees {
			t.Run(itoa(i), func(t *testing.T) {
				t.Parallel()
				trees[i] = sixTasksOnce(t)
			})
		}
	})
	if trees[0] == "" || trees[0] != trees[1] || trees[1] != trees[2] {
		t.Errorf("the trees differ: %v", trees)
	}
}

// sixTasksOnce runs the job and gives the resulting tree.
func sixTasksOnce(t *testing.T) string {
	t.Helper()
	w := newWorld(t, mixed(), sixTasks()).bigRepo()
	r := w.relo("run", "Make the six changes", "--repo", w.repo, "--standalone", "--json").mustExit(t, 0)
	events := r.events(t)
	id := events[0].Job
	doc := w.show(id)
	if doc.Status != job.Ready {
		t.Fatalf("the job is %s: %s", doc.Status, doc.Reason)
	}
	w.commitsOnce(doc)
	checkSixTasks(t, w, events)
	if rows, calls := w.ledgerRows(id), w.calls(); rows != calls {
		t.Errorf("the ledger has %d rows, the providers saw %d calls", rows, calls)
	}
	return w.git("rev-parse", "refs/heads/"+doc.Branch+"^{tree}")
}

func checkSixTasks(t *testing.T, w *world, events []job.Event) {
	t.Helper()
	wires := map[string]int{}
	for _, r := range w.dbl.Requests() {
		wires[r.Wire]++
		if len(r.Pictures) > 0 && r.Model != "big" && r.Model != "chief" {
			t.Errorf("a picture went to %s, which cannot see", r.Model)
		}
	}
	if wires[double.WireChat] == 0 || wires[double.WireAnthropic] == 0 {
		t.Errorf("not both wires were used: %v", wires)
	}
	count := map[job.Kind]int{}
	for _, e := range events {
		count[e.Kind]++
		if b, ok := e.Body.(*job.Routed); ok && e.Task != "" && strings.HasSuffix(e.Model, "small") && b.Sight != vision.Blind {
			t.Errorf("small is routed as %s", b.Sight)
		}
	}
	if count[job.KindEscalated] != 1 {
		t.Errorf("%d escalations, want the one rework", count[job.KindEscalated])
	}
	results := 0
	for _, e := range events {
		if l, ok := e.Body.(*job.Look); ok && l.Role == vision.Result && l.How == job.HowPixels {
			results++
		}
	}
	if results < 4 {
		t.Errorf("%d looks at results, want two authors and two reviewers", results)
	}
}

// The picture stands where each wire wants it, and it is what `relo image` makes
// of the same file.
func TestPicturesStandInTheirPlaceOnBothWires(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wire, ladder, first string }{
		{double.WireChat, `[{"model":"open/big","difficulty":"easy"}]`, "messages[1].content["},
		{double.WireAnthropic, `[{"model":"anth/chief","difficulty":"easy"}]`, "messages[0].content["},
	} {
		l := mixed()
		l.ladder, l.review = c.ladder, false
		w := newWorld(t, l, &play{
			plan:    planOf(task("look", "easy", eyes("ref/login.png"))),
			workers: map[string]act{"Do look": draws("ui.css", "shots/one.png")},
		}).smallRepo()
		if err := os.WriteFile(filepath.Join(w.repo, "ref", "login.png"), drawing(t, 2000, 900), 0o644); err != nil {
			t.Fatal(err)
		}
		w.relo("run", "look", "--repo", w.repo, "--standalone").mustExit(t, 0)
		want := preparedHash(t, w, "ref/login.png")
		users, tools := 0, 0
		for _, r := range w.dbl.Requests() {
			if r.Wire != c.wire {
				continue
			}
			for _, p := range r.Pictures {
				first := strings.HasPrefix(p.Place, c.first)
				if !first {
					checkToolPlace(t, c.wire, r.Body, p)
				}
				switch {
				case p.SHA256 != want: // the shot
				case first:
					users++
				default:
					tools++
				}
			}
		}
		if users == 0 || tools == 0 {
			t.Errorf("%s: the reference arrived as relo image makes it %d times with the task and %d times from a tool", c.wire, users, tools)
		}
	}
}

func preparedHash(t *testing.T, w *world, name string) string {
	t.Helper()
	var doc struct {
		Images []struct {
			SHA256 string `json:"sha256"`
			Sent   struct{ Width, Height int }
		} `json:"images"`
	}
	r := w.relo("image", name, "--root", w.repo, "--json").mustExit(t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Images) != 1 {
		t.Fatalf("relo image: %v\n%s", err, r.stdout)
	}
	if doc.Images[0].Sent.Width != 1568 {
		t.Errorf("the picture was not scaled: %+v", doc.Images[0])
	}
	return doc.Images[0].SHA256
}

// checkToolPlace holds the raw body against 04 §1 of the design: on the chat
// wire a tool's picture is in the user message that follows the tools' messages;
// on the messages wire it is an image block inside its tool_result, after text.
func checkToolPlace(t *testing.T, wire string, body []byte, p double.Picture) {
	t.Helper()
	var raw struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		t.Fatal(err)
	}
	for i, m := range raw.Messages {
		if !strings.HasPrefix(p.Place, "messages["+itoa(i)+"]") {
			continue
		}
		if m.Role != "user" {
			t.Errorf("%s: the picture is in a message of %s", wire, m.Role)
		}
		switch {
		case wire == double.WireChat && (i == 0 || raw.Messages[i-1].Role != "tool"):
			t.Errorf("chat: the pictures do not follow the tools' messages")
		case wire == double.WireAnthropic && !bytes.Contains(m.Content, []byte(`"tool_result"`)):
			t.Errorf("messages: the picture is not in a tool_result: %s", p.Place)
		case wire == double.WireAnthropic && strings.Count(p.Place, ".content[") != 2:
			t.Errorf("messages: the picture is at %s, not inside its tool_result", p.Place)
		}
	}
}

func itoa(i int) string { return strings.TrimSpace(asJSON(i)) }
