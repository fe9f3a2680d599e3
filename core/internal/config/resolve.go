package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/relo-dev/relo/core/internal/secret"
)

// ErrNoKey is in every error of a key that is missing or cannot be had; the words
// around it say what to do.
var ErrNoKey = errors.New("no key")

// Keys is where references lead.
type Keys struct {
	Getenv func(string) string
	// Ring fetches what the system's keyring holds under a name; nil: there is none here.
	Ring func(ctx context.Context, name string) (string, error)
}

// ResolveKey fetches a key without a keyring: see Keys.Resolve.
func ResolveKey(ctx context.Context, ref string, getenv func(string) string) (secret.Value, error) {
	return Keys{Getenv: getenv}.Resolve(ctx, ref)
}

// Resolve fetches what a reference names: env:NAME, file:PATH (~ is the home
// folder), keyring:NAME or cmd:COMMAND (the first line of its output, through the
// shell). An empty reference gives an empty value. Errors wrap ErrNoKey and never
// hold the key.
func (k Keys) Resolve(ctx context.Context, ref string) (secret.Value, error) {
	getenv := k.Getenv
	if ref == "" {
		return secret.Value{}, nil
	}
	place, rest, _ := strings.Cut(ref, ":")
	var text string
	var err error
	switch {
	case !reference(ref):
		return secret.Value{}, fmt.Errorf("%w: it must be a reference; %s", ErrNoKey, keyFix)
	case place == "env":
		if text = getenv(rest); text == "" {
			return secret.Value{}, fmt.Errorf("%w: the variable %s is not set", ErrNoKey, rest)
		}
	case place == "file":
		text, err = keyFile(rest, getenv)
	case place == "cmd":
		text, err = keyCommand(ctx, rest)
	case place == "keyring" && k.Ring == nil:
		err = errors.New("no keyring can be asked here; use env:NAME, file:PATH or cmd:COMMAND")
	case place == "keyring":
		text, err = k.Ring(ctx, rest)
	}
	if err != nil {
		return secret.Value{}, fmt.Errorf("%w: %w", ErrNoKey, err)
	}
	if text = strings.TrimSpace(text); text == "" {
		return secret.Value{}, fmt.Errorf("%w: %s: gave nothing", ErrNoKey, place)
	}
	if strings.ContainsAny(text, "\r\n\x00") {
		return secret.Value{}, fmt.Errorf("%w: %s: gave more than one line", ErrNoKey, place)
	}
	return secret.New(text), nil
}

// keyFile refuses a file that others can read: then it is no longer a secret.
func keyFile(name string, getenv func(string) string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(getenv("HOME"), rest)
	}
	if !filepath.IsAbs(name) {
		return "", fmt.Errorf("file:%s is not an absolute path", name)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s", name)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > maxSecret:
		return "", fmt.Errorf("%s is not a file that holds a key", name)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others can read %s; run: chmod 600 %s", name, name)
	}
	b, err := os.ReadFile(name) //nolint:gosec // the person named it
	return string(b), err
}

// keyCommand runs a command of the person's own file. Its output is never shown.
func keyCommand(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	shell, flag := "/bin/sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	cmd := exec.CommandContext(ctx, shell, flag, command) //nolint:gosec // only the person's own file can hold a command
	var out bytes.Buffer
	cmd.Stdout = &limited{to: &out, left: maxSecret}
	cmd.WaitDelay = keyGrace
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("the command of cmd: took too long: %w", context.Cause(ctx))
		}
		return "", fmt.Errorf("the command of cmd: failed: %w", err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return first, nil
}

// limited refuses to take more than left bytes.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, fmt.Errorf("more than %d bytes", maxSecret)
	}
	l.left -= len(p)
	return l.to.Write(p)
}

// Reference says whether a text names a place where a key is kept, and which kind
// of place: env, file, keyring or cmd.
func Reference(text string) (kind string, ok bool) {
	kind, _, _ = strings.Cut(text, ":")
	return kind, reference(text)
}
