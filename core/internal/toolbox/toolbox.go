// Package toolbox gives an agent its file tools and its shell inside one
// workspace. Every path goes through an os.Root, so no link leads out; every
// answer is bounded; every process is ended with the box. It decides nothing
// about tasks, shows no picture, and is no sandbox: a command can do what the
// user's account can, and the sandbox round it is somebody else's.
package toolbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// Options say where the tools work.
type Options struct {
	Dir     string // the workspace; must exist
	TempDir string // TMPDIR of commands, private to the attempt; must exist. Empty: the system's
	// Env names further variables that commands get: NAME copies it from Relo's
	// own environment, NAME=value sets it. What looks like a key or token is
	// never passed, even when it is listed.
	Env     []string
	Attempt string // marks every process (RELO_ATTEMPT) so that a sweep finds it. Empty: a random one
	// ReadOnly leaves out write and edit. The shell stays: a reviewer runs tests,
	// in a worktree that is thrown away.
	ReadOnly bool
}

// Box is the tools of one attempt. It is safe for one call at a time of each
// method, and Close may be called while others run.
type Box struct {
	options Options
	real    string // Dir without symlinks
	root    *os.Root
	shell   string
	env     []string

	mu      sync.Mutex
	closed  bool
	calls   int                        // numbers the commands
	running map[int]context.CancelFunc // commands under way
	groups  map[int]struct{}           // process groups that outlived their command
	outputs map[io.Closer]struct{}     // pipes that are still read

	commands sync.WaitGroup
	drains   sync.WaitGroup
}

// ErrClosed is the error of a command that is asked for after Close.
var ErrClosed = errors.New("the tools of this attempt are closed")

// New opens a box. The error says what is missing: the folder, or a shell.
func New(o Options) (*Box, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find workspace %s: %w", o.Dir, err)
	}
	o.Dir = dir
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	shell, err := findShell()
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if o.Attempt == "" {
		o.Attempt = "box-" + rand.Text()
	}
	return &Box{
		options: o, real: real, root: root, shell: shell, env: environment(o, os.Environ()),
		running: map[int]context.CancelFunc{}, groups: map[int]struct{}{}, outputs: map[io.Closer]struct{}{},
	}, nil
}

func findShell() (string, error) {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no shell: neither bash nor sh is on PATH")
}

// Tools lists what the agent gets: read write edit ls glob grep bash, or without
// write and edit when the box is read-only.
func (b *Box) Tools() []tool.Tool {
	tools := []tool.Tool{b.read()}
	if !b.options.ReadOnly {
		tools = append(tools, b.write(), b.edit())
	}
	return append(tools, b.ls(), b.glob(), b.grep(), b.bash())
}

// act is a tool whose arguments are checked against its own schema first.
type act[A any] struct {
	spec provider.ToolSpec
	run  func(ctx context.Context, args A) tool.Result
}

func newAct[A any](name, words, schema string, run func(context.Context, A) tool.Result) tool.Tool {
	return act[A]{
		spec: provider.ToolSpec{Name: name, Description: strings.TrimSpace(words), Schema: json.RawMessage(schema)},
		run:  run,
	}
}

// Spec is what the model reads.
func (a act[A]) Spec() provider.ToolSpec { return a.spec }

// Run checks the arguments and acts. It returns an error only when ctx has ended.
func (a act[A]) Run(ctx context.Context, _ string, raw json.RawMessage) (tool.Result, error) {
	if faults := tool.Check(a.spec.Schema, raw); len(faults) > 0 {
		return tool.Fail(a.spec.Name + ": " + strings.Join(faults, "; ")), nil
	}
	var args A
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return tool.Fail(fmt.Sprintf("%s: the arguments cannot be read: %v", a.spec.Name, err)), nil
		}
	}
	result := a.run(ctx, args)
	if err := ctx.Err(); err != nil {
		return result, fmt.Errorf("%s: %w", a.spec.Name, err)
	}
	return result, nil
}
