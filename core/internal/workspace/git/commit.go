package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// CommitSpec is the commit of an attempt. Job, Task and Attempt are ids of letters,
// digits, dot, dash and underscore.
type CommitSpec struct {
	Message            string
	Job, Task, Attempt string
	Date               time.Time // zero: now
}

// Committed is what an attempt made of its worktree.
type Committed struct {
	Commit string   // Parent itself when nothing was changed
	Parent string   // what the worktree began at
	Tree   string   // of Commit
	Files  []Change // between Parent and Commit
	Notes  []string // what was left out, in words
}

// attemptRef keeps an attempt's commit from git's garbage collection.
func attemptRef(attempt string) string { return "refs/relo/attempt/" + attempt }

// Commit commits everything that the worktree holds, with what an agent committed
// itself, as one commit on what the worktree began at. Files in .relo and ignored
// files stay out. The worktree's index, HEAD and files are not touched, so calling
// it twice with one Date gives one commit. It is kept by refs/relo/attempt/<attempt>.
func (r *Repo) Commit(ctx context.Context, worktree string, spec CommitSpec) (done Committed, err error) {
	if err := checkIDs(spec.Job, spec.Task, spec.Attempt); err != nil {
		return done, err
	}
	at, err := r.placeOf(worktree)
	if err != nil {
		return done, err
	}
	if at == r.home {
		return done, &Error{Kind: KindBadName, Doing: "commit in " + worktree, Words: "that is the person's own folder"}
	}
	if done.Parent, err = r.baseOf(ctx, at); err != nil {
		return done, err
	}
	c, err := r.indexCall(ctx, at, r.indexOf(at))
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, dropIndex(c.index)) }()
	if done.Tree, done.Notes, err = r.treeNow(ctx, c, done.Parent); err != nil {
		return done, fmt.Errorf("commit attempt %s: %w", spec.Attempt, err)
	}
	if done.Files, err = r.Changes(ctx, done.Parent, done.Tree); err != nil {
		return done, err
	}
	done.Commit = done.Parent
	if len(done.Files) > 0 {
		done.Commit, err = r.commitTree(ctx, newCommit{
			tree: done.Tree, parents: []string{done.Parent}, date: spec.Date,
			message: withTrailers(spec.Message, spec.Job, spec.Task, spec.Attempt),
		})
		if err != nil {
			return done, fmt.Errorf("commit attempt %s: %w", spec.Attempt, err)
		}
	}
	return done, r.SetRef(ctx, attemptRef(spec.Attempt), done.Commit)
}

// treeNow makes a tree of what a worktree holds, and says what it leaves out.
func (r *Repo) treeNow(ctx context.Context, c call, base string) (tree string, notes []string, err error) {
	note, err := r.stage(ctx, c, true)
	if err != nil {
		return "", nil, err
	}
	if err := r.restoreOwn(ctx, c, base); err != nil {
		return "", nil, err
	}
	modules, err := r.keepLinks(ctx, c, &note, base)
	if err != nil {
		return "", nil, err
	}
	if err := r.cleanAdded(ctx, c, note.all, base); err != nil {
		return "", nil, err
	}
	tree, err = r.writeTree(ctx, c)
	return tree, append(note.words(), modules...), err
}

// ownTrailer is a line that would pass for one of Relo's trailers.
var ownTrailer = regexp.MustCompile(`(?im)^[ \t]*relo-[a-z]+[ \t]*:`)

// withTrailers ends a message with Relo's trailers. A message is a model's text:
// lines in it that look like such a trailer are quoted, because Merge believes them.
func withTrailers(message, job, task, attempt string) string {
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "?"), "\x00", "")
	message = strings.ReplaceAll(message, "\r", "")
	message = strings.TrimSpace(ownTrailer.ReplaceAllString(message, "> $0"))
	if message == "" {
		message = "relo: task " + task
	}
	return fmt.Sprintf("%s\n\nRelo-Job: %s\nRelo-Task: %s\nRelo-Attempt: %s\n", message, job, task, attempt)
}
