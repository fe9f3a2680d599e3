package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/screen"
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
	return s.askStart(ctx, l, v, plan)
}

// askStart asks about a plan that was shown.
func (s *shell) askStart(ctx context.Context, l *link, v *view, plan protocol.PlanDoc) (bool, error) {
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
			done, err := s.rework(ctx, l, v.id, plan)
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

// editPlan has the person edit the plan, and asks about it as it was when
// nothing came of that. It gives false when the plan still waits.
func (s *shell) editPlan(ctx context.Context, l *link, id string, plan protocol.PlanDoc) (bool, error) {
	done, err := s.rework(ctx, l, id, plan)
	if done || err != nil {
		return done, err
	}
	if !s.asks() {
		s.note.loud("the plan waits; %s asks about it", s.hint("approve", id))
		return false, nil
	}
	return s.askStart(ctx, l, newView(s, id), plan)
}

// rework has the person edit the plan until it is taken, or given up. It gives
// false when nothing was approved.
func (s *shell) rework(ctx context.Context, l *link, id string, plan protocol.PlanDoc) (bool, error) {
	first, faults := planText(plan), []string(nil)
	for text := first; ; {
		edited, err := s.editText(ctx, withFaults(text, faults))
		if err != nil {
			if ctx.Err() != nil {
				return false, err
			}
			s.note.loud("relo: %v; the plan of job %s waits, %s asks about it", err, short(id), s.hint("approve", id))
			return false, nil
		}
		text = withoutFaults(edited)
		switch {
		case strings.TrimSpace(text) == strings.TrimSpace(first):
			s.note.loud("nothing was changed")
			return false, nil
		case strings.TrimSpace(stripComments(text)) == "":
			s.note.loud("the plan is empty: nothing was approved")
			return false, nil
		}
		changed, fault := readPlan(text)
		if faults = nil; fault == nil {
			word, err := s.confirm(ctx, *changed)
			if err != nil || word == wordNo {
				return false, err
			}
			if word == wordEdit {
				continue
			}
			_, err = l.Approve(ctx, id, changed)
			refusal, refused := errors.AsType[*protocol.Error](err)
			if err == nil || !refused || refusal.Code != protocol.CodeUsage {
				return err == nil, err
			}
			fault = err
		}
		faults = strings.Split(fault.Error(), "\n")
		if again, err := s.editsAgain(ctx, faults); err != nil || !again {
			return false, err
		}
	}
}

// editsAgain says the faults of a plan and asks whether they are mended.
func (s *shell) editsAgain(ctx context.Context, faults []string) (bool, error) {
	s.note.loud("the plan has faults:")
	for _, f := range faults {
		s.note.loud("  %s", f)
	}
	word, err := s.pick(ctx, "Edit it again? [Y]es, [n]o: ", wordYes, wordNo)
	return word == wordYes, err
}

// confirm shows a changed plan and asks about it; --yes has answered. Where
// nobody can be asked it does not begin.
func (s *shell) confirm(ctx context.Context, changed protocol.PlanDoc) (string, error) {
	if s.yes {
		return wordYes, nil
	}
	if !s.asks() {
		s.note.loud("the changed plan was not taken: nobody can be asked about it here; --yes takes it unasked")
		return wordNo, nil
	}
	s.showPlan(s.note, changed)
	word, err := s.pick(ctx, "Start with this plan? [Y]es, [e]dit, [n]o: ", wordYes, wordEdit, wordNo)
	if err == nil && word == wordNo {
		s.note.loud("the plan stays as it was")
	}
	return word, err
}

// The answers to pick.
const (
	wordYes  = "yes"
	wordEdit = "edit"
	wordNo   = "no"
)

// pick asks until the answer is one of the words, or the beginning of one. An
// empty line is the first word, and the end of input is the last one.
func (s *shell) pick(ctx context.Context, question string, words ...string) (string, error) {
	for {
		s.note.raw(calm(question))
		line, err := screen.ReadLine(ctx, s.in)
		if errors.Is(err, io.EOF) {
			s.note.raw("\n")
			return words[len(words)-1], nil
		}
		if err != nil {
			return "", err
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, answer) }); i >= 0 {
			return words[i], nil
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
