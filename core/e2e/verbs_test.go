package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// becomes waits until a job is in a state.
func (w *world) becomes(l *app.Link, id string, want job.Status) protocol.JobDoc {
	w.t.Helper()
	var doc protocol.JobDoc
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if doc, err = l.Show(w.t.Context(), id); err == nil && doc.Status == want {
			return doc
		}
	}
	w.t.Fatalf("the job is %s (%s), want %s: %v\n%s", doc.Status, doc.Reason, want, err, w.logs())
	return doc
}

func taskNamed(doc protocol.JobDoc, key string) protocol.TaskDoc {
	for _, t := range doc.Tasks {
		if t.Key == key {
			return t
		}
	}
	return protocol.TaskDoc{}
}

// A message reaches the agent at its next safe point; the others go on.
func TestSayingSomethingToAnAgentThatRuns(t *testing.T) {
	t.Parallel()
	asked, said := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var mu sync.Mutex
	heard := map[string]bool{}
	p := &play{plan: planOf(task("one", "easy"), task("two", "easy"))}
	l := mixed()
	l.review = false
	w := newWorld(t, l, p).smallRepo()
	p.workers = map[string]act{"Do one": func(c ctx, tn turn) double.Reply {
		if tn.step == 1 {
			once.Do(func() { close(asked) })
			<-said
		}
		return steps(shell("true"), shell("sleep 0.3"), shell("echo x > one.txt"), done("done"))(c, tn)
	}}
	p.before = func(_ ctx, tn turn) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range tn.Entries {
			if strings.Contains(e.Text, "use a darker blue") {
				heard[tn.title] = true
			}
		}
	}
	w.serve()
	link := w.link()
	id := w.submit("two changes")
	<-asked
	doc, err := link.Say(t.Context(), id+"/one", "use a darker blue")
	if err != nil || len(doc.Now) != 1 {
		t.Fatalf("%+v %v", doc, err)
	}
	close(said)
	w.ends(id)
	if !heard["Do one"] || heard["Do two"] {
		t.Errorf("heard by %v", heard)
	}
}

// An agent asks the person: its task waits, the other goes on; the answer comes
// to the call, in the same conversation.
func TestAnAgentAsksAndThePersonAnswers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answer := ""
	p := &play{plan: planOf(task("one", "easy"), task("two", "easy"))}
	l := mixed()
	l.review = false
	w := newWorld(t, l, p).smallRepo()
	p.workers = map[string]act{"Do one": func(c ctx, tn turn) double.Reply {
		if tn.step == 2 {
			mu.Lock()
			for _, e := range tn.Entries {
				if strings.Contains(e.Text, "The person answers") {
					answer = e.Text
				}
			}
			mu.Unlock()
		}
		return steps(shell("echo a > one.txt"), call("ask_person", object{"question": "which blue?"}), shell("echo b >> one.txt"), done("done"))(c, tn)
	}}
	d := w.serve()
	link := w.link()
	got, err := link.Submit(t.Context(), protocol.Submit{Text: "two changes", Repo: w.repo, Attended: true})
	if err != nil {
		t.Fatal(err)
	}
	doc := w.becomes(link, got.Job, job.WaitingForPerson)
	if q := taskNamed(doc, "one"); q.Question != "which blue?" || taskNamed(doc, "two").Status != job.TaskAccepted {
		t.Fatalf("%+v", doc.Tasks)
	}
	d.stop()
	w.serve()
	link = w.link()
	said, err := link.Say(t.Context(), got.Job, "the light one")
	if err != nil || said.Answers != "which blue?" {
		t.Fatalf("%+v %v", said, err)
	}
	w.becomes(link, got.Job, job.Ready)
	if !strings.Contains(answer, "the light one") {
		t.Errorf("the agent was told %q", answer)
	}
	if text := w.git("show", "relo/"+got.Job+":one.txt"); text != "a\nb" {
		t.Errorf("the files were not kept: %q", text)
	}
}

