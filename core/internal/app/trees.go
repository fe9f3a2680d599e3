package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/toolbox"
	"github.com/relo-dev/relo/core/internal/workspace/git"
)

// trees joins a worker's needs to git, and makes each folder as worktree of the
// config says: what the person approved is copied in, then setup runs.
type trees struct {
	repos *repos
	env   Env

	mu   sync.Mutex
	last map[string]config.Worktree // by project, as last read without a fault
}

func newTrees(e Env) *trees {
	return &trees{repos: newRepos(e), env: e, last: map[string]config.Worktree{}}
}

const (
	// setupTime bounds worktree.setup: the installation of a large project.
	setupTime = 15 * time.Minute
	// setupTail is how much of a failed setup's output is told.
	setupTail = 4 << 10
	// copyMost bounds what worktree.copy brings into one attempt's folder.
	copyMost = 1 << 30
)

// Add makes an attempt's folder.
func (t *trees) Add(ctx context.Context, dir, at, commit string) error {
	return t.AddAt(ctx, dir, at, commit, commit)
}

// AddAt makes it for work that goes on.
func (t *trees) AddAt(ctx context.Context, dir, at, base, files string) error {
	g, err := t.repos.get(ctx, dir)
	if err != nil {
		return err
	}
	if err := g.AddWorktreeAt(ctx, at, base, files); err != nil {
		return err
	}
	wish := t.wish(g.Root())
	if len(wish.Copy) > 0 {
		if err := bring(ctx, g, at, wish.Copy); err != nil {
			return fmt.Errorf("worktree.copy: %w", err)
		}
	}
	if wish.Setup == "" {
		return nil
	}
	return setUp(ctx, at, wish.Setup)
}

// wish is what the config asks for now. A fault does not stop a job under way:
// what was last read holds.
func (t *trees) wish(root string) config.Worktree {
	e := t.env
	e.Dir = root
	cfg, err := Load(e)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.last[root] = cfg.Worktree
	}
	return t.last[root]
}

// bring copies files and folders of the person's that git ignores. It reads
// nothing outside the person's folder, follows no link, and leaves what is there.
func bring(ctx context.Context, g *git.Repo, at string, names []string) (err error) {
	from, err := os.OpenRoot(g.Root())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	left := int64(copyMost)
	for _, name := range names {
		if name = path.Clean(filepath.ToSlash(name)); !filepath.IsLocal(name) || name == "." {
			return fmt.Errorf("%q leads out of the project", name)
		}
		err := fs.WalkDir(from.FS(), name, func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && p == name {
				return nil // what the person does not have is not missed
			}
			if err != nil || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			if d.IsDir() && d.Name() == ".git" {
				return fs.SkipDir
			}
			if !d.Type().IsRegular() {
				return nil
			}
			return bringOne(from, to, p, &left)
		})
		if err != nil {
			return err
		}
	}
	// What git does not ignore would become part of the agent's work.
	if seen, err := g.Unmerged(ctx, at); err != nil || seen {
		return errors.Join(err, fmt.Errorf("git does not ignore all of %v: name only files that it ignores", names))
	}
	return nil
}

func bringOne(from, to *os.Root, name string, left *int64) (err error) {
	src, err := from.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if *left -= info.Size(); *left < 0 {
		return fmt.Errorf("%s and what is before it are more than %d MiB", name, copyMost>>20)
	}
	if err := to.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	dst, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, io.LimitReader(src, info.Size()))
	return errors.Join(err, dst.Close())
}

// setUp runs the command that makes an attempt's folder ready, with the hands that
// its agent will have. The attempt fails when it fails.
func setUp(ctx context.Context, at, command string) (err error) {
	root := filepath.Dir(at)
	box, err := toolbox.New(toolbox.Options{Dir: at, TempDir: filepath.Join(root, "tmp"), Attempt: filepath.Base(root)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	exit, output, err := box.Run(ctx, command, setupTime)
	if err != nil {
		return fmt.Errorf("worktree.setup %q: %w", command, err)
	}
	if exit != 0 {
		return fmt.Errorf("worktree.setup %q ended with exit code %d:\n%s", command, exit, output[max(0, len(output)-setupTail):])
	}
	return nil
}

func (t *trees) Remove(ctx context.Context, dir, path string) error {
	g, err := t.repos.get(ctx, dir)
	if err != nil {
		return err
	}
	return g.RemoveWorktree(ctx, path)
}

func (t *trees) Commit(ctx context.Context, dir, path string, c orchestrator.CommitSpec) (orchestrator.Committed, error) {
	g, err := t.repos.get(ctx, dir)
	if err != nil {
		return orchestrator.Committed{}, err
	}
	got, err := g.Commit(ctx, path, git.CommitSpec{Message: c.Message, Job: c.Job, Task: c.Task, Attempt: c.Attempt, Date: c.Time})
	return orchestrator.Committed{Commit: got.Commit, Parent: got.Parent, Files: fileChanges(got.Files), Notes: got.Notes}, err
}

func (t *trees) Sources(ctx context.Context, dir, path string) (string, map[string]string, error) {
	g, err := t.repos.get(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	return g.SourcesHash(ctx, path)
}

func (t *trees) Tracked(ctx context.Context, dir, commit, name string) bool {
	g, err := t.repos.get(ctx, dir)
	return err == nil && g.Exists(ctx, commit, name)
}
