package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/npmtest"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// clientTime bounds one run of another agent's program: the first start of one of them
// unpacks itself.
const clientTime = 3 * time.Minute

// desk is a folder with pictures, and a model that asks to see them.
type desk struct {
	t    *testing.T
	dir  string // the pictures
	home string // of Relo and of the client
	dbl  *double.Server
	url  string
	want map[string]string // by path: the bytes that relo image prepares
	said string            // what the client printed
}

// newDesk draws a small screenshot, which is sent as it is, a large one, which is scaled,
// and one that stays large in bytes.
func newDesk(t *testing.T, models ...string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), home: t.TempDir(), want: map[string]string{}}
	for name, width := range map[string]int{"small.png": 400, "large.png": 2400, "noise.png": 2300} {
		img, noise := image.NewRGBA(image.Rect(0, 0, width, width*5/8)), rand.New(rand.NewPCG(1, uint64(width)))
		points := 5 * width
		if name == "noise.png" {
			points *= 40 // it packs badly, as photos do
		}
		for i := range points {
			img.Set(noise.IntN(width), i%img.Rect.Dy(), color.RGBA{R: uint8(i), G: uint8(i >> 8), B: 200, A: 255})
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		d.want[name] = d.prepared(name)
	}
	seeing := map[string]double.Model{}
	for _, id := range models {
		seeing[id] = double.Model{Sees: true}
	}
	d.dbl = double.New(double.Options{Models: seeing, Play: d.play})
	srv := httptest.NewServer(d.dbl)
	t.Cleanup(srv.Close)
	d.url = srv.URL
	return d
}

// prepared gives what relo image would send of a file.
func (d *desk) prepared(name string) string {
	d.t.Helper()
	out := d.t.TempDir()
	cmd := exec.CommandContext(d.t.Context(), binary, "image", name, "--root", d.dir, "--json", "--out", out)
	cmd.Env = []string{"RELO_HOME=" + d.home}
	text, err := cmd.Output()
	if err != nil {
		d.t.Fatal(err)
	}
	var doc struct{ Images []struct{ File string } }
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Images) != 1 {
		d.t.Fatalf("%v: %s", err, text)
	}
	data, err := os.ReadFile(doc.Images[0].File)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// play asks for the pictures once, then ends.
func (d *desk) play(_ context.Context, t double.Turn) double.Reply {
	at := slices.IndexFunc(t.Tools, func(name string) bool { return strings.HasSuffix(name, "relo_image") })
	looked := slices.ContainsFunc(t.Entries, func(e double.Entry) bool { return e.Role == "tool" })
	if at < 0 || looked {
		return double.Reply{Text: "The pictures were looked at."}
	}
	return double.Reply{Calls: []double.Call{{Name: t.Tools[at], Args: map[string]any{"paths": []string{"small.png", "large.png", "noise.png"}}}}}
}

// run runs a client in a clean environment, in a group of its own that ends with it.
func (d *desk) run(env map[string]string, program string, args ...string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), clientTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = d.t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "TERM=dumb"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if d.said = string(out); err != nil {
		d.t.Fatalf("%s: %v\n%s", filepath.Base(program), err, out)
	}
}

// arrived says that pictures were in a request, byte for byte as Relo sent them.
func (d *desk) arrived(names ...string) {
	d.t.Helper()
	for _, name := range names {
		found := slices.ContainsFunc(d.shown(), func(p double.Picture) bool { return string(p.Bytes) == d.want[name] })
		if d.t.Logf("%s: %d bytes, arrived: %v", name, len(d.want[name]), found); found {
			continue
		}
		d.t.Errorf("%s did not arrive byte for byte; the client said:\n%s\nand sent:", name, d.said)
		for _, r := range d.dbl.Requests() {
			d.t.Logf("%s %s %s %d %q, %d pictures, %.300s", r.Method, r.Path, r.Model, r.Status, r.Words, len(r.Pictures), r.Body)
		}
		for _, p := range d.shown() {
			d.t.Logf("  %s %s %d×%d, %d bytes", p.Place, p.MediaType, p.Width, p.Height, len(p.Bytes))
		}
	}
}

