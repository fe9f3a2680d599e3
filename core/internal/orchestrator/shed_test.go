package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// shed is what a worker needs, played: the way to a stage, folders in place of
// worktrees, and an engine that is a function.
type shed struct {
	s *stage

	mu       sync.Mutex
	away     bool                        // the daemon does not answer at once
	hangs    bool                        // the daemon does not answer at all
	reports  func(protocol.Report) error // before they are passed on
	finishes []protocol.Finish
	hellos   []protocol.Hello
	orders   func([]byte)
	files    map[string]string // of a fresh worktree
	start    map[string]map[string]string
	exits    map[string]int // of checks
	closed   int
	act      func(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error)
}

// worker makes and runs a worker over a stage; it is stopped with the test.
func (s *stage) worker(slots int, act func(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error)) *shed {
	s.t.Helper()
	x := &shed{s: s, files: map[string]string{"main.go": "package main"}, start: map[string]map[string]string{}, exits: map[string]int{}, act: act}
	w := x.made(slots)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	return x
}

func (x *shed) made(slots int) *Worker {
	return NewWorker(WorkerOptions{ID: "w1", Dir: x.s.t.TempDir(), Slots: slots}, WorkerParts{
		Home: x, Phone: x, Mailbox: x, Trees: x, Shop: x, Engines: Engines{"scripted": x}, Log: zerolog.Nop(),
		Pictures: func([]string, func(string) bool) Pictures { return pictures{} }, Rooms: showing.NewRooms(),
	})
}

// alone is a worker's attempt without a stage, with its folder prepared.
func alone(t *testing.T, a protocol.Assignment, files map[string]string) (*work, *shed) {
	t.Helper()
	x := &shed{s: &stage{t: t, mem: newMemory()}, files: files, start: map[string]map[string]string{}, exits: map[string]int{}}
	a.Attempt, a.Engine, a.Minutes, a.MaxEdge = "attempt", "scripted", 1, 1568
	k := newWork(x.made(1), a, &holding{}, zerolog.Nop())
	if err := k.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k, x
}

// reach reports whether the daemon answers.
func (x *shed) reach(ctx context.Context) error {
	x.mu.Lock()
	away, hangs := x.away, x.hangs
	x.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if away {
		return protocol.ErrAway
	}
	return nil
}

func (x *shed) set(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f()
}

func (x *shed) Hello(ctx context.Context, h protocol.Hello) (protocol.Welcome, error) {
	x.set(func() { x.hellos = append(x.hellos, h) })
	if err := x.reach(ctx); err != nil {
		return protocol.Welcome{}, err
	}
	return x.s.Hello(ctx, h)
}

func (x *shed) Claim(ctx context.Context, h protocol.Hold) (protocol.Assignment, error) {
	if err := x.reach(ctx); err != nil {
		return protocol.Assignment{}, err
	}
	return x.s.Claim(ctx, h)
}

func (x *shed) Report(ctx context.Context, r protocol.Report) error {
	if err := x.reach(ctx); err != nil {
		return err
	}
	x.mu.Lock()
	reports := x.reports
	x.mu.Unlock()
	if reports != nil {
		if err := reports(r); err != nil {
			return err
		}
	}
	return x.s.Report(ctx, r)
}

func (x *shed) Finish(ctx context.Context, f protocol.Finish) (protocol.Received, error) {
	x.set(func() { x.finishes = append(x.finishes, f) })
	if err := x.reach(ctx); err != nil {
		return protocol.Received{}, err
	}
	return x.s.Finish(ctx, f)
}

func (x *shed) Look(ctx context.Context, a protocol.LookAsk) (traffic.Seen, error) {
	return x.s.Look(ctx, a)
}

func (x *shed) Ask(ctx context.Context, a protocol.Ask) (traffic.Answer, error) {
	if err := x.reach(ctx); err != nil {
		return traffic.Answer{}, err
	}
	return x.s.Ask(ctx, a)
}

func (x *shed) PutBlob(_ context.Context, data []byte) (string, error) { return x.s.mem.PutBlob(data) }

func (x *shed) Blob(_ context.Context, sha string) ([]byte, error) { return x.s.mem.Blob(sha) }

