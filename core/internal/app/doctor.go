package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"

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

// DoctorOptions say how far the doctor goes, and what the person sits before.
type DoctorOptions struct {
	Online   bool // ask one model of each provider for one word
	Terminal bool // the results go to one
	Reads    bool // the input comes from one
}

const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
	// freeLow warns below so much free space: worktrees of a large repository
	// and the broker's file store need room.
	freeLow = 2 << 30
	// freeNone fails: the record itself could not be written to its end.
	freeNone = 200 << 20
	// oldestGit is the first that merges without a worktree (git merge-tree --write-tree).
	oldestGit = 38 // of 2.x
)

// Doctor looks at what jobs need, in the order in which a person would mend it.
// Unless Online, it sends nothing to a provider but the opening of a connection.
func Doctor(ctx context.Context, e Env, o DoctorOptions) []Check {
	out := []Check{checkVersion(), checkFolders(e), checkGit(ctx)}
	out = append(out, checkSpace("space for Relo's state", e.places().State), checkSpace("space for temporary files", os.TempDir()), checkTerminal(e, o))
	cfg, checks := checkConfig(e)
	out = append(out, checks...)
	if cfg != nil {
		out = append(out, checkProviders(ctx, e, cfg, o.Online)...)
	}
	out = append(out, checkDaemon(ctx, e)...)
	return append(out, checkRecord(ctx, e)...)
}

func checkVersion() Check {
	return Check{Name: "relo", State: stateOK, Words: fmt.Sprintf("%s (%s, %s/%s)", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)}
}

var gitVersion = regexp.MustCompile(`(\d+)\.(\d+)`)

func checkGit(ctx context.Context) Check {
	text, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return Check{Name: "git", State: stateFail, Words: "git cannot be run: " + err.Error(), Fix: fmt.Sprintf("install git 2.%d or later", oldestGit)}
	}
	c := Check{Name: "git", State: stateOK, Words: strings.TrimSpace(string(text))}
	m := gitVersion.FindStringSubmatch(c.Words)
	if m == nil {
		c.State, c.Fix = stateWarn, fmt.Sprintf("its version cannot be read; Relo needs 2.%d or later", oldestGit)
		return c
	}
	major, _ := strconv.Atoi(m[1]) // digits
	minor, _ := strconv.Atoi(m[2])
	if major < 2 || major == 2 && minor < oldestGit { //nolint:mnd // 2.x
		c.State, c.Fix = stateFail, fmt.Sprintf("install git 2.%d or later", oldestGit)
	}
	return c
}

// checkSpace asks for the free space where a folder is, or will be.
func checkSpace(name, dir string) Check {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return Check{Name: name, State: stateWarn, Words: "free space cannot be read: " + err.Error()}
	}
	return spaceCheck(name, dir, fs.Bavail*uint64(fs.Bsize)) //nolint:gosec // a block size is positive
}

func spaceCheck(name, dir string, free uint64) Check {
	c := Check{Name: name, State: stateOK, Words: fmt.Sprintf("%.1f GiB free in %s", float64(free)/(1<<30), dir)}
	const fix = "free some space (relo daemon clean removes what is old), or set RELO_HOME or TMPDIR to a larger disk"
	switch {
	case free < freeNone:
		c.State, c.Fix = stateFail, fix
	case free < freeLow:
		c.State, c.Fix = stateWarn, fix
	}
	return c
}

// checkFolders shows where everything is, and whether others can look into it.
func checkFolders(e Env) Check {
	p := e.places()
	c := Check{Name: "folders", State: stateOK, Words: fmt.Sprintf("config %s · state %s · cache %s · run %s", p.File(), p.State, p.Cache, p.Run)}
	for _, dir := range []string{p.State, p.Run} {
		info, err := os.Stat(dir)
		switch {
		case os.IsNotExist(err):
		case err != nil:
			return Check{Name: c.Name, State: stateFail, Words: err.Error(), Fix: "make " + dir + " readable for yourself"}
		case !info.IsDir():
			return Check{Name: c.Name, State: stateFail, Words: dir + " is not a folder", Fix: "move it away"}
		case info.Mode().Perm()&0o077 != 0 && dir == p.Run:
			return Check{Name: c.Name, State: stateFail, Words: "others can look into " + dir + ", which holds the key of the bus", Fix: "chmod 700 " + dir}
		}
	}
	return c
}

func checkTerminal(e Env, o DoctorOptions) Check {
	term, words := e.Getenv("TERM"), "results do not go to a terminal: plain lines, no questions"
	if o.Terminal {
		words = "a terminal (TERM=" + term + ")"
		if !o.Reads {
			words += ", but the input is none: no questions are asked"
		}
		if term == "" || term == "dumb" {
			words += ", plain lines only"
		}
	}
	if e.Getenv("NO_COLOR") != "" {
		words += ", NO_COLOR is set"
	}
	return Check{Name: "terminal", State: stateOK, Words: words}
}

// checkConfig reads the config that holds here; every fault is a row of its own.
func checkConfig(e Env) (*config.Config, []Check) {
	cfg, err := Load(e)
	if faults, ok := config.AsFaults(err); ok {
		var out []Check
		for _, f := range faults {
			c := Check{Name: "config", State: stateFail, Words: f.String(), Fix: f.Fix}
			if c.Fix == "" {
				c.Fix = "relo config schema prints what is allowed"
			}
			out = append(out, c)
		}
		return nil, out
	}
	if err != nil {
		return nil, []Check{{Name: "config", State: stateFail, Words: err.Error()}}
	}
	out := []Check{configRow(cfg)}
	if len(cfg.Waiting) > 0 {
		out = append(out, Check{
			Name: "trust", State: stateWarn, Words: "the project's " + strings.Join(cfg.Waiting, " and ") + " wait for your approval and are not used", Fix: "relo trust shows them and asks",
		})
	}
	if !cfg.Empty {
		out = append(out, checkSight(e, cfg))
	}
	return cfg, out
}

func configRow(cfg *config.Config) Check {
	switch {
	case cfg.Empty:
		return Check{Name: "config", State: stateWarn, Words: "there is no config yet", Fix: "relo config init proposes one; relo demo needs none"}
	case len(cfg.Ladder) == 0 || cfg.Primary == "":
		return Check{Name: "config", State: stateFail, Words: "no ladder or no primary is set", Fix: "relo config init proposes them; see the README's example"}
	}
	return Check{Name: "config", State: stateOK, Words: fmt.Sprintf("%d rungs, primary %s", len(cfg.Ladder), cfg.Primary)}
}

func checkSight(e Env, cfg *config.Config) Check {
	known := e.knowledge()
	var sees, unknown []string
	for _, ref := range cfg.Models() {
		switch known.modelOf(cfg, ref).Sight.Sight {
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
