// Package app is where the parts meet: it opens the record, the bus, the
// conductors and the doors, and joins each need to who answers it. It sees
// everything and decides nothing.
package app

import (
	"io"
	"path/filepath"

	"github.com/relo-dev/relo/core/internal/config"
)

// Version of the program; the release build sets it.
var Version = "0.1.0-dev"

// Env is where the program was started.
type Env struct {
	Getenv func(string) string
	Dir    string // the folder the command runs in; a project's config is looked for there
	Stderr io.Writer
	Flags  map[string]string // config values by path
	// Program is this program's own file, which it starts again to decode pictures in;
	// empty: they are decoded in this process.
	Program string
}

// With gives the same place with one variable changed.
func (e Env) With(name, value string) Env {
	before := e.Getenv
	e.Getenv = func(n string) string {
		if n == name {
			return value
		}
		return before(n)
	}
	return e
}

func (e Env) places() config.Places { return config.FindPlaces(e.Getenv) }

// Load reads the configuration that holds in a folder: the person's and, when Dir
// is not empty, that of the project around it. The error of a bad one is
// *config.Faults.
func Load(e Env) (*config.Config, error) {
	dir := projectDir(e.Dir)
	return config.Load(config.Input{Places: e.places(), ProjectDir: dir, Getenv: e.Getenv, Flags: e.Flags, Trusted: e.approved(dir)})
}

// folders of the record's machine.
func (e Env) recordDir() string       { return filepath.Join(e.places().State, "record") }
func (e Env) busDir() string          { return filepath.Join(e.places().State, "bus") }
func (e Env) worktrees() string       { return filepath.Join(e.places().State, "worktrees") }
func (e Env) logFile(n string) string { return filepath.Join(e.places().State, "logs", n+".log") }
func (e Env) runFile(n string) string { return filepath.Join(e.places().Run, n) }
