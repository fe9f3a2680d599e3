package git

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
)

// setting is one configuration value, given on git's environment, where it wins
// over every file.
type setting struct{ key, value string }

// fixed are set for every call: nothing that a repository's configuration names
// is started, nothing is asked, nothing is fetched, and output keeps one shape.
var fixed = []setting{
	{"core.hooksPath", os.DevNull},
	{"core.fsmonitor", "false"},
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"core.askPass", ""},
	{"core.sshCommand", "false"},
	{"core.gitProxy", ""},
	{"core.alternateRefsCommand", "false"},
	{"credential.helper", ""},
	{"protocol.allow", "never"},
	{"protocol.file.allow", "never"},
	{"protocol.ext.allow", "never"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"commit.gpgSign", "false"},
	{"log.showSignature", "false"},
	{"gpg.program", "false"},
	{"submodule.recurse", "false"},
	{"safe.bareRepository", "explicit"}, // a folder that looks like a bare repository is just a folder
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"core.safecrlf", "false"},   // else one odd line ending stops a whole snapshot
	{"core.splitIndex", "false"}, // a private index must be one file
	{"core.quotePath", "false"},
	{"i18n.commitEncoding", "UTF-8"},
	{"i18n.logOutputEncoding", "UTF-8"},
	{"merge.directoryRenames", "false"}, // a new file stays where its author put it
}

// keptEnv are the GIT_ variables that stay: who the person is and where their own
// configuration lies. All others could redirect a call.
var keptEnv = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// setEnv is what every call gets.
var setEnv = []string{
	"LC_ALL=C",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_PAGER=cat",
	"GIT_EDITOR=false",
	"GIT_ASKPASS=",
	"SSH_ASKPASS=",
	"GIT_ALLOW_PROTOCOL=none", // no transport has that name
	"GIT_NO_LAZY_FETCH=1",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_LITERAL_PATHSPECS=1",
}

// cleanEnv takes from environ what could redirect git, and adds what every call gets.
func cleanEnv(environ []string) []string {
	env := make([]string, 0, len(environ)+len(setEnv))
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		if strings.HasPrefix(upper, "GIT_") && !slices.Contains(keptEnv, upper) {
			continue
		}
		if upper == "LC_ALL" || upper == "LANGUAGE" || upper == "SSH_ASKPASS" {
			continue
		}
		env = append(env, pair)
	}
	return append(env, setEnv...)
}

// settingsEnv writes settings as GIT_CONFIG_COUNT and its pairs (git 2.31).
func settingsEnv(list []setting) []string {
	env := make([]string, 0, 2*len(list)+1)
	for i, s := range list {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(list)))
}

// plainMerge is what a merge driver named by a repository is replaced with: the
// merge that a file without a driver gets.
const plainMerge = "git merge-file -q %A %O %B"

// disarm gives the settings that make a named program of the configuration harmless;
// none when key names no program. Keys come with lower-case section and name.
func disarm(key string) []setting {
	section, rest, _ := strings.Cut(key, ".")
	dot := strings.LastIndexByte(rest, '.')
	if dot < 0 {
		return nil
	}
	sub, name := rest[:dot], rest[dot+1:]
	switch {
	case section == "filter" && (name == "clean" || name == "smudge" || name == "process" || name == "required"):
		prefix := "filter." + sub + "."
		return []setting{{prefix + "clean", ""}, {prefix + "smudge", ""}, {prefix + "process", ""}, {prefix + "required", "false"}}
	case section == "merge" && name == "driver":
		return []setting{{key, plainMerge}}
	case section == "credential" && name == "helper":
		return []setting{{key, ""}}
	}
	return nil
}

// guard lists the configuration as it is now and gives every setting for the
// calls that follow. It is asked again for each call, since an agent or an
// applied change may have edited a file that the configuration includes.
func (r *Repo) guard(ctx context.Context, at place) ([]setting, error) {
	out, err := r.exec(ctx, call{at: at, args: []string{"config", "--list", "--name-only", "-z"}}, fixed)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(fixed)
	seen := map[string]bool{}
	for _, key := range fields(out.out) {
		for _, s := range disarm(key) {
			if !seen[s.key] {
				seen[s.key] = true
				list = append(list, s)
			}
		}
	}
	return list, nil
}
