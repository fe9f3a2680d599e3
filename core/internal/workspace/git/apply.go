package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ApplySpec brings a job's result into the person's folder.
type ApplySpec struct {
	Job  string
	Base string // the job's base: what its tasks began at
	Head string // the head of the job's branch
}

// Applied is the outcome. With conflicts nothing was changed.
type Applied struct {
	BackupRef string   // holds the person's files as they were before
	Files     []Change // what was changed in the person's folder
	Conflicts []Conflict
}

// Of an apply on top of another one, the older backup and plan are kept by number.
const (
	oldBackups = "refs/relo/backup-old/"
	oldApplies = "refs/relo/applied-old/"
)

func backupRef(job string) string   { return "refs/relo/backup/" + job }
func applyingRef(job string) string { return "refs/relo/applying/" + job }
func appliedRef(job string) string  { return "refs/relo/applied/" + job }

// inTheWay is the kind of a conflict with a file that git does not know, for
// example an ignored one, where the job made one too.
const inTheWay = "in-the-way"

// Apply merges the job's changes with the person's files as they are now and
// writes the paths that differ. The index, the branch and HEAD stay as they are.
// A conflict changes nothing and is listed. What was there is kept in BackupRef
// first; each file is looked at right before it is written, and one that was
// edited meanwhile ends the apply with KindEdited. Calling it again, after that or
// a crash, goes on where it ended. KindInProgress while the person has a merge,
// rebase or the like under way.
func (r *Repo) Apply(ctx context.Context, spec ApplySpec) (Applied, error) {
	if err := checkIDs(spec.Job); err != nil {
		return Applied{}, err
	}
	head, err := r.Resolve(ctx, spec.Head)
	if err != nil {
		return Applied{}, err
	}
	r.files.Lock()
	defer r.files.Unlock()
	if err := r.quiet("apply job " + spec.Job); err != nil {
		return Applied{}, err
	}
	plan, err := r.planned(ctx, applyingRef(spec.Job))
	if err == nil {
		done, err := r.finish(ctx, spec.Job, plan)
		if err != nil || plan.head == head {
			return done, err
		}
	} else if !Is(err, KindNotFound) {
		return Applied{}, err
	}
	done, err := r.applyNew(ctx, spec, head)
	if err != nil {
		return done, fmt.Errorf("apply job %s: %w", spec.Job, err)
	}
	return done, nil
}

func (r *Repo) applyNew(ctx context.Context, spec ApplySpec, head string) (Applied, error) {
	ours, err := r.Snapshot(ctx, "")
	if err != nil {
		return Applied{}, err
	}
	tree, conflicts, err := r.threeWay(ctx, spec.Base, ours.Commit, head)
	if err != nil || len(conflicts) > 0 {
		return Applied{Conflicts: conflicts}, err
	}
	steps, err := r.steps(ctx, ours.Commit, tree)
	if err != nil {
		return Applied{}, err
	}
	if len(steps) == 0 {
		return r.nothingNew(ctx, spec.Job, head)
	}
	h, err := r.hands(ctx)
	if err != nil {
		return Applied{}, err
	}
	defer h.close()
	edited, blocked, err := h.preflight(ctx, steps)
	if err != nil {
		return Applied{}, err
	}
	if len(edited) > 0 {
		return Applied{}, &Error{Kind: KindEdited, Doing: "apply", Words: "edited just now: " + listed(edited), Hint: "nothing was changed; try again", Paths: edited}
	}
	if len(blocked) > 0 {
		for _, p := range blocked {
			conflicts = append(conflicts, Conflict{Path: p, Kind: inTheWay})
		}
		return Applied{Conflicts: conflicts}, nil
	}
	commit, err := r.commitTree(ctx, newCommit{
		tree: tree, parents: []string{ours.Commit, head}, message: "relo: apply job " + spec.Job + "\n", relo: true,
	})
	if err != nil {
		return Applied{}, err
	}
	if err := r.keepOldBackup(ctx, spec.Job); err != nil {
		return Applied{}, err
	}
	// The backup first: from the moment the intent is recorded, files may change.
	if err := r.SetRef(ctx, backupRef(spec.Job), ours.Commit); err != nil {
		return Applied{}, err
	}
	if err := r.SetRef(ctx, applyingRef(spec.Job), commit); err != nil {
		return Applied{}, err
	}
	return r.finish(ctx, spec.Job, plan{commit: commit, ours: ours.Commit, head: head})
}

// nothingNew answers for an apply of what the files hold already.
func (r *Repo) nothingNew(ctx context.Context, job, head string) (Applied, error) {
	last, err := r.planned(ctx, appliedRef(job))
	if Is(err, KindNotFound) || (err == nil && last.head != head) {
		return Applied{}, nil
	}
	if err != nil {
		return Applied{}, err
	}
	files, err := r.Changes(ctx, last.ours, last.commit)
	return Applied{BackupRef: backupRef(job), Files: files}, err
}

