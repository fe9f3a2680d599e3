//go:build unix

package picture

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestPipesAndSocketsAreRefusedAtOnce(t *testing.T) {
	dir, outside, roots := folder(t)
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo.png"), 0o600))
	var lc net.ListenConfig
	sock, err := lc.Listen(t.Context(), "unix", filepath.Join(dir, "s.png"))
	must(t, err)
	defer func() { must(t, sock.Close()) }()
	for _, name := range []string{"fifo.png", "s.png"} {
		begin := time.Now()
		opened(t, New(Options{}), roots, NotRegular, name, outside)
		if took := time.Since(begin); took > 100*time.Millisecond {
			t.Errorf("%s took %v", name, took)
		}
	}
}
