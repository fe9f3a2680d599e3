package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// plan asks the Primary for a plan until one keeps the rules, at most planTries
// times; every fault of a plan goes back at once. It runs outside the turn.
func (r *run) plan(ctx context.Context) error {
	r.mu.Lock()
	sub := r.state.Submitted
	r.mu.Unlock()
	ctx, done := r.call(ctx, planningCall)
	defer done()
	view, err := r.look(ctx, sub)
	if err != nil {
		return err
	}
	call, rules, err := r.planCall(ctx, sub, view)
	if err != nil {
		return r.planFailed(ctx, "", err.Error())
	}
	for try := 1; ; try++ {
		answer, err := r.o.Models.Call(ctx, call)
		if err != nil {
			return r.planStopped(ctx, err)
		}
		summary, tasks, faults := readPlan(answer.Response, rules)
		if len(faults) == 0 {
			return r.planned(ctx, summary, tasks, rules)
		}
		words := strings.Join(faults, "; ")
		if try == planTries {
			return r.planFailed(ctx, "", fmt.Sprintf("the Primary submitted %d plans that break the rules; the last one: %s", try, words))
		}
		if err := r.do(context.WithoutCancel(ctx), func(t *turn) error {
			if t.state.Status == job.Planning {
				t.notice("warn", "the plan goes back to the Primary: %s", words)
			}
			return nil
		}); err != nil {
			return err
		}
		call.Request.Messages = append(call.Request.Messages, answer.Message, faultsBack(answer.Message, faults))
	}
}

func (r *run) look(ctx context.Context, sub job.Submitted) (View, error) {
	repo, err := r.o.Repos.Open(ctx, sub.Repo)
	if err != nil {
		return View{}, err
	}
	return repo.Look(ctx, sub.Base)
}

// planCall builds the Primary's request: curated context, one tool, no files.
func (r *run) planCall(_ context.Context, sub job.Submitted, view View) (traffic.Call, job.PlanRules, error) {
	chain := r.rules.Planning
	if len(chain) == 0 {
		chain = []catalog.Ref{r.rules.Primary}
	}
	if sub.Private {
		chain = slices.DeleteFunc(slices.Clone(chain), func(ref catalog.Ref) bool {
			m, ok := r.rules.Book.Model(ref)
			return !ok || !m.Private
		})
		if len(chain) == 0 {
			return traffic.Call{}, job.PlanRules{}, errors.New("the job is private, but no planning model is on your own machines: set primary or routes.planning to one that is")
		}
	}
	primary, ok := r.rules.Book.Model(chain[0])
	if !ok {
		return traffic.Call{}, job.PlanRules{}, fmt.Errorf("the Primary %s is not in the config", chain[0])
	}
	brief := prompt.PlanBrief{Text: r.planText(sub), Shown: primary.MayShow(), RepoMap: view.Map, Project: view.Project, MaxTasks: r.rules.MaxTasks}
	var pictures []provider.Part
	for _, img := range sub.Images {
		a := prompt.Attachment{Name: img.Path, Path: img.WorkspacePath(), Bytes: img.Bytes}
		if p, ok := r.attachment(img); ok {
			a.Size = vision.Size{Width: p.Width, Height: p.Height}
			pictures = append(pictures, provider.Show(p)) // a Primary that cannot see gets words in its place
		}
		brief.Attachments = append(brief.Attachments, a)
	}
	for _, rung := range r.rules.ladder() {
		m := rung.Models[0]
		brief.Rungs = append(brief.Rungs, prompt.Rung{Model: string(m.Ref), Difficulty: string(rung.Difficulty), Sight: vision.Answer{Sight: m.Eyes(), Source: m.Sight.Source}, Tools: m.Tools})
	}
	system, first := prompt.Primary(brief)
	call := traffic.Call{
		Job: r.id, Traffic: job.TrafficPlanning, Chain: chain, Budget: r.budget(sub), Private: sub.Private, Rules: r.rules.Pictures,
		Request: provider.Request{
			System: system, MaxTokens: planTokens, Tools: []provider.ToolSpec{prompt.SubmitPlan()},
			Messages: []provider.Message{{Role: provider.RoleUser, Parts: append([]provider.Part{provider.Text(first)}, pictures...)}},
		},
	}
	return call, job.PlanRules{MaxTasks: r.rules.MaxTasks, Image: imageResolver(sub, view)}, nil
}

