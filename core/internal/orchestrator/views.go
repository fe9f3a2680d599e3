package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/routing"
)

// List gives the jobs, newest first.
func (o *Orchestrator) List(ctx context.Context) (protocol.JobList, error) {
	entries, err := o.Journal.Jobs(ctx)
	if err != nil {
		return protocol.JobList{}, err
	}
	out := protocol.JobList{Jobs: []protocol.JobLine{}}
	for _, e := range entries {
		out.Jobs = append(out.Jobs, o.line(ctx, e))
	}
	return out, nil
}

// line is a job's row as it was committed with its last event. A job of an older
// version has none yet: it is read once and gets one.
func (o *Orchestrator) line(ctx context.Context, e record.Entry) protocol.JobLine {
	var line protocol.JobLine
	if len(e.Line) > 0 && json.Unmarshal(e.Line, &line) == nil {
		return line
	}
	r, err := o.run(ctx, e.ID)
	if err != nil {
		return protocol.JobLine{ID: e.ID, Title: e.Title, Status: e.Status, Fault: err.Error()}
	}
	r.mu.Lock()
	line = lineOf(r.state)
	r.mu.Unlock()
	b := record.Batch{Job: e.ID, Status: line.Status, Title: line.Title, Line: raw(line)}
	if err := o.Journal.Commit(ctx, b); err != nil {
		o.Log.Debug().Str("job", e.ID).Err(err).Msg("the row of a job was not kept")
	}
	return line
}

func lineOf(j *job.Job) protocol.JobLine {
	line := protocol.JobLine{ID: j.ID, Title: j.Title, Status: j.Status, Cost: j.Cost.USD()}
	for _, t := range j.Tasks {
		if t.Kind() != job.Work {
			continue
		}
		line.Tasks++
		if t.Status == job.TaskAccepted {
			line.Done++
		}
		if t.Merged != "" {
			line.Branch = branchOf(j.ID)
		}
	}
	return line
}

// lastRef means the newest job.
const lastRef = "@last"

// Resolve finds the job or task that a reference means.
func (o *Orchestrator) Resolve(ctx context.Context, ref string) (protocol.Resolved, error) {
	jobRef, key, hasKey := strings.Cut(ref, "/")
	if jobRef == lastRef {
		entries, err := o.Journal.Jobs(ctx)
		if err != nil {
			return protocol.Resolved{}, err
		}
		if len(entries) == 0 {
			return protocol.Resolved{}, notFound(ref)
		}
		if jobRef = entries[0].ID; !hasKey {
			return protocol.Resolved{Job: jobRef}, nil
		}
	}
	found, err := o.find(ctx, jobRef, key, hasKey)
	if err != nil {
		return protocol.Resolved{}, err
	}
	switch len(found) {
	case 0:
		return protocol.Resolved{}, notFound(ref)
	case 1:
		return protocol.Resolved{Job: found[0].Job, Task: found[0].Task}, nil
	}
	return protocol.Resolved{}, &protocol.Error{
		Code:    protocol.CodeAmbiguous,
		Message: fmt.Sprintf("%q means more than one job or task", ref), Hint: "give more of the id",
	}
}

func (o *Orchestrator) find(ctx context.Context, ref, key string, hasKey bool) ([]record.Found, error) {
	if hasKey {
		return o.Journal.FindKey(ctx, ref, key)
	}
	return o.Journal.Find(ctx, ref, 2)
}

// Events gives a page of a job's events.
func (o *Orchestrator) Events(ctx context.Context, q protocol.EventsQuery) (protocol.EventPage, error) {
	const most = 2000 // some 1 MB of JSON; the message limit is 8 MiB
	limit := q.Limit
	if limit <= 0 || limit > most {
		limit = most
	}
	events, err := o.Journal.Events(ctx, q.Job, q.After, limit+1)
	if err != nil {
		return protocol.EventPage{}, err
	}
	if len(events) == 0 && q.After == 0 {
		return protocol.EventPage{}, notFound(q.Job)
	}
	more := len(events) > limit
	return protocol.EventPage{Events: events[:min(limit, len(events))], More: more}, nil
}

