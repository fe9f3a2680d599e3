package orchestrator

import (
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/routing"
)

// routed is a decision that was told, for the attempt that comes next.
type routed struct {
	attempts int // how many the task had when it was made
	choice   routing.Choice
}

// dispatch gives a ready task a model and, when one is free, a worker: the lease
// is granted by the record in the same commit that puts the task into the outbox.
func (t *turn) dispatch(task *job.Task) {
	choice := t.route(task)
	if t.err != nil {
		return
	}
	if !choice.OK {
		t.move(task, job.MoveFail, choice.Words())
		return
	}
	attempt := job.NewID()
	prefer := ""
	if a := task.Continues(); a != nil {
		prefer = a.Worker
	}
	worker, why := t.o.crew.take(attempt, t.now, t.o.Lease, prefer)
	if worker == "" {
		t.waiting(task, why)
		return
	}
	lease := record.Lease{Task: task.ID, Job: t.id, Attempt: attempt, Worker: worker, Epoch: task.Epoch + 1}
	to, err := job.Next(task.Status, job.MoveDispatch)
	if err != nil {
		t.err = err
		return
	}
	t.undo = append(t.undo, func() { t.o.crew.release(worker, attempt) })
	t.emit(job.Event{
		Kind: job.KindTaskStatus, Task: task.ID, Attempt: attempt, Worker: worker, Model: string(choice.Model.Ref),
		Body: &job.StatusChange{From: string(task.Status), To: string(to), Epoch: lease.Epoch},
	})
	t.batch.Grants = append(t.batch.Grants, lease)
	t.extend(attempt, t.o.Lease)
	t.post(task, lease, "first")
}

// post puts a task into the outbox; nonce keeps the broker from dropping a
// message that it lost before.
func (t *turn) post(task *job.Task, l record.Lease, nonce string) {
	t.posted[l.Attempt] = t.now
	t.batch.Outbox = append(t.batch.Outbox, record.Message{
		Subject: t.o.Subject(l.Worker), ID: l.Attempt + ":" + nonce,
		Payload: raw(protocol.Hold{Job: t.id, Task: task.ID, Attempt: l.Attempt, Worker: l.Worker, Epoch: l.Epoch}),
	})
}

// waiting tells once, and again when the reasons change, why a task waits.
func (t *turn) waiting(task *job.Task, why []job.WorkerReason) {
	body := &job.WaitingBody{For: "a free worker", Workers: why}
	if len(why) == 0 {
		body.For = "a worker: none has been heard of"
	}
	if task.Waiting != nil && task.Waiting.For == body.For {
		return
	}
	t.emit(job.Event{Kind: job.KindTaskWaiting, Task: task.ID, Body: body})
}

// route decides the model of the task's next attempt, once an attempt, and tells it.
func (t *turn) route(task *job.Task) routing.Choice {
	if have, ok := t.choices[task.ID]; ok && have.attempts == len(task.Attempts) {
		return have.choice
	}
	told := task.Model != "" && task.RoutedAt == len(task.Attempts) // before a restart
	choice := routing.Choice{}
	if told && task.Rung >= 0 && (task.Chosen == "" || task.Chosen == task.Model) {
		choice = t.sameAgain(task, t.needOf(task))
	} else {
		choice = t.choose(task)
	}
	t.choices[task.ID] = routed{len(task.Attempts), choice}
	if !choice.OK || (told && string(choice.Model.Ref) == task.Model && choice.Rung == task.Rung) {
		return choice
	}
	m := choice.Model
	if task.Model != "" && task.Model != string(m.Ref) && task.Tried() > 0 {
		t.emit(job.Event{
			Kind: job.KindEscalated, Task: task.ID, Model: string(m.Ref),
			Body: &job.Escalated{From: task.Model, To: string(m.Ref), Why: whyAgain(task)},
		})
	}
	t.emit(job.Event{
		Kind: job.KindRouted, Task: task.ID, Model: string(m.Ref),
		Body: &job.Routed{Rung: choice.Rung, Reasons: choice.Reasons, Sight: m.Sight.Sight, SightSource: m.Sight.Source},
	})
	return choice
}

// whyAgain says why the next attempt is due.
func whyAgain(task *job.Task) string {
	if a := lastEnded(task); a != nil && a.End.Outcome != job.Done {
		return a.End.Reason
	}
	return task.NeedsAgain
}

