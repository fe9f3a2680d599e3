//go:build !linux

package picture

import (
	"io/fs"
	"os"
)

// systemView is false here: this system shows nothing of itself as files in a workspace.
func systemView(*os.File) bool { return false }

// sameState is told by size and time of writing alone on this system.
func sameState(fs.FileInfo, fs.FileInfo) bool { return true }
