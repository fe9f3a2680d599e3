package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// planHint says what to do about a plan that waits.
func (s *shell) planHint(id string) string { return s.hint("approve", id) + " shows the plan and asks" }

// planEvent is the last line of run --dry-run --json.
type planEvent struct {
	Kind string `json:"kind"`
	Job  string `json:"job"`
	protocol.PlanDoc
}

// decide is what happens when a plan waits: it is only shown, approved unasked,
// left to the person, or put to the person. again says that the job goes on.
func (s *shell) decide(ctx context.Context, l *link, v *view, how stay) (again bool, err error) {
	switch {
	case how.dry:
		return false, s.dryRun(ctx, l, v)
	case how.yes:
		if s.asks() {
			plan, err := l.Plan(ctx, v.id)
			if err != nil {
				return false, err
			}
			s.showPlan(s.note, plan)
		}
		_, err := l.Approve(ctx, v.id, nil)
		return err == nil, s.moved(ctx, l, v, err)
	case !s.asks():
		return false, &protocol.Error{
			Code: codeApproval, Message: "the plan waits for your approval", Hint: s.hint("approve", v.id) + " shows it and asks; --yes answers yes", Retryable: true,
		}
	}
	return s.askPlan(ctx, l, v)
}

// codeApproval is the code of an error: a plan waits, and nobody can be asked.
const codeApproval = "approval"

// dryRun shows the plan and gives the job up: nothing was done for it.
func (s *shell) dryRun(ctx context.Context, l *link, v *view) error {
	plan, err := l.Plan(ctx, v.id)
	if err != nil {
		return err
	}
	last := context.WithoutCancel(ctx)
	if _, err := l.Cancel(last, v.id, "only the plan was wanted"); err != nil {
		return fmt.Errorf("give the job of the plan up: %w", err)
	}
	if _, err := l.Discard(last, v.id, true); err != nil { // it holds nothing but its plan
		s.note.line("note: the job %s is cancelled and stays in the list: %v", short(v.id), err)
	}
	if s.json {
		s.out.doc(planEvent{"run.plan", v.id, plan})
		return nil
	}
	s.showPlan(s.out, plan)
	s.note.line("this was the plan only; nothing was done")
	return nil
}

// askPlan shows the plan until the person lets it begin or does not want it.
func (s *shell) askPlan(ctx context.Context, l *link, v *view) (bool, error) {
	plan, err := l.Plan(ctx, v.id)
	if err != nil {
		return false, err
	}
	s.showPlan(s.note, plan)
	for {
		answer, err := s.ask(ctx, "Start? [y]es, [e]dit, [a]nother (say what), [n]o: ")
		if err != nil {
			return false, err
		}
		word, rest, _ := strings.Cut(answer, " ")
		switch strings.ToLower(word) {
		case "y", "yes":
			_, err := l.Approve(ctx, v.id, nil)
			return err == nil, s.moved(ctx, l, v, err)
		case "e", "edit":
			done, err := s.editPlan(ctx, l, v.id, plan)
			if err != nil || done {
				return done, s.moved(ctx, l, v, err)
			}
		case "a", "another":
			return s.another(ctx, l, v, rest)
		case "n", "no":
			_, err := l.Cancel(ctx, v.id, "you did not want the plan")
			return err == nil, s.moved(ctx, l, v, err)
		case "":
			s.note.loud("the plan waits; %s asks again", s.hint("approve", v.id))
			return false, ended(exitPerson)
		}
	}
}

// another has the job planned again with what the person says.
func (s *shell) another(ctx context.Context, l *link, v *view, words string) (bool, error) {
	var err error
	if strings.TrimSpace(words) == "" {
		if words, err = s.ask(ctx, "What should be different? "); err != nil {
			return false, err
		}
	}
	if words == "" {
		return true, nil // nothing was said: the plan is asked about again
	}
	if _, err := l.Say(ctx, v.id, words); err != nil {
		return false, err
	}
	return true, s.moved(ctx, l, v, nil)
}

