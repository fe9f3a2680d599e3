package hub

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// image is relo_image: one block of text, then one block a picture that is shown.
func (h *Hub) image(ctx context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
	call, refused := h.o.Agent.Call(args, h.o.Now())
	if refused != "" {
		return fail(refused), nil
	}
	answer, err := call.Show(ctx, h.o.MaxEdge, h.o.Pictures.Prepare)
	if err != nil {
		return nil, err
	}
	out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer.Text}}, IsError: answer.Failed}
	for _, s := range answer.Shown {
		out.Content = append(out.Content, &mcp.ImageContent{Data: s.Picture.Bytes, MIMEType: s.Picture.MediaType})
	}
	return out, nil
}

// describe is relo_describe: the picture goes to the describer, and words come back.
func (h *Hub) describe(ctx context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
	in, faults := prompt.DecodeDescribe(args)
	if len(faults) > 0 {
		return fail(strings.Join(faults, "; ")), nil
	}
	if refused := h.o.Agent.Count(h.o.Now()); refused != "" {
		return fail(refused), nil
	}
	picture, meta, err := h.o.Agent.One(ctx, showing.Wish{Name: in.Path, Region: in.Region, MaxEdge: h.o.MaxEdge}, h.o.Pictures.Prepare)
	if err != nil {
		return failed(ctx, err)
	}
	d, err := h.o.Describer.Describe(ctx, picture, meta, in.Question)
	if err != nil {
		return failed(ctx, err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: prompt.Described(d.Words) + "\n" + showing.Looked(d.By, d.Cost, in.Path, meta)}}}, nil
}

// failed words an error for the agent, unless nobody waits for it.
func failed(ctx context.Context, err error) (*mcp.CallToolResult, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return fail(showing.Refusal(err)), nil
}

// fail is a tool's own failure, which the agent reads.
func fail(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}, IsError: true}
}
