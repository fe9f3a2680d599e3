package orchestrator

import (
	"context"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/routing"
)

// approvePlan is the Approve of a job whose plan the person wants to see first.
const approvePlan = "plan"

// Plan gives the plan of a job as a person reads and edits it, each task with the
// model that it has or would get now.
func (o *Orchestrator) Plan(ctx context.Context, id string) (protocol.PlanDoc, error) {
	r, err := o.run(ctx, id)
	if err != nil {
		return protocol.PlanDoc{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	doc := protocol.PlanDoc{Summary: r.state.Summary, Tasks: []protocol.PlanTask{}}
	for _, task := range r.state.List() {
		if task.Kind() != job.Work {
			continue
		}
		p := protocol.PlanTask{
			ID: task.Key, Title: task.Title, Instructions: task.Instructions, Difficulty: task.Difficulty, Vision: task.Vision,
			Files: task.Files, Checks: task.Checks, Use: task.Chosen, Model: task.Model, Reason: routing.Words(task.Reasons),
		}
		for _, img := range task.Images {
			p.Images = append(p.Images, img.WorkspacePath())
		}
		for _, dep := range task.DependsOn {
			p.DependsOn = append(p.DependsOn, r.state.Tasks[dep].Key)
		}
		if choice := r.preview(task); task.Model == "" && choice.OK {
			p.Model, p.Reason = string(choice.Model.Ref), choice.Words()
		}
		doc.Tasks = append(doc.Tasks, p)
	}
	return doc, nil
}

// preview is the route that a task would get now.
func (r *run) preview(task *job.Task) routing.Choice {
	for _, ref := range []string{task.Chosen, r.state.Chosen} {
		if m, ok := r.rules.Book.Model(catalog.Ref(ref)); ok && ref != "" {
			return routing.Chosen(m)
		}
	}
	if len(r.rules.Ladder) == 0 {
		return routing.Choice{}
	}
	return r.rules.ladder().Pick(task.Difficulty, r.needOf(task))
}

// Approve lets a plan that waits begin; an edited one takes its place first, and
// all its faults are named at once.
func (o *Orchestrator) Approve(ctx context.Context, id string, plan *protocol.PlanDoc) error {
	r, err := o.run(ctx, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	state, sub := r.state.Status, r.state.Submitted
	r.mu.Unlock()
	if state != job.AwaitingApproval {
		return &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job is %s; no plan waits for approval", state), Hint: "relo show " + short(id)}
	}
	if err := r.takeOver(ctx); err != nil {
		return err
	}
	var tasks []job.PlannedTask
	var rules job.PlanRules
	if plan != nil {
		view, err := r.look(ctx, sub)
		if err != nil {
			return err
		}
		rules = job.PlanRules{MaxTasks: r.rules.MaxTasks, Image: imageResolver(sub, view)}
		if tasks, err = r.edited(*plan, rules); err != nil {
			return err
		}
	}
	return r.do(ctx, func(t *turn) error {
		if t.state.Status != job.AwaitingApproval {
			return &protocol.Error{Code: protocol.CodeNotReady, Message: fmt.Sprintf("the job is %s by now", t.state.Status), Hint: "relo show " + short(id)}
		}
		if plan != nil {
			t.emit(job.Event{Kind: job.KindPlanned, Body: &job.Planned{Tasks: len(tasks), Summary: plan.Summary, Edited: true}})
			t.addPlanned(tasks, rules)
			for i, task := range t.state.List() {
				if use := plan.Tasks[i].Use; use != "" {
					t.emit(job.Event{Kind: job.KindChosen, Task: task.ID, Body: &job.ChosenBody{Chosen: use}})
				}
			}
		}
		t.moveJob(job.JobApprove, "you approved the plan")
		return nil
	})
}

// edited turns a person's plan into tasks, or names every fault of it.
func (r *run) edited(plan protocol.PlanDoc, rules job.PlanRules) ([]job.PlannedTask, error) {
	var tasks []job.PlannedTask
	var faults []string
	for _, p := range plan.Tasks {
		tasks = append(tasks, job.PlannedTask{
			ID: p.ID, Title: p.Title, Instructions: p.Instructions, Difficulty: p.Difficulty, Vision: p.Vision,
			Images: p.Images, DependsOn: p.DependsOn, Files: p.Files, Checks: p.Checks,
		})
		if err := r.checkChosen(p.Use); err != nil {
			faults = append(faults, fmt.Sprintf("task %s: use: %v", p.ID, err))
		}
	}
	if faults = append(faults, job.CheckPlan(tasks, rules)...); len(faults) > 0 {
		return nil, &protocol.Error{Code: protocol.CodeUsage, Message: "the edited plan has faults: " + strings.Join(faults, "; "), Hint: "the job still waits with the plan that it had"}
	}
	return tasks, nil
}
