package config

import (
	"os/user"
	"path/filepath"
	"runtime"
)

// Places are the folders that Relo uses, absolute paths. None is made here.
type Places struct {
	Config string // holds relo.json
	State  string // the record: must not be lost
	Cache  string // may be deleted at any time
	Run    string // endpoints.json, sockets: 0700
}

// File is the person's configuration file.
func (p Places) File() string { return filepath.Join(p.Config, "relo.json") }

// Endpoints is where a running daemon writes its addresses.
func (p Places) Endpoints() string { return filepath.Join(p.Run, "endpoints.json") }

// FindPlaces follows RELO_HOME, else the XDG variables, else the habits of the system.
func FindPlaces(getenv func(string) string) Places {
	if home := getenv("RELO_HOME"); home != "" {
		if abs, err := filepath.Abs(home); err == nil {
			home = abs
		}
		return Places{Config: home, State: filepath.Join(home, "state"), Cache: filepath.Join(home, "cache"), Run: filepath.Join(home, "run")}
	}
	p := systemPlaces(runtime.GOOS, getenv)
	// A relative XDG path is to be ignored (XDG Base Directory Specification).
	for _, row := range []struct {
		name  string
		place *string
	}{
		{"XDG_CONFIG_HOME", &p.Config}, {"XDG_STATE_HOME", &p.State}, {"XDG_CACHE_HOME", &p.Cache}, {"XDG_RUNTIME_DIR", &p.Run},
	} {
		if dir := getenv(row.name); filepath.IsAbs(dir) {
			*row.place = filepath.Join(dir, "relo")
		}
	}
	return p
}

func systemPlaces(system string, getenv func(string) string) Places {
	home := getenv("HOME")
	switch system {
	case "windows":
		roaming, local := getenv("APPDATA"), getenv("LOCALAPPDATA")
		return Places{
			Config: filepath.Join(roaming, "relo"), State: filepath.Join(local, "relo", "state"),
			Cache: filepath.Join(local, "relo", "cache"), Run: filepath.Join(local, "relo", "run"),
		}
	case "darwin":
		support := filepath.Join(home, "Library", "Application Support", "relo")
		return Places{Config: support, State: filepath.Join(support, "state"), Cache: filepath.Join(home, "Library", "Caches", "relo"), Run: filepath.Join(support, "run")}
	}
	if home == "" {
		home = accountHome()
	}
	state := filepath.Join(home, ".local", "state", "relo")
	return Places{
		Config: filepath.Join(home, ".config", "relo"), State: state,
		Cache: filepath.Join(home, ".cache", "relo"), Run: filepath.Join(state, "run"),
	}
}

// accountHome is the home folder that the system's accounts name, for a process
// without HOME. Never a folder that others can write: a config names commands. With
// no account to be found it is a folder that cannot be, so that using it fails.
func accountHome() string {
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return filepath.Join(string(filepath.Separator), "nonexistent")
}