// planText is the job's text with what the person said to it since.
func (r *run) planText(sub job.Submitted) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := []string{sub.Text}
	for _, s := range r.state.Said {
		parts = append(parts, "The person adds: "+s.Text)
	}
	return strings.Join(parts, "\n\n")
}

// attachment gives the prepared picture of an attachment; false when it cannot
// be shown, and the words are then all there is.
func (r *run) attachment(img job.Image) (provider.Picture, bool) {
	if r.o.Prepare == nil || img.SHA256 == "" {
		return provider.Picture{}, false
	}
	data, err := r.o.Album.Blob(img.SHA256)
	if err != nil {
		return provider.Picture{}, false
	}
	p, meta, err := r.o.Prepare(data, img.Path, r.rules.MaxEdge, r.rules.Never)
	if err != nil {
		r.o.Log.Warn().Str("job", r.id).Str("picture", img.Path).Err(err).Msg("an attachment cannot be shown")
		return provider.Picture{}, false
	}
	if _, err := r.o.Album.PutBlob(p.Bytes); err != nil {
		return provider.Picture{}, false
	}
	p.Bytes = nil
	return provider.Picture{Picture: p, View: vision.View{ID: "plan:" + img.Path, Path: img.WorkspacePath(), Role: vision.Reference, Source: meta.Source}}, true
}

// imageResolver finds what a plan names: an attachment by its name or path, or
// a file of the base.
func imageResolver(sub job.Submitted, view View) func(string) (job.Image, bool) {
	return func(name string) (job.Image, bool) {
		for _, img := range sub.Images {
			if name == img.Path || name == img.WorkspacePath() {
				return img, true
			}
		}
		if view.Exists(name) {
			return job.Image{Path: name}, true
		}
		return job.Image{}, false
	}
}

// readPlan finds the submitted plan in an answer and names all its faults.
func readPlan(resp provider.Response, rules job.PlanRules) (string, []job.PlannedTask, []string) {
	for _, p := range resp.Message.Parts {
		if p.Call == nil || p.Call.Name != prompt.SubmitPlan().Name {
			continue
		}
		plan, faults := prompt.DecodePlan(p.Call.Args)
		if len(plan.Tasks) == 0 && len(faults) > 0 {
			return "", nil, faults
		}
		var tasks []job.PlannedTask
		for _, x := range plan.Tasks {
			tasks = append(tasks, job.PlannedTask{
				ID: x.ID, Title: x.Title, Instructions: x.Instructions, Difficulty: job.Difficulty(x.Difficulty), Vision: x.Vision,
				Images: x.Images, DependsOn: x.DependsOn, Files: x.Files, Checks: x.Checks,
			})
		}
		return plan.Summary, tasks, append(faults, job.CheckPlan(tasks, rules)...)
	}
	return "", nil, []string{"no plan was submitted: call submit_plan with the tasks"}
}

// faultsBack answers every call of the Primary's message, or speaks as the user
// when there was none.
func faultsBack(m provider.Message, faults []string) provider.Message {
	words := prompt.PlanFaults(faults)
	back := provider.Message{Role: provider.RoleTool}
	for _, p := range m.Parts {
		if p.Call != nil {
			back.Parts = append(back.Parts, provider.Part{
				Kind:   provider.PartResult,
				Result: &provider.Result{ID: p.Call.ID, Name: p.Call.Name, Text: words, IsError: true},
			})
		}
	}
	if len(back.Parts) == 0 {
		return provider.Message{Role: provider.RoleUser, Parts: []provider.Part{provider.Text(words)}}
	}
	return back
}

