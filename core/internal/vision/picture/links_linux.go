package picture

import (
	"io/fs"
	"os"
	"syscall"
)

// systemViews are file systems whose files are no files but answers of the running system (statfs(2)).
var systemViews = map[uint32]bool{
	0x9fa0:     true, // proc
	0x62656572: true, // sysfs
	0x27e0eb:   true, // cgroup
	0x63677270: true, // cgroup2
	0x64626720: true, // debugfs
	0x74726163: true, // tracefs
	0x73636673: true, // securityfs
	0x62656570: true, // configfs
	0xcafe4a11: true, // bpf
	0xde5e81e4: true, // efivarfs
}

// systemView tells whether the file is one of /proc or its kin, wherever that is mounted.
func systemView(f *os.File) bool {
	var st syscall.Statfs_t
	conn, err := f.SyscallConn()
	if err != nil {
		return true
	}
	var asked error
	err = conn.Control(func(fd uintptr) { asked = syscall.Fstatfs(int(fd), &st) })
	return err != nil || asked != nil || systemViews[uint32(st.Type)] //nolint:gosec // a magic number of 32 bits
}

// sameState compares what the system writes whenever a file changes in any way, which nobody can set back.
func sameState(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return ok && also && x.Ctim == y.Ctim
}
