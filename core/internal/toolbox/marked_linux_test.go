package toolbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const leave = "setsid sh -c 'echo $$ > child; sleep 300' >/dev/null 2>&1 & while ! test -s child; do sleep 0.01; done"

func TestStragglersThatLeftTheGroupAreKilled(t *testing.T) {
	b := open(t, Options{}, nil)
	if exit, out, err := b.Run(t.Context(), leave, 0); exit != 0 || err != nil {
		t.Fatal(exit, out, err)
	}
	if !alive(t, b, "child") {
		t.Fatal("it does not run")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the straggler is gone", func() bool { return !alive(t, b, "child") })
}

func TestATimeoutKillsItsOwnStragglersOnly(t *testing.T) {
	b := open(t, Options{}, nil)
	if exit, out, err := b.Run(t.Context(), "sleep 300 >/dev/null & echo $! > server", 0); exit != 0 || err != nil {
		t.Fatal(exit, out, err)
	}
	if _, _, err := b.Run(t.Context(), leave+"; sleep 300", machineTime); !errors.Is(err, ErrTimeout) {
		t.Fatal(err)
	}
	eventually(t, "the straggler is gone", func() bool { return !alive(t, b, "child") })
	if !alive(t, b, "server") {
		t.Error("an earlier command's server was killed with it")
	}
}

func TestKillMarkedSweepsWhatACrashLeft(t *testing.T) {
	b := open(t, Options{Attempt: "crashed-" + filepath.Base(t.TempDir()) + "-" + time.Now().Format("150405.000000000")}, nil)
	if exit, out, err := b.Run(t.Context(), leave, 0); exit != 0 || err != nil {
		t.Fatal(exit, out, err)
	}
	if n := KillMarked("somebody-else-" + b.options.Attempt); n != 0 {
		t.Errorf("killed %d of another attempt", n)
	}
	if n := KillMarked(b.options.Attempt); n != 2 {
		t.Errorf("killed %d, want the shell and its sleep", n)
	}
	if KillMarked("") != 0 || KillMarked(b.options.Attempt) != 0 {
		t.Error("a second sweep found more")
	}
	eventually(t, "the straggler is gone", func() bool { return !alive(t, b, "child") })
}

func TestAPipeInTheWorkspaceIsNotWaitedFor(t *testing.T) {
	b := open(t, Options{}, nil)
	if exit, out, err := b.Run(t.Context(), "mkfifo pipe", 0); exit != 0 || err != nil {
		t.Fatal(exit, out, err)
	}
	for _, r := range []struct{ tool, args string }{
		{"read", `{"path":"pipe"}`}, {"write", `{"path":"pipe","content":"x"}`}, {"edit", `{"path":"pipe","old":"a","new":"b"}`},
	} {
		if got := call(t, b, r.tool, r.args); !got.IsError {
			t.Errorf("%s = %q", r.tool, got.Text)
		}
	}
	if got := call(t, b, "grep", `{"pattern":"x"}`); got.IsError {
		t.Error(got.Text)
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Fatal("these tests need /proc")
	}
}
