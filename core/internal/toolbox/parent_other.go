//go:build unix && !linux

package toolbox

import "syscall"

// dieWithParent is the kernel's on Linux only.
func dieWithParent(*syscall.SysProcAttr) {}