// shown are the pictures of all requests.
func (d *desk) shown() (all []double.Picture) {
	for _, r := range d.dbl.Requests() {
		all = append(all, r.Pictures...)
	}
	return all
}

// toJSON is a client's configuration.
func (d *desk) toJSON(v any) string {
	d.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// Claude Code 2.1 puts an MCP tool's picture into the tool's result.
func TestPicturesReachAModelThroughClaudeCode(t *testing.T) {
	t.Parallel()
	modules := npmtest.Install(t, "@anthropic-ai/claude-code@2.1.197")
	d := newDesk(t, "claude-sonnet-4-5")
	file := filepath.Join(d.home, "mcp.json")
	config := d.toJSON(map[string]any{"mcpServers": map[string]any{"relo": map[string]any{
		"type": "stdio", "command": binary, "args": []string{"mcp", "--root", d.dir}, "env": map[string]string{"RELO_HOME": d.home},
	}}})
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(map[string]string{
		"CLAUDE_CONFIG_DIR": filepath.Join(d.home, ".claude"), "ANTHROPIC_BASE_URL": d.url, "ANTHROPIC_API_KEY": "sk-none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1", "ENABLE_TOOL_SEARCH": "false",
		"MCP_CONNECTION_NONBLOCKING": "0", // else the first request may go out before the tools are known
	}, filepath.Join(modules, "@anthropic-ai", "claude-code-linux-x64", "claude"), "-p", "Look at the screenshots.",
		"--model", "claude-sonnet-4-5", "--mcp-config", file, "--strict-mcp-config", "--setting-sources", "", "--allowedTools", "mcp__relo__relo_image", "--no-session-persistence")
	d.arrived("small.png", "large.png")
	// One that is large in bytes it packs anew, in the size that Relo sent: the scale in
	// the metadata stays true.
	if !slices.ContainsFunc(d.shown(), func(p double.Picture) bool { return p.MediaType == "image/jpeg" && p.Width == 1568 }) {
		d.t.Errorf("noise.png did not arrive as a JPEG of the same size; %d pictures did", len(d.shown()))
	}
	for _, p := range d.shown() {
		t.Logf("%s %s %d×%d, %d bytes", p.Place, p.MediaType, p.Width, p.Height, len(p.Bytes))
	}
}

// OpenCode 1.18 puts an MCP tool's picture into a user message after the result.
func TestPicturesReachAModelThroughOpenCode(t *testing.T) {
	t.Parallel()
	modules := npmtest.Install(t, "opencode-linux-x64@1.18.33")
	d := newDesk(t, "see")
	config := d.toJSON(map[string]any{
		"autoupdate": false, "share": "disabled", "model": "rec/see", "small_model": "rec/see", "enabled_providers": []string{"rec"},
		"provider": map[string]any{"rec": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Recorder", "options": map[string]string{"baseURL": d.url + "/v1", "apiKey": "none"},
			"models": map[string]any{"see": map[string]any{
				"name": "See", "tool_call": true, "modalities": map[string][]string{"input": {"text", "image"}, "output": {"text"}}, "limit": map[string]int{"context": 128000, "output": 8000},
			}},
		}},
		"mcp": map[string]any{"relo": map[string]any{
			"type": "local", "command": []string{binary, "mcp", "--root", d.dir}, "environment": map[string]string{"RELO_HOME": d.home}, "enabled": true,
		}},
	})
	env := map[string]string{"OPENCODE_CONFIG_CONTENT": config}
	for _, off := range []string{"PROJECT_CONFIG", "MODELS_FETCH", "AUTOUPDATE", "SHARE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE"} {
		env["OPENCODE_DISABLE_"+off] = "1"
	}
	for _, kind := range []string{"DATA", "CONFIG", "STATE", "CACHE"} {
		env["XDG_"+kind+"_HOME"] = filepath.Join(d.home, strings.ToLower(kind))
	}
	d.run(env, filepath.Join(modules, "opencode-linux-x64", "bin", "opencode"), "run", "--model", "rec/see", "Look at the screenshots.")
	d.arrived("small.png", "large.png", "noise.png")
}