// The plan waits for a person, who asks for another one, sees that, edits it and
// lets it begin.
func TestAPlanIsShownEditedAndApproved(t *testing.T) {
	t.Parallel()
	p := &play{}
	first, second := planOf(task("one", "easy"), task("two", "easy")), planOf(task("whole", "normal"))
	p.primary = func(_ ctx, tn turn) double.Reply {
		if strings.Contains(tn.Entries[0].Text, "in one task") {
			return call("submit_plan", second)
		}
		return call("submit_plan", first)
	}
	l := mixed()
	l.review = false
	w := newWorld(t, l, p).smallRepo()
	w.serve()
	link := w.link()
	got, err := link.Submit(t.Context(), protocol.Submit{Text: "a change", Repo: w.repo, Approve: "plan"})
	if err != nil {
		t.Fatal(err)
	}
	w.becomes(link, got.Job, job.AwaitingApproval)
	plan, err := link.Plan(t.Context(), got.Job)
	if err != nil || len(plan.Tasks) != 2 || plan.Tasks[0].Model != "open/small" || plan.Tasks[0].Reason == "" {
		t.Fatalf("%+v %v", plan, err)
	}
	if said, err := link.Say(t.Context(), got.Job, "do it in one task"); err != nil || !said.Replans {
		t.Fatalf("%+v %v", said, err)
	}
	w.wait("another plan is there", func() bool {
		plan, err = link.Plan(t.Context(), got.Job)
		return err == nil && len(plan.Tasks) == 1
	})
	w.becomes(link, got.Job, job.AwaitingApproval)
	plan.Tasks[0].Title, plan.Tasks[0].Difficulty = "Do it all", "weird"
	if _, err := link.Approve(t.Context(), got.Job, &plan); err == nil || !strings.Contains(err.Error(), "weird") {
		t.Fatalf("a plan with a fault: %v", err)
	}
	plan.Tasks[0].Difficulty, plan.Tasks[0].Use = "easy", "open/big"
	if _, err := link.Approve(t.Context(), got.Job, &plan); err != nil {
		t.Fatal(err)
	}
	doc := w.becomes(link, got.Job, job.Ready)
	if len(doc.Tasks) != 1 || doc.Tasks[0].Title != "Do it all" || doc.Tasks[0].Model != "open/big" {
		t.Errorf("%+v", doc.Tasks)
	}
	if text := w.git("show", "relo/"+got.Job+":out/do-it-all.txt"); text != "work of Do it all" {
		t.Error(text)
	}
}

// Cancelling a task holds those that need it and no other, cancelling a job
// leaves other jobs alone; both are taken up where they were.
func TestCancelAndTakingUpAgain(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	p := &play{plan: planOf(task("one", "easy"), task("two", "easy"), task("three", "easy", after("one")))}
	l := mixed()
	l.review, l.workers = false, 3
	w := newWorld(t, l, p).smallRepo()
	slow := func(c ctx, tn turn) double.Reply {
		if tn.step == 1 {
			select {
			case <-gate:
			case <-c.Done():
			}
		}
		return steps(shell("echo "+slug(tn.title)+" >> "+w.diary()), shell("echo x > "+slug(tn.title)+".txt"), done("done"))(c, tn)
	}
	p.workers = map[string]act{"Do one": slow, "Do two": slow}
	w.serve()
	link := w.link()
	id, other := w.submit("three changes"), w.submit("three other changes")
	w.wait("three agents run", func() bool { return len(w.diaryLines()) >= 3 })
	if _, err := link.Cancel(t.Context(), id+"/one", "not this one"); err != nil {
		t.Fatal(err)
	}
	doc, err := link.Show(t.Context(), id)
	if err != nil || taskNamed(doc, "one").Status != job.TaskCancelled || taskNamed(doc, "three").Status != job.TaskHeld || taskNamed(doc, "two").Status.Terminal() {
		t.Fatalf("%+v %v", doc.Tasks, err)
	}
	if _, err := link.Cancel(t.Context(), other, "enough"); err != nil {
		t.Fatal(err)
	}
	close(gate)
	doc = w.becomes(link, id, job.WaitingForPerson)
	if taskNamed(doc, "two").Status != job.TaskAccepted {
		t.Errorf("cancelling another job and another task touched this one: %+v", doc.Tasks)
	}
	if got, err := link.Show(t.Context(), other); err != nil || got.Status != job.Cancelled {
		t.Fatalf("%s %v", got.Status, err)
	}
	w.wait("what the task left is handed in", func() bool {
		doc, err = link.Show(t.Context(), id)
		a := taskNamed(doc, "one").Attempts
		return err == nil && len(a) == 1 && a[0].Trace != ""
	})
	if _, err := link.Retry(t.Context(), protocol.Retry{ID: id + "/one"}); err != nil {
		t.Fatal(err)
	}
	if doc = w.becomes(link, id, job.Ready); taskNamed(doc, "three").Status != job.TaskAccepted {
		t.Errorf("%+v", doc.Tasks)
	}
	if a := taskNamed(doc, "one").Attempts; len(a) != 2 || a[1].From != a[0].ID {
		t.Errorf("the retry did not go on from the last point: %+v", a)
	}
	if _, err := link.Retry(t.Context(), protocol.Retry{ID: other, Anew: true}); err != nil {
		t.Fatal(err)
	}
	doc = w.becomes(link, other, job.Ready)
	for _, task := range doc.Tasks {
		if a := task.Attempts[len(task.Attempts)-1]; a.From != "" || task.Status != job.TaskAccepted {
			t.Errorf("%s: %+v", task.Key, a)
		}
	}
}

