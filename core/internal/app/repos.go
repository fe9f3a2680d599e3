package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/workspace/git"
)

// repos joins the conductor's needs to git. Repositories are kept open: opening
// one asks git several questions. A folder without git has a shadow repository in
// Relo's state.
type repos struct {
	shadows string // folder of the shadow repositories

	mu   sync.Mutex
	open map[string]*git.Repo
}

func newRepos(e Env) *repos {
	return &repos{shadows: filepath.Join(e.places().State, "shadow"), open: map[string]*git.Repo{}}
}

func (r *repos) get(ctx context.Context, dir string) (*git.Repo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.open[dir]; g != nil {
		return g, nil
	}
	g, err := git.Open(ctx, dir)
	if git.Is(err, git.KindNoRepository) {
		g, err = git.OpenShadow(ctx, dir, r.shadow(dir))
	}
	if err != nil {
		return nil, gitFault(err)
	}
	r.open[dir] = g
	return g, nil
}

// shadow is where the repository of a folder without git is: the same each time.
func (r *repos) shadow(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return filepath.Join(r.shadows, hex.EncodeToString(sum[:shadowName])+".git")
}

// shadowName is how many bytes of a folder's hash name its shadow.
const shadowName = 12

// gitFault keeps git's words and adds what the person can do.
func gitFault(err error) error {
	e, ok := errors.AsType[*git.Error](err)
	if !ok {
		return err
	}
	switch e.Kind { //nolint:exhaustive // the others are git's own failures
	case git.KindNoRepository, git.KindNoCommits, git.KindNoWorktree, git.KindNoGit, git.KindOldGit, git.KindOwner, git.KindEdited, git.KindBadName,
		git.KindInProgress, git.KindUnfit, git.KindInUse:
		bare := *e
		bare.Hint = "" // it stands in the document's own place
		return &protocol.Error{Code: protocol.CodeUsage, Message: bare.Error(), Hint: e.Hint}
	}
	return err
}

// Open opens the repository around a folder.
func (r *repos) Open(ctx context.Context, dir string) (orchestrator.Repo, error) {
	g, err := r.get(ctx, dir)
	if err != nil {
		return nil, err
	}
	return repo{g}, nil
}

type repo struct{ *git.Repo }

func (r repo) Snapshot(ctx context.Context, ref string) (orchestrator.Base, error) {
	s, err := r.Repo.Snapshot(ctx, ref)
	if err != nil {
		return orchestrator.Base{}, gitFault(err)
	}
	return orchestrator.Base{Root: r.Root(), Commit: s.Commit, Head: s.Head, Dirty: s.Dirty, Notes: r.notes(s)}, nil
}

// notes are what the person should know of the folder that a job starts from.
func (r repo) notes(s git.Snapshot) []string {
	notes := s.Notes
	switch {
	case r.Shadow():
		notes = append([]string{"the folder is in no git repository: Relo keeps its versions in its own state; git init there makes a repository of yours"}, notes...)
	case s.Head == "":
		notes = append([]string{"the repository has no commit yet: the job starts from the files as they are, and applying it commits nothing"}, notes...)
	}
	return notes
}

func (r repo) Look(ctx context.Context, commit string) (orchestrator.View, error) {
	text, err := r.Map(ctx, commit, git.MapLimits{})
	if err != nil {
		return orchestrator.View{}, err
	}
	project, err := r.Project(ctx, commit)
	if err != nil {
		return orchestrator.View{}, err
	}
	return orchestrator.View{Map: text, Project: project, Exists: func(path string) bool { return r.Exists(ctx, commit, path) }}, nil
}

func (r repo) Merge(ctx context.Context, m orchestrator.MergeSpec) (orchestrator.Merged, error) {
	got, err := r.Repo.Merge(ctx, git.MergeSpec{
		Branch: m.Branch, Start: m.Start, Base: m.Base, Commit: m.Commit, Message: m.Message, Job: m.Job, Task: m.Task, Attempt: m.Attempt,
	})
	return orchestrator.Merged{Commit: got.Commit, Conflicts: conflictPaths(got.Conflicts)}, err
}

func conflictPaths(list []git.Conflict) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Path)
	}
	return out
}

func (r repo) Apply(ctx context.Context, id, base, head string) (orchestrator.Applied, error) {
	got, err := r.Repo.Apply(ctx, git.ApplySpec{Job: id, Base: base, Head: head})
	if err != nil {
		return orchestrator.Applied{}, gitFault(err)
	}
	out := orchestrator.Applied{BackupRef: got.BackupRef, Conflicts: conflictPaths(got.Conflicts)}
	for _, f := range got.Files {
		out.Files = append(out.Files, f.Path)
	}
	return out, nil
}

func (r repo) Undo(ctx context.Context, id string) ([]string, error) {
	changes, err := r.Repo.Undo(ctx, id)
	if err != nil {
		return nil, gitFault(err)
	}
	var out []string
	for _, c := range changes {
		out = append(out, c.Path)
	}
	return out, nil
}

func (r repo) Discard(ctx context.Context, id string, attempts []string) ([]string, error) {
	removed := []string{"refs/heads/relo/" + id, "refs/relo/base/" + id}
	for _, a := range attempts {
		removed = append(removed, "refs/relo/attempt/"+a)
	}
	return removed, gitFault(r.Repo.Discard(ctx, id, attempts))
}

func (r repo) Compare(ctx context.Context, from, to string, limit int) (orchestrator.Comparison, error) {
	changes, err := r.Changes(ctx, from, to)
	if err != nil {
		return orchestrator.Comparison{}, err
	}
	patch, cut, err := r.Diff(ctx, from, to, limit)
	return orchestrator.Comparison{Files: fileChanges(changes), Diff: patch, Truncated: cut}, err
}

func fileChanges(list []git.Change) []job.FileChange {
	var out []job.FileChange
	for _, c := range list {
		out = append(out, job.FileChange{Path: c.Path, Status: c.Status, Added: c.Added, Deleted: c.Deleted, Binary: c.Binary})
	}
	return out
}
