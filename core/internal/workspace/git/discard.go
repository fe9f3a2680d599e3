package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func jobBranch(job string) string { return "refs/heads/relo/" + job }

// Discard removes what a job left in the repository: its branch, its base, its
// attempts' refs and its backups, after which its apply cannot be undone. Nothing
// is removed, and the error is KindInUse, when the person has the branch checked
// out or has commits of their own on it, and when an apply has not ended. It may
// be repeated.
func (r *Repo) Discard(ctx context.Context, jobID string, attempts []string) error {
	if err := checkIDs(append([]string{jobID}, attempts...)...); err != nil {
		return err
	}
	r.files.Lock()
	defer r.files.Unlock()
	if err := r.discardable(ctx, jobID); err != nil {
		return err
	}
	refs := []string{jobBranch(jobID), "refs/relo/base/" + jobID, appliedRef(jobID), backupRef(jobID)}
	for _, a := range attempts {
		refs = append(refs, attemptRef(a))
	}
	old, err := r.text(ctx, call{at: r.home, plain: true, args: []string{"for-each-ref", "--format=%(refname)", oldBackups + jobID + "/", oldApplies + jobID + "/"}})
	if err != nil {
		return fmt.Errorf("discard job %s: %w", jobID, err)
	}
	refs = append(refs, strings.Fields(old)...)
	for _, ref := range refs {
		if err := r.DeleteRef(ctx, ref); err != nil {
			return fmt.Errorf("discard job %s: %w", jobID, err)
		}
	}
	return nil
}

// discardable refuses to take away what the person works on.
func (r *Repo) discardable(ctx context.Context, job string) error {
	doing := "discard job " + job
	branch := jobBranch(job)
	short := strings.TrimPrefix(branch, "refs/heads/")
	where, err := r.checkedOut(ctx, branch)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if where != "" {
		return &Error{
			Kind: KindInUse, Doing: doing, Words: "its branch " + short + " is checked out in " + where,
			Hint: "nothing was removed; switch to another branch there (git switch <branch>), then discard again",
		}
	}
	if _, err := r.refCommit(ctx, applyingRef(job)); !Is(err, KindNotFound) {
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		return &Error{
			Kind: KindInUse, Doing: doing, Words: "its apply was interrupted, and its backup is the only way back",
			Hint: "nothing was removed; apply it again or undo it, then discard again",
		}
	}
	mine, err := r.ownWork(ctx, branch)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if mine != "" {
		return &Error{
			Kind: KindInUse, Doing: doing, Words: fmt.Sprintf("its branch %s ends in commit %.10s, which Relo did not make", short, mine),
			Hint: "nothing was removed; keep that work under another name (git branch <name> " + short + "), then discard again",
		}
	}
	return nil
}

// checkedOut gives the folder in which a branch is checked out, or in the middle
// of a rebase or bisect; empty when in none.
func (r *Repo) checkedOut(ctx context.Context, branch string) (string, error) {
	res, err := r.run(ctx, call{at: r.home, plain: true, args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return "", err
	}
	tree := ""
	for _, line := range fields(res.out) {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			tree = path
		}
		if line == "branch "+branch && !r.shadow {
			return tree, nil
		}
	}
	dirs, err := filepath.Glob(filepath.Join(globbed(r.common), "worktrees", "*"))
	if err != nil {
		return "", err
	}
	for _, dir := range append(dirs, r.common) {
		for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
			text, err := readLine(filepath.Join(dir, filepath.FromSlash(name)))
			if err == nil && (text == branch || "refs/heads/"+text == branch) {
				return "the middle of a rebase or bisect", nil
			}
		}
	}
	return "", nil
}

// globbed keeps a folder's own name from being read as a pattern.
func globbed(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// ownWork gives the head of a branch when the person made it and no other ref
// holds it.
func (r *Repo) ownWork(ctx context.Context, branch string) (string, error) {
	id, err := r.refCommit(ctx, branch)
	if Is(err, KindNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	made, err := r.text(ctx, call{at: r.home, plain: true, args: []string{
		"log", "-1", "--format=%ae %(trailers:key=Relo-Job,valueonly=true,separator=%x20)", "--end-of-options", id,
	}})
	if err != nil {
		return "", err
	}
	if author, job, _ := strings.Cut(made, " "); author == "relo@localhost" || job != "" {
		return "", nil
	}
	refs, err := r.text(ctx, call{at: r.home, plain: true, args: []string{
		"for-each-ref", "--format=%(refname)", "--contains=" + id, "refs/heads/", "refs/remotes/", "refs/tags/", "refs/relo/base/",
	}})
	if err != nil || refs != branch {
		return "", err
	}
	return id, nil
}

// Unmerged reports whether a worktree holds changes that no ref has: neither an
// attempt's commit nor a branch of Relo's. A folder that is gone holds nothing.
func (r *Repo) Unmerged(ctx context.Context, worktreePath string) (found bool, err error) {
	at, err := r.placeOf(worktreePath)
	if err != nil {
		return false, err
	}
	if at == r.home {
		return false, badName("a worktree", worktreePath)
	}
	if _, err := os.Lstat(at.tree); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	base, err := r.baseOf(ctx, at)
	if err != nil {
		return false, err
	}
	c, err := r.indexCall(ctx, at, r.indexOf(at))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, dropIndex(c.index)) }()
	tree, _, err := r.treeNow(ctx, c, base)
	if err != nil {
		return false, fmt.Errorf("look at worktree %s: %w", worktreePath, err)
	}
	if baseTree, err := r.TreeOf(ctx, base); err != nil || baseTree == tree {
		return false, err
	}
	return r.unheld(ctx, base, tree)
}

// unheld reports whether no ref of Relo's holds the changes from base to tree: as
// they are, or as a part of a branch.
func (r *Repo) unheld(ctx context.Context, base, tree string) (bool, error) {
	list, err := r.text(ctx, call{at: r.home, plain: true, args: []string{"for-each-ref", "--format=%(tree) %(refname)", "refs/relo/attempt/", "refs/heads/relo/"}})
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, tree+" ") {
			return false, nil
		}
	}
	for line := range strings.Lines(list) {
		held, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(ref, "refs/heads/") {
			continue
		}
		merged, conflicts, err := r.threeWay(ctx, base, ref, tree)
		if err != nil {
			return false, err
		}
		if len(conflicts) == 0 && merged == held {
			return false, nil
		}
	}
	return true, nil
}
