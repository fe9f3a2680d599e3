package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Check is one thing that the doctor looked at.
type Check struct {
	Name  string `json:"name"`
	State string `json:"state"` // ok, warn, fail
	Words string `json:"words"`
	Fix   string `json:"fix,omitempty"`
}

const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
	// freeLow warns below so much free space: worktrees of a large repository
	// and the broker's file store need room.
	freeLow = 2 << 30
	// dialEach bounds how long one provider is waited for.
	dialEach = 3 * time.Second
)

// Doctor looks at what jobs need. It sends nothing to a provider but the opening
// of a connection.
func Doctor(ctx context.Context, e Env, cfg *config.Config) []Check {
	out := []Check{checkGit(ctx), checkSpace(e), checkFolders(e), checkConfig(cfg), checkSight(cfg)}
	out = append(out, checkProviders(ctx, e, cfg)...)
	return append(out, checkDaemon(e, cfg), checkBrowser(),
		Check{Name: "sandbox", State: stateWarn, Words: "agents' commands are not confined in this version", Fix: "give Relo only repositories that you trust"})
}

func checkGit(ctx context.Context) Check {
	text, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return Check{Name: "git", State: stateFail, Words: "git cannot be run: " + err.Error(), Fix: "install git 2.38 or later"}
	}
	return Check{Name: "git", State: stateOK, Words: strings.TrimSpace(string(text))}
}

func checkSpace(e Env) Check {
	dir := e.places().State
	for {
		if _, err := os.Stat(dir); err == nil || dir == "/" || dir == "." {
			break
		}
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 1)]
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return Check{Name: "space", State: stateWarn, Words: "free space cannot be read: " + err.Error()}
	}
	free := fs.Bavail * uint64(fs.Bsize) //nolint:gosec // a block size is positive
	c := Check{Name: "space", State: stateOK, Words: fmt.Sprintf("%.1f GiB free for Relo's state", float64(free)/(1<<30))}
	if free < freeLow {
		c.State, c.Fix = stateWarn, "free some space, or set RELO_HOME to a larger disk"
	}
	return c
}

func checkFolders(e Env) Check {
	p := e.places()
	return Check{Name: "folders", State: stateOK, Words: fmt.Sprintf("config %s · state %s · run %s", p.File(), p.State, p.Run)}
}

func checkConfig(cfg *config.Config) Check {
	switch {
	case cfg.Empty:
		return Check{Name: "config", State: stateWarn, Words: "there is no config yet", Fix: "relo demo needs none; relo config schema shows the keys"}
	case len(cfg.Ladder) == 0 || cfg.Primary == "":
		return Check{Name: "config", State: stateFail, Words: "no ladder or no primary is set", Fix: "set both; see the README's example"}
	}
	return Check{Name: "config", State: stateOK, Words: fmt.Sprintf("%d rungs, primary %s", len(cfg.Ladder), cfg.Primary)}
}

func checkSight(cfg *config.Config) Check {
	var sees, unknown []string
	for _, ref := range cfg.Models() {
		switch modelOf(cfg, ref).Sight.Sight {
		case vision.Sees:
			sees = append(sees, string(ref))
		case vision.Unknown:
			unknown = append(unknown, string(ref))
		case vision.Blind:
		}
	}
	if len(sees) > 0 {
		return Check{Name: "sight", State: stateOK, Words: "these see images: " + strings.Join(sees, ", ")}
	}
	c := Check{Name: "sight", State: stateWarn, Words: "no model of the ladder is known to see images", Fix: "add one, or set \"vision\": true on a model that does"}
	if len(unknown) > 0 {
		c.Words += "; not known: " + strings.Join(unknown, ", ")
	}
	return c
}

// checkProviders looks for each provider's key and opens a connection to it.
func checkProviders(ctx context.Context, e Env, cfg *config.Config) []Check {
	var names []string
	for name := range cfg.Providers {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []Check
	for _, name := range names {
		out = append(out, checkProvider(ctx, e, name, cfg.Providers[name]))
	}
	return out
}

func checkProvider(ctx context.Context, e Env, name string, p config.Provider) Check {
	c := Check{Name: "provider " + name, State: stateOK, Words: "reachable"}
	if _, err := config.ResolveKey(ctx, p.Key, e.Getenv); err != nil {
		c.State, c.Words, c.Fix = stateFail, err.Error(), "set what the config's key names"
		if !errors.Is(err, config.ErrNoKey) {
			c.Fix = ""
		}
		return c
	}
	if p.URL == "" {
		c.Words = "runs inside Relo"
		return c
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return Check{Name: c.Name, State: stateFail, Words: "its url cannot be read"}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	d := net.Dialer{Timeout: dialEach}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return Check{Name: c.Name, State: stateFail, Words: "not reachable: " + err.Error(), Fix: "look at the url, the network or the proxy"}
	}
	if err := conn.Close(); err != nil {
		c.Words += " (closing: " + err.Error() + ")"
	}
	return c
}

func checkDaemon(e Env, cfg *config.Config) Check {
	if Running(e, cfg) {
		return Check{Name: "daemon", State: stateOK, Words: "a daemon answers"}
	}
	return Check{Name: "daemon", State: stateOK, Words: "no daemon is running; relo run works without one"}
}

// checkBrowser says whether pages can be captured later on; nothing in this
// version needs it.
func checkBrowser() Check {
	for _, name := range []string{"chromium", "google-chrome", "chrome", "microsoft-edge"} {
		if file, err := exec.LookPath(name); err == nil {
			return Check{Name: "browser", State: stateOK, Words: "found " + file}
		}
	}
	return Check{Name: "browser", State: stateOK, Words: "no Chromium, Chrome or Edge was found; this version captures no pages"}
}
