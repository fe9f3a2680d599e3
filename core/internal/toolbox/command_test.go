//go:build unix

package toolbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machineTime is what a busy machine may take to start a few processes: a
// command that is meant to time out has it to get going.
const machineTime = 3 * time.Second

// eventually waits for real processes: there is no clock to turn for them.
func eventually(t *testing.T, why string, ok func() bool) {
	t.Helper()
	late := time.After(5 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-late:
			t.Fatal("never: " + why)
		case <-tick.C:
		}
	}
}

// alive reports whether the process whose number a command wrote to name still
// runs; one that waits to be reaped does not.
func alive(t *testing.T, b *Box, name string) bool {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(content(t, b, name)))
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil && !dirExists("/proc/self")
}

func dirExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestBashAnswersWithOutputAndExitCode(t *testing.T) {
	temp := t.TempDir()
	b := open(t, Options{TempDir: temp, Attempt: "att-1"}, map[string]string{"a.txt": "hello"})
	rows := []struct {
		args, want string
		fails      bool
		why        string
	}{
		{`{"command":"cat a.txt"}`, "hello\n[exit code 0]", false, "runs in the workspace"},
		{`{"command":"echo out; echo err >&2; exit 3"}`, "out\nerr\n[exit code 3]", true, "both streams, and the code"},
		{`{"command":"true"}`, "[exit code 0]", false, "no output"},
		{`{"command":"cat; echo done"}`, "done\n[exit code 0]", false, "nothing to read from"},
		{`{"command":"echo $TMPDIR-$RELO_ATTEMPT"}`, temp + "-att-1\n", false, "its own temp folder and mark"},
		{`{"command":"kill -9 $$"}`, "[exit code 137]", true, "killed by a signal"},
		{`{"command":"printf '\\033[31mred\\033[0m\\033]0;title\\007 \\342\\200\\256x\\n10%%\\r100%%\\n'"}`, "red x\n100%\n[exit code 0]", false, "cleaned"},
		{`{"command":"test -t 0 || test -t 1 || (exec </dev/tty) 2>/dev/null || echo no terminal"}`, "no terminal\n", false, "no terminal"},
		{`{"command":"sleep 60","timeout":1}`, "timed out after 1s", true, "a timeout is said"},
		{`{"command":"x","timeout":601}`, "from 1 to 600", true, "and bounded"},
		{`{"command":"x","timeout":"1"}`, "pass a whole number", true, "and a number"},
	}
	for _, r := range rows {
		if got := call(t, b, "bash", r.args); !strings.HasPrefix(got.Text, r.want) && !strings.Contains(got.Text, r.want) || got.IsError != r.fails {
			t.Errorf("%s: %s = %q (error %v), want %q", r.why, r.args, got.Text, got.IsError, r.want)
		}
	}
}

func TestLongOutputKeepsHeadAndTail(t *testing.T) {
	b := open(t, Options{}, nil)
	exit, out, err := b.Run(t.Context(), "seq 1 200000; echo the end", 0)
	if err != nil || exit != 0 {
		t.Fatal(exit, err)
	}
	if !strings.HasPrefix(out, "1\n2\n3\n") || !strings.HasSuffix(out, "200000\nthe end") || !strings.Contains(out, "bytes of output left out here") {
		t.Errorf("got %.50q … %.50q", out, out[len(out)-50:])
	}
	if len(out) > headOutput+tailOutput+200 {
		t.Errorf("%d bytes", len(out))
	}
}

func TestEnvironmentHoldsNoKey(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "x1", "GITHUB_TOKEN": "x2", "MY_SECRET": "x3", "GOFLAGS": "-trimpath", "ORDINARY": "x4", "SNEAKY": "sk-ant-x5",
		"PROXY_URL": "http://u:x6@h/", "LC_ALL": "C", "GHTOKEN": "x7",
	} {
		t.Setenv(name, value)
	}
	b := open(t, Options{Env: []string{"GOFLAGS", "ANTHROPIC_API_KEY", "SNEAKY", "PROXY_URL", "CI=1", "NPM_TOKEN=x8"}}, nil)
	_, out, err := b.Run(t.Context(), "env", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GOFLAGS=-trimpath", "CI=1", "LC_ALL=C", "PATH=", "RELO_ATTEMPT=box-"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
	for _, bad := range []string{"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"} {
		if strings.Contains(out, "="+bad) || strings.Contains(out, "sk-ant") || strings.Contains(out, "PROXY_URL") {
			t.Errorf("%s got through:\n%s", bad, out)
		}
	}
}

func TestTimeoutKillsTheGroup(t *testing.T) {
	b := open(t, Options{}, nil)
	exit, out, err := b.Run(t.Context(), "(sleep 300 & echo $! > child; wait) & echo started; wait", machineTime)
	if exit != -1 || !errors.Is(err, ErrTimeout) || out != "started" {
		t.Errorf("Run = %d %q %v", exit, out, err)
	}
	eventually(t, "the grandchild is gone", func() bool { return !alive(t, b, "child") })
}

func TestCancelEndsTheCommandSoon(t *testing.T) {
	b := open(t, Options{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for !dirExists(filepath.Join(b.real, "up")) && ctx.Err() == nil {
			time.Sleep(time.Millisecond) // a real process's file
		}
		cancel()
	}()
	began := time.Now()
	_, _, err := b.Run(ctx, "touch up; sleep 300", 0)
	if !errors.Is(err, context.Canceled) || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

func TestCloseEndsWhatRunsInTheBackground(t *testing.T) {
	b := open(t, Options{}, nil)
	got := call(t, b, "bash", `{"command":"sleep 300 & echo $! > child; echo up"}`)
	if got.Text != "up\n[exit code 0; something that it started still runs in the background]" {
		t.Errorf("got %q", got.Text)
	}
	if !alive(t, b, "child") {
		t.Fatal("the background process ended with its command")
	}
	began := time.Now()
	if err := b.Close(); err != nil || time.Since(began) > closing {
		t.Errorf("Close took %v: %v", time.Since(began), err)
	}
	eventually(t, "the child is gone", func() bool { return !alive(t, b, "child") })
	if _, _, err := b.Run(t.Context(), "true", 0); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCloseEndsACommandUnderWay(t *testing.T) {
	b := open(t, Options{}, nil)
	ended := make(chan error, 1)
	go func() {
		_, _, err := b.Run(t.Context(), "echo $$ > child; sleep 300", 0)
		ended <- err
	}()
	eventually(t, "it runs", func() bool {
		data, err := os.ReadFile(filepath.Join(b.real, "child"))
		return err == nil && len(data) > 0
	})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v", err)
	}
}
