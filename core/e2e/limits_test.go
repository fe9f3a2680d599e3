package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// Cancel: five seconds later no process of the job is alive, and no request
// arrives any more.
func TestCancelEndsEverything(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	p := &play{plan: planOf(task("one", "easy"), task("two", "easy"), task("three", "hard"))}
	p.workers = map[string]act{
		// A command with a child in a process group of its own, and one in the background.
		"Do one": steps(shell("setsid sleep 300 & sleep 301")),
		"Do two": func(ctx ctx, _ turn) double.Reply { // the model is still thinking
			asked <- struct{}{}
			<-ctx.Done()
			return done("too late")
		},
	}
	w := newWorld(t, mixed(), p).smallRepo()
	w.serve()
	id := w.submit("three changes")
	<-asked
	w.wait("the command runs", func() bool { return len(w.marked()) > 0 && strings.Contains(fmt.Sprint(w.marked()), "sleep 300") })
	w.relo("cancel", id, "--json").mustExit(t, 0)
	at := time.Now()
	w.wait("every process of the job is gone", func() bool { return len(w.marked()) == 0 })
	if took := time.Since(at); took > 5*time.Second {
		t.Errorf("the last process ended after %s", took)
	}
	calls := w.calls()
	doc := w.show(id)
	if doc.Status != job.Cancelled {
		t.Errorf("the job is %s", doc.Status)
	}
	for _, task := range doc.Tasks {
		if !task.Status.Terminal() {
			t.Errorf("task %s is %s", task.Key, task.Status)
		}
	}
	w.relo("watch", id, "--json").mustExit(t, 9)
	time.Sleep(2 * time.Second)
	if now := w.calls(); now != calls {
		t.Errorf("%d requests arrived after the cancel", now-calls)
	}
	if rows := w.ledgerRows(id); rows != calls {
		t.Errorf("the ledger has %d rows, the providers saw %d calls", rows, calls)
	}
}

// marked lists the commands of this world's agents that are alive, whatever their group.
func (w *world) marked() []string {
	w.t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		raw, _ := os.ReadFile(name)
		env := "\x00" + string(raw)
		if strings.Contains(env, "\x00RELO_ATTEMPT=") && strings.Contains(env, w.home) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			out = append(out, strings.ReplaceAll(string(cmd), "\x00", " "))
		}
	}
	return out
}

