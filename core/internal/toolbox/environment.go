package toolbox

import (
	"slices"
	"strings"
)

// passed are the variables that every command gets from Relo's own environment.
// LC_* is passed too.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ"}

// fixed keep programs from waiting for somebody who is not there.
var fixed = []string{"PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}

// secretWords are parts of names (between underscores) that keys and tokens have.
var secretWords = []string{
	"KEY", "APIKEY", "TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE",
	"CREDENTIAL", "CREDENTIALS", "CREDS", "AUTH", "COOKIE", "BEARER", "PAT", "NKEY", "SEED", "DSN",
}

// secretEnds are ends of names that are written in one word, such as GHTOKEN.
var secretEnds = []string{"TOKEN", "APIKEY", "SECRET", "PASSWORD"}

// secretStarts are how well-known keys begin.
var secretStarts = []string{
	"sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xox", "AKIA", "AIza", "hf_", "gsk_", "xai-", "-----BEGIN", "Bearer ",
}

// environment builds what commands get, from a list and never from "all but".
func environment(o Options, own []string) []string {
	values := map[string]string{}
	var order []string
	set := func(name, value string) {
		if _, there := values[name]; !there {
			order = append(order, name)
		}
		values[name] = value
	}
	for _, entry := range own {
		name, value, _ := strings.Cut(entry, "=")
		if (slices.Contains(passed, name) || slices.Contains(o.Env, name) || strings.HasPrefix(name, "LC_")) && !secret(name, value) {
			set(name, value)
		}
	}
	for _, entry := range append(slices.Clone(fixed), o.Env...) {
		if name, value, given := strings.Cut(entry, "="); given && !secret(name, value) {
			set(name, value)
		}
	}
	if o.TempDir != "" {
		set("TMPDIR", o.TempDir)
	}
	set(strings.TrimSuffix(markAttempt, "="), o.Attempt)
	env := make([]string, 0, len(order)+1) // one more for the command's own mark
	for _, name := range order {
		env = append(env, name+"="+values[name])
	}
	return env
}

// secret reports whether a variable looks like a key or a token.
func secret(name, value string) bool {
	up := strings.ToUpper(name)
	for part := range strings.SplitSeq(up, "_") {
		if slices.Contains(secretWords, part) {
			return true
		}
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(up, end) {
			return true
		}
	}
	for _, start := range secretStarts {
		if strings.HasPrefix(value, start) {
			return true
		}
	}
	_, rest, isURL := strings.Cut(value, "://")
	host, _, _ := strings.Cut(rest, "/")
	user, _, hasUser := strings.Cut(host, "@")
	return isURL && hasUser && strings.Contains(user, ":")
}
