package rehearsal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/rehearsal/rehearsaltest"
)

func TestTheCardIsMatchedByLookingAndAcceptedByLooking(t *testing.T) {
	s := workerOn(t, cardTask, Large)
	f := finishOf(t, s.Play(t))
	if f.Outcome != "done" || len(f.Visual) != 1 || f.Visual[0].Path != Result || !strings.Contains(f.Summary, wished.String()) {
		t.Fatalf("%+v", f)
	}
	c, err := readCard(get(t, s.Dir, "card.conf"))
	if err != nil || c.Button != wished {
		t.Errorf("card.conf says %v, the reference shows %v: %v", c.Button, wished, err)
	}
	v := verdictOf(t, reviewerOn(t, cardTask, Large, s.Dir, "card.conf "+Result).Play(t))
	if v.Verdict != "accept" {
		t.Errorf("%+v", v)
	}
}

func TestAReferenceOfAnotherColourIsMeasuredNotKnown(t *testing.T) {
	s := workerOn(t, cardTask, Large)
	c, err := readCard(get(t, s.Dir, "card.conf"))
	if err != nil {
		t.Fatal(err)
	}
	c.Button = button{Color: rgb{0xdc, 0x26, 0x26}, Left: 33, Top: 54, Width: 51, Height: 12}
	put(t, filepath.Join(s.Dir, filepath.FromSlash(Reference)), bmp(c.draw())) // told by its content
	if f := finishOf(t, s.Play(t)); f.Outcome != "done" || !strings.Contains(get(t, s.Dir, "card.conf"), c.Button.lines()) {
		t.Errorf("%+v", f)
	}
}

func TestTheMessagesWireShowsTheSamePixels(t *testing.T) {
	s := workerOn(t, cardTask, Large)
	s.Anthropic = true
	if f := finishOf(t, s.Play(t)); f.Outcome != "done" || !strings.Contains(f.Summary, wished.String()) {
		t.Errorf("%+v", f)
	}
	s = workerOn(t, cardTask, Large)
	s.Anthropic, s.Spoil = true, rehearsaltest.Loses(Result)
	if f := finishOf(t, s.Play(t)); f.Outcome != "blocked" {
		t.Errorf("without the result: %+v", f)
	}
}

func TestAMissingReferenceIsSaid(t *testing.T) {
	s := reviewerOn(t, cardTask, Large, settle(t), "card.conf")
	if err := os.Remove(filepath.Join(s.Dir, filepath.FromSlash(Reference))); err != nil {
		t.Fatal(err)
	}
	if v := verdictOf(t, s.Play(t)); v.Verdict != "rework" || !strings.Contains(v.Findings[0].Text, Reference) {
		t.Errorf("%+v", v)
	}
}

func TestAPictureThatGetsLostBlocksTheTask(t *testing.T) {
	for _, lost := range []string{Reference, Result} {
		s := workerOn(t, cardTask, Large)
		s.Spoil = rehearsaltest.Loses(lost)
		if f := finishOf(t, s.Play(t)); f.Outcome != "blocked" || !strings.Contains(f.Summary, lost+" did not arrive") {
			t.Errorf("without %s: %+v", lost, f)
		}
	}
}

func TestAReviewerAcceptsNoCardThatItDidNotSee(t *testing.T) {
	rows := []struct {
		why   string
		spoil func(*provider.Request)
		want  string
	}{
		{"the author changed nothing", nil, "pixels differ"},
		{"the result's picture is lost on the way", rehearsaltest.Loses(Result), "did not arrive"},
	}
	for _, r := range rows {
		s := reviewerOn(t, cardTask, Large, settle(t), "card.conf "+Result)
		s.Spoil = r.spoil
		v := verdictOf(t, s.Play(t))
		if v.Verdict != "rework" || len(v.Findings) == 0 || !strings.Contains(v.Findings[0].Text, r.want) {
			t.Errorf("%s: %+v", r.why, v)
		}
	}
}

func TestAPictureThatIsNotDrawnFromTheSourcesIsSentBack(t *testing.T) {
	dir := settle(t)
	put(t, filepath.Join(dir, filepath.FromSlash(Result)), []byte(get(t, dir, Reference)))
	v := verdictOf(t, reviewerOn(t, cardTask, Large, dir, "card.conf "+Result).Play(t))
	if v.Verdict != "rework" || !strings.Contains(v.Findings[0].Text, "differ") {
		t.Errorf("%+v", v)
	}
}

func TestAModelWithoutEyesDoesNotClaimTheCard(t *testing.T) {
	f := finishOf(t, workerOn(t, cardTask, Small).Play(t))
	if f.Outcome != "blocked" || !strings.Contains(f.Summary, "visual verification was unavailable") {
		t.Errorf("%+v", f)
	}
}

