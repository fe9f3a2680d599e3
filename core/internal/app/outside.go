package app

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
	"sync"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/outsiders"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/picture"
)

var (
	_ outsiders.Pins       = (*pins)(nil)
	_ orchestrator.Outside = (*lender)(nil)
)

// outsideOf opens the servers under mcp of the person's own file: a project's can name none.
func outsideOf(e Env, d *Darkroom) func(dir string, private bool) orchestrator.Outside {
	e.Dir = ""
	return func(dir string, private bool) orchestrator.Outside {
		cfg, err := startConfig(e)
		if err != nil || len(cfg.MCP) == 0 {
			return nil // a faulty file is told elsewhere
		}
		return newLender(e, cfg, d, dir, private)
	}
}

// lender is a set of servers with what was found wrong before they were started.
type lender struct {
	*outsiders.Set
	notices []string
}

// Tools gives the set's.
func (l *lender) Tools(ctx context.Context) ([]tool.Tool, []string) {
	tools, notices := l.Set.Tools(ctx)
	return tools, append(l.notices, notices...)
}

func newLender(e Env, cfg *config.Config, d *Darkroom, dir string, private bool) *lender {
	l := &lender{}
	keys := keysOf(e.Getenv)
	var servers []outsiders.Server
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		s := cfg.MCP[name]
		if private && s.URL != "" && !config.Near(s.URL) {
			l.notices = append(l.notices, fmt.Sprintf("the tool server %q is not used: it is not on your own machines, and this job is private", name))
			continue
		}
		one := outsiders.Server{Name: name, URL: s.URL, Command: s.Command, Headers: map[string]string{}}
		err := resolved(keys, s.Headers, func(k, v string) { one.Headers[k] = v })
		for _, k := range []string{"PATH", "HOME", "LANG", "TMPDIR", "USER", "LOGNAME", "SHELL", "TZ"} {
			if v := e.Getenv(k); v != "" {
				one.Env = append(one.Env, k+"="+v)
			}
		}
		err = errors.Join(err, resolved(keys, s.Env, func(k, v string) { one.Env = append(one.Env, k+"="+v) }))
		if err != nil {
			l.notices = append(l.notices, fmt.Sprintf("the tool server %q cannot be used: %v", name, err))
			continue
		}
		servers = append(servers, one)
	}
	prepare := func(ctx context.Context, data []byte, name string) (vision.Picture, vision.Meta, error) {
		p, meta, err := d.Preparer(picture.Options{Never: cfg.Pictures.Never, MaxEdge: cfg.Pictures.MaxEdge}).PrepareBytes(ctx, data, name, picture.Params{})
		return p, meta, codedPicture(err)
	}
	l.Set = outsiders.New(outsiders.Options{Servers: servers, Dir: dir, Prepare: prepare, Pins: &pins{file: e.mcpFile(), env: e}})
	return l
}

// resolved follows references (env:, file:, keyring:, cmd:) in values.
func resolved(keys config.Keys, values map[string]string, set func(name, value string)) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := secret.New(values[name])
		if _, ok := config.Reference(values[name]); ok {
			var err error
			if v, err = keys.Resolve(context.Background(), values[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		set(name, v.Reveal())
	}
	return nil
}

func (e Env) mcpFile() string { return filepath.Join(e.places().State, "mcp.json") }

// pinned is what is kept of one server.
type pinned struct {
	Approved outsiders.Pin  `json:"approved"`
	Waiting  *outsiders.Pin `json:"waiting,omitempty"` // the list as it is now
}

// pins is state/mcp.json. Processes that write it at once would lose a first use, which is
// then pinned at the next.
type pins struct {
	env  Env
	file string
	mu   sync.Mutex
}

func (p *pins) all() (map[string]pinned, error) {
	text, err := os.ReadFile(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]pinned{}, nil
	}
	all := map[string]pinned{}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.file, err)
	}
	return all, nil
}

func (p *pins) change(server string, f func(pinned) pinned) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, err := p.all()
	if err != nil {
		return err
	}
	all[server] = f(all[server])
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write %s: %w", p.file, err)
	}
	return p.env.writeState(p.file, text)
}

// Pin gives what was approved. A file that cannot be read approves nothing.
func (p *pins) Pin(server string) (outsiders.Pin, bool) {
	all, err := p.all()
	if err != nil {
		return outsiders.Pin{}, true
	}
	one, ok := all[server]
	return one.Approved, ok
}

// Approve keeps the list of a first use.
func (p *pins) Approve(server string, list outsiders.Pin) error {
	return p.change(server, func(pinned) pinned { return pinned{Approved: list} })
}

// Propose keeps a list that waits for the person.
func (p *pins) Propose(server string, list outsiders.Pin) error {
	return p.change(server, func(was pinned) pinned { was.Waiting = &list; return was })
}

// ApproveServer approves a server's list as it was last seen, and says what changed by
// that; empty: nothing waits.
func ApproveServer(e Env, server string) (changes string, err error) {
	p := &pins{file: e.mcpFile(), env: e}
	all, err := p.all()
	if err != nil {
		return "", err
	}
	one, ok := all[server]
	if !ok || one.Waiting == nil {
		return "", nil
	}
	return outsiders.Changes(one.Approved, *one.Waiting), p.Approve(server, *one.Waiting)
}