// keepOldBackup moves the backup of an earlier apply aside, with its plan: it is
// the only copy of what the person had then.
func (r *Repo) keepOldBackup(ctx context.Context, job string) error {
	old, err := r.refCommit(ctx, backupRef(job))
	if Is(err, KindNotFound) {
		return nil
	}
	for n := 1; err == nil; n++ {
		number := job + "/" + strconv.Itoa(n)
		err = r.moveRef(ctx, oldBackups+number, old, "")
		if err == nil {
			return r.keepOldPlan(ctx, job, old, number)
		}
		if Is(err, KindRace) || Is(err, KindExists) {
			err = nil // that number is taken
		}
	}
	return err
}

func (r *Repo) keepOldPlan(ctx context.Context, job, backup, number string) error {
	p, err := r.planned(ctx, appliedRef(job))
	if Is(err, KindNotFound) || (err == nil && p.ours != backup) {
		return nil // the backup is of one that was undone
	}
	if err != nil {
		return err
	}
	return r.SetRef(ctx, oldApplies+number, p.commit)
}

// plan is a recorded apply: its commit has the wanted tree, and the person's
// files before and the job's head as parents.
type plan struct{ commit, ours, head string }

func (r *Repo) planned(ctx context.Context, ref string) (plan, error) {
	commit, err := r.refCommit(ctx, ref)
	if err != nil {
		return plan{}, err
	}
	p := plan{commit: commit}
	if p.ours, err = r.Resolve(ctx, commit+"^1"); err != nil {
		return p, err
	}
	p.head, err = r.Resolve(ctx, commit+"^2")
	return p, err
}

// finish writes what a recorded apply still lacks.
func (r *Repo) finish(ctx context.Context, job string, p plan) (Applied, error) {
	done := Applied{BackupRef: backupRef(job)}
	var err error
	if done.Files, err = r.Changes(ctx, p.ours, p.commit); err != nil {
		return done, err
	}
	steps, err := r.steps(ctx, p.ours, p.commit)
	if err != nil {
		return done, err
	}
	if err := r.write(ctx, p.commit, steps, job); err != nil {
		if e, ok := asError(err); ok && e.Kind == KindEdited {
			e.Doing = "apply job " + job
			e.Hint = "the files as they were before are in " + done.BackupRef + "; set the edited file aside and apply again, or undo"
		}
		return done, err
	}
	if err := r.SetRef(ctx, appliedRef(job), p.commit); err != nil {
		return done, err
	}
	return done, r.DeleteRef(ctx, applyingRef(job))
}

// step is one path to change in the person's folder. A mode of absent means that
// there is nothing.
type step struct {
	path     string
	old, new side
}

// side is what a tree has at a path.
type side struct {
	mode, id string
	lfs      pointer // when the file is a pointer
}

const absent = "000000"

// steps lists what leads from one tree to another: deletions first, the deepest
// first, so that a folder can become a file and a file a folder.
func (r *Repo) steps(ctx context.Context, from, to string) ([]step, error) {
	res, err := r.run(ctx, call{at: r.home, plain: true, args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--end-of-options", from, to,
	}})
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	parts := fields(res.out)
	var list []step
	for ; len(parts) >= 2; parts = parts[2:] {
		words := strings.Fields(strings.TrimPrefix(parts[0], ":"))
		if len(words) != 5 {
			return nil, fmt.Errorf("compare trees: %q is not understood", bound(parts[0], 200))
		}
		s := step{path: parts[1], old: side{mode: words[0], id: words[2]}, new: side{mode: words[1], id: words[3]}}
		if s.old.mode == gitlinkMode || s.new.mode == gitlinkMode {
			continue // a submodule's folder is the person's own affair
		}
		if err := checkPath(s.path); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b step) int {
		if (a.new.mode == absent) != (b.new.mode == absent) {
			if a.new.mode == absent {
				return -1
			}
			return 1
		}
		if a.new.mode == absent {
			return strings.Compare(b.path, a.path)
		}
		return strings.Compare(a.path, b.path)
	})
	return list, r.findPointers(ctx, list)
}

// findPointers notes which sides are pointers of LFS.
func (r *Repo) findPointers(ctx context.Context, list []step) error {
	if _, err := os.Lstat(filepath.Join(r.common, "lfs")); err != nil {
		return nil //nolint:nilerr // without a store every pointer is just a file
	}
	var ids []string
	for _, s := range list {
		for _, d := range []side{s.old, s.new} {
			if strings.HasPrefix(d.mode, "100") {
				ids = append(ids, d.id)
			}
		}
	}
	texts, err := r.smallBlobs(ctx, ids)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].old.lfs, _ = parsePointer(texts[list[i].old.id])
		list[i].new.lfs, _ = parsePointer(texts[list[i].new.id])
	}
	return nil
}