func TestTheSmallModelForgetsTheIndexAndTheCheckSaysSo(t *testing.T) {
	s := workerOn(t, usageTask, Small)
	if f := finishOf(t, s.Play(t)); f.Outcome != "done" {
		t.Fatalf("%+v", f)
	}
	out, err := run(t, s.Dir, "sh", "check.sh")
	if err == nil || !strings.Contains(out, "docs/usage.md is not listed") {
		t.Errorf("%v: %s", err, out)
	}
	v := verdictOf(t, reviewerOn(t, usageTask, Medium, s.Dir, "docs/usage.md").Play(t))
	if v.Verdict != "rework" || !strings.Contains(v.Findings[0].Text, "is not listed") {
		t.Errorf("%+v", v)
	}
}

func TestTheOtherTasksPassTheirChecksAndTheirReview(t *testing.T) {
	rows := []struct{ id, model, reviewer string }{
		{usageTask, Medium, Large},
		{fitsTask, Medium, Large},
		{changeTask, Small, Medium},
	}
	dir := ""
	for _, r := range rows {
		s := workerOn(t, r.id, r.model)
		if dir == "" {
			dir = s.Dir
		}
		s.Dir = dir // one after another in the same project, as if merged
		if f := finishOf(t, s.Play(t)); f.Outcome != "done" {
			t.Fatalf("%s: %+v", r.id, f)
		}
		task := taskOf(t, r.id)
		if out, err := run(t, dir, "sh", "-c", strings.Join(task.Checks, " && ")); err != nil {
			t.Errorf("%s: %v: %s", r.id, err, out)
		}
		v := verdictOf(t, reviewerOn(t, r.id, r.reviewer, dir, strings.Join(task.Files, "\n")).Play(t))
		if v.Verdict != "accept" {
			t.Errorf("%s: %+v", r.id, v)
		}
		v = verdictOf(t, reviewerOn(t, r.id, r.reviewer, dir, "").Play(t))
		if v.Verdict != "rework" {
			t.Errorf("%s with an empty diff: %+v", r.id, v)
		}
	}
	log := get(t, dir, "CHANGELOG.md")
	if !strings.Contains(log, "40×8 pixels in #94a3b8") || !strings.Contains(log, "drawn by a shell script") {
		t.Error("the changelog does not speak of the card as it is: " + log)
	}
	if _, err := os.Stat(filepath.Join(dir, "wide.conf")); err == nil {
		t.Error("a copy was left behind")
	}
}

func TestARetryOnTheSmallModelReadsWhatFailed(t *testing.T) {
	s := workerOn(t, usageTask, Small)
	x := taskOf(t, usageTask)
	_, s.First = prompt.Worker(prompt.WorkBrief{Title: x.Title, Instructions: x.Instructions, Earlier: []prompt.Earlier{{Number: 1, Outcome: "failed"}}})
	if f := finishOf(t, s.Play(t)); f.Outcome != "done" || !strings.Contains(get(t, s.Dir, "docs/index.md"), "(usage.md)") {
		t.Errorf("%+v", f)
	}
}

func TestThePrimaryPlansItsOwnJobAndRefusesAnother(t *testing.T) {
	s := listen(t)
	system, first := prompt.Primary(prompt.PlanBrief{Text: Job()})
	r, err := rehearsaltest.Ask(t, s.URL(), provider.Request{Model: Large, System: system, Tools: []provider.ToolSpec{prompt.SubmitPlan()}}, first)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Message.Parts, func(p provider.Part) bool { return p.Call != nil })
	if at < 0 || r.Message.Parts[at].Call.Name != "submit_plan" {
		t.Fatalf("%+v", r.Message)
	}
	if _, faults := prompt.DecodePlan(r.Message.Parts[at].Call.Args); len(faults) > 0 {
		t.Error(faults)
	}
	system, first = prompt.Primary(prompt.PlanBrief{Text: "Write me a game."})
	_, err = rehearsaltest.Ask(t, s.URL(), provider.Request{Model: Large, System: system, Tools: []provider.ToolSpec{prompt.SubmitPlan()}}, first)
	if !provider.Is(err, provider.KindRefused) || !strings.Contains(err.Error(), "This is a rehearsal") {
		t.Errorf("another job: %v", err)
	}
}

func TestStrangersAreToldThatThisIsARehearsal(t *testing.T) {
	s := listen(t)
	system, first := prompt.Worker(prompt.WorkBrief{Title: "Write a game", Instructions: "Now."})
	rows := []struct{ why, system, first string }{
		{"another task", system, first},
		{"no role at all", "", "Hello?"},
	}
	for _, r := range rows {
		got, err := rehearsaltest.Ask(t, s.URL(), provider.Request{Model: Medium, System: r.system, Tools: []provider.ToolSpec{prompt.FinishTask()}}, r.first)
		if err != nil || len(got.Message.Parts) == 0 || !strings.Contains(got.Message.Parts[0].Text, "This is a rehearsal") {
			t.Errorf("%s: %+v %v", r.why, got.Message, err)
		}
	}
	if n := len(s.Requests()); n != len(rows) {
		t.Errorf("%d requests are on record, not %d", n, len(rows))
	}
}

func TestCloseReturnsWhenNobodyAnswers(t *testing.T) {
	s, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	url := s.URL()
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Error("it listens at " + url)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rehearsaltest.Ask(t, url, provider.Request{Model: Small}, "Hello?"); err == nil {
		t.Errorf("it still answers: %v", err)
	}
}
