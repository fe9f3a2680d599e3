package orchestrator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

// clockSlack covers the coarse clock that stamps files: it may run a timer tick
// (at most 10 ms on Linux) behind the one that is read here.
const clockSlack = 20 * time.Millisecond

// watch knows the state of a worktree's sources, and when they last changed. A
// picture's file that was written after that shows them as they are.
type watch struct {
	k *work

	mu       sync.Mutex
	tree     string
	pictures map[string]string // at the start: path to blob id
	lastEdit time.Time         // start of the last tool call that changed the sources; zero: none did
}

// newWatch looks at the sources for the first time, or goes on from what the
// trace remembers of them.
func newWatch(ctx context.Context, k *work) (*watch, error) {
	tree, pictures, err := k.w.Trees.Sources(ctx, k.a.Repo, k.dir)
	if err != nil {
		return nil, err
	}
	w := &watch{k: k, tree: tree, pictures: maps.Clone(pictures)}
	if before := k.trace.remembered(statePictures); before != "" {
		w.pictures = map[string]string{}
		if err := json.Unmarshal([]byte(before), &w.pictures); err != nil {
			return nil, fmt.Errorf("the trace's list of pictures: %w", err)
		}
		w.lastEdit, err = time.Parse(time.RFC3339Nano, cmp.Or(k.trace.remembered(stateEdit), time.Time{}.Format(time.RFC3339Nano)))
		if k.elsewhere || tree != k.trace.remembered(stateTree) { // or a call that was cut off changed them
			w.lastEdit = time.Now().Add(clockSlack)
			err = errors.Join(err, k.trace.state(map[string]string{stateTree: tree, stateEdit: w.lastEdit.UTC().Format(time.RFC3339Nano)}))
		}
		return w, err
	}
	return w, k.trace.state(map[string]string{stateTree: tree, statePictures: pictureNames(pictures)})
}

// look hashes the sources as they are now; since is when whatever may have
// changed them began.
func (w *watch) look(ctx context.Context, since time.Time) (tree string, pictures map[string]string, err error) {
	tree, pictures, err = w.k.w.Trees.Sources(ctx, w.k.a.Repo, w.k.dir)
	if err != nil {
		return "", nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if tree != w.tree {
		w.tree, w.lastEdit = tree, since
		err = w.k.trace.state(map[string]string{stateTree: tree, stateEdit: since.UTC().Format(time.RFC3339Nano)})
	}
	return tree, pictures, err
}

// fresh reports whether a workspace file was written after the last change of
// the sources.
func (w *watch) fresh(name string) bool {
	info, err := os.Stat(filepath.Join(w.k.dir, filepath.FromSlash(name)))
	if err != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastEdit.IsZero() || !info.ModTime().Before(w.lastEdit.Add(-clockSlack))
}

// made reports whether a picture is new or changed since the start.
func (w *watch) made(name string, now map[string]string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, was := w.pictures[name]
	after, is := now[name]
	if !is {
		return !was // git ignores it, so it was not there when the worktree was made
	}
	return before != after
}

// changers are the tools that may change files.
var changers = map[string]bool{"write": true, "edit": true, "bash": true}

// over watches a tool that may change the sources.
func (w *watch) over(t tool.Tool) tool.Tool {
	if !changers[t.Spec().Name] {
		return t
	}
	return watched{t, w}
}

type watched struct {
	tool.Tool
	w *watch
}

// Spec is the watched tool's.
func (t watched) Spec() provider.ToolSpec { return t.Tool.Spec() }

// Run runs the tool and looks whether the sources changed.
func (t watched) Run(ctx context.Context, id string, args json.RawMessage) (tool.Result, error) {
	began := time.Now()
	r, err := t.Tool.Run(ctx, id, args)
	if err != nil {
		return r, err
	}
	_, _, err = t.w.look(ctx, began)
	return r, err
}
