package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/routing"
)

// Submit takes a new job. When it returns, the record has the job and nothing
// of it can be lost.
func (o *Orchestrator) Submit(ctx context.Context, s protocol.Submit) (protocol.Accepted, error) {
	rules, err := o.checkSubmit(ctx, s)
	if err != nil {
		return protocol.Accepted{}, err
	}
	if o.Solo && len(o.active()) > 0 {
		return protocol.Accepted{}, &protocol.Error{
			Code:    protocol.CodeNotReady,
			Message: "this process runs one job and ends with it", Hint: "relo daemon start takes several",
		}
	}
	repo, err := o.Repos.Open(ctx, s.Repo)
	if err != nil {
		return protocol.Accepted{}, err
	}
	id := job.NewID()
	base, err := repo.Snapshot(ctx, baseRef(id))
	if err != nil {
		return protocol.Accepted{}, err
	}
	body := &job.Submitted{
		Text: s.Text, Title: titleOf(s.Text), Repo: base.Root, Base: base.Commit, Head: base.Head, Dirty: base.Dirty,
		Chosen: s.Model, Budget: rules.Budget.PerJob, Private: s.Private, Approve: s.Approve,
		Attended: s.Attended,
	}
	if s.Budget != nil {
		body.Budget = s.Budget
	}
	for _, a := range s.Images {
		body.Images = append(body.Images, job.Image{Path: a.Name, SHA256: a.SHA256, Attachment: true, Bytes: a.Bytes})
	}
	r := newRun(o, id, &job.Job{Tasks: map[string]*job.Task{}, ID: id}, rules)
	r.conducted.Store(!o.Idle)
	o.mu.Lock()
	o.runs[id] = r
	o.mu.Unlock()
	err = r.do(ctx, func(t *turn) error {
		t.emit(job.Event{Kind: job.KindSubmitted, Body: body})
		for _, words := range base.Notes {
			t.notice("info", "%s", words)
		}
		return nil
	})
	if err != nil {
		o.mu.Lock()
		delete(o.runs, id)
		o.mu.Unlock()
		return protocol.Accepted{}, err
	}
	return protocol.Accepted{Job: id}, nil
}

func usage(code, hint, format string, args ...any) error {
	return &protocol.Error{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// checkSubmit holds a job against the rules of its folder, and gives these.
func (o *Orchestrator) checkSubmit(ctx context.Context, s protocol.Submit) (Rules, error) {
	if strings.TrimSpace(s.Text) == "" {
		return Rules{}, usage(protocol.CodeUsage, `relo run "what should be done"`, "the job has no text")
	}
	if info, err := os.Stat(s.Repo); err != nil || !info.IsDir() {
		return Rules{}, usage(protocol.CodeUsage, "give a folder with --repo", "%s is not a folder", s.Repo)
	}
	rules, err := o.Rules(ctx, s.Repo)
	if err != nil {
		return Rules{}, err
	}
	if len(rules.Ladder) == 0 || rules.Primary == "" {
		return Rules{}, usage(protocol.CodeConfig, "relo config init proposes them; relo demo needs none", "no models are configured: set providers, ladder and primary")
	}
	if !rules.canAct() {
		return Rules{}, usage(protocol.CodeConfig, "name a model that calls tools, or take \"tools\": false out where it is wrong; relo models shows what is known",
			"no model of the ladder can call tools, so no agent could do anything")
	}
	return rules, errors.Join(rules.checkModel(s), o.checkImages(s, rules))
}

// canAct reports whether any model of the ladder can call tools.
func (o *Rules) canAct() bool {
	return slices.ContainsFunc(o.ladder(), func(r routing.Rung) bool {
		return slices.ContainsFunc(r.Models, func(m catalog.Model) bool { return m.Tools })
	})
}

func (o *Rules) checkModel(s protocol.Submit) error {
	if err := o.allows(s.Model, s.Private, "leave out --private, or choose a model on your own machines"); err != nil {
		return err
	}
	if err := checkBudget(s.Budget); err != nil {
		return err
	}
	if unknown := o.unpriced(s.Model); o.AskUnknown && !s.AllowUnknown && len(unknown) > 0 {
		return usage(protocol.CodeUnknown, "pass --yes, set the model's price in the config, or budget.unknownPrice to allow",
			"the price of %s is not known, so the budget cannot hold it", strings.Join(unknown, ", "))
	}
	return nil
}

// allows holds a model that the person set ("" for none) against the config, and
// against the job's wish to stay private; hint says what helps with the latter.
func (o *Rules) allows(model string, private bool, hint string) error {
	if model == "" {
		return nil
	}
	m, ok := o.Book.Model(catalog.Ref(model))
	switch {
	case !ok:
		return usage(protocol.CodeUsage, "relo models lists them", "model %q is not in the config", model)
	case private && !m.Private:
		return usage(protocol.CodeUsage, hint, "the job is to be private, but %s is not on your own machines", model)
	}
	return nil
}

func (o *Orchestrator) checkImages(s protocol.Submit, rules Rules) error {
	for _, a := range s.Images {
		if a.Name == "" || strings.ContainsAny(a.Name, "/\\\x00") || a.Name == ".." || a.Name == "." {
			return usage(protocol.CodeUsage, "", "attachment name %q is not a plain file name", a.Name)
		}
		data, err := o.Album.Blob(a.SHA256)
		if err != nil {
			return usage(protocol.CodeMissing, "", "attachment %s was not sent: %v", a.Name, err)
		}
		if o.Prepare == nil {
			continue
		}
		if _, _, err := o.Prepare(data, a.Name, rules.MaxEdge, rules.Never); err != nil {
			return usage(protocol.CodeUsage, "relo image shows what would be sent of a picture", "attachment %s cannot be shown: %v", a.Name, err)
		}
	}
	return nil
}

// unpriced lists the models of the ladder (or the chosen one) that cost an
// unknown sum. A private model costs nothing that Relo could count.
func (o *Rules) unpriced(chosen string) []string {
	var out []string
	add := func(m catalog.Model) {
		if !m.Price.Known() && !m.Private {
			out = append(out, string(m.Ref))
		}
	}
	for _, rung := range o.ladder() {
		for _, m := range rung.Models {
			add(m)
		}
	}
	if m, ok := o.Book.Model(catalog.Ref(chosen)); ok && chosen != "" {
		add(m)
	}
	return out
}

func titleOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > titleRunes {
		return string(r[:titleRunes-1]) + "…"
	}
	return line
}

// Workers lists those heard of lately.
func (o *Orchestrator) Workers() []protocol.WorkerDoc {
	return o.crew.list(time.Now(), workerGone*o.Lease)
}
