package app

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/hub"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// ToolServer is relo mcp: the picture tools for an agent that Relo did not start, on
// the files of one folder. It has no job, no record and no daemon.
type ToolServer struct {
	gallery *Gallery
	agent   *showing.Agent
	hub     *hub.Hub
}

// OpenToolServer opens the folder e.Dir for an agent. relo_describe is offered when a
// model of the configuration may look; with private, only one on the person's own
// machines may. The error is of opening the folder.
func OpenToolServer(e Env, cfg *config.Config, private bool) (*ToolServer, error) {
	gallery, err := OpenGallery(e, cfg)
	if err != nil {
		return nil, err
	}
	s := &ToolServer{gallery: gallery, agent: gallery.dark.rooms.Join("")}
	o := hub.Options{Version: Version, MaxEdge: cfg.Pictures.MaxEdge, Pictures: gallery, Agent: s.agent, Now: time.Now}
	if d := newDescriber(e, cfg, gallery.dark, private); d.anybody() {
		o.Describer = d
	}
	s.hub = hub.New(o)
	return s, nil
}

// Serve speaks with the agent until in or ctx ends; hub.Serve says how.
func (s *ToolServer) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	return s.hub.Serve(ctx, in, out)
}

// Close closes the folder.
func (s *ToolServer) Close() error {
	s.agent.Leave()
	return errors.Join(s.gallery.Close())
}
