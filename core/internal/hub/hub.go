package hub

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

//go:embed instructions.md
var instructions string

// Options make a Hub.
type Options struct {
	Version   string
	MaxEdge   int // longest edge of a picture, in pixels, when a call names none
	Pictures  Pictures
	Describer Describer        // nil: relo_describe is not offered
	Agent     *showing.Agent   // whose calls are counted; the caller lets it leave
	Now       func() time.Time // the clock
}

// Hub offers Relo's tools to one agent, over any number of connections. It is safe for
// concurrent use.
type Hub struct{ o Options }

// New makes a hub.
func New(o Options) *Hub { return &Hub{o} }

// Serve speaks with one client over a pair of streams, a message a line, until in ends
// or ctx does; calls under way are then stopped, and nothing that it started is left.
// It closes in, whose Close must end a Read. Lines that are no message are answered
// with an error and passed over. A client that leaves is no error; a stream that breaks
// otherwise is one.
func (h *Hub) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := newLines(in, out)
	err := h.server(ctx).Run(ctx, l)
	_ = l.Close() // it has been closed when the client went
	l.wait()
	if err != nil && ctx.Err() == nil && !gone(err) {
		return fmt.Errorf("speak MCP: %w", err)
	}
	return nil
}

// gone reports whether an error says only that the client has left.
func gone(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrClosedPipe, os.ErrClosed, syscall.EPIPE}, func(end error) bool { return errors.Is(err, end) })
}

// server makes the library's server; its calls end with life.
func (h *Hub) server(life context.Context) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "relo", Title: "Relo", Version: h.o.Version}, &mcp.ServerOptions{
		Instructions: strings.TrimSpace(instructions),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the list never changes
	})
	no := false
	s.AddTool(toolOf(prompt.Image(), "Show pictures", &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}), within(life, h.image))
	if h.o.Describer != nil {
		// Not read-only: it sends a picture to a provider and costs money, which a
		// client may want to ask its person about.
		s.AddTool(toolOf(prompt.Describe(), "Ask about a picture", &mcp.ToolAnnotations{DestructiveHint: &no}), within(life, h.describe))
	}
	return s
}

func toolOf(s provider.ToolSpec, title string, a *mcp.ToolAnnotations) *mcp.Tool {
	a.Title = title
	return &mcp.Tool{Name: s.Name, Title: title, Description: s.Description, InputSchema: s.Schema, Annotations: a}
}

// within is a tool whose calls end with life too: the library waits for calls under
// way when it ends, and ends them by itself only when the client goes.
func within(life context.Context, f func(context.Context, json.RawMessage) (*mcp.CallToolResult, error)) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		return f(ctx, r.Params.Arguments)
	}
}