// planned puts the plan into the record and starts the job, or lets it wait for
// the person. A plan that comes while the job is paused is kept for later.
func (r *run) planned(ctx context.Context, summary string, tasks []job.PlannedTask, rules job.PlanRules) error {
	return r.do(context.WithoutCancel(ctx), func(t *turn) error {
		paused := t.state.Status == job.Paused && t.state.PausedFrom == job.Planning
		if (t.state.Status != job.Planning && !paused) || len(t.state.Order) > 0 {
			return nil // cancelled meanwhile
		}
		t.emit(job.Event{Kind: job.KindPlanned, Body: &job.Planned{Tasks: len(tasks), Summary: summary}})
		t.addPlanned(tasks, rules)
		if !paused {
			t.begin()
		}
		return nil
	})
}

// begin starts the plan that is there, or asks the person first.
func (t *turn) begin() {
	if t.state.Approve == approvePlan {
		t.moveJob(job.JobAsk, "")
		return
	}
	t.moveJob(job.JobPlan, "")
}

// addPlanned adds the tasks of a plan.
func (t *turn) addPlanned(tasks []job.PlannedTask, rules job.PlanRules) {
	ids := map[string]string{}
	for _, p := range tasks {
		ids[p.ID] = job.NewID()
	}
	for _, p := range tasks {
		add := job.Added{
			ID: ids[p.ID], Key: p.ID, Title: p.Title, Instructions: p.Instructions, TaskKind: job.Work,
			Difficulty: p.Difficulty, Vision: p.Vision, Files: p.Files, Checks: p.Checks,
		}
		for _, name := range p.Images {
			img, _ := rules.Image(name) // checked before
			add.Images = append(add.Images, img)
		}
		for _, d := range p.DependsOn {
			add.DependsOn = append(add.DependsOn, ids[d])
		}
		t.emit(job.Event{Kind: job.KindTaskAdded, Task: add.ID, Body: &add})
	}
}

func (r *run) planFailed(ctx context.Context, code, words string) error {
	return r.do(context.WithoutCancel(ctx), func(t *turn) error {
		if t.state.Status == job.Planning {
			t.endJob(job.JobFail, words, code)
		}
		return nil
	})
}

// planStopped decides what a failed call means: the budget, the end of this
// process or a cancel, or a failure of the job.
func (r *run) planStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if b, ok := errors.AsType[*traffic.BudgetError](err); ok {
		return r.do(ctx, func(t *turn) error {
			if t.state.Status == job.Planning {
				t.endJob(job.JobStop, b.Words, "")
			}
			return nil
		})
	}
	if provider.Is(err, provider.KindKey) {
		return r.planFailed(ctx, job.CodeKey, err.Error())
	}
	return r.planFailed(ctx, "", "the Primary did not answer: "+err.Error())
}

// planningCall is the name under which the planner's calls can be hung up.
const planningCall = "planning"

// budget is the job's own bound with the config's.
func (r *run) budget(sub job.Submitted) ledger.Budget {
	b := r.rules.Budget
	if sub.Budget != nil {
		b.PerJob = sub.Budget
	}
	return b
}

// call makes a context that ends when the attempt's calls are hung up. It may
// be used outside a turn only.
func (r *run) call(ctx context.Context, attempt string) (context.Context, func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.callLocked(ctx, attempt)
}

func (r *run) callLocked(ctx context.Context, attempt string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if r.calls[attempt] == nil {
		r.calls[attempt] = map[int]context.CancelFunc{}
	}
	id := r.nextCall
	r.nextCall++
	r.calls[attempt][id] = cancel
	return ctx, func() {
		cancel()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.calls[attempt], id)
		if len(r.calls[attempt]) == 0 {
			delete(r.calls, attempt)
		}
	}
}

// hangUp ends the calls of an attempt; called inside a turn.
func (r *run) hangUp(attempt string) {
	for _, cancel := range r.calls[attempt] {
		cancel()
	}
}
