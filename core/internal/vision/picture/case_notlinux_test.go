//go:build !linux

package picture

import "testing"

// Pipes, devices, system files and the race of renames are made by calls of Linux.

func pipes(t *testing.T) {
	t.Helper()
	t.Skip("not run: pipes in a workspace; go test on Linux runs it")
}

func devices(t *testing.T) {
	t.Helper()
	t.Skip("not run: sockets and devices in a workspace; go test on Linux runs it")
}

func systemFiles(t *testing.T) {
	t.Helper()
	t.Skip("not run: /proc and its kin; go test on Linux runs it")
}

func renameRace(t *testing.T, _ int) {
	t.Helper()
	t.Skip("not run: opens against renames; go test on Linux runs it")
}