// fellShort reports whether the last attempt speaks against its model: one that
// was lost, was refused a key, or whose work was not found wanting does not.
func (r *run) fellShort(task *job.Task) bool {
	a := lastEnded(task)
	if a == nil || !a.Counted() || a.End.Code == job.CodeKey || a.End.Code == job.CodeWorkspace {
		return false
	}
	v := verdictOn(r.state, task, a)
	return a.End.Outcome != job.Done || (v != nil && v.Verdict != job.VerdictAccept)
}

// turnedBlind reports whether the last attempt was ended because its model does not see.
func (t *turn) turnedBlind(task *job.Task) bool {
	a := lastEnded(task)
	return a != nil && a.End.Code == job.CodeBlind
}

func (t *turn) choose(task *job.Task) routing.Choice {
	need := t.needOf(task)
	ladder := t.rules.ladder()
	if m, ok := t.rules.Book.Model(catalog.Ref(task.Chosen)); ok && task.Chosen != "" {
		return routing.Chosen(m)
	}
	if t.turnedBlind(task) && task.Kind() == job.Work {
		return ladder.Pick(task.Difficulty, need) // as if it came anew, with what is known of eyes now
	}
	if len(task.Attempts) > 0 && task.Rung >= 0 && !t.fellShort(task) && !t.turnedBlind(task) {
		return t.sameAgain(task, need)
	}
	switch task.Kind() { //nolint:exhaustive // work follows
	case job.Review:
		return t.chooseReviewer(task, need)
	case job.Debug:
		of := t.state.Tasks[task.ReviewOf]
		if of != nil && of.Rung >= 0 && task.Tried() == 0 && of.Model != "" {
			return ladder.Escalate(min(of.Rung, len(ladder)-1), need)
		}
	}
	if t.state.Chosen != "" && task.Kind() == job.Work {
		if m, ok := t.rules.Book.Model(catalog.Ref(t.state.Chosen)); ok {
			return routing.Chosen(m)
		}
	}
	if task.Model == "" {
		return ladder.Pick(task.Difficulty, need)
	}
	if len(task.Attempts) > 0 && task.Rung >= 0 {
		return ladder.Escalate(min(task.Rung, len(ladder)-1), need)
	}
	return t.sameAgain(task, need)
}

// sameAgain routes an attempt that follows one which says nothing against its
// model: the model it had, with its reasons.
func (t *turn) sameAgain(task *job.Task, need routing.Need) routing.Choice {
	m, ok := t.rules.Book.Model(catalog.Ref(task.Model))
	if !ok || task.Rung >= len(t.rules.Ladder) {
		return t.rules.ladder().Pick(task.Difficulty, need)
	}
	return t.rules.ladder().Keep(task.Rung, m, need, task.Reasons)
}

func (t *turn) chooseReviewer(task *job.Task, need routing.Need) routing.Choice {
	author, rung := catalog.Ref(""), len(t.rules.Ladder)-1
	if of := t.state.Tasks[task.ReviewOf]; of != nil {
		author, rung = catalog.Ref(of.Model), of.Rung
	}
	if len(t.rules.Review) > 0 && task.Tried() < len(t.rules.Review) { // each attempt the next of the route, then the ladder
		if c := routing.Via("reviews", t.models(t.rules.Review[task.Tried():]), need); c.OK {
			return c
		}
	}
	if task.Tried() > 0 && task.Rung >= 0 {
		return t.rules.ladder().Escalate(min(task.Rung, len(t.rules.Ladder)-1), need)
	}
	return t.rules.ladder().Reviewer(author, rung, need)
}

func (t *turn) models(refs []catalog.Ref) []catalog.Model {
	var out []catalog.Model
	for _, r := range refs {
		if m, ok := t.rules.Book.Model(r); ok {
			out = append(out, m)
		}
	}
	return out
}

// chainOf gives the models that may answer for a task's running attempt.
func (r *run) chainOf(task *job.Task) []catalog.Ref {
	choice := r.choices[task.ID].choice
	if len(choice.Chain) == 0 || string(choice.Model.Ref) != task.Model { // after a restart the choice is not at hand
		m, ok := r.rules.Book.Model(catalog.Ref(task.Model))
		if !ok {
			return []catalog.Ref{catalog.Ref(task.Model)}
		}
		choice = r.rules.ladder().Keep(task.Rung, m, r.needOf(task), nil)
	}
	refs := make([]catalog.Ref, len(choice.Chain))
	for i, m := range choice.Chain {
		refs[i] = m.Ref
	}
	return refs
}

// needOf is what a task asks of its model.
func (r *run) needOf(task *job.Task) routing.Need {
	return routing.Need{Vision: task.Vision, Tools: true, Private: r.state.Private}
}
