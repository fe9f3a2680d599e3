package picture

import (
	"os"
	"syscall"
)

// pipeSize is what Linux grants everybody (pipe(7)); by 64 KiB, the usual size, each
// large file would cost hundreds of switches between the two processes.
const pipeSize = 1 << 20

// widen makes a pipe larger. Where that is refused it stays as it is.
func widen(pipe any) {
	f, ok := pipe.(*os.File)
	if !ok {
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	const setPipeSize = 1031 // F_SETPIPE_SZ, fcntl(2)
	_ = raw.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, pipeSize) })
}