// SIGTERM of a run in this process cancels its job and leaves nothing behind.
func TestSIGTERMCancelsAStandaloneRun(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy")), workers: map[string]act{"Do one": steps(shell("sleep 302"))}}
	w := newWorld(t, mixed(), p).smallRepo()
	cmd, out := w.start("run", "one", "--repo", w.repo, "--standalone", "--json")
	w.wait("the command runs", func() bool { return strings.Contains(fmt.Sprint(w.marked()), "sleep 302") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := exitOf(cmd.Wait()); code != 143 {
		t.Errorf("exit %d, want 143\n%s", code, out)
	}
	if left := w.marked(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if doc := w.show("@last"); doc.Status != job.Cancelled {
		t.Errorf("the job is %s", doc.Status)
	}
}

// A budget of 10 with 4 workers at 3 each: never over 10, what is done is kept.
func TestABudgetIsNeverPassed(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.workers, l.budget, l.review, l.output = 4, "10", false, 1000
	l.price = `{"input": 0, "output": 3000}` // 1,000 tokens out cost 3
	l.primary, l.ladder = "open/big", `[{"model":"open/big","difficulty":"easy"}]`
	out, in := int64(1000), int64(10)
	cheap := int64(1)
	p := &play{delay: 100 * time.Millisecond}
	p.plan = planOf(task("a", "easy"), task("b", "easy"), task("c", "easy"), task("d", "easy"), task("e", "easy"), task("f", "easy"))
	writeAndFinish := func(_ ctx, tn turn) double.Reply {
		r := double.Reply{Calls: []double.Call{
			{Name: "write", Args: object{"path": "out/" + slug(tn.title) + ".txt", "content": tn.title}},
			{Name: "finish_task", Args: object{"outcome": "done", "summary": "wrote it"}},
		}}
		r.Usage = double.Usage{In: &in, Out: &out}
		return r
	}
	p.workers = map[string]act{}
	for _, task := range p.plan.Tasks {
		p.workers[task.Title] = writeAndFinish
	}
	w := newWorld(t, l, p).smallRepo()
	p.planUsage = double.Usage{In: &in, Out: &cheap}
	r := w.relo("run", "six changes", "--repo", w.repo, "--standalone", "--json").mustExit(t, 5)
	doc := w.show(r.events(t)[0].Job)
	if doc.Status != job.StoppedAtBudget || doc.Cost == nil || *doc.Cost > 10 || *doc.Cost < 9 {
		t.Errorf("the job is %s and cost %s", doc.Status, asJSON(doc.Cost))
	}
	kept := 0
	for _, task := range doc.Tasks {
		if task.Status == job.TaskAccepted {
			kept++
		}
	}
	if kept != 3 {
		t.Errorf("%d tasks are done, want the 3 that 10 pays for", kept)
	}
	w.relo("diff", doc.ID).mustExit(t, 0)
	if files := w.git("ls-tree", "-r", "--name-only", "refs/heads/"+doc.Branch, "out"); strings.Count(files, "\n") != 2 {
		t.Errorf("the branch holds %q", files)
	}
}

// A bad config names every fault; nothing starts.
func TestABadConfigNamesEveryFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{}).smallRepo()
	w.write(filepath.Join(w.home, "relo.json"), `{
  "provider": {},
  "providers": { "open": { "api": "openai-chat", "url": "`+w.url+`/v1", "key": "sk-literal-key-0123456789abcdef" } },
  "ladder": [ { "model": "nowhere/model", "difficulty": "easy" } ],
  "primary": "open/big",
  "workers": { "local": "two" }
}`)
	r := w.relo("run", "x", "--repo", w.repo, "--standalone").mustExit(t, 2)
	for _, want := range []string{"2:3: provider:", "must not hold the key itself", "nowhere", "workers.local"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("the fault about %s is not named:\n%s", want, r.stderr)
		}
	}
	if strings.Contains(r.stderr+r.stdout, "sk-literal") {
		t.Error("the key is printed")
	}
	j := w.relo("run", "x", "--repo", w.repo, "--standalone", "--json").mustExit(t, 2)
	var doc struct {
		Error protocol.Error `json:"error"`
	}
	if err := json.Unmarshal([]byte(j.stdout), &doc); err != nil || doc.Error.Code == "" {
		t.Errorf("--json gives %v %q", err, j.stdout)
	}
	w.relo("serve").mustExit(t, 2)
	if _, err := os.Stat(filepath.Join(w.home, "state", "record")); !os.IsNotExist(err) {
		t.Errorf("something was started: %v", err)
	}
	if n := w.calls(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// The person's uncommitted changes are the base, and apply keeps what they
// changed meanwhile.
func TestApplyKeepsThePersonsEdits(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"))}
	p.workers = map[string]act{"Do one": steps(call("edit", object{"path": "ui.css", "old": "black", "new": "navy"}), done("edited"))}
	w := newWorld(t, mixed(), p).smallRepo()
	css := "body { color: black }\n\n/* one */\n/* two */\n/* three */\n/* mine, not committed */\n"
	w.write(filepath.Join(w.repo, "ui.css"), css)
	r := w.relo("run", "one", "--repo", w.repo, "--standalone", "--json").mustExit(t, 0)
	id := r.events(t)[0].Job
	w.write(filepath.Join(w.repo, "ui.css"), css+"/* and this, later */\n")
	w.write(filepath.Join(w.repo, "new.txt"), "mine")
	head := w.git("rev-parse", "HEAD")
	w.relo("apply", id, "--json").mustExit(t, 0)
	got, err := os.ReadFile(filepath.Join(w.repo, "ui.css"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(css, "black", "navy", 1) + "/* and this, later */\n"; string(got) != want {
		t.Errorf("ui.css is\n%s", got)
	}
	if w.git("rev-parse", "HEAD") != head || w.git("show", "refs/relo/backup/"+id+":new.txt") != "mine" {
		t.Error("HEAD moved, or the backup does not hold the person's files")
	}
	if doc := w.show(id); doc.Status != job.Applied {
		t.Errorf("the job is %s", doc.Status)
	}
}

// Two tasks change the same line: the second waits for the person, and a retry
// does it again on top of the first.
func TestAMergeConflictWaitsForThePerson(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"), task("two", "easy"))}
	edit := func(to string) act {
		return func(ctx ctx, tn turn) double.Reply {
			if tn.step == 0 {
				return shell("sleep 1; sed -i 's/color: [a-z]*/color: " + to + "/' ui.css")
			}
			return done("edited")
		}
	}
	p.workers = map[string]act{"Do one": edit("navy"), "Do two": edit("teal")}
	w := newWorld(t, mixed(), p).smallRepo()
	w.serve()
	r := w.relo("run", "two colours", "--repo", w.repo, "--json").mustExit(t, 7)
	id := r.events(t)[0].Job
	doc := w.show(id)
	if doc.Status != job.WaitingForPerson || !strings.Contains(doc.Reason, "ui.css") {
		t.Fatalf("the job is %s: %s", doc.Status, doc.Reason)
	}
	w.relo("retry", id).mustExit(t, 0)
	w.relo("watch", id, "--json").mustExit(t, 0)
	doc = w.show(id)
	if doc.Status != job.Ready {
		t.Errorf("the job is %s: %s", doc.Status, doc.Reason)
	}
	w.commitsOnce(doc)
}

// A key that the provider refuses stops the job with exit code 4.
func TestARefusedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	name := filepath.Join(w.home, "relo.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	w.write(name, strings.ReplaceAll(string(text), "env:RELO_TEST_KEY", "env:RELO_HOME"))
	w.relo("run", "one", "--repo", w.repo, "--standalone").mustExit(t, 4)
	w.write(name, strings.ReplaceAll(string(text), "env:RELO_TEST_KEY", "env:RELO_NO_SUCH_KEY"))
	w.relo("run", "one", "--repo", w.repo, "--standalone").mustExit(t, 4)
}

// A plan that breaks the rules goes back with all faults named, twice.
func TestABadPlanGoesBackTwice(t *testing.T) {
	t.Parallel()
	bad := planOf(task("a", "easy", after("b")), task("b", "silly", after("a")), task("c", "easy", eyes("none.png")))
	w := newWorld(t, mixed(), &play{plan: bad}).smallRepo()
	w.relo("run", "plan", "--repo", w.repo, "--standalone", "--json").mustExit(t, 3)
	if n := w.calls(); n != 3 {
		t.Errorf("the Primary was asked %d times, want 3", n)
	}
	var last double.Record // of a model; the daemon asks for lists beside it
	for _, r := range w.dbl.Requests() {
		if r.Wire != "" {
			last = r
		}
	}
	for _, want := range []string{"in a circle", "silly", "none.png"} {
		if !strings.Contains(string(last.Body), want) {
			t.Errorf("the fault about %s did not go back", want)
		}
	}
}

// Everybody is slow to start: a provider that says 429 is asked again as it says.
func TestABusyProviderIsWaitedFor(t *testing.T) {
	t.Parallel()
	var busy int
	p := &play{plan: planOf(task("one", "easy"))}
	p.workers = map[string]act{"Do one": func(c context.Context, tn turn) double.Reply {
		if busy++; busy <= 2 {
			return double.Reply{Status: 429, Header: map[string]string{"Retry-After": "1"}}
		}
		return writes(c, tn)
	}}
	w := newWorld(t, mixed(), p).smallRepo()
	r := w.relo("run", "one", "--repo", w.repo, "--standalone", "--json").mustExit(t, 0)
	if rows, calls := w.ledgerRows(r.events(t)[0].Job), w.calls(); rows != calls {
		t.Errorf("the ledger has %d rows, the providers saw %d calls", rows, calls)
	}
}
