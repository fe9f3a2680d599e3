//go:build !linux

package picture

import "testing"

const onLinux = "not run: pipes, devices, system files and the race of renames are made by calls of Linux; go test there runs them"

func pipes(t *testing.T)             { t.Helper(); t.Skip(onLinux) }
func devices(t *testing.T)           { t.Helper(); t.Skip(onLinux) }
func systemFiles(t *testing.T)       { t.Helper(); t.Skip(onLinux) }
func renameRace(t *testing.T, _ int) { t.Helper(); t.Skip(onLinux) }
