package orchestrator

import (
	"context"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
)

// merge lays an accepted attempt on the job's branch. It may be run again after
// a crash at any point: a commit that is there already is found by its trailer.
func (r *run) merge(ctx context.Context, id string) error {
	select { // what is on the branch is written down in the order it was laid there: the last one is the head
	case r.merging <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.merging }()
	r.mu.Lock()
	task := r.state.Tasks[id]
	a := lastEnded(task)
	spec := MergeSpec{
		Branch: branchRef(r.id), Start: r.state.Base, Base: a.End.Base, Commit: a.End.Commit,
		Message: task.Title, Job: r.id, Task: task.Key, Attempt: a.ID,
	}
	due := task.Status == job.TaskReviewing
	dir := r.state.Repo
	r.mu.Unlock()
	if !due {
		return nil
	}
	repo, err := r.o.Repos.Open(ctx, dir)
	if err != nil {
		return err
	}
	merged, err := repo.Merge(ctx, spec)
	if err != nil {
		return err
	}
	return r.do(ctx, func(t *turn) error {
		task := t.state.Tasks[id]
		if task.Status != job.TaskReviewing {
			return nil // cancelled meanwhile
		}
		if len(merged.Conflicts) > 0 {
			t.move(task, job.MoveHold, fmt.Sprintf("its work and the job's branch change the same lines of %s; retry it to do the work again on top of the branch, or merge %s yourself",
				strings.Join(merged.Conflicts, ", "), short(spec.Commit)))
			return nil
		}
		t.emit(job.Event{Kind: job.KindMerged, Task: id, Attempt: a.ID, Body: &job.Merged{Commit: merged.Commit, Branch: branchOf(r.id)}})
		t.move(task, job.MoveAccept, "")
		return nil
	})
}

// short abbreviates a commit or an id for people. The time of an id is in its
// first 13 characters: ten would be shared by everything of the same second.
func short(id string) string {
	const n = 13
	if len(id) > n {
		return id[:n]
	}
	return id
}
