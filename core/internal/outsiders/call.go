package outsiders

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
)

// outside is one tool of a server.
type outside struct {
	host *host
	spec provider.ToolSpec
	own  string
}

// Spec is what the agent is told.
func (o *outside) Spec() provider.ToolSpec { return o.spec }

// Run calls the server. What goes wrong there is the tool's failure, in words, and the next
// call reaches for the server anew.
func (o *outside) Run(ctx context.Context, id string, args json.RawMessage) (tool.Result, error) {
	var object map[string]any
	if err := json.Unmarshal(args, &object); err != nil {
		return tool.Fail("the arguments are not a JSON object"), nil
	}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o.host.mu.Lock()
	session, err := o.host.reach(call)
	o.host.mu.Unlock()
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Fail(fmt.Sprintf("the tool server %q cannot be reached: %v", o.host.server.Name, err)), nil
	}
	r, err := session.CallTool(call, &mcp.CallToolParams{Name: o.own, Arguments: args})
	if err == nil {
		return o.result(ctx, id, r), nil
	}
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	words := o.host.words(err)
	if call.Err() != nil {
		words = fmt.Errorf("it did not answer within %v", callTime)
	}
	o.host.mu.Lock()
	if o.host.session == session { // another call may have made a new one
		o.host.hangUp()
	}
	o.host.mu.Unlock()
	return tool.Fail(fmt.Sprintf("the tool server %q failed: %v", o.host.server.Name, words)), nil
}

// result turns the server's into the agent's: text capped, pictures prepared.
func (o *outside) result(ctx context.Context, id string, r *mcp.CallToolResult) tool.Result {
	out := tool.Result{IsError: r.IsError}
	var words []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			words = append(words, plain(c.Text))
		case *mcp.ImageContent:
			words = append(words, o.picture(ctx, id, c.Data, &out))
		case *mcp.AudioContent:
			words = append(words, fmt.Sprintf("[a sound of %d bytes, which no model here is given]", len(c.Data)))
		case *mcp.ResourceLink:
			words = append(words, fmt.Sprintf("[a resource: %s %s]", plain(c.Name), plain(c.URI)))
		case *mcp.EmbeddedResource:
			words = append(words, embedded(c))
		}
	}
	if strings.TrimSpace(strings.Join(words, "")) == "" && r.StructuredContent != nil {
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			words = []string{string(text)}
		}
	}
	out.Text = capped(strings.Join(words, "\n"))
	return out
}

func embedded(c *mcp.EmbeddedResource) string {
	switch {
	case c.Resource == nil:
		return "[an empty resource]"
	case c.Resource.Text != "":
		return plain(c.Resource.Text)
	}
	return fmt.Sprintf("[a resource of %d bytes: %s]", len(c.Resource.Blob), plain(c.Resource.URI))
}

// picture prepares one and says in words which it is, or why it is not shown.
func (o *outside) picture(ctx context.Context, id string, data []byte, out *tool.Result) string {
	n := len(out.Pictures) + 1
	name := fmt.Sprintf("picture %d of %s", n, o.spec.Name)
	if n > maxPictures {
		return fmt.Sprintf("[%s is left out: a result shows at most %d]", name, maxPictures)
	}
	p, meta, err := o.host.set.o.Prepare(ctx, data, name)
	if err != nil {
		return fmt.Sprintf("[%s cannot be shown: %v]", name, err)
	}
	out.Pictures = append(out.Pictures, tool.Shown{Picture: p, View: vision.View{
		ID: fmt.Sprintf("%s:%d", id, n-1), Path: name, Role: vision.Other, Source: meta.Source,
	}})
	return fmt.Sprintf("[%s: %d×%d]", name, p.Width, p.Height)
}

// capped keeps head and tail of a long text.
func capped(s string) string {
	if len(s) <= maxText {
		return s
	}
	head, tail := strings.ToValidUTF8(s[:maxText*3/4], ""), strings.ToValidUTF8(s[len(s)-maxText/4:], "")
	return head + fmt.Sprintf("\n[… %d bytes are left out …]\n", len(s)-len(head)-len(tail)) + tail
}
