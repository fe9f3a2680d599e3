package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Undo puts the files that the job's apply changed back to what they were before.
// Edits that the person made since then stay, where the two can be told apart;
// when they cannot, nothing is changed and the error is KindEdited with the paths.
// KindNotFound when nothing is applied, KindInProgress as for Apply. It may be
// repeated after a crash.
func (r *Repo) Undo(ctx context.Context, job string) ([]Change, error) {
	if err := checkIDs(job); err != nil {
		return nil, err
	}
	r.files.Lock()
	defer r.files.Unlock()
	if err := r.quiet("undo job " + job); err != nil {
		return nil, err
	}
	p, err := r.planned(ctx, applyingRef(job))
	if Is(err, KindNotFound) {
		p, err = r.planned(ctx, appliedRef(job))
	}
	if Is(err, KindNotFound) {
		return nil, &Error{Kind: KindNotFound, Doing: "undo job " + job, Words: "nothing of it is applied here"}
	}
	if err != nil {
		return nil, fmt.Errorf("undo job %s: %w", job, err)
	}
	files, err := r.undo(ctx, job, p)
	if err != nil {
		return nil, fmt.Errorf("undo job %s: %w", job, err)
	}
	return files, nil
}

func (r *Repo) undo(ctx context.Context, job string, p plan) ([]Change, error) {
	from, to := p.commit, p.ours
	edited, steps, err := r.movable(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if len(edited) > 0 {
		// Only now the three-way: it sees nothing of ignored files, which the plain way does.
		if from, to, edited, err = r.undoAround(ctx, p, edited); err != nil {
			return nil, err
		}
		if len(edited) == 0 {
			if edited, steps, err = r.movable(ctx, from, to); err != nil {
				return nil, err
			}
		}
	}
	if len(edited) > 0 {
		return nil, &Error{
			Kind: KindEdited, Doing: "undo", Words: "edited since the apply: " + listed(edited),
			Hint:  "nothing was changed; set your edits aside and undo again, or take files out of " + backupRef(job) + ": git show " + backupRef(job) + ":<file>",
			Paths: edited,
		}
	}
	if err := r.write(ctx, to, steps, job); err != nil {
		return nil, err
	}
	files, err := r.Changes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return files, r.forgetApply(ctx, job)
}

// forgetApply takes the refs of an apply that was undone away, and puts those of
// the one below it, if any, in their place: it can be undone, too. The mark that
// an apply has begun goes last, so that a crash on the way is gone over again.
func (r *Repo) forgetApply(ctx context.Context, job string) error {
	last, err := r.text(ctx, call{at: r.home, plain: true, args: []string{
		"for-each-ref", "--sort=-version:refname", "--count=1", "--format=%(refname)", oldApplies + job + "/",
	}})
	if err != nil {
		return err
	}
	if last == "" {
		return errors.Join(r.DeleteRef(ctx, appliedRef(job)), r.DeleteRef(ctx, applyingRef(job)))
	}
	backup := oldBackups + strings.TrimPrefix(last, oldApplies)
	for _, err := range []error{
		r.SetRef(ctx, backupRef(job), backup),
		r.SetRef(ctx, appliedRef(job), last),
		r.DeleteRef(ctx, last),
		r.DeleteRef(ctx, backup),
		r.DeleteRef(ctx, applyingRef(job)),
	} {
		if err != nil {
			return fmt.Errorf("go back to the apply before: %w", err)
		}
	}
	return nil
}

// movable gives the steps between two trees, and the paths at which the person's
// folder holds something else than either.
func (r *Repo) movable(ctx context.Context, from, to string) (edited []string, steps []step, err error) {
	if steps, err = r.steps(ctx, from, to); err != nil {
		return nil, nil, err
	}
	h, err := r.hands(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer h.close()
	edited, blocked, err := h.preflight(ctx, steps)
	return append(edited, blocked...), steps, err
}

// undoAround takes the apply back out of the files as they are now: a merge of
// now and before over what was applied. edited names the paths at which now and
// before do not go together.
func (r *Repo) undoAround(ctx context.Context, p plan, found []string) (from, to string, edited []string, err error) {
	now, err := r.Snapshot(ctx, "")
	if err != nil {
		return "", "", nil, err
	}
	tree, conflicts, err := r.threeWay(ctx, p.commit, now.Commit, p.ours)
	if err != nil {
		return "", "", nil, err
	}
	for _, c := range conflicts {
		edited = append(edited, c.Path)
	}
	if len(edited) > 0 {
		return now.Commit, tree, edited, nil
	}
	if same, err := r.TreeOf(ctx, now.Commit); err != nil || same == tree {
		// The edits are where a snapshot does not look: in ignored or huge files.
		return now.Commit, tree, found, err
	}
	return now.Commit, tree, nil, nil
}
