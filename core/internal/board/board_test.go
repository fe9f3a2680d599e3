package board

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/vision"
)

var update = flag.Bool("update", false, "write the golden frames instead of comparing them")

// tale folds events into a board, ten seconds apart.
type tale struct {
	t testing.TB
	b *Board
}

func at(seq int64) time.Time {
	return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(time.Duration(seq) * 10 * time.Second)
}

func newTale(t testing.TB, title string) *tale {
	x := &tale{t, New(&job.Job{Tasks: map[string]*job.Task{}})}
	three := 3.0
	x.tell(job.KindSubmitted, "", "", &job.Submitted{Text: title, Title: title, Base: "0123456789abcdef", Budget: &three})
	return x
}

func (x *tale) tell(kind job.Kind, task, attempt string, body any) *tale {
	x.t.Helper()
	return x.event(job.Event{Kind: kind, Task: task, Attempt: attempt, Body: body})
}

func (x *tale) event(e job.Event) *tale {
	x.t.Helper()
	e.Seq, e.Job = x.b.Job.Seq+1, "01a22de0-303b-708f-8248-8473c49ab028"
	e.Time = at(e.Seq)
	if err := x.b.Job.Apply(e); err != nil {
		x.t.Fatal(err)
	}
	x.b.Take(e)
	return x
}

func (x *tale) task(id, title, reviewOf string) *tale {
	kind := job.Work
	if reviewOf != "" {
		kind = job.Review
	}
	return x.tell(job.KindTaskAdded, id, "", &job.Added{ID: id, Key: id, Title: title, TaskKind: kind, Difficulty: job.Hard, Vision: true, ReviewOf: reviewOf})
}

func (x *tale) moves(id string, states ...job.TaskState) *tale {
	for _, to := range states {
		t := x.b.Job.Tasks[id]
		e := job.Event{Kind: job.KindTaskStatus, Task: id, Attempt: t.Current, Body: &job.StatusChange{From: string(t.Status), To: string(to), Epoch: t.Epoch + 1}}
		if to == job.TaskDispatched {
			e.Attempt, e.Model, e.Worker = fmt.Sprintf("%s-%d", id, len(t.Attempts)+1), t.Model, "this computer"
		}
		x.event(e)
	}
	return x
}

func (x *tale) job(from, to job.Status, reason string) *tale {
	return x.tell(job.KindJobStatus, "", "", &job.StatusChange{From: string(from), To: string(to), Reason: reason})
}

func (x *tale) route(id, model, why string) *tale {
	return x.event(job.Event{Kind: job.KindRouted, Task: id, Model: model, Body: &job.Routed{Reasons: []job.Reason{{Code: "x", Words: why}}, Sight: vision.Sees}})
}

