//go:build unix

package picture

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps a Ctrl-C on the terminal from the child: it is the parent's to answer.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}