// Tasks looks into the mailbox ten times a second.
func (x *shed) Tasks(ctx context.Context, worker string, f func([]byte) bool) error {
	for ctx.Err() == nil {
		hold, ok := x.s.lanes.take(worker)
		if ok && !f(raw(hold)) {
			x.s.lanes.mu.Lock()
			x.s.lanes.boxes[worker] = append(x.s.lanes.boxes[worker], raw(hold))
			x.s.lanes.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return ctx.Err()
}

func (x *shed) Orders(_ string, f func([]byte)) (func(), error) {
	x.set(func() { x.orders = f })
	return func() {}, nil
}

func (x *shed) Add(_ context.Context, _, path, _ string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for name, text := range x.files {
		file := filepath.Join(path, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	x.set(func() { x.start[path] = maps.Clone(x.files) })
	return nil
}

func (x *shed) AddAt(ctx context.Context, repo, path, _, files string) error {
	return x.Add(ctx, repo, path, files)
}

func (x *shed) Sweep(string) {}

func (x *shed) Remove(context.Context, string, string) error { return nil }

// read gives the files of a folder but for those of .relo and of ignored.
func read(path string) (map[string]string, error) {
	out := map[string]string{}
	root := os.DirFS(path)
	err := fs.WalkDir(root, ".", func(rel string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(rel, ".relo") || strings.HasPrefix(rel, "ignored") {
			return err
		}
		text, err := fs.ReadFile(root, rel)
		out[rel] = string(text)
		return err
	})
	return out, err
}

func (x *shed) Sources(_ context.Context, _, path string) (string, map[string]string, error) {
	files, err := read(path)
	tree, shown := "", map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if vision.IsPictureName(name) {
			shown[name] = files[name]
			continue
		}
		tree += name + "=" + files[name] + ";"
	}
	return tree, shown, err
}

func (x *shed) Commit(_ context.Context, _, path string, _ CommitSpec) (Committed, error) {
	files, err := read(path)
	c := Committed{Commit: "commit", Parent: "base"}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] != x.start[path][name] {
			c.Files = append(c.Files, job.FileChange{Path: name, Status: "modified"})
		}
	}
	return c, err
}

func (x *shed) Tracked(context.Context, string, string, string) bool { return true }

func (x *shed) Open(dir, _, _ string, _ bool) (Box, error) { return box{x, dir}, nil }

func (x *shed) Name() string { return "scripted" }

func (x *shed) Run(ctx context.Context, t engine.Task, d engine.Desk) (engine.End, error) {
	x.mu.Lock()
	act := x.act
	x.mu.Unlock()
	return act(ctx, t, d)
}

// box has one tool, write, and runs checks by a table of exit codes.
type box struct {
	x   *shed
	dir string
}

func (b box) Tools() []tool.Tool { return []tool.Tool{writeTool{b.dir}} }

func (b box) Run(_ context.Context, command string, _ time.Duration) (int, string, error) {
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	return b.x.exits[command], "output", nil
}

func (b box) Close() error {
	b.x.set(func() { b.x.closed++ })
	return nil
}

type writeTool struct{ dir string }

func (writeTool) Spec() provider.ToolSpec { return provider.ToolSpec{Name: "write"} }

func (w writeTool) Run(_ context.Context, _ string, args json.RawMessage) (tool.Result, error) {
	var in struct{ Path, Content string }
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: "written"}, os.WriteFile(filepath.Join(w.dir, in.Path), []byte(in.Content), 0o600)
}

// pictures show any file as it is.
type pictures struct{}

type pictureFaultError struct{ code string }

func (e pictureFaultError) Error() string       { return "not a picture: " + e.code }
func (e pictureFaultError) PictureCode() string { return e.code }

func (pictures) Prepare(_ context.Context, dir, name string, region *vision.Region, _ int) (vision.Picture, vision.Meta, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, filepath.FromSlash(name))
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return vision.Picture{}, vision.Meta{}, pictureFaultError{"not_found"}
	}
	sha, _ := newMemory().PutBlob(data) // never fails
	return vision.Picture{SHA256: sha, MediaType: "image/png", Bytes: data}, vision.Meta{Path: name, SHA256: sha, Crop: region, Bytes: len(data)}, nil
}

// use calls one of the agent's tools.
func use(ctx context.Context, t engine.Task, name, args string) (tool.Result, error) {
	for _, one := range t.Tools {
		if one.Spec().Name == name {
			return one.Run(ctx, "call", json.RawMessage(args))
		}
	}
	return tool.Result{}, fmt.Errorf("there is no tool %s", name)
}

// finished reports through a finishing tool, and ends the work when it is taken.
func finished(ctx context.Context, t engine.Task, name, args string) (engine.End, error) {
	r, err := use(ctx, t, name, args)
	if err == nil && r.IsError {
		err = errors.New(r.Text)
	}
	return engine.End{Finish: name, Args: json.RawMessage(args), Rounds: 1}, err
}
