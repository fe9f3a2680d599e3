//go:build unix

package picture

import (
	"io/fs"
	"syscall"
)

// links is how many names the file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its type differs between systems
	}
	return 1
}
