package keyring

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// reachable looks for the session's bus before it is asked: without one the
// library would start a bus of its own and wait for it.
func reachable(getenv func(string) string) error {
	if addr := getenv("DBUS_SESSION_BUS_ADDRESS"); addr != "" && addr != "autolaunch:" {
		return nil
	}
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	}
	if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
		return nil
	}
	return fmt.Errorf("%w: this login has no session bus, as over SSH or in a container; %s", ErrNone, Instead)
}