// moved waits until the events say that the job left the approval, so that it
// is not asked about twice.
func (s *shell) moved(ctx context.Context, l *link, v *view, err error) error {
	if err != nil {
		return err
	}
	doc, err := l.Show(ctx, v.id)
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.until = max(v.until, doc.Seq, v.state.Seq+1)
	v.mu.Unlock()
	return nil
}

// showPlan prints what is planned: titles, what they ask for, who does them and why.
func (s *shell) showPlan(p *paper, plan protocol.PlanDoc) {
	p.loud("\n%s", because("Plan", plan.Summary))
	for i, t := range plan.Tasks {
		words := []string{string(t.Difficulty)}
		if t.Vision {
			words = append(words, "needs eyes")
		}
		if len(t.DependsOn) > 0 {
			words = append(words, "after "+strings.Join(t.DependsOn, ", "))
		}
		p.loud("  %d. %s  (%s; %s)", i+1, flat(t.Title, titleRunes), flat(t.ID, titleRunes), flat(strings.Join(words, ", "), lineRunes))
		if t.Model != "" {
			p.loud("     %s", because(t.Model, t.Reason))
		}
		for _, c := range t.Checks {
			p.loud("     check: %s", flat(c, lineRunes))
		}
	}
	p.loud("")
}

// editPlan has the person edit the plan until it is taken, or given up. It
// gives false when nothing was approved.
func (s *shell) editPlan(ctx context.Context, l *link, id string, plan protocol.PlanDoc) (bool, error) {
	text, faults := planText(plan), []string(nil)
	for {
		edited, err := s.editText(ctx, withFaults(text, faults))
		if err != nil {
			return false, err
		}
		text = withoutFaults(edited)
		if strings.TrimSpace(stripComments(text)) == "" {
			s.note.loud("the plan is empty: nothing was approved")
			return false, nil
		}
		changed, fault := readPlan(text)
		if fault == nil {
			_, err := l.Approve(ctx, id, changed)
			refusal, refused := errors.AsType[*protocol.Error](err)
			if err == nil || !refused || refusal.Code != protocol.CodeUsage {
				return err == nil, err
			}
			fault = err
		}
		faults = strings.Split(fault.Error(), "\n")
		s.note.loud("the plan has faults:")
		for _, f := range faults {
			s.note.loud("  %s", f)
		}
		answer, err := s.ask(ctx, "Edit it again? [Y]es, [n]o: ")
		if err != nil {
			return false, err
		}
		if strings.HasPrefix(strings.ToLower(answer), "n") {
			return false, nil
		}
	}
}

// readPlan reads an edited plan; its error names every fault, one a line.
func readPlan(text string) (*protocol.PlanDoc, error) {
	var plan protocol.PlanDoc
	if err := readCommented(text, &plan); err != nil {
		return nil, err
	}
	var tasks []job.PlannedTask
	for i, t := range plan.Tasks {
		plan.Tasks[i].Model, plan.Tasks[i].Reason = "", "" // what Relo would choose is not read back
		tasks = append(tasks, job.PlannedTask{
			ID: t.ID, Title: t.Title, Instructions: t.Instructions, Difficulty: t.Difficulty, Vision: t.Vision, Images: t.Images,
			DependsOn: t.DependsOn, Files: t.Files, Checks: t.Checks,
		})
	}
	// Which pictures there are, and how many tasks a plan may have, is looked at
	// where the job is.
	rules := job.PlanRules{MaxTasks: maxTasks, Image: func(name string) (job.Image, bool) { return job.Image{Path: name}, true }}
	if faults := job.CheckPlan(tasks, rules); len(faults) > 0 {
		return nil, &usageError{words: strings.Join(faults, "\n")}
	}
	return &plan, nil
}

// maxTasks is more than any configuration allows.
const maxTasks = 1000
