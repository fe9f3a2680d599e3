package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/rehearsal"
)

// Demo is the rehearsal made ready: a repository, a config that names only the
// rehearsal provider, and a RELO_HOME of its own.
type Demo struct {
	Repo   string
	Text   string
	Config *config.Config
	Env    Env
}

// demoConfig is a ladder of two models that cannot see and one that can; a
// rehearsal really costs nothing.
const demoConfig = `{
  // Written by relo demo. The rehearsal provider answers from a script, on this machine.
  "providers": { "rehearsal": { "api": "rehearsal", "models": {
    "rehearsal-small":  { "vision": false, "context": 100000, "price": { "input": 0, "output": 0 } },
    "rehearsal-medium": { "vision": false, "context": 100000, "price": { "input": 0, "output": 0 } },
    "rehearsal-large":  { "vision": true,  "context": 100000, "price": { "input": 0, "output": 0 } } } } },
  "ladder": [
    { "model": "rehearsal/rehearsal-small", "difficulty": "easy" },
    { "model": "rehearsal/rehearsal-medium", "difficulty": "normal" },
    { "model": "rehearsal/rehearsal-large", "difficulty": "hard" } ],
  "primary": "rehearsal/rehearsal-large"
}
`

// StartDemo makes the demo's folders in dir (empty: a new temporary folder) and
// gives what a standalone run needs. The rehearsal provider itself starts with
// that run. Done removes nothing: the person may want to look around.
func StartDemo(ctx context.Context, e Env, dir string) (*Demo, func() error, error) {
	var err error
	if dir == "" {
		if dir, err = os.MkdirTemp("", "relo-demo-"); err != nil {
			return nil, nil, fmt.Errorf("make the demo's folder: %w", err)
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, fmt.Errorf("find the demo's folder: %w", err)
	}
	home, repo := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	if _, err := os.Stat(repo); err == nil {
		return nil, nil, fmt.Errorf("%s is there already: choose a new folder, or leave out --dir", repo)
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the demo's folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(home, "relo.json"), []byte(demoConfig), 0o600); err != nil {
		return nil, nil, fmt.Errorf("write the demo's config: %w", err)
	}
	if err := writeProject(ctx, repo); err != nil {
		return nil, nil, err
	}
	d := &Demo{Repo: repo, Text: rehearsal.Job(), Env: e.With("RELO_HOME", home)}
	d.Env.Dir, d.Env.Flags = repo, nil
	if d.Config, err = Load(d.Env); err != nil {
		return nil, nil, fmt.Errorf("the demo's config: %w", err)
	}
	return d, func() error { return nil }, nil
}

// writeProject makes the demo repository with one commit.
func writeProject(ctx context.Context, dir string) error {
	files, err := rehearsal.Project()
	if err != nil {
		return fmt.Errorf("make the demo project: %w", err)
	}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a demo project for the person to read
			return fmt.Errorf("write the demo project: %w", err)
		}
		mode := os.FileMode(0o644)
		if filepath.Ext(name) == ".sh" {
			mode = 0o755
		}
		if err := os.WriteFile(file, data, mode); err != nil {
			return fmt.Errorf("write the demo project: %w", err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=Relo demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "A login card"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // fixed arguments
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return errors.Join(fmt.Errorf("git %s: %s", args[0], out), err)
		}
	}
	return nil
}