// A job that stopped at its budget goes on from the last point once the budget is raised.
func TestARaisedBudgetGoesOn(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"))}
	p.planUsage = usage(1, 1)
	l := mixed()
	l.review, l.budget, l.output = false, "10", 1000
	l.price = `{"input": 0, "output": 3000}`
	w := newWorld(t, l, p).smallRepo()
	p.workers = map[string]act{"Do one": func(c ctx, tn turn) double.Reply {
		r := steps(shell("echo 1 >> "+w.diary()), shell("echo 2 >> "+w.diary()), shell("echo 3 >> "+w.diary()+"; echo x > x.txt"), done("done"))(c, tn)
		r.Usage = usage(10, 1000)
		return r
	}}
	w.serve()
	link := w.link()
	id := w.submit("a change")
	w.becomes(link, id, job.StoppedAtBudget)
	before := len(w.diaryLines())
	calls := w.calls()
	time.Sleep(time.Second)
	if now := w.calls(); now != calls {
		t.Errorf("%d requests after the budget was reached", now-calls)
	}
	more := 50.0
	if _, err := link.Resume(t.Context(), protocol.Resume{ID: id, Budget: &more}); err != nil {
		t.Fatal(err)
	}
	w.becomes(link, id, job.Ready)
	if got := strings.Join(w.diaryLines(), " "); before == 0 || got != "1 2 3" {
		t.Errorf("%d calls before, then %s", before, got)
	}
}

// An applied job is undone, applied again, undone and thrown away.
func TestUndoAndDiscard(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"))}
	l := mixed()
	l.review = false
	w := newWorld(t, l, p).smallRepo()
	w.serve()
	link := w.link()
	id := w.submit("a change")
	w.becomes(link, id, job.Ready)
	file := filepath.Join(w.repo, "out", "do-one.txt")
	there := func(want bool) {
		t.Helper()
		if _, err := os.Stat(file); (err == nil) != want {
			t.Errorf("the file is there: %t, want %t", err == nil, want)
		}
	}
	if _, err := link.Discard(t.Context(), id, false); err == nil {
		t.Error("unapplied work was thrown away without a word")
	}
	for range 2 {
		if _, err := link.Apply(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		there(true)
		undone, err := link.Undo(t.Context(), id)
		if err != nil || len(undone.Files) != 1 {
			t.Fatalf("%+v %v", undone, err)
		}
		there(false)
	}
	doc, err := link.Discard(t.Context(), id, true)
	if err != nil || len(doc.Removed) == 0 {
		t.Fatalf("%+v %v", doc, err)
	}
	if refs := w.git("for-each-ref", "--format=%(refname)", "refs/heads/relo", "refs/relo"); refs != "" {
		t.Errorf("left behind: %s", refs)
	}
	if err := link.Follow(t.Context(), id, 0, func(e job.Event) error {
		if e.Kind == job.KindJobStatus && e.Body.(*job.StatusChange).To == string(job.Discarded) {
			return client.ErrStop
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func usage(in, out int64) double.Usage {
	cached := int64(0)
	return double.Usage{In: &in, Out: &out, Cached: &cached}
}
