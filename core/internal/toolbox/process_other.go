//go:build !unix

package toolbox

import (
	"errors"
	"os"
	"os/exec"
)

func isolate(*exec.Cmd) {}

// killGroup ends the one process: groups are a unix idea.
func killGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func groupAlive(int) bool { return false }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
