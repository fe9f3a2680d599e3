package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// serverAct makes this test's program a tool server of a person's, with a picture.
const serverAct = "RELO_E2E_SERVER"

func serveTools(how string) {
	s := mcp.NewServer(&mcp.Implementation{Name: "person", Version: "1"}, nil)
	picture, _ := os.ReadFile(os.Getenv("PICTURE"))
	s.AddTool(&mcp.Tool{Name: "shot", Description: "takes a picture of the device (" + how + ")", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the device"}, &mcp.ImageContent{Data: picture, MIMEType: "image/png"}}}, nil
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// A person's own tool server is a tool of the agents, and its picture reaches the model.
func TestAPersonsOwnToolServer(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.review = false
	var offered []string
	p := &play{plan: planOf(task("device", "hard")), workers: map[string]act{
		"Do device": steps(call("mcp_lab_shot", object{}), shell("echo seen >> ui.css"), done("it was looked at")),
	}}
	p.before = func(_ ctx, tn turn) {
		if tn.Role == "worker" {
			offered = tn.Tools
		}
	}
	w := newWorld(t, l, p).smallRepo()
	shot := w.home + "/device.png"
	w.write(shot, string(drawing(t, 240, 160)))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := func(how string) string {
		return fmt.Sprintf(`"mcp": {"lab": {"command": [%q], "env": {%q: %q, "PICTURE": %q}}}, "ladder"`, self, serverAct, how, shot)
	}
	w.edit(`"ladder"`, server("first"))
	r := w.relo("run", "look", "--repo", w.repo, "--standalone", "--json").mustExit(t, 0)
	if !strings.Contains(strings.Join(offered, " "), "mcp_lab_shot") {
		t.Errorf("the worker was offered %v", offered)
	}
	var pictures []double.Picture
	for _, q := range w.dbl.Requests() {
		if q.Model == "big" {
			pictures = q.Pictures
		}
	}
	if len(pictures) != 1 || pictures[0].Width != 240 {
		t.Errorf("%d pictures reached the model", len(pictures))
	}
	looks := 0
	for _, e := range r.events(t) {
		if k, ok := e.Body.(*job.Look); ok && k.Path == "picture 1 of mcp_lab_shot" && k.How == job.HowPixels {
			looks++
		}
	}
	if looks != 1 {
		t.Errorf("%d looks at it were told", looks)
	}

	w.edit(server("first"), server("second")) // its description says something else now
	w.relo("run", "look again", "--repo", w.repo, "--standalone", "--json")
	if strings.Contains(strings.Join(offered, " "), "mcp_lab_shot") {
		t.Error("a tool that changed was offered without a word of the person")
	}
	if r := w.relo("trust", "--mcp", "lab").mustExit(t, 0); !strings.Contains(r.stderr, "changed: shot") {
		t.Errorf("%s", r.stderr)
	}
	w.relo("run", "look once more", "--repo", w.repo, "--standalone", "--json")
	if !strings.Contains(strings.Join(offered, " "), "mcp_lab_shot") {
		t.Errorf("the worker was offered %v after the person's word", offered)
	}
}
