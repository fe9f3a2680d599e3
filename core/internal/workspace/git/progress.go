package git

import (
	"fmt"
	"os"
	"path/filepath"
)

// ongoing is something of the person's that git has begun and not ended.
type ongoing struct {
	file  string // whose presence in the git dir says so (gitrepository-layout, git's own wt-status.c)
	name  string
	ended string // how it is gone on with, or given up
}

// ongoings are looked for in this order: a rebase stops at a cherry-pick, too.
var ongoings = []ongoing{
	{"rebase-apply/applying", "an am", "go on with `git am --continue`, or give it up with `git am --abort`"},
	{"rebase-apply", "a rebase", "go on with `git rebase --continue`, or give it up with `git rebase --abort`"},
	{"rebase-merge", "a rebase", "go on with `git rebase --continue`, or give it up with `git rebase --abort`"},
	{"MERGE_HEAD", "a merge", "end it with `git merge --continue`, or give it up with `git merge --abort`"},
	{"CHERRY_PICK_HEAD", "a cherry-pick", "go on with `git cherry-pick --continue`, or give it up with `git cherry-pick --abort`"},
	{"REVERT_HEAD", "a revert", "go on with `git revert --continue`, or give it up with `git revert --abort`"},
	{"BISECT_LOG", "a bisect", "end it with `git bisect reset`"},
}

// ongoing says what the person has under way; ok is false when nothing is.
func (r *Repo) ongoing() (o ongoing, ok bool) {
	for _, o := range ongoings {
		if _, err := os.Lstat(filepath.Join(r.home.gitDir, filepath.FromSlash(o.file))); err == nil {
			return o, true
		}
	}
	return ongoing{}, false
}

// unmergedError refuses to take files with conflict marks for the person's work.
func (r *Repo) unmergedError(paths []string) error {
	e := &Error{
		Kind: KindInProgress, Doing: "take the files of " + r.home.tree, Words: "conflicts are not resolved in " + listed(paths),
		Hint: "resolve them and `git add` the files, then start again", Paths: paths,
	}
	if o, ok := r.ongoing(); ok {
		e.Words = fmt.Sprintf("%s is under way, and conflicts are not resolved in %s", o.name, listed(paths))
		e.Hint = "resolve them and `git add` the files; " + o.ended + "; then start again"
	}
	return e
}

// quiet refuses to change files while the person has something under way: git
// would take what we write for a part of it.
func (r *Repo) quiet(doing string) error {
	o, ok := r.ongoing()
	if !ok {
		return nil
	}
	return &Error{
		Kind: KindInProgress, Doing: doing, Words: o.name + " is under way in " + r.home.tree,
		Hint: "nothing was changed; " + o.ended + "; then try again",
	}
}