// login is a job in the middle of its work.
func login(t testing.TB) *tale {
	x := newTale(t, "Make the login page match ref/login.png")
	x.tell(job.KindPlanned, "", "", &job.Planned{Tasks: 4, Summary: "a form"})
	x.task("form", "Build the form", "").task("buttons", "Style the buttons", "").task("api", "Wire up the API", "").task("docs", "Write the 日本語 guide for the login page", "")
	x.job(job.Planning, job.Running, "")
	cost := 0.44
	x.event(job.Event{Kind: job.KindUsage, Model: "far/plan", Body: &job.UsageBody{Traffic: job.TrafficPlanning, Cost: &cost}})
	x.moves("form", job.TaskReady).route("form", "far/claude-sonnet-5", "hard, needs eyes; qwen3-coder is text only (guessed from the name), so one step up").moves("form", job.TaskDispatched, job.TaskRunning)
	x.tell(job.KindStep, "form", "form-1", &job.Step{Step: "tool", Tool: "shell", Summary: "Ran 42 tests, all pass"})
	look := &job.Look{ID: "1", SHA256: "aa", Path: "ref/login.png", Role: vision.Reference, How: job.HowPixels, By: "far/claude-sonnet-5", Sent: vision.Size{Width: 1440, Height: 900}}
	x.tell(job.KindLook, "form", "form-1", look)
	x.tell(job.KindLook, "form", "form-1", &job.Look{ID: "2", SHA256: "bb", Path: "shots/login.png", Role: vision.Result, How: job.HowPixels, By: "far/claude-sonnet-5", Sent: vision.Size{Width: 1440, Height: 912}, AfterLastEdit: true})
	x.moves("buttons", job.TaskReady).route("buttons", "here/qwen3-coder", "easy").moves("buttons", job.TaskDispatched, job.TaskRunning, job.TaskFinished)
	x.task("r1", "Review: Style the buttons", "buttons").moves("buttons", job.TaskReviewing)
	x.moves("r1", job.TaskReady).route("r1", "far/claude-sonnet-5", "reviews are for the primary").moves("r1", job.TaskDispatched, job.TaskRunning)
	x.moves("api", job.TaskReady).tell(job.KindTaskWaiting, "api", "", &job.WaitingBody{For: "needs: go", Workers: []job.WorkerReason{{Worker: "build-2", Reason: "has no go"}}})
	x.moves("docs", job.TaskReady).route("docs", "here/qwen3-coder", "easy").moves("docs", job.TaskDispatched, job.TaskRunning)
	x.tell(job.KindAttemptFinished, "docs", "docs-1", &job.AttemptEnd{Outcome: job.OutPaused, Question: "Which of the two guides is meant?"})
	x.moves("docs", job.TaskFinished, job.TaskHeld)
	return x
}

func text(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

// golden compares a frame with its file, and holds it to the size of the screen.
func golden(t *testing.T, name string, lines []Line, size Size) {
	t.Helper()
	if len(lines) > size.Height {
		t.Errorf("%s has %d lines on a screen of %d", name, len(lines), size.Height)
	}
	for i, l := range lines {
		if w := Width(l.String()); w > size.Width {
			t.Errorf("%s: line %d is %d columns wide on a screen of %d: %q", name, i+1, w, size.Width, l)
		}
	}
	file := filepath.Join("testdata", name+".txt")
	got := text(lines)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	usual, narrow := Size{80, 24}, Size{40, 20}
	for _, c := range []struct {
		name string
		size Size
		tale func(testing.TB) *tale
		keys []string
	}{
		{"running-80", usual, login, nil},
		{"running-40", narrow, login, nil},
		{"planning", Size{80, 10}, func(t testing.TB) *tale { return newTale(t, "Make the login page match") }, nil},
		{"chosen", usual, login, []string{Down, Down, Down}},
		{"saying", usual, login, []string{Down, "s", "m", "a", "k", "e", " ", "i", "t", " 幅", "x", Back}},
		{"saying-40", narrow, login, append([]string{"s"}, strings.Split(strings.Repeat("wide 幅 ", 9), "")...)},
		{"help", usual, login, []string{"?"}},
		{"help-40", narrow, login, []string{"?"}},
		{"open", Size{80, 40}, login, []string{Down, Down, "o"}},
		{"open-40", narrow, login, []string{Down, Down, "o", PageDown}},
		{"pausing", usual, func(t testing.TB) *tale { return login(t).job(job.Running, job.Paused, "you paused it") }, nil},
		{"sixty", usual, sixty, nil},
		{"sixty-40", narrow, sixty, nil},
		{"sixty-end", usual, sixty, []string{Up, End}},
		{"sliver", Size{20, 4}, login, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := c.tale(t).b
			for _, k := range c.keys {
				b.Key(k, c.size.Height)
			}
			golden(t, c.name, b.Frame(c.size, at(b.Job.Seq+1)), c.size)
		})
	}
}

