//go:build !unix

package outsiders

import "os/exec"

func ownGroup(*exec.Cmd) {}

// kill ends the server; what it started is the system's to end.
func kill(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