// Show gives a job, whole.
func (o *Orchestrator) Show(ctx context.Context, id string) (protocol.JobDoc, error) {
	r, err := o.run(ctx, id)
	if err != nil {
		return protocol.JobDoc{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.state
	doc := protocol.JobDoc{
		ID: r.id, Title: j.Title, Text: j.Text, Status: j.Status, Reason: j.Reason, Repo: j.Repo, Base: j.Base, Budget: j.Budget,
		Cost: j.Cost.USD(), KnownCost: j.Cost.Known, Unpriced: j.Cost.Unknown, Requests: j.Cost.Requests, Summary: j.Summary, Seq: j.Seq,
		Notices: j.Notices, Attachments: j.Images, At: j.At, End: j.End, Tasks: []protocol.TaskDoc{}, Approve: j.Approve,
	}
	if r.damage != nil {
		doc.Notices = append(slices.Clone(doc.Notices), job.Notice{Level: "error", Words: r.damage.Error()})
	}
	if j.End != nil {
		doc.NeedsEyes, doc.Branch = j.End.NeedsEyes, j.End.Branch
	}
	if j.Applied != nil {
		doc.BackupRef = j.Applied.BackupRef
	}
	for _, t := range j.List() {
		doc.Pausing = doc.Pausing || (j.Status == job.Paused && t.Status.Live())
		doc.Tasks = append(doc.Tasks, taskDoc(t))
		if t.Merged != "" {
			doc.Branch = branchOf(r.id)
		}
	}
	return doc, nil
}

func taskDoc(t *job.Task) protocol.TaskDoc {
	d := protocol.TaskDoc{
		ID: t.ID, Key: t.Key, Title: t.Title, Kind: t.Kind(), Difficulty: t.Difficulty, Vision: t.Vision, Status: t.Status, Reason: t.Reason,
		Model: t.Model, Sight: t.Sight, Reasons: t.Reasons, Escalated: t.Escalated, DependsOn: t.DependsOn, ReviewOf: t.ReviewOf, Images: t.Images,
		Merged: t.Merged, Waiting: t.Waiting, Verdicts: t.Verdicts, Checks: t.Checks,
		Question: t.Question, Continues: t.Continues() != nil, Chosen: t.Chosen,
	}
	for _, s := range t.Said {
		d.Said = append(d.Said, protocol.Words{ID: s.ID, Text: s.Text})
	}
	for _, a := range t.Attempts {
		d.Attempts = append(d.Attempts, protocol.AttemptDoc{
			ID: a.ID, Number: a.Number, Worker: a.Worker, Model: a.Model, Epoch: a.Epoch, Cost: a.Cost.USD(), Step: a.LastStep,
			Result: a.End, Looks: slices.Clone(a.Looks), Checks: slices.Clone(a.Checks),
			Trace: a.Trace, From: a.From,
		})
	}
	return d
}

// Why explains a task: its model, its attempts, its looks, its state.
func (o *Orchestrator) Why(ctx context.Context, ref protocol.Resolved) (protocol.WhyList, error) {
	out := protocol.WhyList{Tasks: []protocol.WhyDoc{}}
	doc, err := o.Show(ctx, ref.Job)
	if err != nil {
		return out, err
	}
	for _, t := range doc.Tasks {
		if ref.Task != "" && t.ID != ref.Task {
			continue
		}
		out.Tasks = append(out.Tasks, protocol.WhyDoc{Job: doc.ID, Task: t.ID, Title: t.Title, Lines: whyLines(t)})
	}
	return out, nil
}

func whyLines(t protocol.TaskDoc) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if t.Model != "" {
		say("model: %s: %s", t.Model, routing.Words(t.Reasons))
	}
	for _, e := range t.Escalated {
		say("escalated from %s to %s: %s", e.From, e.To, e.Why)
	}
	for _, a := range t.Attempts {
		if a.Result == nil {
			say("attempt %d on %s by worker %s%s is under way", a.Number, a.Model, a.Worker, wentOn(a))
			continue
		}
		words := string(a.Result.Outcome)
		if a.Result.Reason != "" {
			words += ": " + a.Result.Reason
		}
		say("attempt %d on %s by worker %s%s: %s", a.Number, a.Model, a.Worker, wentOn(a), words)
		for note := range strings.Lines(a.Result.Notes) {
			say("  note: %s", strings.TrimSpace(note))
		}
		for _, l := range a.Looks {
			when := ""
			if l.AfterLastEdit {
				when = ", after the last edit"
			}
			say("  looked at %s (%s, %s%s) at %s", l.Path, l.Role, l.How, when, l.Place)
		}
	}
	for _, v := range t.Verdicts {
		say("review: %s %s", v.Verdict, v.Summary)
	}
	for _, w := range t.Said {
		say("you said: %s", w.Text)
	}
	if t.Question != "" {
		say("asks you: %s (relo say answers)", t.Question)
	}
	if t.Continues && !t.Status.Live() && !t.Status.Terminal() {
		say("the next attempt goes on from the last point")
	}
	if t.Waiting != nil && t.Status == job.TaskReady {
		say("waits for %s", t.Waiting.For)
		for _, w := range t.Waiting.Workers {
			say("  worker %s %s", w.Worker, w.Reason)
		}
	}
	state := string(t.Status)
	if t.Reason != "" {
		state += ": " + t.Reason
	}
	say("now: %s", state)
	return lines
}

func wentOn(a protocol.AttemptDoc) string {
	if a.From == "" {
		return ""
	}
	return ", from the last point on,"
}

// Diff gives what a job's branch changes, or what a task's last attempt did.
func (o *Orchestrator) Diff(ctx context.Context, ref protocol.Resolved) (protocol.DiffDoc, error) {
	r, err := o.run(ctx, ref.Job)
	if err != nil {
		return protocol.DiffDoc{}, err
	}
	r.mu.Lock()
	from, to, dir := r.state.Base, r.head(), r.state.Repo
	if task := r.state.Tasks[ref.Task]; task != nil {
		if a := task.Last(); a != nil && a.End.Commit != "" {
			from, to = a.End.Base, a.End.Commit
		} else {
			to = from
		}
	}
	r.mu.Unlock()
	repo, err := o.Repos.Open(ctx, dir)
	if err != nil {
		return protocol.DiffDoc{}, err
	}
	c, err := repo.Compare(ctx, from, to, diffForPerson)
	if err != nil {
		return protocol.DiffDoc{}, err
	}
	return protocol.DiffDoc{Job: ref.Job, Base: from, Commit: to, Files: c.Files, Diff: c.Diff, Truncated: c.Truncated}, nil
}

// Logs lists the attempts of a job or a task, with where their traces are.
func (o *Orchestrator) Logs(ctx context.Context, ref protocol.Resolved) (protocol.LogsDoc, error) {
	r, err := o.run(ctx, ref.Job)
	if err != nil {
		return protocol.LogsDoc{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	doc := protocol.LogsDoc{Job: ref.Job, Attempts: []protocol.LogLine{}}
	for _, task := range r.state.List() {
		if ref.Task != "" && task.ID != ref.Task {
			continue
		}
		for _, a := range task.Attempts {
			line := protocol.LogLine{
				Task: task.ID, Key: task.Key, Title: task.Title, Kind: task.Kind(), Attempt: a.ID, Number: a.Number, Worker: a.Worker, Model: a.Model, Trace: a.Trace,
			}
			if a.End != nil {
				line.Outcome, line.Reason = a.End.Outcome, a.End.Reason
			}
			doc.Attempts = append(doc.Attempts, line)
		}
	}
	return doc, nil
}

// Costs sums the ledger's rows by job, task, attempt, traffic and model.
func (o *Orchestrator) Costs(ctx context.Context, id string, days int) (protocol.CostsDoc, error) {
	since := time.Time{}
	if id == "" && days > 0 {
		since = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	}
	sums, err := o.Journal.Sums(ctx, id, since)
	if err != nil {
		return protocol.CostsDoc{}, err
	}
	return costsOf(sums), nil
}

func costsOf(sums []record.Sum) protocol.CostsDoc {
	doc := protocol.CostsDoc{Rows: []protocol.CostRow{}}
	unknown := false
	for _, s := range sums {
		doc.Rows = append(doc.Rows, protocol.CostRow{
			Job: s.Job, Task: s.Task, Attempt: s.Attempt, Traffic: s.Traffic, Model: string(s.Model), Requests: s.Requests,
			TokensIn: s.TokensIn, TokensOut: s.TokensOut, TokensCached: s.TokensCached, Pictures: s.Pictures, Cost: s.Cost,
		})
		doc.Known += s.Known
		unknown = unknown || s.Cost == nil
	}
	if !unknown {
		total := doc.Known
		doc.Total = &total
	}
	return doc
}