// sixty is a job of sixty tasks: the last but ten waits for the person.
func sixty(t testing.TB) *tale {
	x := newTale(t, "Sixty things")
	for i := range 60 {
		x.task(fmt.Sprintf("t%02d", i), fmt.Sprintf("Thing %d", i+1), "")
	}
	x.job(job.Planning, job.Running, "")
	for i := range 20 {
		id := fmt.Sprintf("t%02d", i)
		x.moves(id, job.TaskReady).route(id, "here/small", "easy").moves(id, job.TaskDispatched, job.TaskRunning, job.TaskFinished, job.TaskAccepted)
	}
	x.moves("t20", job.TaskReady).route("t20", "here/small", "easy").moves("t20", job.TaskDispatched, job.TaskRunning)
	x.moves("t49", job.TaskReady).route("t49", "here/small", "easy").moves("t49", job.TaskDispatched, job.TaskRunning, job.TaskFinished)
	x.tell(job.KindAttemptFinished, "t49", "t49-1", &job.AttemptEnd{Outcome: job.OutBlocked, Question: "Which colour?"})
	return x.moves("t49", job.TaskBlocked)
}

func TestTheLastFrameHasNoKeys(t *testing.T) {
	t.Parallel()
	x := login(t)
	x.b.Key(Down, 24)
	x.b.Tell("paused")
	x.job(job.Running, job.Cancelled, "you cancelled it").tell(job.KindFinished, "", "", &job.Finished{Outcome: job.Cancelled})
	size := Size{80, 24}
	golden(t, "last", x.b.Last(size, at(x.b.Job.Seq+500)), size)
}

func TestNoFrameIsLargerThanItsScreen(t *testing.T) {
	t.Parallel()
	tales := []*tale{login(t), sixty(t), newTale(t, "")}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom(tales).Draw(t, "tale").b
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{Up, Down, "o", "s", "?", "p", Esc, Enter, End, Home, PageUp, PageDown, "幅", "x", Back}), 0, 12).Draw(t, "keys") {
			b.Key(k, 24)
		}
		size := Size{rapid.IntRange(1, 120).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")}
		lines := b.Frame(size, at(1000))
		if len(lines) > size.Height {
			t.Fatalf("%d lines on %d rows", len(lines), size.Height)
		}
		for _, l := range lines {
			if Width(l.String()) > size.Width {
				t.Fatalf("%q is %d columns wide, the screen is %d", l, Width(l.String()), size.Width)
			}
		}
	})
}

func TestKeysAskForOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		keys []string
		want Order
	}{
		{"q ends the view", []string{"q"}, Order{Verb: Quit}},
		{"Ctrl-C leaves", []string{CtrlC}, Order{Verb: Leave}},
		{"Ctrl-C leaves in the middle of a line", []string{"s", "x", CtrlC}, Order{Verb: Leave}},
		{"p pauses", []string{"p"}, Order{Verb: Pause}},
		{"words answer the task that asks when nothing is chosen", []string{"s", "q", "p", Enter}, Order{Verb: SayTo, Task: "docs", Text: "qp"}},
		{"words go to the chosen task", []string{Down, "s", "h", "i", Enter}, Order{Verb: SayTo, Task: "docs", Text: "hi"}},
		{"the second press moves", []string{Down, Down, "s", "h", Enter}, Order{Verb: SayTo, Task: "form", Text: "h"}},
		{"an empty line says nothing", []string{"s", " ", Enter}, Order{}},
		{"Esc leaves the line", []string{"s", "x", Esc, "p"}, Order{Verb: Pause}},
		{"o asks for the changes", []string{"o"}, Order{Verb: Look, Task: "docs"}},
		{"a pasted text is one line", []string{"s", "one\ntwo", Enter}, Order{Verb: SayTo, Task: "docs", Text: "one two"}},
		{"Esc chooses nothing", []string{Down, Down, Esc, "o"}, Order{Verb: Look, Task: "docs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := login(t).b
			var got Order
			for _, k := range c.keys {
				got = b.Key(k, 24)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPausedJobResumesAndAnEndedOneDoesNeither(t *testing.T) {
	t.Parallel()
	x := login(t).job(job.Running, job.Paused, "")
	if got := x.b.Key("p", 24); got.Verb != Resume {
		t.Errorf("p on a paused job is %q", got.Verb)
	}
	x.job(job.Paused, job.Cancelled, "")
	if got := x.b.Key("p", 24); got.Verb != "" || !strings.Contains(text(x.b.Frame(Size{80, 24}, at(99))), "there is nothing to pause") {
		t.Errorf("p on an ended job is %q", got.Verb)
	}
}

func TestWordsGoToTheJobWhenNobodyAsks(t *testing.T) {
	t.Parallel()
	b := newTale(t, "x").task("a", "A", "").b
	for _, k := range []string{"s", "h", "i"} {
		b.Key(k, 24)
	}
	if diff := cmp.Diff(Order{Verb: SayTo, Text: "hi"}, b.Key(Enter, 24)); diff != "" {
		t.Error(diff)
	}
}

func TestAPlanThatWaitsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	x := newTale(t, "x").task("a", "A", "").job(job.Planning, job.AwaitingApproval, "")
	x.b.Plan = "relo approve x shows the plan and asks"
	if got := text(x.b.Frame(Size{80, 24}, at(9))); !strings.Contains(got, "! Waiting for you: the plan\n") || !strings.Contains(got, x.b.Plan) {
		t.Error(got)
	}
}

func TestAnAnswerDoesNotStayForEver(t *testing.T) {
	t.Parallel()
	b := login(t).b
	b.Tell("it goes on")
	size := Size{80, 24}
	for seconds, want := range map[int]bool{0: true, 9: true, 11: false} {
		b.Tell("it goes on")
		b.Frame(size, at(100))
		if got := strings.Contains(text(b.Frame(size, at(100).Add(time.Duration(seconds)*time.Second))), "it goes on"); got != want {
			t.Errorf("after %d seconds it is shown: %v", seconds, got)
		}
	}
}

func TestTheOpenTaskShowsWhatItChanges(t *testing.T) {
	t.Parallel()
	x := login(t)
	order := x.b.Key("o", 24)
	frame := func() string { return text(x.b.Frame(Size{80, 60}, at(99))) }
	if !strings.Contains(frame(), "being fetched") {
		t.Error(frame())
	}
	x.b.Show(order.Task, "diff --git a/x b/x\n+\x1b[31mred\tblue\n")
	if got := frame(); !strings.Contains(got, "+[31mred    blue") || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
	x.b.Show(order.Task, "")
	if !strings.Contains(frame(), "none yet") {
		t.Error(frame())
	}
}

func TestLocalRequestsCostNothingThatIsCounted(t *testing.T) {
	t.Parallel()
	x := login(t)
	x.event(job.Event{Kind: job.KindUsage, Model: "here/qwen3-coder", Body: &job.UsageBody{}})
	if got := costWords(x.b.Sum(), nil); got != "unknown, at least 0.44 USD" {
		t.Error(got)
	}
	x.b.Local = func(model string) bool { return strings.HasPrefix(model, "here/") }
	if got := costWords(x.b.Sum(), x.b.Job.Budget); got != "0.44 and local USD (budget 3.00 USD)" {
		t.Error(got)
	}
}

func TestEveryStateHasAWordWithAMeaning(t *testing.T) {
	t.Parallel()
	for _, s := range []job.Status{
		job.Planning, job.AwaitingApproval, job.Running, job.Paused, job.StoppedAtBudget, job.WaitingForPerson, job.Integrating,
		job.Ready, job.Applied, job.Discarded, job.Failed, job.Cancelled,
	} {
		if About(JobWord(s, false)).Means == "" {
			t.Errorf("%s is %q, which means nothing", s, JobWord(s, false))
		}
	}
	for s, want := range map[job.TaskState][3]string{ // in a job that runs, is paused, has spent its budget
		job.TaskWaiting: {WordQueued, WordQueued, WordQueued}, job.TaskRunning: {WordRunning, WordPausing, WordRunning}, job.TaskFinished: {WordRunning, WordPaused, WordRunning},
		job.TaskHeld: {WordYou, WordPaused, WordBudget}, job.TaskBlocked: {WordYou, WordYou, WordYou}, job.TaskLost: {WordLost, WordLost, WordLost},
		job.TaskReviewing: {WordReviewing, WordReviewing, WordReviewing}, job.TaskAccepted: {WordDone, WordDone, WordDone},
		job.TaskSkipped: {WordCancelled, WordCancelled, WordCancelled}, job.TaskFailed: {WordFailed, WordFailed, WordFailed},
	} {
		got := [3]string{TaskWord(s, job.Running), TaskWord(s, job.Paused), TaskWord(s, job.StoppedAtBudget)}
		if got != want {
			t.Errorf("%s is %q, not %q", s, got, want)
		}
	}
}

func TestOnlyWorkIsCountedAndOnlyWhatIsAccepted(t *testing.T) {
	t.Parallel()
	x := newTale(t, "x").task("a", "A", "").task("b", "B", "").task("r", "Review: A", "a").moves("b", job.TaskCancelled)
	x.moves("r", job.TaskReady, job.TaskDispatched, job.TaskRunning, job.TaskFinished, job.TaskAccepted)
	if got := x.b.facts(at(9), "%d of %d"); !strings.HasPrefix(got, "0 of 2 done") {
		t.Error(got)
	}
}

func TestATaskThatWasLaidAsideWaitsForNobody(t *testing.T) {
	t.Parallel()
	x := newTale(t, "x").task("a", "A", "").job(job.Planning, job.Running, "").moves("a", job.TaskReady, job.TaskDispatched, job.TaskRunning, job.TaskFinished, job.TaskHeld)
	a := x.b.Job.Tasks["a"]
	for reason, want := range map[string]string{"paused": WordPaused, "no model fits": WordYou} {
		if a.Reason = reason; taskWord(x.b.Job, a) != want {
			t.Errorf("%s is %q", reason, taskWord(x.b.Job, a))
		}
	}
	a.Reason, a.Question = "paused", "Which colour?"
	if got := taskWord(x.b.Job, a); got != WordYou {
		t.Errorf("a question is %q", got)
	}
}

func TestAQuestionThatHoldsTheJobSaysWhichKeyAnswers(t *testing.T) {
	t.Parallel()
	x := newTale(t, "x").task("a", "A", "").job(job.Planning, job.Running, "").moves("a", job.TaskReady, job.TaskDispatched, job.TaskRunning)
	x.tell(job.KindAttemptFinished, "a", "a-1", &job.AttemptEnd{Outcome: job.OutPaused, Question: "Which colour?"}).moves("a", job.TaskFinished, job.TaskHeld)
	x.job(job.Running, job.WaitingForPerson, "")
	for _, answers := range []bool{false, true} {
		x.b.Answers = answers
		if got := text(x.b.Frame(Size{80, 24}, at(20))); strings.Contains(got, "press s to answer") != answers || !strings.Contains(got, "asks: Which colour?") {
			t.Error(got)
		}
	}
	if got := text(x.b.Last(Size{80, 24}, at(20))); strings.Contains(got, "press s") {
		t.Error(got)
	}
}

func TestTextFitsItsColumns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words, width := rapid.String().Draw(t, "text"), rapid.IntRange(1, 30).Draw(t, "width")
		if got := Fit(Flat(words, 0), width); Width(got) > width {
			t.Fatalf("%q takes %d columns of %d", got, Width(got), width)
		}
		if got := Pad(Flat(words, 0), width); Width(got) != width {
			t.Fatalf("%q takes %d columns, not %d", got, Width(got), width)
		}
		for _, l := range Wrap(Calm(words), width) {
			if Width(l) > width && l != "…" {
				t.Fatalf("%q takes %d columns of %d", l, Width(l), width)
			}
		}
	})
}

func TestTimesInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min 01 s", 2*time.Hour + 5*time.Minute: "2 h 05 min", 50 * time.Hour: "2 d 02 h",
	} {
		if got := Lasting(d); got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
}
