package cli

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/app"
)

const helloLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"

// served runs relo mcp with what an agent says, and gives what it heard.
func served(ctx context.Context, in io.Reader, dir, home string, args ...string) (exit int, heard, note string) {
	s := &scene{env: map[string]string{"RELO_HOME": home}, dir: dir}
	s.sh = s.shell(nil, nil)
	s.sh.in, s.sh.load = in, app.Load
	return s.run(ctx, append([]string{"mcp"}, args...)...)
}

func TestAnAgentIsServedUntilItsEnd(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.png"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	said := helloLine + "no message\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"relo_image","arguments":{"paths":["a.png"]}}}` + "\n"
	for _, args := range [][]string{nil, {"--json"}, {"--root", dir}} {
		exit, heard, note := served(t.Context(), strings.NewReader(said), dir, home, args...)
		exits(t, exit, exitDone, note)
		has(t, heard, `"instructions":"Relo shows pictures.`, `"code":-32700`, `"mimeType":"image/png"`, `\"width\":3`)
		if note != "" {
			t.Errorf("%v: it says %q", args, note)
		}
		for _, line := range jsonLines(t, heard) {
			if line["jsonrpc"] != "2.0" {
				t.Errorf("%v: stdout holds %v", args, line)
			}
		}
	}
}

func TestASignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	in, agent := io.Pipe()
	defer func() { _ = agent.Close() }() // a pipe's never fails
	ctx, signal := context.WithCancelCause(t.Context())
	go func() {
		_, _ = agent.Write([]byte(helloLine)) // read, or the server is gone already
		signal(&SignalError{Number: syscall.SIGTERM})
	}()
	began := time.Now()
	exit, _, note := served(ctx, in, t.TempDir(), t.TempDir())
	exits(t, exit, exitSignal+int(syscall.SIGTERM), note)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWhatIsWrongBeforeAnAgentIsServed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "relo.json"), []byte(`{"pictures": {"maxEdge": 9}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		home, args, want string
	}{
		{t.TempDir(), "--root /no/such/folder", "--root /no/such/folder cannot be opened"},
		{t.TempDir(), "extra", "one argument too many"},
		{home, "", "pictures.maxEdge"},
		{home, "--json", "pictures.maxEdge"},
	} {
		exit, heard, note := served(t.Context(), strings.NewReader(helloLine), t.TempDir(), c.home, strings.Fields(c.args)...)
		exits(t, exit, exitUsage, note)
		has(t, note, c.want)
		if heard != "" {
			t.Errorf("mcp %s: stdout holds %q", c.args, heard)
		}
	}
}
