//go:build unix

package toolbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// isolate gives the command a session of its own: a group that can be killed as
// one, and no terminal that a program could ask for a password.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr)
}

func killGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return os.NewSyscallError("kill", err)
	}
	return nil
}

func groupAlive(pid int) bool { return syscall.Kill(-pid, 0) == nil }

// exitCode is the shell's way to say it: 128 + signal for one that was killed.
func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}
