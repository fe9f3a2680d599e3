package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// planning is a job whose plan waits, and that goes on when it is approved.
func planning(t *testing.T) (*line, *protocol.Submit, *int) {
	t.Helper()
	l := newLine().tells(
		job.Event{Kind: job.KindSubmitted, Body: &job.Submitted{Text: "Match the card", Title: "Match the card", Base: "0123456789abcdef"}},
		job.Event{Kind: job.KindPlanned, Body: &job.Planned{Tasks: 1}},
		job.Event{Kind: job.KindTaskAdded, Task: "t1", Body: &job.Added{ID: "t1", Key: "card", Title: "Draw the card"}},
		job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "planning", To: "awaiting_approval"}},
	)
	sub, approved := &protocol.Submit{}, new(int)
	l.on("job.submit", func(body []byte) (any, error) { return protocol.Accepted{Job: jobID}, json.Unmarshal(body, sub) })
	l.on("models.list", gives(protocol.ModelsDoc{})).on("job.plan", gives(thePlan()))
	l.on("job.show", func([]byte) (any, error) {
		return protocol.JobDoc{ID: jobID, Status: job.AwaitingApproval, Seq: int64(len(l.events))}, nil
	})
	l.on("job.approve", func([]byte) (any, error) {
		*approved++
		l.tells(job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "awaiting_approval", To: "running"}})
		l.ends(job.Ready, job.Finished{})
		return protocol.Resolved{Job: jobID}, nil
	})
	l.on("job.say", func([]byte) (any, error) {
		l.tells(
			job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "awaiting_approval", To: "planning"}},
			job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "planning", To: "awaiting_approval"}},
		)
		return protocol.SayDoc{Resolved: protocol.Resolved{Job: jobID}, Replans: true}, nil
	})
	l.on("job.cancel", func([]byte) (any, error) {
		l.tells(
			job.Event{Kind: job.KindJobStatus, Body: &job.StatusChange{From: "awaiting_approval", To: "cancelled"}},
			job.Event{Kind: job.KindFinished, Body: &job.Finished{Outcome: job.Cancelled}},
		)
		l.on("job.show", gives(protocol.JobDoc{ID: jobID, Status: job.Cancelled, Seq: int64(len(l.events))})).on("costs.list", gives(protocol.CostsDoc{}))
		return protocol.Resolved{Job: jobID}, nil
	})
	return l.on("job.discard", gives(protocol.DiscardDoc{Job: jobID})), sub, approved
}

func TestAPersonAtATerminalSeesThePlanFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stdin string
		flags       []string
		exit        int
		approved    int
		says        []string
	}{
		{"yes", "y\n", nil, 0, 1, []string{"Plan: one card\n  1. Draw the card  (card; hard, needs eyes)\n     here/eyes: hard, needs eyes\n", "2. Write it down  (docs; easy, after card)\n", "     check: make\n", "Start? [y]es"}},
		{"--yes answers", "", []string{"--yes"}, 0, 1, []string{"Plan: one card"}},
		{"another, said at once", "a fewer tasks\ny\n", nil, 0, 1, []string{"Start? [y]es"}},
		{"another, asked what", "another\nfewer tasks\ny\n", nil, 0, 1, []string{"What should be different?"}},
		{"an answer that is none", "perhaps\ny\n", nil, 0, 1, nil},
		{"no", "n\n", nil, exitCancelled, 0, nil},
		{"no answer", "", nil, exitPerson, 0, []string{"the plan waits; relo approve 01a22de0-303b asks again"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, sub, approved := planning(t)
			exit, _, note := (&scene{line: l, daemon: true, terminal: true, stdin: c.stdin}).run(t.Context(), append([]string{"run", "Match the card"}, c.flags...)...)
			exits(t, exit, c.exit, note)
			if sub.Approve != "plan" || !sub.Attended || *approved != c.approved {
				t.Errorf("handed in %+v, approved %d times", sub, *approved)
			}
			has(t, note, c.says...)
		})
	}
}

func TestNobodyToAskIsExitCode7(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		l, sub, _ := planning(t)
		exit, out, note := (&scene{line: l, daemon: true, terminal: terminal}).run(t.Context(), "run", "x", "--approve", "plan", "--no-input", "--json")
		exits(t, exit, exitPerson, note)
		lines := jsonLines(t, out)
		fault, ok := lines[len(lines)-1]["error"].(map[string]any)
		if !ok || fault["code"] != "approval" || !strings.Contains(fault["hint"].(string), "relo approve 01a22de0-303b") || sub.Attended {
			t.Errorf("%v, %+v", lines[len(lines)-1], sub)
		}
	}
}

func TestWatchSaysWhatToDoAboutAPlan(t *testing.T) {
	t.Parallel()
	l, _, _ := planning(t)
	l.on("costs.list", gives(protocol.CostsDoc{}))
	exit, out, note := (&scene{line: l, daemon: true}).run(t.Context(), "watch", "--no-follow")
	exits(t, exit, exitPerson, note)
	has(t, note, "job 01a22de0-303b: Waiting for you; relo approve 01a22de0-303b shows the plan and asks")
	has(t, out, "relo approve 01a22de0-303b  shows the plan and asks")
}

func TestADryRunIsThePlanAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--dry-run"}, {"-n", "--json"}} {
		l, sub, approved := planning(t)
		s := &scene{line: l, daemon: true}
		exit, out, note := s.run(t.Context(), append([]string{"run", "x"}, flags...)...)
		exits(t, exit, 0, note)
		if sub.Approve != "plan" || *approved != 0 || !strings.Contains(s.line.asked(), "job.cancel job.discard") {
			t.Errorf("handed in %+v, asked %s", sub, s.line.asked())
		}
		if len(flags) == 1 {
			has(t, out, "1. Draw the card")
			continue
		}
		lines := jsonLines(t, out)
		if last := lines[len(lines)-1]; last["kind"] != "run.plan" || len(last["tasks"].([]any)) != 2 {
			t.Errorf("%v", last)
		}
	}
}

func TestWhatIsAskedDependsOnWhoIsThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		terminal bool
		flags    []string
		approve  string
		attended bool
	}{
		{"a terminal", true, nil, "plan", true},
		{"a terminal without input", true, []string{"--no-input"}, "never", false},
		{"a terminal and a program", true, []string{"--json"}, "never", true},
		{"detached from a terminal", true, []string{"--detach"}, "never", true},
		{"off a terminal", false, nil, "never", false},
		{"off a terminal, asked for", false, []string{"--approve=plan"}, "plan", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, sub, _ := planning(t)
			l.on("job.submit", func(body []byte) (any, error) {
				return nil, json.Unmarshal(body, sub)
			})
			(&scene{line: l, daemon: true, terminal: c.terminal, stdin: "y\n"}).run(t.Context(), append([]string{"run", "x", "--timeout", "1ns"}, c.flags...)...)
			if sub.Approve != c.approve || sub.Attended != c.attended {
				t.Errorf("handed in %+v", sub)
			}
		})
	}
}

// A plan that is printed for the editor is read back as the same plan.
func TestAnEditedPlanSurvivesTheEditor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,8}`)
		text := rapid.SampledFrom([]string{"one", "a \"b\" // c", "line\nline", "back\\slash", "{[,]}", "é幅 <b>&", "// x\n,]"})
		var plan protocol.PlanDoc
		plan.Summary = text.Draw(t, "summary")
		plan.Tasks = []protocol.PlanTask{}
		ids := rapid.SliceOfNDistinct(word, 1, 5, rapid.ID[string]).Draw(t, "ids")
		for i, id := range ids {
			task := protocol.PlanTask{
				ID: id, Title: text.Draw(t, "title"), Instructions: text.Draw(t, "instructions"), Difficulty: rapid.SampledFrom([]job.Difficulty{job.Easy, job.Hard}).Draw(t, "difficulty"),
				Vision: rapid.Bool().Draw(t, "vision"), Use: rapid.SampledFrom([]string{"", "far/plan"}).Draw(t, "use"), DependsOn: ids[:i:i],
			}
			if rapid.Bool().Draw(t, "checks") {
				task.Checks = []string{text.Draw(t, "check")}
			}
			plan.Tasks = append(plan.Tasks, task)
		}
		shown := plan
		shown.Tasks = append([]protocol.PlanTask{}, plan.Tasks...)
		shown.Tasks[0].Model, shown.Tasks[0].Reason = "here/eyes", "because // of \"that\""
		got, err := readPlan(withoutFaults(withFaults(planText(shown), []string{"a fault"})))
		if err != nil {
			t.Fatalf("%v\n%s", err, planText(shown))
		}
		for i := range got.Tasks {
			if len(got.Tasks[i].DependsOn) == 0 {
				got.Tasks[i].DependsOn = plan.Tasks[i].DependsOn
			}
		}
		if diff := cmp.Diff(&plan, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestFaultsOfAPlanNameTheirLine(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"{\n\"tasks\": [\n}":                 "line 3: ",
		"{\n\"tasks\": [],\n\"nosuch\": 1}":  `unknown field "nosuch"`,
		"{\n\"tasks\": 7}":                   "line 2: ",
		"{\"tasks\": [":                      "it ends too early",
		"{\"tasks\": []} {}":                 "there is something behind the plan",
		"{\"tasks\": []}":                    "the plan has no tasks",
		"{\"tasks\": [{\"id\": \"a b\",},]}": "task id \"a b\" must be one short word",
	} {
		if _, err := readPlan(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadPlan(f *testing.F) {
	f.Add(planText(thePlan()))
	f.Add("{ // x\n\"a\": \"\\\"//\", }")
	f.Fuzz(func(t *testing.T, text string) {
		if got := stripComments(text); len(got) != len(text) || strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q: what is left must stand where it stood", text, got)
		}
		_, _ = readPlan(text) // it may refuse, but must not fall over
	})
}
